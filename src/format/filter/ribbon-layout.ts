import { RIBBON_COLUMNS_MAX, SEGMENT_BYTES } from './ribbon-math.ts';

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

/** 1 where an odd number of bits is set. */
export function parity(x: number): number {
  x ^= x >>> 16;
  x ^= x >>> 8;
  x ^= x >>> 4;
  return (0x6996 >>> (x & 15)) & 1;
}
