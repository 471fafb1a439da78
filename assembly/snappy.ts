/** Raw Snappy, 16 bytes at a time. Source: google/snappy, format_description.txt. */
import { INPUT, UNPACKED } from './memory';

/** Copies `length` bytes; writes up to 15 more. */
// @ts-ignore: decorator
@inline
function copyForward(to: usize, from: usize, length: usize): void {
  const end = to + length;
  do {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  } while (to < end);
}

/** A copy from `offset` bytes before it, which may be fewer than are copied: then they repeat. */
// @ts-ignore: decorator
@inline
function copyBack(to: usize, offset: usize, length: usize): void {
  if (offset >= 16) {
    copyForward(to, to - offset, length);
    return;
  }
  const end = to + length;
  if (offset >= 8) {
    while (to < end) {
      store<u64>(to, load<u64>(to - offset));
      to += 8;
    }
    return;
  }
  while (to < end) {
    store<u8>(to, load<u8>(to - offset));
    to++;
  }
}

/**
 * Uncompresses the first `inputLength` bytes of INPUT to UNPACKED; 1 when they are exactly `length` bytes there, else 0.
 * The elements begin at `start`, behind the length.
 */
export function unsnap(start: i32, inputLength: i32, length: i32): i32 {
  const inputEnd: usize = INPUT + inputLength;
  const end: usize = UNPACKED + length;
  let from: usize = INPUT + start;
  let to: usize = UNPACKED;
  while (from < inputEnd) {
    const tag: u32 = load<u8>(from++);
    const kind = tag & 3;
    let count: usize;
    if (kind == 0) {
      count = (tag >> 2) + 1;
      if (count > 60) {
        const bytes = count - 60;
        if (from + bytes > inputEnd) return 0;
        // The slack behind the input makes four bytes safe to load.
        const stored = load<u32>(from) & <u32>(0xffffffff >> (32 - 8 * bytes));
        if (stored >= <u32>length) return 0;
        count = stored + 1;
        from += bytes;
      }
      if (count > inputEnd - from || count > end - to) return 0;
      copyForward(to, from, count);
      from += count;
      to += count;
      continue;
    }
    let offset: usize;
    if (kind == 1) {
      if (from + 1 > inputEnd) return 0;
      count = ((tag >> 2) & 7) + 4;
      offset = ((tag >> 5) << 8) | load<u8>(from);
      from++;
    } else if (kind == 2) {
      if (from + 2 > inputEnd) return 0;
      count = (tag >> 2) + 1;
      offset = load<u16>(from);
      from += 2;
    } else {
      if (from + 4 > inputEnd) return 0;
      count = (tag >> 2) + 1;
      offset = load<u32>(from);
      from += 4;
    }
    if (offset == 0 || offset > to - UNPACKED || count > end - to) return 0;
    copyBack(to, offset, count);
    to += count;
  }
  return to == end ? 1 : 0;
}
