import { ByteWriter } from '../../bytes/byte-writer.ts';
import { compareArrays } from '../../bytes/compare.ts';
import { utf8Bytes } from '../../bytes/text.ts';
import type { HashFunctions } from '../../hash/registry.ts';
import { BlockBuilder } from '../block/block-builder.ts';
import { BlockIterator } from '../block/block-iterator.ts';
import { BLOCK_TRAILER_SIZE, type BlockHandle } from '../block-handle.ts';
import type { BlockType } from '../block-type.ts';
import { filterMetaindexKey } from '../filter/filter-policy.ts';
import { HashIndexBuilder } from '../index/hash-index-builder.ts';
import {
  type FinishedIndex,
  IndexBlockBuilder,
  type IndexBlockOptions,
  type IndexBuilder,
  PlainIndexBuilder,
} from '../index/index-builder.ts';
import { PartitionedIndexBuilder } from '../index/partitioned-index-builder.ts';
import { TRAILER_SIZE } from '../internal-key.ts';
import { COMPRESSION_DICT_BLOCK, INDEX_BLOCK, PROPERTIES_BLOCK, RANGE_DEL_BLOCK } from '../metaindex.ts';
import { encodeProperties } from '../properties-encoder.ts';
import type { BlockCompressor } from './block-compressor.ts';
import { BlockWriter } from './block-writer.ts';
import type { FilterPartition, FilterSink, PartitionedFilterSink } from './filter-sink.ts';
import { encodeFooter } from './footer-encoder.ts';
import { LEVELDB_FILTER_BLOCK } from './leveldb-filter-builder.ts';
import type { RawBlock, StoredBlock } from './raw-block.ts';
import type { ResolvedTableOptions } from './table-options.ts';
import { type BlockStatistics, collectProperties } from './table-properties.ts';
import type { TableSink } from './table-sink.ts';
import type { TableStatistics } from './table-statistics.ts';

const NO_KEY = new Uint8Array(0);

/**
 * Writes a table: data blocks in order, then what is known only at the end.
 *
 *   data blocks, filter, index, compression dictionary, range tombstones, properties, metaindex, footer
 *
 * Holds the index and the filter.
 * Source: RocksDB table/block_based/block_based_table_builder.cc; LevelDB table/table_builder.cc.
 */
export class TableWriter {
  readonly blocks: BlockWriter;
  readonly statistics: BlockStatistics;
  private readonly indexOptions: IndexBlockOptions;
  private readonly index: IndexBuilder;
  /** A filter that goes by where its keys lie is told them block by block, the others when they are added. */
  private readonly filterByBlock: FilterSink | undefined;
  private readonly keys = new BlockIterator();
  private readonly metaBlocks = new Map<string, BlockHandle>();

  constructor(
    private readonly options: ResolvedTableOptions,
    sink: TableSink,
    private readonly hashes: HashFunctions,
    private readonly filter: FilterSink | undefined,
    baseContextChecksum: number,
  ) {
    this.blocks = new BlockWriter(options, sink, hashes, baseContextChecksum);
    this.indexOptions = indexOptionsOf(options);
    this.index = openIndexBuilder(options, this.indexOptions);
    this.filterByBlock = needsBlocks(filter) ? filter : undefined;
    this.statistics = {
      dataBlocks: 0,
      dataSize: 0,
      rawDataSize: 0,
      tailStart: 0,
      compressionRejected: 0,
      compressionBypassed: 0,
      compressed: 0,
      rejected: 0,
      compressionsUsed: new Set(),
      filterSize: 0,
      filterEntries: 0,
      indexSize: 0,
      indexPartitions: 0,
      topLevelIndexSize: 0,
      indexUserKeys: false,
      indexDeltaValues: this.indexOptions.deltaValues,
    };
  }

  /** What is to be told of each key; the hash index and whole filters do not wait for blocks. */
  get keyVisitor(): ((key: Uint8Array, start: number, end: number, block: number) => void) | undefined {
    const hashIndex = this.index instanceof HashIndexBuilder ? this.index : undefined;
    const filter = this.filterByBlock === undefined ? this.filter : undefined;
    if (hashIndex === undefined && filter === undefined) return undefined;
    return (key, start, end, block) => {
      hashIndex?.addKey(key, start, end, block);
      filter?.addKey(key, start, end);
    };
  }

