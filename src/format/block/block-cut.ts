import { BLOCK_TRAILER_SIZE } from '../block-handle.ts';
import type { BlockBuilder } from './block-builder.ts';

export interface BlockCutOptions {
  /** Bytes that a block should have. */
  readonly blockSize: number;
  /** Percent by which it may fall short rather than grow beyond. */
  readonly deviation: number;
  /** It must not grow beyond at all, its trailer included. */
  readonly align: boolean;
}

/**
 * Whether the block under construction is to be closed before an entry of these lengths is added.
 * Source: RocksDB table/block_based/flush_block_policy.cc; LevelDB's rule is the one with a deviation of 100.
 */
export function isBlockFull(
  options: BlockCutOptions,
  block: BlockBuilder,
  keyLength: number,
  valueLength: number,
): boolean {
  if (block.isEmpty) return false;
  const { blockSize, deviation, align } = options;
  const size = block.sizeEstimate;
  if (size >= blockSize) return true;
  const limit = Math.floor((blockSize * (100 - deviation) + 99) / 100);
  if (limit === 0) return false;
  if (align) return block.estimateAfter(keyLength, valueLength) + BLOCK_TRAILER_SIZE > blockSize;
  return size > limit && block.estimateAfter(keyLength, valueLength) > blockSize;
}
