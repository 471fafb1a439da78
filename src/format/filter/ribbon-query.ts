import type { KeyHash } from '../../hash/key-hash.ts';
import { RibbonHasher } from './ribbon-hasher.ts';
import { RIBBON_COLUMNS_MAX, RIBBON_ROW_BITS, SEGMENT_BYTES } from './ribbon-math.ts';

/** How the segments of a Ribbon filter lie: block by block, column by column. */
export interface RibbonLayout {
  /** Columns of a block from `shortBlocks` on; the blocks before have one less. */
  readonly columns: number;
  readonly shortBlocks: number;
}

/** Of a filter with `dataBytes` bytes of segments and `blocks` blocks. */
export function ribbonLayout(dataBytes: number, blocks: number): RibbonLayout {
  const segments = Math.floor(dataBytes / SEGMENT_BYTES);
  const columns = Math.ceil(segments / blocks);
  if (columns > RIBBON_COLUMNS_MAX) return { columns: RIBBON_COLUMNS_MAX, shortBlocks: 0 };
  return { columns, shortBlocks: columns * blocks - segments };
}

/** Columns that are looked at before an answer counts: 7 of 8 keys that are not there end with the first of them. */
const COLUMNS_AT_ONCE = 3;

/**
 * Queries of one Ribbon filter. The coefficients of a key reach over two blocks, as a rule; a column's bit is the
 * parity of what they choose of its two segments.
 *
 *   words of a block's segment and of the next one's:   0  1  2  3 | 4  5  6  7
 *   a row of 128 bits that starts at bit 40:               ^  ^  ^   ^  ^
 *
 * There are no branches on what a key's row is: where it begins, which words it has, whether its block is short. The
 * processor would guess every second one wrong.
 * Source: RocksDB util/ribbon_alg.h, InterleavedFilterQuery.
 */
export class RibbonQuery {
  private readonly view: DataView;
  private readonly columns: number;
  private readonly shortBlocks: number;
  private readonly rawSeed: number;
  private readonly starts: number;
  private readonly hasher: RibbonHasher;

  /** The filter is `data[0, dataBytes)`, which is kept. */
  constructor(data: Uint8Array, dataBytes: number, blocks: number, seed: number) {
    const layout = ribbonLayout(dataBytes, blocks);
    this.view = new DataView(data.buffer, data.byteOffset, data.byteLength);
    this.columns = layout.columns;
    this.shortBlocks = layout.shortBlocks;
    this.hasher = new RibbonHasher(seed, blocks * RIBBON_ROW_BITS);
    this.rawSeed = this.hasher.rawSeed;
    this.starts = this.hasher.starts;
  }

  /** By the halves of a key's XXPH3, as uint32. */
  mayContainHash(lo: number, hi: number): boolean {
    const { hasher } = this;
    hasher.hash(lo, hi);
    return this.ask(hasher.start, hasher.result, hasher.row0, hasher.row1, hasher.row2, hasher.row3);
  }

  mayContain(hash: KeyHash, bytes: Uint8Array, start: number, end: number): boolean {
    if (hash.ribbonEquation === undefined || end - start > hash.ribbonKeyMax!) {
      const lo = hash.xxph3(bytes, start, end);
      return this.mayContainHash(lo, hash.high());
    }
    const e = hash.ribbonEquation(bytes, start, end, this.rawSeed, this.starts);
    return this.ask(e[0]! >>> 0, e[1]!, e[2]!, e[3]!, e[4]!, e[5]!);
  }