  writeData(raw: RawBlock, stored: StoredBlock): void {
    if (this.filterByBlock !== undefined) this.tellFilter(this.filterByBlock, raw);
    const { handle, gap } = this.blocks.writeData(stored);
    const { statistics } = this;
    statistics.dataBlocks++;
    statistics.dataSize = this.blocks.offset;
    statistics.rawDataSize += raw.length;
    if (stored.outcome === 'rejected') statistics.compressionRejected++;
    if (stored.outcome === 'bypassed') statistics.compressionBypassed++;
    this.countOutcome(stored);
    this.index.add(raw, handle.offset, handle.size, gap);
  }

  /** Everything behind the data blocks; returns the properties. `compressor` is that without a dictionary. */
  finish(
    compressor: BlockCompressor,
    dictionary: Uint8Array | undefined,
    rangeDeletions: BlockBuilder,
    entries: TableStatistics,
  ): ReadonlyMap<string, Uint8Array> {
    this.statistics.tailStart = this.blocks.offset;
    const { options } = this;
    if (options.writerProfile === 'leveldb') return this.finishLevelDb(compressor);
    this.writeFilter();
    const index = this.writeIndex(compressor);
    if (dictionary !== undefined && dictionary.length > 0) {
      this.metaBlocks.set(COMPRESSION_DICT_BLOCK, this.blocks.writeContents(dictionary));
    }
    if (!rangeDeletions.isEmpty) {
      this.metaBlocks.set(RANGE_DEL_BLOCK, this.blocks.writeContents(rangeDeletions.finish()));
    }
    const properties = collectProperties(options, entries, this.statistics);
    this.metaBlocks.set(PROPERTIES_BLOCK, this.blocks.writeContents(encodeProperties(properties)));
    this.writeFooter(this.blocks.writeContents(encodeMetaindex(this.metaBlocks, 1)), index.handle);
    return properties;
  }

  /** Filter, metaindex, index: the last two are compressed like data. */
  private finishLevelDb(compressor: BlockCompressor): ReadonlyMap<string, Uint8Array> {
    const { filter } = this;
    if (filter?.kind === 'leveldb') {
      this.metaBlocks.set(LEVELDB_FILTER_BLOCK, this.blocks.writeContents(filter.finish()));
    }
    // It has the restart interval of data blocks, and mostly one entry.
    const metaindex = encodeMetaindex(this.metaBlocks, this.options.blockRestartInterval);
    const metaindexHandle = this.writeCompressed(compressor, metaindex);
    const index = this.index.finish((block) => this.writeCompressed(compressor, block));
    this.writeFooter(metaindexHandle, index.handle);
    return new Map();
  }

  private writeFooter(metaindex: BlockHandle, index: BlockHandle): void {
    const footer = {
      formatVersion: this.options.formatVersion,
      checksumType: this.blocks.checksumType,
      baseContextChecksum: this.blocks.baseContextChecksum,
      metaindex,
      index,
      offset: this.blocks.offset,
    };
    this.blocks.writeRaw(encodeFooter(footer, this.hashes));
  }

  private writeIndex(compressor: BlockCompressor): FinishedIndex {
    const { statistics, options } = this;
    const index = this.index.finish((contents, type) =>
      options.enableIndexCompression || (options.writerProfile === '7.8' && isHashBlock(type))
        ? this.writeCompressed(compressor, contents)
        : this.blocks.writeContents(contents),
    );
    for (const { name, handle } of index.metaBlocks) this.metaBlocks.set(name, handle);
    if (options.formatVersion >= 6) this.metaBlocks.set(INDEX_BLOCK, index.handle);
    statistics.indexSize = index.size + BLOCK_TRAILER_SIZE;
    statistics.indexPartitions = index.partitionCount;
    statistics.topLevelIndexSize = index.topLevelSize;
    statistics.indexUserKeys = this.index.userKeys;
    return index;
  }

  private writeCompressed(compressor: BlockCompressor, contents: Uint8Array): BlockHandle {
    const bytes = new Uint8Array(contents.length + BLOCK_TRAILER_SIZE);
    bytes.set(contents);
    const stored = compressor.compress(bytes, contents.length);
    this.countOutcome(stored);
    return this.blocks.write(stored.bytes, stored.length, stored.type);
  }

  private countOutcome({ outcome }: StoredBlock): void {
    const { statistics } = this;
    if (outcome === 'rejected') statistics.rejected++;
    if (outcome !== 'compressed') return;
    statistics.compressed++;
    statistics.compressionsUsed.add(this.options.compression);
  }

