import { DEFAULT_COMPRESSION_LEVEL } from '../../codec/encoder.ts';
import type { CompressionName } from '../../codec/registry.ts';
import type { ChecksumName } from '../../hash/registry.ts';
import { bytewiseComparator, type Comparator } from '../../operators/comparator.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import type { FilterPolicy } from '../filter/filter-policy.ts';
import type { IndexTypeName } from '../index/index-block-iterator.ts';
import type { PropertyCollector } from './property-collector.ts';

/**
 * Whose tables are written, where releases differ for the same format_version: which properties there are, when a
 * block stays uncompressed, how shortened index keys end. `7.8` is RocksDB 7.8 (format_version 2 to 5), `11.9`
 * RocksDB 11.9 (2 to 7), `leveldb` LevelDB's own tables, which have no properties and no options but block size,
 * restart interval, and compression.
 */
export type WriterProfile = '11.9' | '7.8' | 'leveldb';

/** Source of names and defaults: RocksDB include/rocksdb/advanced_options.h, CompressionOptions. */
export interface CompressionOptions {
  /** zlib's window; readers of 11.x take -14 alone. Default -14. */
  readonly windowBits?: number;
  /** Default: the codec's own. */
  readonly level?: number;
  /** zlib's strategy. Default 0. */
  readonly strategy?: number;
  /** Bytes of the dictionary for data blocks; 0 for none. Default 0. */
  readonly maxDictBytes?: number;
  /** Bytes of samples that a zstd dictionary is selected from; 0: the samples are the dictionary. Default 0. */
  readonly zstdMaxTrainBytes?: number;
  /** Bytes of data blocks that wait for the dictionary; 0: up to the target file size. Default 0. */
  readonly maxDictBufferBytes?: number;
  /** Only recorded in property `rocksdb.compression_options`. Default true. */
  readonly useZstdDictTrainer?: boolean;
  /** Only recorded, too. Default false. */
  readonly enabled?: boolean;
  /** Profile 11.9: a block is stored compressed if it has at most so many bytes per KiB. Default 896. */
  readonly maxCompressedBytesPerKb?: number;
  /** zstd frames end in a checksum. Default false. */
  readonly checksum?: boolean;
}

/** Who wrote the table and when; all of it only recorded. */
export interface TableIdentity {
  readonly dbId?: string;
  /** 20 digits of base 36; the unique id of a table is computed from it. Default: drawn at random. */
  readonly dbSessionId?: string;
  readonly dbHostId?: string;
  /** Default 0: unknown. */
  readonly originalFileNumber?: number;
  /** Default 2147483647: unknown. */
  readonly columnFamilyId?: number;
  readonly columnFamilyName?: string;
  /** Seconds since 1970. Default 0: unknown. */
  readonly creationTime?: number;
  readonly oldestKeyTime?: number;
  readonly newestKeyTime?: number;
  /** Seconds since 1970. Default: now. 0: not recorded. */
  readonly fileCreationTime?: number;
  /** Property `rocksdb.seqno.time.map`, encoded. */
  readonly seqnoTimeMap?: Uint8Array;
}

/**
 * How a table is written. Names and defaults are RocksDB's (include/rocksdb/table.h, BlockBasedTableOptions, and
 * options.h), sizes are bytes. Resolved and checked once by `resolveTableOptions`.
 */
export interface TableOptions {
  /** Default `11.9`. */
  readonly writerProfile?: WriterProfile;
  /** 2 to 7 (profile 7.8: to 5). Default 7 (profile 7.8: 5). */
  readonly formatVersion?: number;
  readonly comparator?: Comparator;
  /** Default: none, which is recorded as `nullptr`. */
  readonly mergeOperatorName?: string;
  readonly prefixExtractor?: PrefixExtractor;
  /** False: keys come with timestamps and are stored without. Default true. */
  readonly persistUserDefinedTimestamps?: boolean;
  /** Default `xxh3`; LevelDB: `crc32c`. */
  readonly checksum?: ChecksumName;

