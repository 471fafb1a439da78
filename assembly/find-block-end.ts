/**
 * Where does a block end whose handle is lost? Tries every payload length in turn, with one running state of the
 * checksum, so that all lengths together cost one pass and a short final step each.
 *
 * The bytes come in windows of INPUT: a window starts at `base` (bytes from the block start), and reaches
 * back at least 64 bytes before the first length it is asked for, or to the block start.
 */
import { INPUT } from './memory';
import { stepByte, update } from './crc32c';
import { addStripesReleased, finishLongReleased, hashReleased, resetLanes } from './xxh3';

/** 256 bytes: 1 for each value that is allowed as compression type. Written by the caller. */
export const ALLOWED: usize = memory.data(256, 16);

const CRC32C_MASK_DELTA: u32 = 0xa282ead8;
const XXH3_LAST_BYTE_FACTOR: u32 = 0x6b9083d9;

/** Bytes from the block start that are in the state. */
let done: u32 = 0;

let crcRegister: u32 = 0;

const P32_1: u32 = 0x9e3779b1;
const P32_2: u32 = 0x85ebca77;
const P32_3: u32 = 0xc2b2ae3d;
const P32_4: u32 = 0x27d4eb2f;
const P32_5: u32 = 0x165667b1;
let w1: u32 = 0;
let w2: u32 = 0;
let w3: u32 = 0;
let w4: u32 = 0;

const P64_1: u64 = 0x9e3779b185ebca87;
const P64_2: u64 = 0xc2b2ae3d27d4eb4f;
const P64_3: u64 = 0x165667b19e3779f9;
const P64_4: u64 = 0x85ebca77c2b2ae63;
const P64_5: u64 = 0x27d4eb2f165667c5;
let x1: u64 = 0;
let x2: u64 = 0;
let x3: u64 = 0;
let x4: u64 = 0;

const LANES: usize = memory.data(64, 16);

/** Forgets everything: the next window starts at the block start. */
export function findBegin(): void {
  done = 0;
  crcRegister = 0xffffffff;
  w1 = P32_1 + P32_2;
  w2 = P32_2;
  w3 = 0;
  w4 = 0 - P32_1;
  x1 = P64_1 + P64_2;
  x2 = P64_2;
  x3 = 0;
  x4 = 0 - P64_1;
  resetLanes(LANES);
}

/**
 * First length L in [from, to) where byte L is an allowed type and the fixed32 behind it is the checksum of
 * `type` plus `modifier`; -1 if there is none. Only brings the state forward when `test` is 0.
 * INPUT holds the bytes [base, to + 4) of the block, `from` is the `to` of the call before.
 */
export function findStep(type: i32, modifier: u32, base: u32, from: u32, to: u32, test: i32): i32 {
  const origin = INPUT - base;
  if (type == 1) return test ? findCrc32c(modifier, origin, from, to) : feedCrc32c(origin, to);
  if (type == 2) return findXxh32(modifier, origin, test ? from : to, to);
  if (type == 3) return findXxh64(modifier, origin, test ? from : to, to);
  if (type == 4) return findXxh3(modifier, origin, test ? from : to, to);
  return -1;
}

function feedCrc32c(origin: usize, to: u32): i32 {
  crcRegister = update(crcRegister, origin + done, origin + to);
  done = to;
  return -1;
}

function findCrc32c(modifier: u32, origin: usize, from: u32, to: u32): i32 {
  let c = crcRegister;
  for (let length = from; length < to; length++) {
    const type = load<u8>(origin + length);
    c = stepByte(c, type);
    // Undo modifier and mask of the stored value: cheaper than masking, and nearly always unequal.
    const crc = rotl<u32>(load<u32>(origin + length, 1) - modifier - CRC32C_MASK_DELTA, 15);
    if (crc == ~c && load<u8>(ALLOWED + type)) return length;
  }
  crcRegister = c;
  done = to;
  return -1;
}

// @ts-ignore: decorator
@inline
function round32(v: u32, p: usize): u32 {
  return rotl<u32>(v + load<u32>(p) * P32_2, 13) * P32_1;
}

/** Takes in whole stripes of 16 bytes up to `end`. */
function feedXxh32(origin: usize, end: u32): void {
  while (done + 16 <= end) {
    const p = origin + done;
    w1 = round32(w1, p);
    w2 = round32(w2, p + 4);
    w3 = round32(w3, p + 8);
    w4 = round32(w4, p + 12);
    done += 16;
  }
}

