import type { KeyHash } from '../../hash/key-hash.ts';
import { BLOOM_HASH_SEED, legacyHash32 } from '../../hash/legacy-hash.ts';
import { askHashes, askKeys } from './ask-many.ts';
import {
  fastLocalBloomMayContain,
  fastLocalBloomMayContainMany,
  legacyBloomMayContain,
} from './bloom-bits.ts';
import type { FilterFacts } from './filter-metadata.ts';
import type { FilterReader } from './filter-reader.ts';

/**
 * Readers are views on their filter's bytes, with the few fields beside that a query reads, and no objects with a view:
 * where filters are many, a query waits for memory, and each object on the way to the bits is one wait more.
 */

export class FastLocalBloomReader extends Uint8Array implements FilterReader {
  private readonly lines: number;
  private readonly probes: number;

  constructor(
    readonly facts: FilterFacts,
    contents: Uint8Array,
  ) {
    super(contents.buffer as ArrayBuffer, contents.byteOffset, contents.byteLength);
    this.lines = facts.lines;
    this.probes = facts.probes;
  }

  get kind() {
    return this.facts.kind;
  }

  get hash() {
    return 'xxph3' as const;
  }

  mayContainHash(lo: number, hi: number): boolean {
    return fastLocalBloomMayContain(this, this.lines, this.probes, lo, hi);
  }

  mayContain(hash: KeyHash, bytes: Uint8Array, start: number, end: number): boolean {
    // Read before the hash is there: the processor waits for both at once.
    const { lines, probes } = this;
    const lo = hash.xxph3(bytes, start, end);
    return fastLocalBloomMayContain(this, lines, probes, lo, hash.high());
  }

  mayContainHashes(hashes: Uint32Array, count: number, out: Uint8Array): number {
    return fastLocalBloomMayContainMany(this, this.lines, this.probes, hashes, count, out);
  }

  mayContainMany(...keys: Parameters<FilterReader['mayContainMany']>): number {
    return askKeys(this, ...keys);
  }
}

/** The Bloom filter of format_version below 5: probes of one key lie in one line. */
export class LegacyBloomReader extends Uint8Array implements FilterReader {
  private readonly lines: number;
  private readonly lineBytes: number;
  private readonly probes: number;

  constructor(
    readonly facts: FilterFacts,
    contents: Uint8Array,
  ) {
    super(contents.buffer as ArrayBuffer, contents.byteOffset, contents.byteLength);
    this.lines = facts.lines;
    this.lineBytes = facts.lineBytes;
    this.probes = facts.probes;
  }

  get kind() {
    return this.facts.kind;
  }

  get hash() {
    return 'bloom_hash' as const;
  }

  mayContainHash(lo: number): boolean {
    return legacyBloomMayContain(this, this.lines, this.lineBytes, this.probes, lo);
  }

  mayContain(_hash: KeyHash, bytes: Uint8Array, start: number, end: number): boolean {
    const { lines, lineBytes, probes } = this;
    const hash = legacyHash32(bytes, start, end, BLOOM_HASH_SEED);
    return legacyBloomMayContain(this, lines, lineBytes, probes, hash);
  }

  mayContainHashes(hashes: Uint32Array, count: number, out: Uint8Array): number {
    return askHashes(this, hashes, count, out);
  }

  mayContainMany(...keys: Parameters<FilterReader['mayContainMany']>): number {
    return askKeys(this, ...keys);
  }
}
