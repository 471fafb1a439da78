import { readFixed32 } from '../../bytes/fixed.ts';
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

/**
 * Queries of one Ribbon filter. The coefficients of a key reach over two blocks, as a rule; a column's bit is the
 * parity of what they choose of its two segments.
 *
 *   words of a block's segment and of the next one's:   0  1  2  3 | 4  5  6  7
 *   a row of 128 bits that starts at bit 40:               ^  ^  ^   ^  ^
 *
 * Source: RocksDB util/ribbon_alg.h, InterleavedFilterQuery.
 */
export class RibbonQuery {
  private readonly words: Int32Array;
  private readonly hasher: RibbonHasher;
  private readonly columns: number;
  private readonly shortBlocks: number;

  /** The filter is `data[0, dataBytes)`; an aligned copy is kept. */
  constructor(data: Uint8Array, dataBytes: number, blocks: number, seed: number) {
    const layout = ribbonLayout(dataBytes, blocks);
    this.columns = layout.columns;
    this.shortBlocks = layout.shortBlocks;
    this.hasher = new RibbonHasher(seed, blocks * RIBBON_ROW_BITS);
    this.words = new Int32Array(4 * (columnsBefore(layout, blocks) + 1));
    for (let i = 0; i < this.words.length - 4; i++) this.words[i] = readFixed32(data, 4 * i);
  }

  mayContain(lo: number, hi: number): boolean {
    const { hasher, words } = this;
    hasher.hash(lo, hi);
    const block = hasher.start >>> 7;
    const short = block < this.shortBlocks;
    const columns = short ? this.columns - 1 : this.columns;
    if (columns <= 0) return true;
    const segment = block * this.columns - (short ? block : this.shortBlocks);
    // The row, shifted by the bits within a word: five words.
    const { row0, row1, row2, row3 } = hasher;
    const shift = hasher.start & 31;
    const w0 = row0 << shift;
    const w1 = shift === 0 ? row1 : (row1 << shift) | (row0 >>> (32 - shift));
    const w2 = shift === 0 ? row2 : (row2 << shift) | (row1 >>> (32 - shift));
    const w3 = shift === 0 ? row3 : (row3 << shift) | (row2 >>> (32 - shift));
    const w4 = shift === 0 ? 0 : row3 >>> (32 - shift);
    // Where they lie in the first column, by words: from `first` on in this block, then in the next one.
    const first = (hasher.start >>> 5) & 3;
    const here = 4 * segment + first;
    const jump = 4 * columns - 4;
    let p0 = here;
    let p1 = first < 3 ? here + 1 : here + 1 + jump;
    let p2 = first < 2 ? here + 2 : here + 2 + jump;
    let p3 = first < 1 ? here + 3 : here + 3 + jump;
    let p4 = here + 4 + jump;
    let result = hasher.result;
    for (let i = 0; i < columns; i++) {
      const chosen =
        (words[p0]! & w0) ^
        (words[p1]! & w1) ^
        (words[p2]! & w2) ^
        (words[p3]! & w3) ^
        (w4 === 0 ? 0 : words[p4]! & w4);
      if (parity(chosen) !== (result & 1)) return false;
      result >>>= 1;
      p0 += 4;
      p1 += 4;
      p2 += 4;
      p3 += 4;
      p4 += 4;
    }
    return true;
  }
}

/** Segments of all blocks before `block`. */
function columnsBefore({ columns, shortBlocks }: RibbonLayout, block: number): number {
  return block * columns - Math.min(block, shortBlocks);
}

/** 1 where an odd number of bits is set. */
export function parity(x: number): number {
  x ^= x >>> 16;
  x ^= x >>> 8;
  x ^= x >>> 4;
  return (0x6996 >>> (x & 15)) & 1;
}
