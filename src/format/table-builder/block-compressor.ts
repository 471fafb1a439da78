import { type BlockEncoder, compressionTypeOf, sizePrefixOf, withSizePrefix } from '../../codec/encoder.ts';
import type { SizePrefix } from '../../codec/size-prefix.ts';
import { BLOCK_TRAILER_SIZE } from '../block-handle.ts';
import type { StoredBlock } from './raw-block.ts';
import type { ResolvedTableOptions } from './table-options.ts';

/** RocksDB compresses nothing longer. */
const MAX_COMPRESSED_INPUT = 2 ** 31 - 2;
/** A result of so few bytes could hold little more than the size prefix: 11.x does not begin. */
const MIN_PREFIXED_RESULT = 5;
const MAX_BYTES_PER_KB = 1023;
/** LevelDB's number for zstd, which it stores without a size prefix. Source: LevelDB include/leveldb/options.h. */
const LEVELDB_ZSTD = 2;

/**
 * Turns raw blocks into stored ones: compressed where that gains enough, with the size prefix of their codec.
 * Source: RocksDB table/block_based/block_based_table_builder.cc, CompressAndVerifyBlock; LevelDB
 * table/table_builder.cc.
 */
export class BlockCompressor {
  private readonly type: number;
  private readonly prefix: SizePrefix;

  constructor(
    private readonly options: ResolvedTableOptions,
    /** Undefined: nothing is compressed. */
    private readonly encoder: BlockEncoder | undefined,
  ) {
    const { compression, writerProfile } = options;
    const bareZstd = compression === 'zstd' && writerProfile === 'leveldb';
    this.type = bareZstd ? LEVELDB_ZSTD : compressionTypeOf(compression);
    this.prefix = bareZstd || compression === 'none' ? 'none' : sizePrefixOf(compression);
  }

  /** The same for blocks that share a dictionary. */
  withDictionary(dictionary: Uint8Array): BlockCompressor {
    return new BlockCompressor(this.options, this.encoder?.withDictionary(dictionary));
  }

  /** The block `bytes[0, length)`, which has room for a trailer behind it. */
  compress(bytes: Uint8Array, length: number): StoredBlock {
    const limit = this.maxStoredLength(length);
    if (this.encoder === undefined || limit < 0) return uncompressed(bytes, length, 'bypassed');
    return this.judge(bytes, length, limit, this.encoder.encode(bytes, 0, length));
  }

  /** The same, with the work done on another thread where the codec has one. */
  compressLater(bytes: Uint8Array, length: number): StoredBlock | Promise<StoredBlock> {
    const limit = this.maxStoredLength(length);
    if (this.encoder?.encodeLater === undefined || limit < 0) return this.compress(bytes, length);
    return this.encoder
      .encodeLater(bytes, 0, length)
      .then((encoded) => this.judge(bytes, length, limit, encoded));
  }

  /** The most bytes, prefix included, that a compressed block may have; negative where none is good enough. */
  private maxStoredLength(length: number): number {
    if (length > MAX_COMPRESSED_INPUT) return -1;
    if (this.options.writerProfile !== '11.9') return length - Math.floor(length / 8) - 1;
    const perKb = Math.min(this.options.compressionOptions.maxCompressedBytesPerKb, MAX_BYTES_PER_KB);
    if (perKb <= 0) return -1;
    const limit = Math.floor((perKb * length) / 1024);
    return this.prefix === 'varint' && limit <= MIN_PREFIXED_RESULT ? -1 : limit;
  }

  private judge(bytes: Uint8Array, length: number, limit: number, encoded: Uint8Array): StoredBlock {
    // Cheap for the many blocks that do not compress at all: no copy.
    if (encoded.length > limit) return uncompressed(bytes, length, 'rejected');
    const stored = withSizePrefix(encoded, length, this.prefix, BLOCK_TRAILER_SIZE);
    const storedLength = stored.length - BLOCK_TRAILER_SIZE;
    if (storedLength > limit) return uncompressed(bytes, length, 'rejected');
    return { bytes: stored, length: storedLength, type: this.type, outcome: 'compressed' };
  }
}

function uncompressed(bytes: Uint8Array, length: number, outcome: 'bypassed' | 'rejected'): StoredBlock {
  return { bytes, length, type: 0, outcome };
}
