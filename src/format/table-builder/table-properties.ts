import { ByteWriter } from '../../bytes/byte-writer.ts';
import { compressionTypeOf } from '../../codec/encoder.ts';
import type { CompressionName } from '../../codec/registry.ts';
import { IndexType } from '../index/index-block-iterator.ts';
import { PropertiesEncoder } from '../properties-encoder.ts';
import type { ResolvedTableOptions } from './table-options.ts';
import type { TableStatistics } from './table-statistics.ts';

/** What is known of a table's blocks when its properties are written. */
export interface BlockStatistics {
  dataBlocks: number;
  /** Offset behind the last data block. */
  dataSize: number;
  /** Contents of data blocks, uncompressed. */
  rawDataSize: number;
  /** Offset behind what was written before the meta blocks. */
  tailStart: number;
  /** Data blocks whose compressed form was not good enough, and those that nobody tried to compress. */
  compressionRejected: number;
  compressionBypassed: number;
  /** Blocks of data and index that are compressed, and that were found not to gain enough. */
  compressed: number;
  rejected: number;
  /** Compressions of any block, `none` aside. */
  readonly compressionsUsed: Set<CompressionName>;
  filterSize: number;
  filterEntries: number;
  indexSize: number;
  indexPartitions: number;
  topLevelIndexSize: number;
  indexUserKeys: boolean;
  indexDeltaValues: boolean;
}

const INDEX_TYPE_NUMBERS = {
  binary_search: IndexType.binarySearch,
  hash: IndexType.hash,
  two_level: IndexType.twoLevel,
  first_key: IndexType.firstKey,
} as const;

/** Names in properties of format_version 2 to 6. Source: RocksDB util/compression.cc, CompressionTypeToString. */
const COMPRESSION_TEXTS: Readonly<Record<CompressionName, string>> = {
  none: 'NoCompression',
  snappy: 'Snappy',
  zlib: 'Zlib',
  bzip2: 'BZip2',
  lz4: 'LZ4',
  lz4hc: 'LZ4HC',
  xpress: 'Xpress',
  zstd: 'ZSTD',
};

const UNSET = 'nullptr';

/** Source: RocksDB table/sst_file_writer_collectors.h; version 2 allows a global sequence number. */
const EXTERNAL_SST_VERSION = 2;

/**
 * All properties of a table, by name, in the order of their block: those that the release of the profile writes, with
 * the values that it computes for the same entries. One differs: 11.9 does not count data blocks that waited for a
 * dictionary in `rocksdb.num.data.blocks`; here they count.
 * Source: RocksDB table/meta_blocks.cc; block_based_table_builder.cc, WritePropertiesBlock.
 */
export function collectProperties(
  options: ResolvedTableOptions,
  entries: TableStatistics,
  blocks: BlockStatistics,
): Map<string, Uint8Array> {
  const properties = new PropertiesEncoder();
  putCounts(properties, options, entries, blocks);
  putIdentity(properties, options);
  putNames(properties, options, blocks);
  if (options.writerProfile === '11.9') putNewer(properties, options, entries, blocks);
  for (const collector of options.collectors) {
    for (const [name, value] of collector.finish()) properties.bytes(name, value);
  }
  putCollected(properties, options, entries);
  return properties.sorted();
}

function putCounts(
  properties: PropertiesEncoder,
  options: ResolvedTableOptions,
  entries: TableStatistics,
  blocks: BlockStatistics,
): void {
  properties.varint('rocksdb.original.file.number', options.identity.originalFileNumber);
  properties.varint('rocksdb.raw.key.size', entries.rawKeyBytes);
  properties.varint('rocksdb.raw.value.size', entries.rawValueBytes);
  properties.varint('rocksdb.data.size', blocks.dataSize);
  properties.varint('rocksdb.index.size', blocks.indexSize);
  if (blocks.indexPartitions > 0) {
    properties.varint('rocksdb.index.partitions', blocks.indexPartitions);
    properties.varint('rocksdb.top-level.index.size', blocks.topLevelIndexSize);
  }
  properties.varint('rocksdb.index.key.is.user.key', blocks.indexUserKeys ? 1 : 0);
  properties.varint('rocksdb.index.value.is.delta.encoded', blocks.indexDeltaValues ? 1 : 0);
  properties.varint('rocksdb.num.entries', entries.entries);
  properties.varint('rocksdb.num.filter_entries', blocks.filterEntries);
  properties.varint('rocksdb.deleted.keys', entries.deletions);
  properties.varint('rocksdb.merge.operands', entries.mergeOperands);
  properties.varint('rocksdb.num.range-deletions', entries.rangeDeletions);
  properties.varint('rocksdb.num.data.blocks', blocks.dataBlocks);
  properties.varint('rocksdb.filter.size', blocks.filterSize);
  // 7.8 leaves the version out of its properties' values, and the footer has it anyway.
  properties.varint('rocksdb.format.version', options.writerProfile === '7.8' ? 0 : options.formatVersion);
  properties.varint('rocksdb.fixed.key.length', 0);
}

