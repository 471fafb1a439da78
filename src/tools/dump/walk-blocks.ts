import { readFixed32 } from '../../bytes/fixed.ts';
import { CompressionType } from '../../codec/registry.ts';
import { compressionName, resolveCodec } from '../../codec/resolve-codec.ts';
import type { Environment } from '../../engine/environment.ts';
import { SstError, withPending } from '../../errors.ts';
import { BlockIterator } from '../../format/block/block-iterator.ts';
import { decodeBlockLayout } from '../../format/block/block-layout.ts';
import { BLOCK_TRAILER_SIZE } from '../../format/block-handle.ts';
import { type LoadedBlock, visitBlocks } from '../../format/block-pipeline.ts';
import type { BlockReader, StoredBlock } from '../../format/block-reader.ts';
import type { BlockType } from '../../format/block-type.ts';
import { IndexBlockIterator, type IndexEncoding } from '../../format/index/index-block-iterator.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import { damageShape } from '../damage-shape.ts';
import type { Finding } from '../finding.ts';
import { LossTracker } from '../loss-tracker.ts';
import type { PlacedBlock } from './block-order.ts';
import { filterIndexEncoding } from './filter-partitions.ts';
import { type DumpSubject, placedFinding } from './open-subject.ts';
import { MAX_WHOLE_BLOCK_BYTES } from './survey-blocks.ts';

/** One block, as far as it can be read. What is not known of it is null. */
export interface BlockRow extends PlacedBlock {
  /** Name in the metaindex. */
  name: string | null;
  compression: string | null;
  /** Uncompressed size. */
  rawSize: number | null;
  storedChecksum: number | null;
  /** Whether the stored checksum is that of its bytes; null where there is none to compare. */
  checksumHolds: boolean | null;
  entries: number | null;
  restarts: number | null;
  /** User keys of data, index and range-deletion blocks; names in metaindex and properties. */
  firstKey: Uint8Array | null;
  lastKey: Uint8Array | null;
  /** Keys and values apart. */
  separated: boolean;
  uniformKeys: boolean;
  hashBuckets: number;
}

export interface BlockVisitor {
  /** A block in the order of the file; its contents, where they can be read, until the next one. False ends the walk. */
  block(row: BlockRow, contents: Uint8Array | undefined): boolean;
  finding(finding: Finding): void;
  advanced?: ((offset: number) => void) | undefined;
}

/** Looking closely at a damaged block takes up to a second. */
const MAX_SHAPES = 8;

/**
 * Visits every block of the table in the order of the file, decompressed, past whatever is damaged. One batch of
 * blocks is in memory at a time.
 */
export async function walkBlocks(
  subject: DumpSubject,
  environment: Environment,
  visitor: BlockVisitor,
  range: { first: number; end: number } = { first: 0, end: subject.order.count },
): Promise<void> {
  const { order, table } = subject;
  const walk = new BlockWalk(subject, visitor);
  if (table === undefined) {
    for (let i = range.first; i < range.end; i++) if (!walk.bare(order.at(i))) return;
    return;
  }
  const dictionary = await walk.dictionary();
  for (let i = range.first; i < range.end; ) {
    if (order.typeAt(i) !== 'data') {
      if (!(await walk.meta(order.at(i)))) break;
      i++;
      continue;
    }
    let end = i + 1;
    while (end < range.end && order.typeAt(end) === 'data') end++;
    let open = true;
    await visitBlocks(
      table.blocks,
      order,
      { blockType: 'data', dictionary, decodeZstdFrames: environment.decodeZstdFrames, first: i, end },
      (block) => {
        open = walk.data(block);
        return open;
      },
    );
    if (!open) break;
    i = end;
  }
  walk.end();
}

/** One block with its contents. */
export interface OneBlock {
  readonly row: BlockRow;
  /** Uncompressed; as stored where they do not decode, and empty where they cannot be read at all. */
  readonly bytes: Uint8Array;
  readonly decoded: boolean;
}

