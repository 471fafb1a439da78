/** Bits of the two Bloom filters. src/format/filter/bloom-fill.ts is the twin. */
import { HASHES } from './filter-memory';

const GOLDEN_RATIO: u32 = 0x9e3779b9;

/** Filters of this size and less stay in the processor's cache while they are filled. */
const CACHED_LINES_MAX: u32 = 0x2000;
/** Lines that are fetched before any of them is changed: their cache misses overlap. */
const LINES_AHEAD: usize = 16;
/** What was read has to go somewhere, or it would not be read. */
const TOUCHED: usize = memory.data(4, 4);

// @ts-ignore: decorator
@inline
function lineOf(hash: u64, lines: u32): usize {
  return <usize>(((hash & 0xffffffff) * <u64>lines) >> 32) << 6;
}

// @ts-ignore: decorator
@inline
function setBit(line: usize, bit: u32): void {
  // In words: a shift takes the last five bits of its count, without a mask. Bits above the ninth are passed over.
  const at = line + ((bit >> 3) & 60);
  store<u32>(at, load<u32>(at) | (1 << bit));
}

// @ts-ignore: decorator
@inline
function addToBloom(out: usize, hash: u64, lines: u32, probes: i32): void {
  const line = out + lineOf(hash, lines);
  let x = <u32>(hash >> 32);
  for (let i = 0; i < probes; i++) {
    setBit(line, x >> 23);
    x *= GOLDEN_RATIO;
  }
}

/** Puts the FastLocalBloom filter of the first `count` hashes to `out`: `lines` lines of 64 bytes. */
export function fillBloom(count: i32, out: usize, lines: u32, probes: i32): void {
  memory.fill(out, 0, <usize>lines << 6);
  const end = HASHES + (<usize>count << 3);
  if (lines <= CACHED_LINES_MAX) {
    for (let p = HASHES; p < end; p += 8) addToBloom(out, load<u64>(p), lines, probes);
    return;
  }
  for (let p = HASHES; p < end; ) {
    const stop = min(p + (LINES_AHEAD << 3), end);
    let touched: u32 = 0;
    for (let q = p; q < stop; q += 8) touched |= load<u8>(out + lineOf(load<u64>(q), lines));
    store<u32>(TOUCHED, touched);
    for (; p < stop; p += 8) addToBloom(out, load<u64>(p), lines, probes);
  }
}

// @ts-ignore: decorator
@inline
function addToLegacyBloom(out: usize, hash: u32, lines: u32, probes: i32): void {
  const line = out + (<usize>(hash % lines) << 6);
  const delta = rotr<u32>(hash, 17);
  let h = hash;
  let left = probes;
  for (; left >= 3; left -= 3) {
    setBit(line, h);
    setBit(line, h + delta);
    setBit(line, h + 2 * delta);
    h += 3 * delta;
  }
  for (; left > 0; left--) {
    setBit(line, h);
    h += delta;
  }
}

/** The same for a legacy filter: HASHES has the BloomHash of each key, u32. */
export function fillLegacyBloom(count: i32, out: usize, lines: u32, probes: i32): void {
  memory.fill(out, 0, <usize>lines << 6);
  const end = HASHES + (<usize>count << 2);
  if (lines <= CACHED_LINES_MAX) {
    for (let p = HASHES; p < end; p += 4) addToLegacyBloom(out, load<u32>(p), lines, probes);
    return;
  }
  for (let p = HASHES; p < end; ) {
    const stop = min(p + (LINES_AHEAD << 2), end);
    let touched: u32 = 0;
    for (let q = p; q < stop; q += 4) touched |= load<u8>(out + (<usize>(load<u32>(q) % lines) << 6));
    store<u32>(TOUCHED, touched);
    for (; p < stop; p += 4) addToLegacyBloom(out, load<u32>(p), lines, probes);
  }
}