function finishXxh32(origin: usize, end: u32): u32 {
  let h = done > 0 ? rotl<u32>(w1, 1) + rotl<u32>(w2, 7) + rotl<u32>(w3, 12) + rotl<u32>(w4, 18) : P32_5;
  h += end;
  let p = origin + done;
  const stop = origin + end;
  for (; p + 4 <= stop; p += 4) h = rotl<u32>(h + load<u32>(p) * P32_3, 17) * P32_4;
  for (; p < stop; p++) h = rotl<u32>(h + <u32>load<u8>(p) * P32_5, 11) * P32_1;
  h = (h ^ (h >> 15)) * P32_2;
  h = (h ^ (h >> 13)) * P32_3;
  return h ^ (h >> 16);
}

function findXxh32(modifier: u32, origin: usize, from: u32, to: u32): i32 {
  for (let length = from; length < to; length++) {
    if (!load<u8>(ALLOWED + <usize>load<u8>(origin + length))) continue;
    // The type byte is hashed too.
    feedXxh32(origin, length + 1);
    if (load<u32>(origin + length, 1) == finishXxh32(origin, length + 1) + modifier) return length;
  }
  feedXxh32(origin, to);
  return -1;
}

// @ts-ignore: decorator
@inline
function round64(v: u64, x: u64): u64 {
  return rotl<u64>(v + x * P64_2, 31) * P64_1;
}

// @ts-ignore: decorator
@inline
function mergeRound64(h: u64, v: u64): u64 {
  return (h ^ round64(0, v)) * P64_1 + P64_4;
}

/** Takes in whole stripes of 32 bytes up to `end`. */
function feedXxh64(origin: usize, end: u32): void {
  while (done + 32 <= end) {
    const p = origin + done;
    x1 = round64(x1, load<u64>(p));
    x2 = round64(x2, load<u64>(p, 8));
    x3 = round64(x3, load<u64>(p, 16));
    x4 = round64(x4, load<u64>(p, 24));
    done += 32;
  }
}

function finishXxh64(origin: usize, end: u32): u64 {
  let h = P64_5;
  if (done > 0) {
    h = rotl<u64>(x1, 1) + rotl<u64>(x2, 7) + rotl<u64>(x3, 12) + rotl<u64>(x4, 18);
    h = mergeRound64(mergeRound64(mergeRound64(mergeRound64(h, x1), x2), x3), x4);
  }
  h += <u64>end;
  let p = origin + done;
  const stop = origin + end;
  for (; p + 8 <= stop; p += 8) h = rotl<u64>(h ^ round64(0, load<u64>(p)), 27) * P64_1 + P64_4;
  if (p + 4 <= stop) {
    h = rotl<u64>(h ^ (<u64>load<u32>(p) * P64_1), 23) * P64_2 + P64_3;
    p += 4;
  }
  for (; p < stop; p++) h = rotl<u64>(h ^ (<u64>load<u8>(p) * P64_5), 11) * P64_1;
  h = (h ^ (h >> 33)) * P64_2;
  h = (h ^ (h >> 29)) * P64_3;
  return h ^ (h >> 32);
}

function findXxh64(modifier: u32, origin: usize, from: u32, to: u32): i32 {
  for (let length = from; length < to; length++) {
    if (!load<u8>(ALLOWED + <usize>load<u8>(origin + length))) continue;
    feedXxh64(origin, length + 1);
    if (load<u32>(origin + length, 1) == <u32>finishXxh64(origin, length + 1) + modifier) return length;
  }
  feedXxh64(origin, to);
  return -1;
}

/** Takes in the stripes of 64 bytes that are not the last one of an input of `end` bytes. */
function feedXxh3(origin: usize, end: u32): void {
  if (done + 64 >= end) return;
  const count = (end - 1 - done) >> 6;
  addStripesReleased(LANES, origin + done, count, (done >> 6) & 15);
  done += count << 6;
}

function findXxh3(modifier: u32, origin: usize, from: u32, to: u32): i32 {
  for (let length = from; length < to; length++) {
    const type = load<u8>(origin + length);
    if (!load<u8>(ALLOWED + <usize>type)) continue;
    let hash: u64;
    if (length <= 240) {
      hash = hashReleased(origin, length);
    } else {
      feedXxh3(origin, length);
      hash = finishLongReleased(LANES, origin + length, length);
    }
    // The type byte is folded in, not hashed.
    if (load<u32>(origin + length, 1) == (<u32>hash ^ (<u32>type * XXH3_LAST_BYTE_FACTOR)) + modifier) return length;
  }
  feedXxh3(origin, to);
  return -1;
}
