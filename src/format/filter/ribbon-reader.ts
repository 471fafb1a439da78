import type { KeyHash } from '../../hash/key-hash.ts';
import { askHashes, askKeys } from './ask-many.ts';
import type { FilterFacts } from './filter-metadata.ts';
import type { FilterReader } from './filter-reader.ts';
import { RibbonHasher } from './ribbon-hasher.ts';
import { ribbonLayout } from './ribbon-layout.ts';
import { RIBBON_ROW_BITS, SEGMENT_BYTES } from './ribbon-math.ts';

/** TypeScript's own type of the constructor cannot be extended. */
const View: new (buffer: ArrayBufferLike, offset: number, length: number) => DataView = DataView;

/** Columns that are looked at before an answer counts: 7 of 8 keys that are not there end with the first of them. */
const COLUMNS_AT_ONCE = 3;

/**
 * A Ribbon filter, as a view on its bytes (bloom-readers.ts says why). The coefficients of a key reach over two blocks,
 * as a rule; a column's bit is the parity of what they choose of its two segments.
 *
 *   words of a block's segment and of the next one's:   0  1  2  3 | 4  5  6  7
 *   a row of 128 bits that starts at bit 40:               ^  ^  ^   ^  ^
 *
 * There are no branches on what a key's row is: where it begins, which words it has, whether its block is short. The
 * processor would guess every second one wrong.
 * Source: RocksDB util/ribbon_alg.h, InterleavedFilterQuery.
 */
export class RibbonReader extends View implements FilterReader {
  private readonly columns: number;
  private readonly shortBlocks: number;
  private readonly rawSeed: number;
  private readonly starts: number;
  private readonly hasher: RibbonHasher;

  constructor(
    readonly facts: FilterFacts,
    contents: Uint8Array,
  ) {
    super(contents.buffer, contents.byteOffset, contents.byteLength);
    const { columns, shortBlocks } = ribbonLayout(facts.dataBytes, facts.blocks);
    this.columns = columns;
    this.shortBlocks = shortBlocks;
    this.hasher = new RibbonHasher(facts.seed, facts.blocks * RIBBON_ROW_BITS);
    this.rawSeed = this.hasher.rawSeed;
    this.starts = this.hasher.starts;
  }

  get kind() {
    return this.facts.kind;
  }

  get hash() {
    return 'xxph3' as const;
  }

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

  mayContainHashes(hashes: Uint32Array, count: number, out: Uint8Array): number {
    return askHashes(this, hashes, count, out);
  }

  mayContainMany(...keys: Parameters<FilterReader['mayContainMany']>): number {
    return askKeys(this, ...keys);
  }

  private ask(
    start: number,
    result: number,
    row0: number,
    row1: number,
    row2: number,
    row3: number,
  ): boolean {
    const { columns, shortBlocks } = this;
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
        (columnOf(this, p0, p1, p2, p3, p4, w0, w1, w2, w3, w4) ^ result) |
        (columnOf(this, p0 + 16, p1 + 16, p2 + 16, p3 + 16, p4 + 16, w0, w1, w2, w3, w4) ^ (result >>> 1)) |
        (columnOf(this, p0 + 32, p1 + 32, p2 + 32, p3 + 32, p4 + 32, w0, w1, w2, w3, w4) ^ (result >>> 2));
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
      wrong |= columnOf(this, p0, p1, p2, p3, p4, w0, w1, w2, w3, w4) ^ result;
      result >>>= 1;
      p0 += SEGMENT_BYTES;
      p1 += SEGMENT_BYTES;
      p2 += SEGMENT_BYTES;
      p3 += SEGMENT_BYTES;
      p4 += SEGMENT_BYTES;
    }
    // The last column of a short block is another block's.
    wrong |= (columnOf(this, p0, p1, p2, p3, p4, w0, w1, w2, w3, w4) ^ result) & ~short;
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
