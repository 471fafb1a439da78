/**
 * Bytes of SOURCE (or of KEY, behind it) as text at TEXT, 16 at a time. Positions are relative to SOURCE and TEXT; each function returns the
 * position behind its text. The caller has seen to it that everything fits.
 */
import { INPUT, SOURCE, TEXT, UNPACKED } from './memory';

const BACKSLASH: u8 = 0x5c;
/** `\x`, as a little-endian u16. */
const ESCAPE: u16 = 0x785c;

// @ts-ignore: decorator
@inline
function digitsOf(upper: bool): v128 {
  return upper
    ? i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 65, 66, 67, 68, 69, 70)
    : i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 97, 98, 99, 100, 101, 102);
}

// @ts-ignore: decorator
@inline
function hexRun(start: i32, end: i32, pos: i32, upper: bool): i32 {
  const digits = digitsOf(upper);
  const stop = SOURCE + end;
  let to = TEXT + pos;
  for (let from: usize = SOURCE + start; from < stop; from += 16) {
    const bytes = v128.load(from);
    const high = v128.swizzle(digits, i8x16.shr_u(bytes, 4));
    const low = v128.swizzle(digits, v128.and(bytes, i8x16.splat(0x0f)));
    v128.store(to, v128.shuffle<u8>(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
    v128.store(to, v128.shuffle<u8>(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), 16);
    to += 32;
  }
  return pos + 2 * (end - start);
}

/** Two lower-case digits a byte. */
export function hex(start: i32, end: i32, pos: i32): i32 {
  return hexRun(start, end, pos, false);
}

/** Two upper-case digits a byte. */
export function hexUpper(start: i32, end: i32, pos: i32): i32 {
  return hexRun(start, end, pos, true);
}

/** The bytes of `length` hexadecimal digits of either case, an even number, from INPUT to UNPACKED; 0 where one is none. */
export function unhex(length: i32): i32 {
  let to: usize = UNPACKED;
  let wrong = i8x16.splat(0);
  let i: i32 = 0;
  // Behind the last digit the memory may hold anything: what lies there must not count as wrong.
  for (; i + 16 <= length; i += 16) {
    const text = v128.load(INPUT + i);
    const decimal = i8x16.sub(text, i8x16.splat(0x30));
    const letter = i8x16.sub(v128.or(text, i8x16.splat(0x20)), i8x16.splat(0x61));
    const isDecimal = i8x16.lt_u(decimal, i8x16.splat(10));
    const isLetter = i8x16.lt_u(letter, i8x16.splat(6));
    wrong = v128.or(wrong, v128.not(v128.or(isDecimal, isLetter)));
    const digits = v128.bitselect(decimal, i8x16.add(letter, i8x16.splat(10)), isDecimal);
    const pairs = v128.or(
      i16x8.shl(v128.and(digits, i16x8.splat(0x00ff)), 4),
      i16x8.shr_u(digits, 8),
    );
    v128.store64_lane(to, i8x16.narrow_i16x8_u(pairs, pairs), 0);
    to += 8;
  }
  if (v128.any_true(wrong)) return 0;
  for (; i < length; i += 2) {
    const high = valueOf(load<u8>(INPUT + i));
    const low = valueOf(load<u8>(INPUT + i, 1));
    if ((high | low) > 15) return 0;
    store<u8>(to++, (high << 4) | low);
  }
  return 1;
}

/** Of a hexadecimal digit; above 15 for anything else. */
// @ts-ignore: decorator
@inline
function valueOf(byte: u32): u32 {
  if (byte - 0x30 < 10) return byte - 0x30;
  const letter = (byte | 0x20) - 0x61;
  return letter < 6 ? letter + 10 : 16;
}

/** A digit of 0 to 15, lower case. */
// @ts-ignore: decorator
@inline
function digit(value: u32): u32 {
  return value + (value < 10 ? 48 : 87);
}

/** Printable ASCII as it is, a backslash twice, `\xNN` for the rest. */
export function escape(start: i32, end: i32, pos: i32): i32 {
  const stop = SOURCE + end;
  let from: usize = SOURCE + start;
  let to: usize = TEXT + pos;
  while (from < stop) {
    const bytes = v128.load(from);
    v128.store(to, bytes);
    // As signed numbers, everything from 0x80 is below the space as well.
    const special = v128.or(
      i8x16.lt_s(bytes, i8x16.splat(0x20)),
      v128.or(i8x16.eq(bytes, i8x16.splat(0x7f)), i8x16.eq(bytes, i8x16.splat(BACKSLASH))),
    );
    let plain: usize = ctz<u32>(i8x16.bitmask(special) | 0x10000);
    if (plain >= stop - from) {
      to += stop - from;
      break;
    }
    from += plain;
    to += plain;
    if (plain == 16) continue;
    // Neighbours of a special byte are often special too.
    do {
      const byte = load<u8>(from);
      if (byte == BACKSLASH) {
        store<u16>(to, 0x5c5c);
        to += 2;
      } else if (byte < 0x20 || byte >= 0x7f) {
        store<u16>(to, ESCAPE);
        store<u16>(to, <u16>(digit(byte >> 4) | (digit(byte & 15) << 8)), 2);
        to += 4;
      } else {
        break;
      }
      from++;
    } while (from < stop);
  }
  return <i32>(to - TEXT);
}
