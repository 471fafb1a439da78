import type { KeyHash } from '../../hash/key-hash.ts';
import {
  fastLocalBloomBytes,
  fastLocalBloomEntries,
  fastLocalBloomProbes,
  millibitsPerKey,
} from './bloom-math.ts';
import { createFilterHashes } from './create-filter-hashes.ts';
import type { FilterBuilder } from './filter-builder.ts';
import type { FilterHashes } from './filter-hashes.ts';

const NOTHING = new Uint8Array(0);

/**
 * The Bloom filter of format_version 5 and later, byte for byte as RocksDB builds it with
 * `optimize_filters_for_memory=false`.
 */
export class FastLocalBloomBuilder implements FilterBuilder {
  readonly kind = 'fast_local_bloom';
  private readonly hashes: FilterHashes;
  private readonly millibits: number;

  /** `bitsPerKey` at least 0.5. */
  constructor(bitsPerKey: number, hash: KeyHash) {
    this.hashes = createFilterHashes(hash);
    this.millibits = millibitsPerKey(bitsPerKey);
  }

  addKey(bytes: Uint8Array, start: number, end: number): void {
    this.hashes.addKey(bytes, start, end);
  }

  addKeyAndPrefix(bytes: Uint8Array, start: number, prefixEnd: number, end: number): void {
    this.hashes.addKeyAndPrefix(bytes, start, prefixEnd, end);
  }

  addHash(lo: number, hi: number): void {
    this.hashes.addHash(lo, hi);
  }

  get entries(): number {
    return this.hashes.entries;
  }

  hasEntries(count: number): boolean {
    return this.hashes.hasEntries(count);
  }

  entriesFor(size: number): number {
    return fastLocalBloomEntries(size, this.millibits);
  }

  finish(): Uint8Array {
    const filter = buildFastLocalBloom(this.hashes, this.millibits);
    this.hashes.reset();
    return filter;
  }
}

/** The FastLocalBloom filter of these hashes; empty when there are none. */
export function buildFastLocalBloom(hashes: FilterHashes, millibits: number): Uint8Array {
  const count = hashes.entries;
  if (count === 0) return NOTHING;
  return hashes.fillBloom(fastLocalBloomBytes(count, millibits), fastLocalBloomProbes(millibits));
}
