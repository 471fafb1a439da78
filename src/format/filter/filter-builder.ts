import type { FilterKind } from './filter-metadata.ts';

/**
 * Collects hashes and makes a filter of them. A hash equal to the last one added is skipped, so that the many
 * equal prefixes and versions of a key count once. After `finish` the builder is empty and takes the next filter.
 */
export interface FilterBuilder {
  readonly kind: FilterKind;
  /** Adds the key, or the prefix, `bytes[start, end)`. The bytes are copied. */
  addKey(bytes: Uint8Array, start: number, end: number): void;
  /**
   * Adds the prefix `bytes[start, prefixEnd)`, then the key `bytes[start, end)`; each is skipped where it repeats
   * the last of its kind, or the other one. Source: RocksDB's AddKeyAndAlt, since 9.6.
   */
  addKeyAndPrefix(bytes: Uint8Array, start: number, prefixEnd: number, end: number): void;
  /** Adds a key by its hash: the halves of XXPH3, or BloomHash as `lo`. */
  addHash(lo: number, hi: number): void;
  /** Hashes added so far: property `rocksdb.num.filter_entries`. */
  readonly entries: number;
  /** Whether there are `count` hashes or more. Cheaper than `entries`, as long as it is clear that there are not. */
  hasEntries(count: number): boolean;
  /** How many hashes a filter of `size` bytes, metadata included, has room for. */
  entriesFor(size: number): number;
  /** The filter block's contents; empty when nothing was added. */
  finish(): Uint8Array;
}
