import type { KeyHash } from '../../hash/key-hash.ts';
import { BLOOM_HASH_SEED, legacyHash32 } from '../../hash/legacy-hash.ts';
import {
  fastLocalBloomMayContain,
  fastLocalBloomMayContainMany,
  legacyBloomMayContain,
} from './bloom-bits.ts';
import {
  decodeFilterMetadata,
  FILTER_METADATA_BYTES,
  type FilterFacts,
  type FilterKind,
} from './filter-metadata.ts';
import { RibbonQuery } from './ribbon-query.ts';

/** Counts that show how often filters are decoded: once a filter, where they are kept open. */
export interface FilterCounters {
  filterMetadataParses: number;
}

/** Keys that one call of the hash kernel takes, in `mayContainMany`. */
const BATCH_KEYS = 512;

/**
 * An open full filter, or one open partition. A "no" is certain for the key or prefix itself, and says nothing of
 * range tombstones that cover it. What is asked for must be what was added: user keys without timestamp, prefixes.
 */
export class FilterReader {
  readonly kind: FilterKind;
  private readonly lines: number;
  private readonly lineBytes: number;
  private readonly probes: number;
  private readonly ribbon: RibbonQuery | undefined;
  private hashes: Uint32Array | undefined;

  /** The filter's bytes are kept, except those of a Ribbon filter, which are copied. */
  constructor(
    private readonly contents: Uint8Array,
    readonly facts: FilterFacts,
  ) {
    this.kind = facts.kind;
    this.lines = facts.lines;
    this.lineBytes = facts.lineBytes;
    this.probes = facts.probes;
    this.ribbon =
      facts.kind === 'ribbon'
        ? new RibbonQuery(contents, facts.dataBytes, facts.blocks, facts.seed)
        : undefined;
    this.hashes = undefined;
  }

  /**
   * Which hash of a key it asks for: XXPH3; the 32 bits of BloomHash (legacy); or none, because it says the same
   * of all keys.
   */
  get hash(): 'xxph3' | 'bloom_hash' | 'none' {
    if (this.kind === 'legacy_bloom') return 'bloom_hash';
    return this.kind === 'fast_local_bloom' || this.kind === 'ribbon' ? 'xxph3' : 'none';
  }

  /** By the halves of the hash that `hash` names, as uint32; of BloomHash `lo` alone counts. */
  mayContainHash(lo: number, hi: number): boolean {
    switch (this.kind) {
      case 'fast_local_bloom':
        return fastLocalBloomMayContain(this.contents, this.lines, this.probes, lo, hi);
      case 'ribbon':
        return this.ribbon!.mayContain(lo, hi);
      case 'legacy_bloom':
        return legacyBloomMayContain(this.contents, this.lines, this.lineBytes, this.probes, lo);
      case 'always_true':
        return true;
      case 'always_false':
        return false;
    }
  }

  /** By the key or prefix `bytes[start, end)`. */
  mayContain(hash: KeyHash, bytes: Uint8Array, start: number, end: number): boolean {
    switch (this.kind) {
      case 'fast_local_bloom': {
        const lo = hash.xxph3(bytes, start, end);
        return fastLocalBloomMayContain(this.contents, this.lines, this.probes, lo, hash.high());
      }
      case 'ribbon': {
        const lo = hash.xxph3(bytes, start, end);
        return this.ribbon!.mayContain(lo, hash.high());
      }
      case 'legacy_bloom':
        return this.mayContainHash(legacyHash32(bytes, start, end, BLOOM_HASH_SEED), 0);
      case 'always_true':
        return true;
      case 'always_false':
        return false;
    }
  }

  /**
   * For `count` hashes of the kind that `hash` names, low half in `hashes[2 * i]`, high half behind it: puts 1 into
   * `out[i]` where the key may be there, otherwise 0. Returns how many may be.
   */
  mayContainHashes(hashes: Uint32Array, count: number, out: Uint8Array): number {
    if (this.kind === 'fast_local_bloom') {
      return fastLocalBloomMayContainMany(this.contents, this.lines, this.probes, hashes, count, out);
    }
    let found = 0;
    for (let i = 0; i < count; i++) {
      const may = this.mayContainHash(hashes[2 * i]!, hashes[2 * i + 1]!) ? 1 : 0;
      out[i] = may;
      found += may;
    }
    return found;
  }

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
  ): number {
    this.hashes ??= new Uint32Array(2 * BATCH_KEYS);
    const { hashes } = this;
    let found = 0;
    for (let first = 0; first < count; first += BATCH_KEYS) {
      const batch = Math.min(BATCH_KEYS, count - first);
      this.hashKeys(hash, bytes, first === 0 ? offsets : offsets.subarray(first), batch, hashes);
      found += this.mayContainHashes(hashes, batch, first === 0 ? out : out.subarray(first));
    }
    return found;
  }

  private hashKeys(
    hash: KeyHash,
    bytes: Uint8Array,
    offsets: Uint32Array,
    count: number,
    hashes: Uint32Array,
  ): void {
    if (this.hash === 'xxph3') hash.xxph3Batch(bytes, offsets, count, hashes);
    if (this.hash !== 'bloom_hash') return;
    for (let i = 0; i < count; i++) {
      hashes[2 * i] = legacyHash32(bytes, offsets[i]!, offsets[i + 1]!, BLOOM_HASH_SEED);
    }
  }
}

/** Decodes the metadata of a filter block or partition; never throws: what is not known lets every key pass. */
export function openFilter(contents: Uint8Array, counters?: FilterCounters): FilterReader {
  if (counters !== undefined) counters.filterMetadataParses++;
  const metadata = contents.subarray(Math.max(0, contents.length - FILTER_METADATA_BYTES));
  return new FilterReader(contents, decodeFilterMetadata(contents.length, metadata));
}
