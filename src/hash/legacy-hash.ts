import { readFixed32 } from '../bytes/fixed.ts';

/** Seed of the data block's hash index and of plain tables (GetSliceHash). */
export const SLICE_HASH_SEED = 397;
/** Seed of the Bloom filters of tables before format_version 5 (BloomHash). */
export const BLOOM_HASH_SEED = 0xbc9f1d34;

const M = 0xc6a4a793;

/**
 * Hash32 of `bytes[start, end)` as uint32: the hash that LevelDB and RocksDB began with.
 * Tail bytes count as signed, so that files do not depend on the compiler: 0x80 is 0xffffff80.
 * Source: RocksDB util/hash.cc, Hash.
 */
export function legacyHash32(bytes: Uint8Array, start: number, end: number, seed: number): number {
  let h = seed ^ Math.imul(end - start, M);
  let p = start;
  for (; p + 4 <= end; p += 4) {
    h = Math.imul(h + readFixed32(bytes, p), M);
    h ^= h >>> 16;
  }
  if (p < end) {
    if (p + 2 < end) h = (h + (signed(bytes[p + 2]!) << 16)) | 0;
    if (p + 1 < end) h = (h + (signed(bytes[p + 1]!) << 8)) | 0;
    h = Math.imul(h + signed(bytes[p]!), M);
    h ^= h >>> 24;
  }
  return h >>> 0;
}

function signed(byte: number): number {
  return (byte << 24) >> 24;
}
