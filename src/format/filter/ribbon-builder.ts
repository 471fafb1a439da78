import { writeFixed32 } from '../../bytes/fixed.ts';
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
import type { FilterBuilder } from './filter-builder.ts';
import { FILTER_METADATA_BYTES, RIBBON_MARKER } from './filter-metadata.ts';
import { HashCollector } from './hash-collector.ts';
import { RibbonHasher } from './ribbon-hasher.ts';
import {
  RIBBON_ENTRIES_MAX,
  RIBBON_ROW_BITS,
  ribbonBytes,
  ribbonEntries,
  ribbonSlots,
  SEGMENT_BYTES,
} from './ribbon-math.ts';
import { parity, ribbonLayout } from './ribbon-query.ts';

/** Seeds 0 to 255: the filter keeps the one that worked in a byte. */
const SEED_MASK = 0xff;
/** From this many slots on a Ribbon filter is written even where a Bloom filter would be smaller. */
const BLOOM_SLOTS_BELOW = 1024;

/**
 * The Ribbon filter, byte for byte as RocksDB builds it with `optimize_filters_for_memory=false`: about 30 % smaller
 * than the Bloom filter of the same bits a key, for more time. Where it does not pay, or cannot be solved, it is that
 * Bloom filter.
 */
export class RibbonBuilder implements FilterBuilder {
  readonly kind = 'ribbon';
  private readonly collector: HashCollector;
  private readonly millibits: number;
  private readonly oneIn: number;

  /** `bitsPerKey` at least 0.5: those of the Bloom filter with the same rate of false positives. */
  constructor(bitsPerKey: number, hash: KeyHash) {
    this.collector = new HashCollector(hash);
    this.millibits = millibitsPerKey(bitsPerKey);
    this.oneIn = ribbonOneIn(bitsPerKey);
  }

  addKey(bytes: Uint8Array, start: number, end: number): void {
    this.collector.addKey(bytes, start, end);
  }

  addKeyAndPrefix(bytes: Uint8Array, start: number, prefixEnd: number, end: number): void {
    this.collector.addKeyAndPrefix(bytes, start, prefixEnd, end);
  }

  addHash(lo: number, hi: number): void {
    this.collector.addHash(lo, hi);
  }

  get entries(): number {
    return this.collector.entries;
  }

  hasEntries(count: number): boolean {
    return this.collector.hasEntries(count);
  }

  entriesFor(size: number): number {
    return ribbonEntries(size, this.oneIn, fastLocalBloomEntries(size, this.millibits));
  }

