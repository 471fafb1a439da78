import type { KeyHash } from '../../hash/key-hash.ts';
import type { FilterFacts, FilterKind } from './filter-metadata.ts';

/** Counts that show how often filters are decoded: once a filter, where they are kept open. */
export interface FilterCounters {
  filterMetadataParses: number;
}

/**
 * An open full filter, or one open partition; its bytes are kept. A "no" is certain for the key or prefix itself, and
 * says nothing of range tombstones that cover it. What is asked for must be what was added: user keys without
 * timestamp, prefixes.
 */
export interface FilterReader {
  readonly kind: FilterKind;
  readonly facts: FilterFacts;
  /**
   * Which hash of a key it asks for: XXPH3; the 32 bits of BloomHash (legacy); or none, because it says the same
   * of all keys.
   */
  readonly hash: 'xxph3' | 'bloom_hash' | 'none';
  /** By the halves of the hash that `hash` names, as uint32; of BloomHash `lo` alone counts. */
  mayContainHash(lo: number, hi: number): boolean;
  /** By the key or prefix `bytes[start, end)`. */
  mayContain(hash: KeyHash, bytes: Uint8Array, start: number, end: number): boolean;
  /**
   * For `count` hashes of the kind that `hash` names, low half in `hashes[2 * i]`, high half behind it: puts 1 into
   * `out[i]` where the key may be there, otherwise 0. Returns how many may be.
   */
  mayContainHashes(hashes: Uint32Array, count: number, out: Uint8Array): number;
  /**
   * The same for `count` keys that lie one behind the other, key i in `bytes[offsets[i], offsets[i + 1])`: a key
   * takes a third of the time that a call of its own takes, most of which is that of the hash kernel.
   */
  mayContainMany(
    hash: KeyHash,
    bytes: Uint8Array,
    offsets: Uint32Array,
    count: number,
    out: Uint8Array,
  ): number;
}
