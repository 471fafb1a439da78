import { InvalidArgumentError, UnsupportedError } from '../../errors.ts';
import { MAX_FORMAT_VERSION } from '../footer.ts';
import {
  type ResolvedTableOptions,
  type TableBuilderSources,
  type TableOptions,
  withDefaults,
} from './table-options.ts';

/** Below 2 the framing of compressed blocks was another, and RocksDB 11 reads it no longer. */
const MIN_FORMAT_VERSION = 2;
const MAX_FORMAT_VERSION_7_8 = 5;
const MAX_BLOCK_SIZE = 2 ** 32 - 1;

/**
 * Options with defaults, checked against each other as RocksDB's ValidateOptions does. Throws InvalidArgumentError,
 * with RocksDB's name of the option.
 */
export function resolveTableOptions(
  options: TableOptions,
  sources: TableBuilderSources,
): ResolvedTableOptions {
  const resolved = withDefaults(options, sources);
  checkVersion(resolved);
  checkTimestamps(resolved);
  checkBlocks(resolved);
  checkIndex(resolved);
  checkCompression(resolved);
  if (resolved.writerProfile === 'leveldb') checkLevelDb(resolved);
  return resolved;
}

function checkVersion({ writerProfile, formatVersion }: ResolvedTableOptions): void {
  if (writerProfile === 'leveldb') {
    if (formatVersion !== 0) throw invalid('format_version', formatVersion, "LevelDB's tables have none");
    return;
  }
  const max = writerProfile === '7.8' ? MAX_FORMAT_VERSION_7_8 : MAX_FORMAT_VERSION;
  if (Number.isInteger(formatVersion) && formatVersion >= MIN_FORMAT_VERSION && formatVersion <= max) return;
  throw new UnsupportedError(
    'format_version',
    formatVersion,
    `format_version ${formatVersion} is not written here; ${MIN_FORMAT_VERSION} to ${max} are`,
  );
}

/** Older tables have no property that says so: their readers would take the end of each key for a timestamp. */
function checkTimestamps({ writerProfile, strippedTimestampSize }: ResolvedTableOptions): void {
  if (writerProfile === '11.9' || strippedTimestampSize === 0) return;
  const rule = 'off is newer than the release whose tables are asked for';
  throw conflict('persist_user_defined_timestamps', rule);
}

function checkBlocks(options: ResolvedTableOptions): void {
  const { blockSize, blockAlign, superBlockAlignmentSize: superBlock } = options;
  if (!Number.isInteger(blockSize) || blockSize < 1 || blockSize > MAX_BLOCK_SIZE) {
    throw invalid('block_size', blockSize, `is 1 to ${MAX_BLOCK_SIZE}`);
  }
  if (blockAlign && !isPowerOfTwo(blockSize)) {
    throw invalid('block_size', blockSize, 'is a power of two where blocks are aligned');
  }
  if (blockAlign && options.compression !== 'none') {
    throw conflict('block_align', `goes with compression none alone, not with ${options.compression}`);
  }
  if (superBlock !== 0 && !isPowerOfTwo(superBlock)) {
    throw invalid('super_block_alignment_size', superBlock, 'is a power of two');
  }
  const ratio = options.superBlockAlignmentSpaceOverheadRatio;
  if (ratio > 0 && ratio < 4) {
    throw invalid('super_block_alignment_space_overhead_ratio', ratio, 'is 0 or at least 4');
  }
  if (options.dataBlockIndexType === 'binary_and_hash' && !(options.dataBlockHashTableUtilRatio > 0)) {
    throw invalid('data_block_hash_table_util_ratio', options.dataBlockHashTableUtilRatio, 'is above 0');
  }
  if (options.writerProfile !== '11.9' && (superBlock !== 0 || options.separateKeyValueInDataBlock)) {
    const name = superBlock !== 0 ? 'super_block_alignment_size' : 'separate_key_value_in_data_block';
    throw conflict(name, 'is newer than the release whose tables are asked for');
  }
}

function checkIndex({ indexType, prefixExtractor }: ResolvedTableOptions): void {
  if (indexType === 'hash' && prefixExtractor === undefined) {
    throw conflict('index_type', 'hash needs a prefix extractor');
  }
}

function checkCompression({ compression, compressionOptions, writerProfile }: ResolvedTableOptions): void {
  if (writerProfile === '11.9' && compression === 'zlib' && compressionOptions.windowBits !== -14) {
    throw invalid(
      'window_bits',
      compressionOptions.windowBits,
      'is -14: readers of RocksDB 11 take no other',
    );
  }
}

function checkLevelDb(options: ResolvedTableOptions): void {
  if (options.checksum !== 'crc32c')
    throw invalid('checksum', options.checksum, "is crc32c in LevelDB's tables");
  if (options.compression !== 'none' && options.compression !== 'snappy' && options.compression !== 'zstd') {
    throw invalid('compression', options.compression, "is none, snappy or zstd in LevelDB's tables");
  }
  if (options.compressionOptions.maxDictBytes > 0) {
    throw invalid('max_dict_bytes', options.compressionOptions.maxDictBytes, "is 0 in LevelDB's tables");
  }
  if (options.indexType !== 'binary_search' || options.indexBlockRestartInterval !== 1) {
    throw invalid('index_type', options.indexType, "is binary_search in LevelDB's tables");
  }
  if (options.dataBlockIndexType !== 'binary_search' || options.blockAlign || !options.useDeltaEncoding) {
    throw conflict('data_block_index_type', "and form of blocks of LevelDB's tables cannot be chosen");
  }
}

function isPowerOfTwo(value: number): boolean {
  return Number.isInteger(Math.log2(value));
}

function invalid(option: string, value: string | number, rule: string): InvalidArgumentError {
  return new InvalidArgumentError(option, String(value), `${option} ${rule}, not ${value}`);
}

function conflict(option: string, rule: string): InvalidArgumentError {
  return new InvalidArgumentError(option, '', `${option} ${rule}`);
}