  /** Default 4096. */
  readonly blockSize?: number;
  /** Percent by which a block may be closed before it is full. Default 10. */
  readonly blockSizeDeviation?: number;
  /** Entries from one restart to the next. Default 16. */
  readonly blockRestartInterval?: number;
  /** Keys leave out what they share with the key before them. Default true. */
  readonly useDeltaEncoding?: boolean;
  /** Blocks do not straddle pages of min(blockSize, 4096). Not with compression. Default false. */
  readonly blockAlign?: boolean;
  /** Profile 11.9: data blocks do not straddle multiples of this; 0 for off. Default 0. */
  readonly superBlockAlignmentSize?: number;
  /** The padding for it is at most 1/ratio of that size. Default 128. */
  readonly superBlockAlignmentSpaceOverheadRatio?: number;
  /** Default `binary_search`. */
  readonly dataBlockIndexType?: 'binary_search' | 'binary_and_hash';
  /** Keys per bucket of that hash index. Default 0.75. */
  readonly dataBlockHashTableUtilRatio?: number;
  /** Profile 11.9: keys and values apart in data blocks. Default false. */
  readonly separateKeyValueInDataBlock?: boolean;

  /** Default `binary_search`. `hash` needs a prefix extractor. */
  readonly indexType?: IndexTypeName;
  /** Default 1. */
  readonly indexBlockRestartInterval?: number;
  /** Default `separators`. */
  readonly indexShortening?: 'none' | 'separators' | 'separators_and_successor';
  /** Bytes of a partition of the index or filter. Default 4096. */
  readonly metadataBlockSize?: number;
  /** Default true. */
  readonly enableIndexCompression?: boolean;

  /** Default: no filter. */
  readonly filterPolicy?: FilterPolicy;
  /** The filter has whole keys in it, and not prefixes alone. Default true. */
  readonly wholeKeyFiltering?: boolean;
  /** A filter in partitions; only with index type `two_level`, else it is whole. Default false. */
  readonly partitionFilters?: boolean;
  /** Profile 11.9: partitions of the filter need not be those of the index; recorded with any filter. Default true. */
  readonly decouplePartitionedFilters?: boolean;
  /** The level that the table is for, -1 for a flush: some policies go by it. Default: as the last one. */
  readonly level?: number;

  /** Default `none`. */
  readonly compression?: CompressionName;
  readonly compressionOptions?: CompressionOptions;
  /** Expected size of the file: bounds what waits for a dictionary. Default 0: unknown. */
  readonly targetFileSize?: number;

  /** A table for ingestion, as SstFileWriter writes it: two properties more. Default false. */
  readonly external?: boolean;
  /** Properties of the application. */
  readonly collectors?: readonly PropertyCollector[];
  readonly identity?: TableIdentity;
}

export type ResolvedCompressionOptions = Readonly<Required<CompressionOptions>>;

export interface ResolvedIdentity {
  readonly dbId: string;
  readonly dbSessionId: string;
  readonly dbHostId: string;
  readonly originalFileNumber: number;
  readonly columnFamilyId: number;
  readonly columnFamilyName: string;
  readonly creationTime: number;
  readonly oldestKeyTime: number;
  readonly newestKeyTime: number;
  readonly fileCreationTime: number;
  readonly seqnoTimeMap: Uint8Array;
}

type Resolved =
  | 'mergeOperatorName'
  | 'prefixExtractor'
  | 'filterPolicy'
  | 'level'
  | 'compressionOptions'
  | 'identity'
  | 'collectors';

/** The options with nothing left open. */
export interface ResolvedTableOptions extends Readonly<Required<Omit<TableOptions, Resolved>>> {
  readonly mergeOperatorName: string | undefined;
  readonly prefixExtractor: PrefixExtractor | undefined;
  readonly filterPolicy: FilterPolicy | undefined;
  readonly level: number | undefined;
  readonly collectors: readonly PropertyCollector[];
  readonly compressionOptions: ResolvedCompressionOptions;
  readonly identity: ResolvedIdentity;
  /** The order of the keys as they are stored. */
  readonly storedComparator: Comparator;
  /** Bytes of timestamp that are cut from each key. */
  readonly strippedTimestampSize: number;
}

/** What a builder takes from the system. `Clock` and `RandomSource` of the engine are such. */
export interface TableBuilderSources {
  readonly clock: { nowMicros(): number };
  readonly random: { uint32(): number };
}

export const UNKNOWN_COLUMN_FAMILY = 2147483647;

const NO_BYTES = new Uint8Array(0);

