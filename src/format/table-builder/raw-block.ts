import type { IndexEntry } from '../index/index-builder.ts';

/** A finished data block that has not been compressed, with what the index will be told of it. */
export interface RawBlock extends IndexEntry {
  /** The contents are `bytes[0, length)`; behind them is room for a trailer. */
  readonly bytes: Uint8Array;
  readonly length: number;
}

/** A block as it goes into the file: contents `bytes[0, length)`, and room for its trailer behind them. */
export interface StoredBlock {
  readonly bytes: Uint8Array;
  readonly length: number;
  /** On-disk compression byte. */
  readonly type: number;
  /** Compressed, not tried (`bypassed`), or tried and not good enough (`rejected`). */
  readonly outcome: 'compressed' | 'bypassed' | 'rejected';
}
