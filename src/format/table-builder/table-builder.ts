import { BufferRing } from '../../bytes/buffer-ring.ts';
import type { BlockEncoder, EncoderRegistry } from '../../codec/encoder.ts';
import { InvalidArgumentError } from '../../errors.ts';
import type { KeyHash } from '../../hash/key-hash.ts';
import type { HashFunctions } from '../../hash/registry.ts';
import { BlockBuilder } from '../block/block-builder.ts';
import { TRAILER_SIZE, trailerType } from '../internal-key.ts';
import { entryTypeName, isPointType, ValueType } from '../value-type.ts';
import { BlockCompressor } from './block-compressor.ts';
import { resolveTableOptions } from './check-options.ts';
import { CompressionQueue } from './compression-queue.ts';
import type { FilterSink } from './filter-sink.ts';
import { openFilterSink } from './open-filter-sink.ts';
import { TableCutter } from './table-cutter.ts';
import type { ResolvedTableOptions, TableBuilderSources, TableOptions } from './table-options.ts';
import type { BlockStatistics } from './table-properties.ts';
import type { TableSink } from './table-sink.ts';
import { TableStatistics } from './table-statistics.ts';
import { TableWriter } from './table-writer.ts';
import { TimestampStripper } from './timestamp-stripper.ts';

/** Buffers of raw blocks that are used again: as many as may wait to be compressed, and some more. */
const MAX_KEPT_BLOCKS = 160;
const MAX_KEPT_BYTES = 256 * 1024;

/** What a builder is given from outside. */
export interface TableBuilderEnvironment extends TableBuilderSources {
  readonly hashes: HashFunctions;
  readonly encoders: EncoderRegistry;
  readonly keyHash: KeyHash;
}

/** A table that has been written. */
export interface TableResult {
  readonly fileSize: number;
  /** Names and raw values of its properties, as `TableProperties` takes them. None for LevelDB's tables. */
  readonly properties: ReadonlyMap<string, Uint8Array>;
  readonly entryCount: number;
  readonly dataBlockCount: number;
  readonly blocks: Readonly<BlockStatistics>;
}

/**
 * Writes one block-based table into a sink. Entries come in internal order, range tombstones in any; then `finish`.
 *
 * Three steps: entries are cut into raw blocks (table-cutter.ts), these are compressed, at once or on other threads
 * with their order kept (compression-queue.ts), and written, with index and filter (table-writer.ts). Memory: the
 * index, the filter, the range tombstones, one raw block, and blocks under compression. These are bounded by
 * whoever adds entries: while `isSaturated`, it awaits `settle` before it goes on. A dictionary needs samples
 * first, so blocks wait for it up to `maxDictBufferBytes`.
 *
 *     const builder = await openTableBuilder(options, sink, environment);
 *     for (...) {
 *       builder.add(key, 0, key.length, value, 0, value.length);
 *       if (builder.isSaturated) await builder.settle();
 *     }
 *     const { properties } = await builder.finish();
 */
export class TableBuilder {
  readonly options: ResolvedTableOptions;
  private readonly cutter: TableCutter;
  private readonly queue: CompressionQueue;
  private readonly writer: TableWriter;
  private readonly statistics: TableStatistics;
  private readonly rangeDeletions = new BlockBuilder({ restartInterval: 1 });
  private readonly stripper: TimestampStripper | undefined;
  private isFinished = false;

  /** Use `openTableBuilder`, which opens the encoder. */
  constructor(
    options: ResolvedTableOptions,
    sink: TableSink,
    hashes: HashFunctions,
    encoder: BlockEncoder | undefined,
    filter: FilterSink | undefined,
    baseContextChecksum: number,
  ) {
    this.options = options;
    this.writer = new TableWriter(options, sink, hashes, filter, baseContextChecksum);
    const buffers = new BufferRing(MAX_KEPT_BLOCKS, MAX_KEPT_BYTES);
    this.queue = new CompressionQueue(options, new BlockCompressor(options, encoder), (raw, stored) => {
      this.writer.writeData(raw, stored);
      buffers.release(raw.bytes);
    });
    this.cutter = new TableCutter(
      options,
      (block) => this.queue.push(block),
      this.writer.keyVisitor,
      buffers,
    );
    this.statistics = new TableStatistics(options);
    this.stripper =
      options.strippedTimestampSize > 0 ? new TimestampStripper(options.strippedTimestampSize) : undefined;
  }

  /**
   * Adds a point entry: internal key `key[keyStart, keyEnd)`, value `value[valueStart, valueEnd)`. The bytes are
   * copied. Throws InvalidArgumentError for a key out of order or a type that no data block holds, and what writing
   * throws.
   */
  add(
    key: Uint8Array,
    keyStart: number,
    keyEnd: number,
    value: Uint8Array,
    valueStart: number,
    valueEnd: number,
  ): void {
    if (keyEnd - keyStart < TRAILER_SIZE + this.options.comparator.timestampSize)
      throw tooShort(keyEnd - keyStart);
    const type = trailerType(key, keyEnd);
    if (!isPointType(type) || (this.options.writerProfile === 'leveldb' && type > ValueType.value)) {
      throw this.wrongType(type);
    }
    if (this.stripper !== undefined) {
      keyEnd = this.stripper.stripInternalKey(key, keyStart, keyEnd);
      keyStart = 0;
      key = this.stripper.key;
    }
    this.cutter.add(key, keyStart, keyEnd, value, valueStart, valueEnd);
    this.statistics.add(key, keyStart, keyEnd, valueEnd - valueStart);
    this.collect(key, keyStart, keyEnd, value, valueStart, valueEnd);
  }

