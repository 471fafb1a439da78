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
 * An open full filter, or one open partition; its bytes are kept. A "no" is certain for the key or prefix itself, and
 * says nothing of range tombstones that cover it. What is asked for must be what was added: user keys without
 * timestamp, prefixes. Each kind has a class of its own, with the few fields that a query reads: where filters are many
 * a query waits for memory, and each object on the way is one wait more.
 */
export abstract class FilterReader {
  /**
   * Which hash of a key it asks for: XXPH3; the 32 bits of BloomHash (legacy); or none, because it says the same
   * of all keys.
   */
  abstract readonly hash: 'xxph3' | 'bloom_hash' | 'none';
  private hashes: Uint32Array | undefined = undefined;

  constructor(readonly facts: FilterFacts) {}

  get kind(): FilterKind {
    return this.facts.kind;
  }

  /** By the halves of the hash that `hash` names, as uint32; of BloomHash `lo` alone counts. */
  abstract mayContainHash(lo: number, hi: number): boolean;

  /** By the key or prefix `bytes[start, end)`. */
  abstract mayContain(hash: KeyHash, bytes: Uint8Array, start: number, end: number): boolean;

  /**
   * For `count` hashes of the kind that `hash` names, low half in `hashes[2 * i]`, high half behind it: puts 1 into
   * `out[i]` where the key may be there, otherwise 0. Returns how many may be.
   */
  mayContainHashes(hashes: Uint32Array, count: number, out: Uint8Array): number {
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

class FastLocalBloomReader extends FilterReader {
  private readonly lines: number;
  private readonly probes: number;

  constructor(
    facts: FilterFacts,
    private readonly contents: Uint8Array,
  ) {
    super(facts);
    this.lines = facts.lines;
    this.probes = facts.probes;
  }

  get hash() {
    return 'xxph3' as const;
  }

  mayContainHash(lo: number, hi: number): boolean {
    return fastLocalBloomMayContain(this.contents, this.lines, this.probes, lo, hi);
  }

  mayContain(hash: KeyHash, bytes: Uint8Array, start: number, end: number): boolean {
    // Read before the hash is there: the processor waits for both at once.
    const { contents, lines, probes } = this;
    const lo = hash.xxph3(bytes, start, end);
    return fastLocalBloomMayContain(contents, lines, probes, lo, hash.high());
  }

  override mayContainHashes(hashes: Uint32Array, count: number, out: Uint8Array): number {
    return fastLocalBloomMayContainMany(this.contents, this.lines, this.probes, hashes, count, out);
  }
}

class LegacyBloomReader extends FilterReader {
  private readonly lines: number;
  private readonly lineBytes: number;
  private readonly probes: number;

  constructor(
    facts: FilterFacts,
    private readonly contents: Uint8Array,
  ) {
    super(facts);
    this.lines = facts.lines;
    this.lineBytes = facts.lineBytes;
    this.probes = facts.probes;
  }

  get hash() {
    return 'bloom_hash' as const;
  }

  mayContainHash(lo: number): boolean {
    return legacyBloomMayContain(this.contents, this.lines, this.lineBytes, this.probes, lo);
  }

  mayContain(_hash: KeyHash, bytes: Uint8Array, start: number, end: number): boolean {
    return this.mayContainHash(legacyHash32(bytes, start, end, BLOOM_HASH_SEED));
  }
}

class RibbonReader extends FilterReader {
  private readonly query: RibbonQuery;

  constructor(facts: FilterFacts, contents: Uint8Array) {
    super(facts);
    this.query = new RibbonQuery(contents, facts.dataBytes, facts.blocks, facts.seed);
  }

  get hash() {
    return 'xxph3' as const;
  }

  mayContainHash(lo: number, hi: number): boolean {
    return this.query.mayContainHash(lo, hi);
  }

  mayContain(hash: KeyHash, bytes: Uint8Array, start: number, end: number): boolean {
    return this.query.mayContain(hash, bytes, start, end);
  }
}

/** Says the same of all keys. */
class ConstantReader extends FilterReader {
  get hash() {
    return 'none' as const;
  }

  mayContainHash(): boolean {
    return this.facts.kind === 'always_true';
  }

  mayContain(): boolean {
    return this.facts.kind === 'always_true';
  }
}

/** Decodes the metadata of a filter block or partition; never throws: what is not known lets every key pass. */
export function openFilter(contents: Uint8Array, counters?: FilterCounters): FilterReader {
  if (counters !== undefined) counters.filterMetadataParses++;
  const metadata = contents.subarray(Math.max(0, contents.length - FILTER_METADATA_BYTES));
  const facts = decodeFilterMetadata(contents.length, metadata);
  switch (facts.kind) {
    case 'fast_local_bloom':
      return new FastLocalBloomReader(facts, contents);
    case 'legacy_bloom':
      return new LegacyBloomReader(facts, contents);
    case 'ribbon':
      return new RibbonReader(facts, contents);
    default:
      return new ConstantReader(facts);
  }
}
