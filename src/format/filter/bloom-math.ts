import { FILTER_METADATA_BYTES, LINE_BYTES } from './filter-metadata.ts';

/**
 * Sizes, probes and error rates of Bloom filters. Bits a key come in thousandths ("millibits"), so that they are
 * the same on all machines. The order of floating-point operations is that of RocksDB: sizes depend on it.
 * Source: RocksDB util/bloom_impl.h; table/block_based/filter_policy.cc.
 */

/** Data bytes that a filter can have at most: positions of lines are 32 bits. */
const FAST_BYTES_MAX = 0xffffffc0;
const LEGACY_BITS_MAX = 0xffff0000;
const LINE_BITS = 8 * LINE_BYTES;
const BITS_PER_KEY_MAX = 100;

/** The setting as it counts: 0 (no filter) below 0.5, otherwise 1 to 100. */
export function effectiveBitsPerKey(bitsPerKey: number): number {
  if (bitsPerKey < 0.5) return 0;
  if (bitsPerKey < 1) return 1;
  return Math.min(bitsPerKey, BITS_PER_KEY_MAX);
}

/** Thousandths of a bit a key, 0 for no filter; three digits behind the point come out as they were written. */
export function millibitsPerKey(bitsPerKey: number): number {
  return Math.trunc(effectiveBitsPerKey(bitsPerKey) * 1000 + 0.500001);
}

/** Legacy Bloom filters have whole bits a key. */
export function wholeBitsPerKey(millibits: number): number {
  return Math.trunc((millibits + 500) / 1000);
}

/** [up to this many millibits, probes]; found by measuring, not by the formula. */
const FAST_PROBES: readonly (readonly [number, number])[] = [
  [2080, 1],
  [3580, 2],
  [5100, 3],
  [6640, 4],
  [8300, 5],
  [10070, 6],
  [11720, 7],
  [14001, 8],
  [16050, 9],
  [18300, 10],
  [22001, 11],
  [25501, 12],
];

export function fastLocalBloomProbes(millibits: number): number {
  for (const [most, probes] of FAST_PROBES) if (millibits <= most) return probes;
  // 25502 to 26000 give 11, one less than the row before them.
  return millibits > 50000 ? 24 : Math.trunc((millibits - 1) / 2000) - 1;
}

/** Data bytes for `count` hashes. */
export function fastLocalBloomBytes(count: number, millibits: number): number {
  const bytes = Math.floor((count * millibits + 7999) / 8000);
  return Math.ceil(Math.min(bytes, FAST_BYTES_MAX) / LINE_BYTES) * LINE_BYTES;
}

/** How many hashes a filter of `size` bytes, metadata included, has room for. */
export function fastLocalBloomEntries(size: number, millibits: number): number {
  const data = Math.min(Math.max(0, size - FILTER_METADATA_BYTES), FAST_BYTES_MAX);
  return Math.floor((8000 * LINE_BYTES * Math.floor(data / LINE_BYTES)) / millibits);
}

export function legacyBloomProbes(bits: number): number {
  return Math.min(30, Math.max(1, Math.trunc(bits * 0.69)));
}

/** An odd number, so that all bits of the hash have a say in which line it is. */
export function legacyBloomLines(count: number, bits: number): number {
  const lines = Math.ceil(Math.min(count * bits, LEGACY_BITS_MAX) / LINE_BITS);
  return lines % 2 === 0 ? lines + 1 : lines;
}

/** How many hashes a filter of `size` bytes, metadata included, has room for. */
export function legacyBloomEntries(size: number, bits: number): number {
  const bitsMax = Math.min(8 * size, LEGACY_BITS_MAX);
  let count = Math.floor(bitsMax / bits) + 1;
  while (count > 0 && legacyBloomLines(count, bits) * LINE_BYTES + FILTER_METADATA_BYTES > size) count--;
  return count;
}

/** False positive rate of a Bloom filter whose keys stay in lines of 64 bytes. */
export function fastLocalBloomFpRate(bitsPerKey: number, probes: number): number {
  if (bitsPerKey <= 0) return 1;
  const keysPerLine = LINE_BITS / bitsPerKey;
  // Lines are not equally full: the mean of one standard deviation above and below is close enough.
  const deviation = Math.sqrt(keysPerLine);
  const crowded = standardFpRate(LINE_BITS / (keysPerLine + deviation), probes);
  const uncrowded = standardFpRate(LINE_BITS / (keysPerLine - deviation), probes);
  return (crowded + uncrowded) / 2;
}

function standardFpRate(bitsPerKey: number, probes: number): number {
  return (1 - Math.exp(-probes / bitsPerKey)) ** probes;
}
