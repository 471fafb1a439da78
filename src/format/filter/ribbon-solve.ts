import { writeFixed32 } from '../../bytes/fixed.ts';
import { FILTER_METADATA_BYTES, RIBBON_MARKER } from './filter-metadata.ts';
import { RibbonHasher } from './ribbon-hasher.ts';
import { parity, ribbonLayout } from './ribbon-layout.ts';
import { RIBBON_ROW_BITS, SEGMENT_BYTES } from './ribbon-math.ts';

/** Seeds 0 to 255: the filter keeps the one that worked in a byte. */
const SEED_MASK = 0xff;

/**
 * A Ribbon filter of `dataBytes` bytes of data, a multiple of 16, and `slots` slots, of `count` hashes, which are pairs
 * of low and high half. Undefined when no seed works. The twin of assembly/ribbon.ts.
 */
export function solveRibbon(
  hashes: Uint32Array,
  count: number,
  slots: number,
  dataBytes: number,
): Uint8Array | undefined {
  const bands = new RibbonBands(slots);
  const seed = firstSolvable(hashes[0]!, (each) => bands.solve(hashes, count, each));
  if (seed === undefined) return undefined;
  const filter = new Uint8Array(dataBytes + FILTER_METADATA_BYTES);
  bands.substituteBack(filter, dataBytes);
  writeRibbonMetadata(filter, dataBytes, seed, slots);
  return filter;
}

/** The first seed that works; the low half of the first hash says with which one to begin. */
export function firstSolvable(firstLow: number, solve: (seed: number) => boolean): number | undefined {
  const firstSeed = firstLow & SEED_MASK;
  let seed = firstSeed;
  while (!solve(seed)) {
    seed = (seed + 1) & SEED_MASK;
    if (seed === firstSeed) return undefined;
  }
  return seed;
}

/** The five bytes behind the solution: marker, seed, number of blocks of 128 slots in 24 bits. */
export function writeRibbonMetadata(
  filter: Uint8Array,
  dataBytes: number,
  seed: number,
  slots: number,
): void {
  const blocks = slots / RIBBON_ROW_BITS;
  filter[dataBytes] = RIBBON_MARKER;
  filter[dataBytes + 1] = seed;
  filter[dataBytes + 2] = blocks;
  filter[dataBytes + 3] = blocks >>> 8;
  filter[dataBytes + 4] = blocks >>> 16;
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