  private ask(
    start: number,
    result: number,
    row0: number,
    row1: number,
    row2: number,
    row3: number,
  ): boolean {
    const { view, columns, shortBlocks } = this;
    if (columns === 0) return true;
    const block = start >>> 7;
    // 1 where the block has a column less; 0 or negative: how far it is before the others.
    const short = (block - shortBlocks) >>> 31;
    const before = (block - shortBlocks) & -short;
    const segment = block * columns - shortBlocks - before;
    // The row, shifted by the bits within a word: five words. A shift by 32 would be none: it is made of two.
    const shift = start & 31;
    const rest = 31 - shift;
    const w0 = row0 << shift;
    const w1 = (row1 << shift) | ((row0 >>> 1) >>> rest);
    const w2 = (row2 << shift) | ((row1 >>> 1) >>> rest);
    const w3 = (row3 << shift) | ((row2 >>> 1) >>> rest);
    const w4 = (row3 >>> 1) >>> rest;
    // Where they lie in the first column: from `first` on in this block, then in the next one.
    const first = (start >>> 5) & 3;
    const jump = SEGMENT_BYTES * (columns - short - 1);
    let p0 = SEGMENT_BYTES * segment + 4 * first;
    let p1 = p0 + 4 + (jump & ((2 - first) >> 31));
    let p2 = p0 + 8 + (jump & ((1 - first) >> 31));
    let p3 = p0 + 12 + (jump & (-first >> 31));
    // Where all of the row is in this block there may be no next one.
    let p4 = p0 + ((16 + jump) & (-shift >> 31));
    let left = columns;
    for (; left > COLUMNS_AT_ONCE; left -= COLUMNS_AT_ONCE) {
      const wrong =
        (columnOf(view, p0, p1, p2, p3, p4, w0, w1, w2, w3, w4) ^ result) |
        (columnOf(view, p0 + 16, p1 + 16, p2 + 16, p3 + 16, p4 + 16, w0, w1, w2, w3, w4) ^ (result >>> 1)) |
        (columnOf(view, p0 + 32, p1 + 32, p2 + 32, p3 + 32, p4 + 32, w0, w1, w2, w3, w4) ^ (result >>> 2));
      if ((wrong & 1) !== 0) return false;
      result >>>= COLUMNS_AT_ONCE;
      p0 += COLUMNS_AT_ONCE * SEGMENT_BYTES;
      p1 += COLUMNS_AT_ONCE * SEGMENT_BYTES;
      p2 += COLUMNS_AT_ONCE * SEGMENT_BYTES;
      p3 += COLUMNS_AT_ONCE * SEGMENT_BYTES;
      p4 += COLUMNS_AT_ONCE * SEGMENT_BYTES;
    }
    let wrong = 0;
    for (; left > 1; left--) {
      wrong |= columnOf(view, p0, p1, p2, p3, p4, w0, w1, w2, w3, w4) ^ result;
      result >>>= 1;
      p0 += SEGMENT_BYTES;
      p1 += SEGMENT_BYTES;
      p2 += SEGMENT_BYTES;
      p3 += SEGMENT_BYTES;
      p4 += SEGMENT_BYTES;
    }
    // The last column of a short block is another block's.
    wrong |= (columnOf(view, p0, p1, p2, p3, p4, w0, w1, w2, w3, w4) ^ result) & ~short;
    return (wrong & 1) === 0;
  }
}

/** Bit 0: the parity of what a row's five words choose of a column; the other bits are not zero. */
function columnOf(
  view: DataView,
  p0: number,
  p1: number,
  p2: number,
  p3: number,
  p4: number,
  w0: number,
  w1: number,
  w2: number,
  w3: number,
  w4: number,
): number {
  let chosen =
    (view.getInt32(p0, true) & w0) ^
    (view.getInt32(p1, true) & w1) ^
    (view.getInt32(p2, true) & w2) ^
    (view.getInt32(p3, true) & w3) ^
    (view.getInt32(p4, true) & w4);
  chosen ^= chosen >>> 16;
  chosen ^= chosen >>> 8;
  chosen ^= chosen >>> 4;
  return 0x6996 >>> (chosen & 15);
}

/** 1 where an odd number of bits is set. */
export function parity(x: number): number {
  x ^= x >>> 16;
  x ^= x >>> 8;
  x ^= x >>> 4;
  return (0x6996 >>> (x & 15)) & 1;
}