  /**
   * Adds a range tombstone: its start as an internal key of type `rangeDeletion`, its end (exclusive) as a user key.
   * They are stored in the order in which they are added, at any time before `finish`.
   */
  addRangeTombstone(
    start: Uint8Array,
    startStart: number,
    startEnd: number,
    end: Uint8Array,
    endStart: number,
    endEnd: number,
  ): void {
    const { timestampSize } = this.options.comparator;
    if (startEnd - startStart < TRAILER_SIZE + timestampSize) throw tooShort(startEnd - startStart);
    const type = trailerType(start, startEnd);
    if (type !== ValueType.rangeDeletion || this.options.writerProfile === 'leveldb')
      throw this.wrongType(type);
    if (this.stripper !== undefined) {
      startEnd = this.stripper.stripInternalKey(start, startStart, startEnd);
      startStart = 0;
      start = this.stripper.key;
      endEnd -= this.options.strippedTimestampSize;
    }
    this.rangeDeletions.add(start, startStart, startEnd, end, endStart, endEnd);
    this.statistics.add(start, startStart, startEnd, endEnd - endStart);
    this.collect(start, startStart, startEnd, end, endStart, endEnd);
  }

  /** Entries so far, range tombstones included. */
  get entryCount(): number {
    return this.statistics.entries;
  }

  /** Bytes in the sink. Blocks that are not written yet are missing: see `estimatedFileSize`. */
  get fileSize(): number {
    return this.writer.blocks.offset;
  }

  /** Bytes in the sink, and those that will be there when all entries so far are written; without the meta blocks. */
  get estimatedFileSize(): number {
    return this.fileSize + this.queue.estimatedBytes + this.cutter.pendingBytes;
  }

  /** As many blocks are under compression as should be. */
  get isSaturated(): boolean {
    return this.queue.isSaturated;
  }

  /** Resolves when some of them are written. Throws what compressing or writing has thrown. */
  settle(): Promise<void> {
    return this.queue.settle();
  }

  /** Writes the rest of the table. Nothing can be added behind it. */
  async finish(): Promise<TableResult> {
    this.close();
    await this.queue.drain();
    return this.writeTail();
  }

  /** The same at once. Only where the codec has no other threads: `options.compression` is not `zstd`. */
  finishSync(): TableResult {
    this.close();
    this.queue.assertDrained();
    return this.writeTail();
  }

  private close(): void {
    if (this.isFinished) throw new Error('the table is finished already');
    this.isFinished = true;
    this.cutter.finish();
    this.queue.close();
  }

  private writeTail(): TableResult {
    const { writer, queue, statistics } = this;
    const properties = writer.finish(queue.compressor, queue.dictionary, this.rangeDeletions, statistics);
    return {
      fileSize: writer.blocks.offset,
      properties,
      entryCount: statistics.entries,
      dataBlockCount: writer.statistics.dataBlocks,
      blocks: writer.statistics,
    };
  }

  private collect(
    key: Uint8Array,
    keyStart: number,
    keyEnd: number,
    value: Uint8Array,
    valueStart: number,
    valueEnd: number,
  ): void {
    for (const collector of this.options.collectors) {
      collector.add(key, keyStart, keyEnd, value, valueStart, valueEnd);
    }
  }

  private wrongType(type: number): InvalidArgumentError {
    const isLevelDb = this.options.writerProfile === 'leveldb';
    const why = isLevelDb ? "LevelDB's tables have puts and deletes alone" : 'it stands elsewhere in a table';
    const name = entryTypeName(type);
    return new InvalidArgumentError('key', name, `an entry of type ${name} cannot be stored here: ${why}`);
  }
}

/**
 * Opens a builder over `sink`. Throws InvalidArgumentError for options that do not go together, and
 * UnsupportedError for a format_version or a compression that is not written here.
 */
export async function openTableBuilder(
  options: TableOptions,
  sink: TableSink,
  environment: TableBuilderEnvironment,
): Promise<TableBuilder> {
  const resolved = resolveTableOptions(options, environment);
  const { compression, compressionOptions } = resolved;
  const encoder =
    compression === 'none' ? undefined : await environment.encoders.open(compression, compressionOptions);
  const base = resolved.formatVersion >= 6 ? randomContext(environment) : 0;
  const filter = openFilterSink(resolved, environment.keyHash);
  return new TableBuilder(resolved, sink, environment.hashes, encoder, filter, base);
}

/** Any number but 0, which stands for "none". */
function randomContext({ random }: TableBuilderSources): number {
  for (;;) {
    const value = random.uint32() >>> 0;
    if (value !== 0) return value;
  }
}

function tooShort(length: number): InvalidArgumentError {
  return new InvalidArgumentError(
    'key',
    '',
    `a key of ${length} bytes has no room for what an internal key ends in`,
  );
}