/** Reads the block at position `at` of the order, also where its checksum does not hold. */
export async function readOneBlock(
  subject: DumpSubject,
  at: number,
  report: (finding: Finding) => void,
): Promise<OneBlock> {
  const walk = new BlockWalk(subject, { block: () => true, finding: report });
  return walk.one(subject.order.at(at));
}

const NO_BYTES = new Uint8Array(0);

class BlockWalk {
  private readonly iterator = new BlockIterator();
  private readonly tracker: LossTracker;
  private readonly indexProblems: { error: SstError; position: number }[];
  private shapes = 0;

  constructor(
    private readonly subject: DumpSubject,
    private readonly visitor: BlockVisitor,
  ) {
    this.tracker = new LossTracker(subject.shape, (finding) => visitor.finding(finding));
    this.indexProblems = [...subject.indexProblems];
  }

  async dictionary(): Promise<Uint8Array | undefined> {
    try {
      return await withPending(() => this.subject.table!.readDictionary());
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      this.visitor.finding(placedFinding(error, this.subject.order));
      return undefined;
    }
  }

  data(block: LoadedBlock): boolean {
    const { order, table } = this.subject;
    const row = blankRow(order.at(block.ordinal));
    while (this.indexProblems.length > 0 && this.indexProblems[0]!.position <= row.ordinal) {
      this.tracker.lose(placedFinding(this.indexProblems.shift()!.error, order));
    }
    this.visitor.advanced?.(block.offset);
    const reader = table!.blocks;
    const outside = block.offset + block.size + BLOCK_TRAILER_SIZE > reader.source.size;
    if (!outside) {
      row.compression = compressionOf(reader, block.compressionType, block);
      row.storedChecksum = block.storedChecksum;
      row.checksumHolds =
        block.computedChecksum === undefined ? null : block.computedChecksum === block.storedChecksum;
    }
    let error = block.error;
    if (error === undefined) error = this.lookAt(row, block.contents);
    if (error === undefined) return this.visitor.block(row, block.contents);
    const finding = placedFinding(error, order);
    finding.block = order.at(block.ordinal);
    if (error.code === 'block_checksum' && this.shapes++ < MAX_SHAPES) {
      finding.shape = damageShape(reader, block);
    }
    this.tracker.lose(finding);
    return this.visitor.block(row, block.error === undefined ? block.contents : undefined);
  }

  async meta(block: PlacedBlock): Promise<boolean> {
    const row = blankRow(block);
    row.name = this.nameOf(block);
    const reader = this.subject.table!.blocks;
    let contents: Uint8Array | undefined;
    this.visitor.advanced?.(block.offset);
    try {
      reader.checkHandle(block, block.type);
      if (block.size > MAX_WHOLE_BLOCK_BYTES) {
        const trailer = reader.source.read(block.offset + block.size, BLOCK_TRAILER_SIZE);
        row.compression = compressionOf(reader, trailer[0]!, block);
        row.storedChecksum = readFixed32(trailer, 1);
        if (trailer[0] === CompressionType.none) row.rawSize = block.size;
        return this.visitor.block(row, undefined);
      }
      const stored = reader.readStored(block, block.type);
      this.takeTrailer(row, stored);
      const fault = reader.checksumFault(stored, block, block.type);
      if (fault !== undefined && !this.accepts(row)) throw fault;
      contents = await withPending(() => reader.contents(stored, block, block.type));
      const error = this.lookAt(row, contents);
      if (error !== undefined) throw error;
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      const finding = placedFinding(error, this.subject.order);
      finding.block = block;
      this.visitor.finding(finding);
    }
    return this.visitor.block(row, contents);
  }

