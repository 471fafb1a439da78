import type { ByteReader } from '../bytes/byte-reader.ts';

/** Where a block lies: `offset` from the file's start, `size` without the five bytes of the trailer. */
export interface BlockHandle {
  readonly offset: number;
  readonly size: number;
}

/** Compression type (1), checksum (4), behind every block of a block-based table. */
export const BLOCK_TRAILER_SIZE = 5;

/**
 * Layout: varint64 offset, varint64 size. (0, 0) stands for "none".
 * Throws the reader's CorruptionError past its end or above 2^53 - 1; whether the file has room, the caller checks.
 * Source: RocksDB table/format.h, BlockHandle; all format versions.
 */
export function decodeBlockHandle(reader: ByteReader): BlockHandle {
  const offset = reader.varint64();
  return { offset, size: reader.varint64() };
}

export function isNullHandle(handle: BlockHandle): boolean {
  return handle.offset === 0 && handle.size === 0;
}
