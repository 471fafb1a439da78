import type { KeyHash } from '../../hash/key-hash.ts';
import { buildFastLocalBloom } from './bloom-builder.ts';
import {
  effectiveBitsPerKey,
  fastLocalBloomBytes,
  fastLocalBloomEntries,
  fastLocalBloomFpRate,
  fastLocalBloomProbes,
  millibitsPerKey,
} from './bloom-math.ts';
import { createFilterHashes } from './create-filter-hashes.ts';
import type { FilterBuilder } from './filter-builder.ts';
import type { FilterHashes } from './filter-hashes.ts';
import { RIBBON_ENTRIES_MAX, ribbonBytes, ribbonEntries, ribbonSlots } from './ribbon-math.ts';

/** From this many slots on a Ribbon filter is written even where a Bloom filter would be smaller. */
const BLOOM_SLOTS_BELOW = 1024;

/**
 * The Ribbon filter, byte for byte as RocksDB builds it with `optimize_filters_for_memory=false`: about 30 % smaller
 * than the Bloom filter of the same bits a key, for more time. Where it does not pay, or cannot be solved, it is that
 * Bloom filter.
 */
export class RibbonBuilder implements FilterBuilder {
  readonly kind = 'ribbon';
  private readonly hashes: FilterHashes;
  private readonly millibits: number;
  private readonly oneIn: number;

  /** `bitsPerKey` at least 0.5: those of the Bloom filter with the same rate of false positives. */
  constructor(bitsPerKey: number, hash: KeyHash) {
    this.hashes = createFilterHashes(hash);
    this.millibits = millibitsPerKey(bitsPerKey);
    this.oneIn = ribbonOneIn(bitsPerKey);
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
    return ribbonEntries(size, this.oneIn, fastLocalBloomEntries(size, this.millibits));
  }

  finish(): Uint8Array {
    const filter =
      buildRibbon(this.hashes, this.oneIn, this.millibits) ??
      buildFastLocalBloom(this.hashes, this.millibits);
    this.hashes.reset();
    return filter;
  }
}

/**
 * One false positive in how many keys a Ribbon filter of these bits a key is made for. exp and pow differ in the
 * last bit between machines, RocksDB's too; a size depends on it once in some 10^12 filters.
 */
export function ribbonOneIn(bitsPerKey: number): number {
  const probes = fastLocalBloomProbes(millibitsPerKey(bitsPerKey));
  return 1 / fastLocalBloomFpRate(effectiveBitsPerKey(bitsPerKey), probes);
}

/**
 * The Ribbon filter of these hashes. Undefined where a Bloom filter is to be written. The first hash chooses the seed
 * to begin with and how the size is rounded: the order of adding counts.
 * Source: RocksDB table/block_based/filter_policy.cc, Standard128RibbonBitsBuilder.
 */
export function buildRibbon(hashes: FilterHashes, oneIn: number, millibits: number): Uint8Array | undefined {
  const count = hashes.entries;
  if (count === 0 || count > RIBBON_ENTRIES_MAX) return undefined;
  const slots = ribbonSlots(count);
  const dataBytes = ribbonBytes(slots, oneIn, hashes.firstHigh);
  if (slots < BLOOM_SLOTS_BELOW && fastLocalBloomBytes(count, millibits) < dataBytes) return undefined;
  return hashes.solveRibbon(slots, dataBytes);
}