function putIdentity(properties: PropertiesEncoder, { identity }: ResolvedTableOptions): void {
  properties.varint('rocksdb.column.family.id', identity.columnFamilyId);
  properties.textIfSet('rocksdb.column.family.name', identity.columnFamilyName);
  properties.varint('rocksdb.creation.time', identity.creationTime);
  properties.varint('rocksdb.oldest.key.time', identity.oldestKeyTime);
  properties.varintIfSet('rocksdb.file.creation.time', identity.fileCreationTime);
  properties.textIfSet('rocksdb.creating.db.identity', identity.dbId);
  properties.textIfSet('rocksdb.creating.session.identity', identity.dbSessionId);
  properties.textIfSet('rocksdb.creating.host.identity', identity.dbHostId);
  if (identity.seqnoTimeMap.length > 0) {
    properties.bytes('rocksdb.seqno.time.map', identity.seqnoTimeMap);
  }
}

function putNames(
  properties: PropertiesEncoder,
  options: ResolvedTableOptions,
  blocks: BlockStatistics,
): void {
  properties.textIfSet('rocksdb.filter.policy', options.filterPolicy?.name ?? '');
  properties.text('rocksdb.comparator', options.comparator.name);
  properties.text('rocksdb.merge.operator', options.mergeOperatorName ?? UNSET);
  properties.text('rocksdb.prefix.extractor.name', options.prefixExtractor?.name ?? UNSET);
  const collectors = options.collectors.map(({ name }) => name).join(',');
  properties.text('rocksdb.property.collectors', `[${collectors}]`);
  properties.text('rocksdb.compression', compressionText(options, blocks));
  properties.text('rocksdb.compression_options', compressionOptionsText(options));
}

/** What 7.8 does not know. */
function putNewer(
  properties: PropertiesEncoder,
  options: ResolvedTableOptions,
  entries: TableStatistics,
  blocks: BlockStatistics,
): void {
  properties.varintIfSet('rocksdb.num.data.blocks.compression.rejected', blocks.compressionRejected);
  properties.varintIfSet('rocksdb.num.data.blocks.compression.bypassed', blocks.compressionBypassed);
  properties.varint('rocksdb.num.uniform.blocks', 0);
  properties.varint('rocksdb.newest.key.time', options.identity.newestKeyTime);
  properties.varint('rocksdb.tail.start.offset', blocks.tailStart);
  if (!options.persistUserDefinedTimestamps) {
    properties.varint('rocksdb.user.defined.timestamps.persisted', 0);
  }
  putSeqno(properties, 'rocksdb.key.largest.seqno', entries.largestSeqno);
  putSeqno(properties, 'rocksdb.key.smallest.seqno', entries.smallestSeqno);
  properties.varint('rocksdb.data.block.restart.interval', options.blockRestartInterval);
  properties.varint('rocksdb.index.block.restart.interval', options.indexBlockRestartInterval);
  properties.varintIfSet(
    'rocksdb.separate.key.value.in.data.block',
    options.separateKeyValueInDataBlock ? 1 : 0,
  );
}

function putSeqno(properties: PropertiesEncoder, name: string, seqno: bigint | undefined): void {
  if (seqno === undefined) return;
  const writer = new ByteWriter(10);
  writer.varintBig(seqno);
  properties.bytes(name, writer.copy());
}

/** What RocksDB's own collectors add. */
function putCollected(
  properties: PropertiesEncoder,
  options: ResolvedTableOptions,
  entries: TableStatistics,
): void {
  if (options.external) {
    properties.fixed32('rocksdb.external_sst_file.version', EXTERNAL_SST_VERSION);
    properties.fixed64('rocksdb.external_sst_file.global_seqno', 0n);
  }
  properties.fixed32('rocksdb.block.based.table.index.type', INDEX_TYPE_NUMBERS[options.indexType]);
  properties.flag('rocksdb.block.based.table.whole.key.filtering', options.wholeKeyFiltering);
  properties.flag('rocksdb.block.based.table.prefix.filtering', options.prefixExtractor !== undefined);
  if (options.decouplePartitionedFilters) {
    properties.flag('rocksdb.block.based.table.decoupled.partitioned.filters', true);
  }
  const timestamps = entries.timestampBounds;
  if (timestamps === undefined) return;
  properties.bytes('rocksdb.timestamp_min', timestamps.min);
  properties.bytes('rocksdb.timestamp_max', timestamps.max);
}

/** From format_version 7 on the compression manager's name and the types used; before, one name. */
function compressionText(options: ResolvedTableOptions, { compressionsUsed }: BlockStatistics): string {
  const { compression } = options;
  if (options.formatVersion < 7) return COMPRESSION_TEXTS[compression];
  const types = [...compressionsUsed].map(compressionTypeOf).sort((a, b) => a - b);
  const hex = types.map((type) => type.toString(16).toUpperCase().padStart(2, '0')).join('');
  return `${compression === 'none' ? '' : 'BuiltinV2'};${hex};`;
}

function compressionOptionsText({
  compression,
  compressionOptions: c,
  writerProfile,
}: ResolvedTableOptions): string {
  const fields: [string, number | boolean][] = [
    ['window_bits', c.windowBits],
    ['level', c.level],
    ['strategy', c.strategy],
    ['max_dict_bytes', c.maxDictBytes],
    ['zstd_max_train_bytes', c.zstdMaxTrainBytes],
    ['enabled', c.enabled],
    ['max_dict_buffer_bytes', c.maxDictBufferBytes],
    ['use_zstd_dict_trainer', c.useZstdDictTrainer],
  ];
  if (writerProfile === '11.9') {
    fields.push(
      ['max_compressed_bytes_per_kb', c.maxCompressedBytesPerKb],
      ['checksum', c.checksum],
      ['_type', compressionTypeOf(compression)],
    );
  }
  return fields.map(([name, value]) => `${name}=${Number(value)}; `).join('');
}