  /** A block of a plain or cuckoo table: no trailer. */
  bare(block: PlacedBlock): boolean {
    const { source } = this.subject;
    const row = blankRow(block);
    row.name = this.nameOf(block);
    row.rawSize = block.size;
    if (block.type === 'data') {
      const entries = this.subject.properties?.count('rocksdb.num.entries');
      row.entries = entries ?? null;
      return this.visitor.block(row, undefined);
    }
    if (block.offset + block.size > source.size) return this.visitor.block(row, undefined);
    const contents = source.read(block.offset, block.size);
    // What is wrong with these blocks has been said when they were opened.
    if (hasNames(block.type)) this.lookAt(row, contents);
    return this.visitor.block(row, contents);
  }

  /** A block by itself: its contents are decoded even where its checksum says that they are damaged. */
  async one(block: PlacedBlock): Promise<OneBlock> {
    const row = blankRow(block);
    row.name = this.nameOf(block);
    const { source, table } = this.subject;
    if (table === undefined) {
      const bytes = block.type === 'data' ? NO_BYTES : source.read(block.offset, block.size);
      if (hasNames(block.type)) this.lookAt(row, bytes);
      row.rawSize = block.size;
      return { row, bytes, decoded: true };
    }
    const reader = table.blocks;
    const report = (error: SstError): void => {
      this.visitor.finding({ ...placedFinding(error, this.subject.order), block });
    };
    let stored: StoredBlock | undefined;
    try {
      stored = reader.readStored(block, block.type);
      this.takeTrailer(row, stored);
      const fault = reader.checksumFault(stored, block, block.type);
      if (fault !== undefined && !this.accepts(row)) report(fault);
      const dictionary = block.type === 'data' ? await this.dictionary() : undefined;
      const held = stored;
      const bytes = await withPending(() => reader.contents(held, block, block.type, dictionary));
      const error = this.lookAt(row, bytes);
      if (error !== undefined) report(error);
      return { row, bytes, decoded: true };
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      report(error);
      return { row, bytes: stored?.bytes.subarray(0, stored.size) ?? NO_BYTES, decoded: false };
    }
  }

  end(): void {
    for (const { error } of this.indexProblems) this.tracker.lose(placedFinding(error, this.subject.order));
    this.tracker.end();
  }

  /**
   * A properties block into which ingestion has written a sequence number keeps the checksum that it had before:
   * opening the table has compared it with the number taken out.
   */
  private accepts(row: BlockRow): boolean {
    if (row.type !== 'properties' || this.subject.properties === undefined) return false;
    row.checksumHolds = true;
    return true;
  }

  private takeTrailer(row: BlockRow, stored: StoredBlock): void {
    row.compression = compressionOf(this.subject.table!.blocks, stored.compressionType, row);
    row.storedChecksum = stored.storedChecksum;
    row.checksumHolds =
      stored.computedChecksum === undefined ? null : stored.computedChecksum === stored.storedChecksum;
  }

  /** Fills in what the contents say; answers with what is wrong with them. */
  private lookAt(row: BlockRow, contents: Uint8Array): SstError | undefined {
    row.rawSize = contents.length;
    try {
      if (row.type === 'data' || row.type === 'range_del') this.lookAtEntries(row, contents);
      else if (hasNames(row.type)) this.lookAtNames(row, contents);
      else if (isIndex(row.type)) this.lookAtIndex(row, contents);
      return undefined;
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      return error;
    }
  }

  private lookAtEntries(row: BlockRow, contents: Uint8Array): void {
    const { iterator } = this;
    takeLayout(row, contents);
    iterator.reset(contents);
    try {
      while (iterator.next()) {
        if (iterator.count > 1) continue;
        row.firstKey = this.userKey(iterator.key, iterator.keyLength);
        if (row.type === 'data') this.tracker.good(iterator);
      }
      row.entries = iterator.count;
    } finally {
      // Also of a block that ends in damage: what stands before it is good.
      if (iterator.count > 0) {
        row.lastKey = this.userKey(iterator.key, iterator.keyLength);
        if (row.type === 'data') this.tracker.good(iterator);
      }
    }
  }