  private writeFilter(): void {
    const { filter, statistics } = this;
    if (filter === undefined || filter.kind === 'leveldb') return;
    if (filter.kind === 'full') {
      statistics.filterEntries = filter.entries;
      const contents = filter.finish();
      if (contents === undefined) return;
      statistics.filterSize = contents.length;
      this.metaBlocks.set(filterMetaindexKey(false), this.blocks.writeContents(contents));
      return;
    }
    this.cutLastPartition(filter);
    statistics.filterEntries = filter.entries;
    const partitions = filter.finish();
    if (partitions.length === 0) return;
    this.metaBlocks.set(filterMetaindexKey(true), this.writePartitions(partitions));
  }

  /** Partitions one behind the other, then an index over them, encoded as the table's index is. */
  private writePartitions(partitions: readonly FilterPartition[]): BlockHandle {
    const top = new IndexBlockBuilder({ ...this.indexOptions, firstKeys: false });
    if (!this.index.userKeys) top.requireInternalKeys();
    for (const { key, contents } of partitions) {
      const handle = this.blocks.writeContents(contents);
      this.statistics.filterSize += contents.length;
      top.add(key, NO_KEY, handle.offset, handle.size, false);
    }
    const contents = top.finish(!this.index.userKeys);
    this.statistics.filterSize += contents.length;
    return this.blocks.writeContents(contents);
  }

  private tellFilter(sink: FilterSink, { bytes, length }: RawBlock): void {
    if (sink.kind === 'leveldb') sink.startBlock(this.blocks.offset);
    const { keys } = this;
    const suffix = TRAILER_SIZE + this.options.storedComparator.timestampSize;
    keys.reset(bytes.subarray(0, length));
    while (keys.next()) {
      const end = keys.keyLength - suffix;
      if (sink.kind === 'partitioned') this.cutIfDue(sink, keys.key, end);
      sink.addKey(keys.key, 0, end);
    }
  }

  private cutIfDue(sink: PartitionedFilterSink, key: Uint8Array, end: number): void {
    const index = this.index as PartitionedIndexBuilder;
    if (sink.isFull) index.requestCut();
    if (index.takeFilterCut()) sink.cut(index.lastSeparator, key, 0, end);
  }

  private cutLastPartition(sink: PartitionedFilterSink): void {
    if (sink.decoupled) return;
    const index = this.index as PartitionedIndexBuilder;
    if (index.takeFilterCut()) sink.cut(index.lastSeparator, undefined, 0, 0);
  }
}

/** Whether the filter has to know which block a key lies in. */
function needsBlocks(filter: FilterSink | undefined): boolean {
  return filter?.kind === 'leveldb' || (filter?.kind === 'partitioned' && !filter.decoupled);
}

function isHashBlock(type: BlockType): boolean {
  return type === 'hash_prefixes' || type === 'hash_metadata';
}

function indexOptionsOf(options: ResolvedTableOptions): IndexBlockOptions {
  return {
    restartInterval: options.indexBlockRestartInterval,
    deltaValues: options.formatVersion >= 4 && !options.blockAlign,
    firstKeys: options.indexType === 'first_key',
    internalKeysOnly: options.formatVersion <= 2,
  };
}

function openIndexBuilder(options: ResolvedTableOptions, indexOptions: IndexBlockOptions): IndexBuilder {
  const { prefixExtractor } = options;
  switch (options.indexType) {
    case 'binary_search':
    case 'first_key':
      return new PlainIndexBuilder(indexOptions);
    case 'hash':
      return new HashIndexBuilder(indexOptions, prefixExtractor!);
    case 'two_level':
      return new PartitionedIndexBuilder(indexOptions, {
        blockSize: options.metadataBlockSize,
        deviation: options.blockSizeDeviation,
        align: false,
      });
  }
}

/** Names in bytewise order, each with its handle. */
function encodeMetaindex(blocks: ReadonlyMap<string, BlockHandle>, restartInterval: number): Uint8Array {
  const named = [...blocks].map(([name, handle]) => ({ name: utf8Bytes(name), handle }));
  named.sort((a, b) => compareArrays(a.name, b.name));
  const block = new BlockBuilder({ restartInterval });
  const value = new ByteWriter(20);
  for (const { name, handle } of named) {
    value.truncate(0);
    value.varint(handle.offset);
    value.varint(handle.size);
    block.add(name, 0, name.length, value.bytes, 0, value.length);
  }
  return block.finish();
}