/** Fills in defaults as RocksDB's factory does. `checkTableOptions` says what does not go together. */
export function withDefaults(options: TableOptions, sources: TableBuilderSources): ResolvedTableOptions {
  const profile = options.writerProfile ?? '11.9';
  const levelDb = profile === 'leveldb';
  const comparator = options.comparator ?? bytewiseComparator;
  const persisted = options.persistUserDefinedTimestamps ?? true;
  const indexType = options.indexType ?? 'binary_search';
  const deviation = options.blockSizeDeviation ?? 10;
  const identity = options.identity ?? {};
  return {
    writerProfile: profile,
    formatVersion: options.formatVersion ?? (levelDb ? 0 : profile === '7.8' ? 5 : 7),
    comparator,
    storedComparator: persisted ? comparator : comparator.withoutTimestamp,
    strippedTimestampSize: persisted ? 0 : comparator.timestampSize,
    mergeOperatorName: options.mergeOperatorName,
    prefixExtractor: options.prefixExtractor,
    persistUserDefinedTimestamps: persisted,
    checksum: options.checksum ?? (levelDb ? 'crc32c' : 'xxh3'),
    blockSize: options.blockSize ?? 4096,
    // LevelDB closes a block when it is full, never before.
    blockSizeDeviation: levelDb ? 100 : deviation >= 0 && deviation <= 100 ? deviation : 0,
    blockRestartInterval: Math.max(1, options.blockRestartInterval ?? 16),
    useDeltaEncoding: options.useDeltaEncoding ?? true,
    blockAlign: options.blockAlign ?? false,
    superBlockAlignmentSize: options.superBlockAlignmentSize ?? 0,
    superBlockAlignmentSpaceOverheadRatio: options.superBlockAlignmentSpaceOverheadRatio ?? 128,
    dataBlockIndexType: options.dataBlockIndexType ?? 'binary_search',
    dataBlockHashTableUtilRatio: options.dataBlockHashTableUtilRatio ?? 0.75,
    separateKeyValueInDataBlock: options.separateKeyValueInDataBlock ?? false,
    indexType,
    // The hash index counts blocks by restarts.
    indexBlockRestartInterval: indexType === 'hash' ? 1 : Math.max(1, options.indexBlockRestartInterval ?? 1),
    indexShortening: options.indexShortening ?? (levelDb ? 'separators_and_successor' : 'separators'),
    metadataBlockSize: options.metadataBlockSize ?? 4096,
    enableIndexCompression: options.enableIndexCompression ?? true,
    wholeKeyFiltering: options.wholeKeyFiltering ?? true,
    filterPolicy: options.filterPolicy,
    partitionFilters: indexType === 'two_level' && (options.partitionFilters ?? false),
    decouplePartitionedFilters: profile === '11.9' && (options.decouplePartitionedFilters ?? true),
    level: options.level,
    compression: options.compression ?? 'none',
    compressionOptions: compressionDefaults(options.compressionOptions ?? {}),
    targetFileSize: options.targetFileSize ?? 0,
    external: options.external ?? false,
    collectors: options.collectors ?? [],
    identity: {
      dbId: identity.dbId ?? '',
      dbSessionId: identity.dbSessionId ?? randomSessionId(sources),
      dbHostId: identity.dbHostId ?? '',
      originalFileNumber: identity.originalFileNumber ?? 0,
      columnFamilyId: identity.columnFamilyId ?? UNKNOWN_COLUMN_FAMILY,
      columnFamilyName: identity.columnFamilyName ?? '',
      creationTime: identity.creationTime ?? 0,
      oldestKeyTime: identity.oldestKeyTime ?? 0,
      newestKeyTime: identity.newestKeyTime ?? 0,
      fileCreationTime: identity.fileCreationTime ?? Math.floor(sources.clock.nowMicros() / 1e6),
      seqnoTimeMap: identity.seqnoTimeMap ?? NO_BYTES,
    },
  };
}

function compressionDefaults(options: CompressionOptions): ResolvedCompressionOptions {
  return {
    windowBits: options.windowBits ?? -14,
    level: options.level ?? DEFAULT_COMPRESSION_LEVEL,
    strategy: options.strategy ?? 0,
    maxDictBytes: options.maxDictBytes ?? 0,
    zstdMaxTrainBytes: options.zstdMaxTrainBytes ?? 0,
    maxDictBufferBytes: options.maxDictBufferBytes ?? 0,
    useZstdDictTrainer: options.useZstdDictTrainer ?? true,
    enabled: options.enabled ?? false,
    maxCompressedBytesPerKb: options.maxCompressedBytesPerKb ?? 896,
    checksum: options.checksum ?? false,
  };
}

const BASE_36 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** 20 digits, as RocksDB draws one a process. */
function randomSessionId({ random }: TableBuilderSources): string {
  let id = '';
  for (let i = 0; i < 20; i++) id += BASE_36[random.uint32() % 36];
  return id;
}