  private lookAtNames(row: BlockRow, contents: Uint8Array): void {
    const { iterator } = this;
    takeLayout(row, contents);
    iterator.reset(contents);
    while (iterator.next()) {
      if (iterator.count === 1) row.firstKey = iterator.key.slice(0, iterator.keyLength);
    }
    row.entries = iterator.count;
    if (iterator.count > 0) row.lastKey = iterator.key.slice(0, iterator.keyLength);
  }

  private lookAtIndex(row: BlockRow, contents: Uint8Array): void {
    const encoding = encodingOf(this.subject, row, contents);
    if (encoding === undefined) return;
    takeLayout(row, contents);
    const entries = new IndexBlockIterator(contents, encoding);
    let count = 0;
    while (entries.next()) {
      if (count++ === 0) row.firstKey = indexUserKey(this.subject, encoding, entries);
    }
    row.entries = count;
    if (count > 0) row.lastKey = indexUserKey(this.subject, encoding, entries);
  }

  private userKey(key: Uint8Array, length: number): Uint8Array {
    const end = length - TRAILER_SIZE - this.subject.shape.storedTimestampSize;
    return key.slice(0, Math.max(0, end));
  }

  private nameOf({ offset, type }: PlacedBlock): string | null {
    return (
      this.subject.metaindex?.find((entry) => entry.offset === offset && entry.type === type)?.name ?? null
    );
  }
}

/** How the entries of an index block are encoded; undefined where nothing tells. */
export function encodingOf(
  subject: DumpSubject,
  block: PlacedBlock,
  contents: Uint8Array,
): IndexEncoding | undefined {
  const table = subject.table!;
  if (block.type === 'filter_index') {
    const entry = table.metaindex?.find(({ offset }) => offset === block.offset);
    return entry === undefined ? undefined : filterIndexEncoding(table, contents, entry);
  }
  return table.index;
}

/** The separator without its sequence number and timestamp. */
export function indexUserKey(
  subject: DumpSubject,
  encoding: IndexEncoding,
  entries: IndexBlockIterator,
): Uint8Array {
  const suffix = (encoding.userKeys ? 0 : TRAILER_SIZE) + subject.shape.storedTimestampSize;
  return entries.key.slice(0, Math.max(0, entries.keyLength - suffix));
}

export function isIndex(type: BlockType): boolean {
  return type === 'index' || type === 'index_partition' || type === 'filter_index';
}

/** Blocks whose keys are names. */
export function hasNames(type: BlockType): boolean {
  return type === 'metaindex' || type === 'properties';
}

/** In LevelDB's tables a type byte means what the payload begins with. */
function compressionOf(
  reader: BlockReader,
  type: number,
  { offset, size }: { offset: number; size: number },
): string {
  const { family, framing } = reader.decompression;
  if (type === CompressionType.none || family === 'rocksdb') return compressionName(type);
  const head = reader.source.read(offset, Math.min(size, 16));
  try {
    return resolveCodec(family, framing, type, head, 0, head.length).name;
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return compressionName(type);
  }
}

function takeLayout(row: BlockRow, contents: Uint8Array): void {
  const layout = decodeBlockLayout(contents);
  row.restarts = layout.restartCount;
  row.separated = layout.separated;
  row.uniformKeys = layout.uniformKeys;
  row.hashBuckets = layout.bucketCount;
}

function blankRow(block: PlacedBlock): BlockRow {
  // Member by member: a spread takes ten times as long, and there may be a million of them.
  return {
    type: block.type,
    ordinal: block.ordinal,
    offset: block.offset,
    size: block.size,
    name: null,
    compression: null,
    rawSize: null,
    storedChecksum: null,
    checksumHolds: null,
    entries: null,
    restarts: null,
    firstKey: null,
    lastKey: null,
    separated: false,
    uniformKeys: false,
    hashBuckets: 0,
  };
}
