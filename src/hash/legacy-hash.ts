import { readFixed32 } from '../bytes/fixed.ts';

/** Seed of the data block's hash index and of plain tables (GetSliceHash). */
export const SLICE_HASH_SEED = 397;
/** Seed of the Bloom filters of tables before format_version 5 (BloomHash). */
export const BLOOM_HASH_SEED = 0xbc9f1d34;

/**
 * Hash32 of `bytes[start, end)` as uint32: the hash that LevelDB and RocksDB began with.
 * Tail bytes count as signed, so that files do not depend on the compiler: 0x80 is 0xffffff80.
 * Source: RocksDB util/hash.cc, Hash.
 */
export function legacyHash32(bytes: Uint8Array, start: number, end: number, seed: number): number {
  // A constant of the module is a variable in the bundle, and would be loaded for each word.
  const m = 0xc6a4a793 | 0;
  let h = seed ^ Math.imul(end - start, m);
  let p = start;
  for (; p + 4 <= end; p += 4) {
    h = Math.imul(h + readFixed32(bytes, p), m);
    h ^= h >>> 16;
  }
  if (p === end) return h >>> 0;
  for (let i = end - 1; i > p; i--) h += ((bytes[i]! << 24) >> 24) << (8 * (i - p));
  h = Math.imul(h + ((bytes[p]! << 24) >> 24), m);
  return (h ^ (h >>> 24)) >>> 0;
}

const NO_BYTES: Uint8Array = new Uint8Array(0);
const NO_VIEW: DataView = new DataView(NO_BYTES.buffer);

/**
 * The same for many keys, most of them from the same array: a view on it makes four bytes one load, which takes two
 * thirds of the time.
 */
export class LegacyHasher {
  private source = NO_BYTES;
  private view = NO_VIEW;

  private readonly seed: number;

  constructor(seed: number) {
    this.seed = seed | 0;
  }

  /** As int32. */
  hash(bytes: Uint8Array, start: number, end: number): number {
    if (bytes !== this.source) {
      this.source = bytes;
      this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    const { view } = this;
    const m = 0xc6a4a793 | 0;
    let h = this.seed ^ Math.imul(end - start, m);
    let p = start;
    for (; p + 8 <= end; p += 8) {
      h = Math.imul(h + view.getInt32(p, true), m);
      h ^= h >>> 16;
      h = Math.imul(h + view.getInt32(p + 4, true), m);
      h ^= h >>> 16;
    }
    if (p + 4 <= end) {
      h = Math.imul(h + view.getInt32(p, true), m);
      h ^= h >>> 16;
      p += 4;
    }
    if (p === end) return h;
    if (p + 2 < end) h += view.getInt8(p + 2) << 16;
    if (p + 1 < end) h += view.getInt8(p + 1) << 8;
    h = Math.imul(h + view.getInt8(p), m);
    return h ^ (h >>> 24);
  }

  /** Lets go of the last array. */
  release(): void {
    this.source = NO_BYTES;
    this.view = NO_VIEW;
  }
}