  finish(): Uint8Array {
    const { entries } = this.collector;
    const { hashes } = this.collector;
    const filter =
      buildRibbon(hashes, entries, this.oneIn, this.millibits) ??
      buildFastLocalBloom(hashes, entries, this.millibits);
    this.collector.reset();
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
 * A Ribbon filter of `count` hashes, which are pairs of low and high half. Undefined where a Bloom filter is to be
 * written. The first hash chooses the seed to begin with and how the size is rounded: the order of adding counts.
 * Source: RocksDB table/block_based/filter_policy.cc, Standard128RibbonBitsBuilder.
 */
export function buildRibbon(
  hashes: Uint32Array,
  count: number,
  oneIn: number,
  millibits: number,
): Uint8Array | undefined {
  if (count === 0 || count > RIBBON_ENTRIES_MAX) return undefined;
  const slots = ribbonSlots(count);
  const dataBytes = ribbonBytes(slots, oneIn, hashes[1]!);
  if (slots < BLOOM_SLOTS_BELOW && fastLocalBloomBytes(count, millibits) < dataBytes) return undefined;
  return solveRibbon(hashes, count, slots, dataBytes);
}

/** The same with a size that was chosen otherwise: `dataBytes` is a multiple of 16. Undefined when no seed works. */
export function solveRibbon(
  hashes: Uint32Array,
  count: number,
  slots: number,
  dataBytes: number,
): Uint8Array | undefined {
  const bands = new RibbonBands(slots);
  const firstSeed = hashes[0]! & SEED_MASK;
  let seed = firstSeed;
  while (!bands.solve(hashes, count, seed)) {
    seed = (seed + 1) & SEED_MASK;
    if (seed === firstSeed) return undefined;
  }
  const filter = new Uint8Array(dataBytes + FILTER_METADATA_BYTES);
  bands.substituteBack(filter, dataBytes);
  const blocks = slots / RIBBON_ROW_BITS;
  filter[dataBytes] = RIBBON_MARKER;
  filter[dataBytes + 1] = seed;
  filter[dataBytes + 2] = blocks;
  filter[dataBytes + 3] = blocks >>> 8;
  filter[dataBytes + 4] = blocks >>> 16;
  return filter;
}

/**
 * The equations of all keys, as a band matrix: slot i has at most one, whose coefficients begin in column i. Rows
 * are 128 bits in four words, least significant first; all zero is an empty slot.
 * Source: RocksDB util/ribbon_alg.h, BandingAdd, InterleavedBackSubst.
 */
class RibbonBands {
  private readonly rows: Int32Array;
  private readonly results: Int32Array;

  constructor(private readonly slots: number) {
    this.rows = new Int32Array(4 * slots);
    this.results = new Int32Array(slots);
  }

  /** Enters the equations of all hashes under that seed; false when two of them contradict each other. */
  solve(hashes: Uint32Array, count: number, seed: number): boolean {
    this.rows.fill(0);
    this.results.fill(0);
    const hasher = new RibbonHasher(seed, this.slots);
    for (let i = 0; i < 2 * count; i += 2) {
      hasher.hash(hashes[i]!, hashes[i + 1]!);
      if (!this.enter(hasher)) return false;
    }
    return true;
  }

  /** Gaussian elimination: what is in the slot is taken away, and the rest moved to its first coefficient. */
  private enter(hasher: RibbonHasher): boolean {
    const { rows, results } = this;
    let i = hasher.start;
    let c0 = hasher.row0;
    let c1 = hasher.row1;
    let c2 = hasher.row2;
    let c3 = hasher.row3;
    let r = hasher.result;
    for (;;) {
      const at = 4 * i;
      const there = rows[at]!;
      // The first coefficient of a stored row is always 1.
      if (there === 0) {
        rows[at] = c0;
        rows[at + 1] = c1;
        rows[at + 2] = c2;
        rows[at + 3] = c3;
        results[i] = r;
        return true;
      }
      c0 ^= there;
      c1 ^= rows[at + 1]!;
      c2 ^= rows[at + 2]!;
      c3 ^= rows[at + 3]!;
      r ^= results[i]!;
      if ((c0 | c1 | c2 | c3) === 0) return r === 0;
      while (c0 === 0) {
        c0 = c1;
        c1 = c2;
        c2 = c3;
        c3 = 0;
        i += 32;
      }
      const zeros = 31 - Math.clz32(c0 & -c0);
      if (zeros > 0) {
        const rest = 32 - zeros;
        c0 = (c0 >>> zeros) | (c1 << rest);
        c1 = (c1 >>> zeros) | (c2 << rest);
        c2 = (c2 >>> zeros) | (c3 << rest);
        c3 >>>= zeros;
        i += zeros;
      }
    }
  }

  /**
   * Solves for the slots from last to first, and puts the columns of each block into `out[0, dataBytes)`. A
   * column's last 128 bits are all that the next slot needs of it.
   */
  substituteBack(out: Uint8Array, dataBytes: number): void {
    const blocks = this.slots / RIBBON_ROW_BITS;
    const { columns, shortBlocks } = ribbonLayout(dataBytes, blocks);
    const state = new Int32Array(4 * columns);
    let at = SEGMENT_BYTES * (blocks * columns - shortBlocks);
    for (let block = blocks - 1; block >= 0; block--) {
      const width = block < shortBlocks ? columns - 1 : columns;
      for (let slot = RIBBON_ROW_BITS - 1; slot >= 0; slot--) {
        this.substituteSlot(state, width, block * RIBBON_ROW_BITS + slot);
      }
      at -= SEGMENT_BYTES * width;
      for (let i = 0; i < 4 * width; i++) writeFixed32(out, at + 4 * i, state[i]!);
    }
  }

  private substituteSlot(state: Int32Array, width: number, slot: number): void {
    const at = 4 * slot;
    const c0 = this.rows[at]!;
    const c1 = this.rows[at + 1]!;
    const c2 = this.rows[at + 2]!;
    const c3 = this.rows[at + 3]!;
    let results = this.results[slot]!;
    for (let p = 0; p < 4 * width; p += 4) {
      const s0 = state[p]!;
      const s1 = state[p + 1]!;
      const s2 = state[p + 2]!;
      const t0 = s0 << 1;
      const t1 = (s1 << 1) | (s0 >>> 31);
      const t2 = (s2 << 1) | (s1 >>> 31);
      const t3 = (state[p + 3]! << 1) | (s2 >>> 31);
      const bit = parity((t0 & c0) ^ (t1 & c1) ^ (t2 & c2) ^ (t3 & c3)) ^ (results & 1);
      state[p] = t0 | bit;
      state[p + 1] = t1;
      state[p + 2] = t2;
      state[p + 3] = t3;
      results >>>= 1;
    }
  }
}
