import type { ByteSource } from '../bytes/source.ts';
import type { Environment } from '../engine/environment.ts';
import { CorruptionError, IoError, SstError, UnsupportedError, withPending } from '../errors.ts';
import { BLOCK_TRAILER_SIZE, type BlockHandle } from '../format/block-handle.ts';
import { openCuckooTable } from '../format/cuckoo/cuckoo-table.ts';
import type { FileKindResult } from '../format/file-kind.ts';
import { type Footer, readFooter } from '../format/footer.ts';
import { DataBlockList, type IndexBlock, listDataBlocks } from '../format/index/data-blocks.ts';
import { openPlainTable, type PlainTable } from '../format/plain/plain-table.ts';
import type { RangeTombstone } from '../format/range-del-block.ts';
import { findEarlierFooter, type RecoveredTable, recoverTable } from '../format/recover-table.ts';
import type { EntryShape } from '../format/table-entry.ts';
import { type OpenTableOptions, openTableAt, type TableReader } from '../format/table-reader.ts';
import { checksumName } from '../hash/registry.ts';
import { type Comparator, comparatorByName } from '../operators/comparator.ts';
import { blockOfError } from './block-of-error.ts';
import { type Finding, findingOf } from './finding.ts';
import type { KeyFilter } from './key-range.ts';
import { checksumTypeOfBlocks, describeLostFooter, shapeOfLostFooter } from './lost-footer.ts';
import { type EntryVisitor, walkEntries } from './walk-entries.ts';

export interface OpenOptions extends OpenTableOptions {
  /** Keep the index's separators, for key ranges and checks. Default true. */
  readonly separators?: boolean;
  /** Where a part of the index is lost, look for the blocks that it listed as well. Default: only where all of it is. */
  readonly findUnlisted?: boolean;
  /** Sees each block of the index, while it is read. */
  readonly indexBlock?: (table: TableReader, block: IndexBlock) => void;
}

/** A table of any format, opened as far as its state allows, with one way to its entries. */
export interface OpenedTable {
  readonly shape: EntryShape;
  readonly comparatorName: string | undefined;
  readonly comparator: Comparator | undefined;
  /** The order of user keys as stored. */
  readonly storedComparator: Comparator | undefined;
  /** What is wrong with footer, meta blocks and index. */
  readonly findings: readonly Finding[];
  /** As stored. Throws CorruptionError. */
  readRangeTombstones(): RangeTombstone[];
  /** What `readRangeTombstones` has thrown: of which block it is, and that any key may have lost a tombstone. */
  lostTombstones(error: SstError): Finding;
  /** Point entries in stored order, or in the opposite one; at least those that the filter asks for. */
  walk(environment: Environment, reverse: boolean, filter: KeyFilter, visitor: EntryVisitor): Promise<void>;
}

/**
 * Opens a table file. A lost footer, metaindex or index does not hide the data blocks: they are found without.
 * Throws SstError when nothing can be read: the file is no table, or not a single block is found in it.
 */
export async function openAnyTable(
  environment: Environment,
  source: ByteSource,
  kind: FileKindResult,
  options: OpenOptions = {},
): Promise<OpenedTable> {
  const opened = await openTableFile(environment, source, kind, options);
  if (opened.plain !== undefined) return new PlainTableView(opened.plain, opened.findings, options);
  return new BlockTableView(opened.table, opened.blocks, opened.findings);
}

/** The parts of an opened table file, for those who look at its blocks. */
export type OpenedTableFile =
  | { readonly plain: PlainTable; readonly table?: undefined; readonly findings: Finding[] }
  | {
      readonly plain?: undefined;
      readonly table: TableReader;
      readonly blocks: DataBlockList;
      /** The blocks were found without an index. */
      readonly recovered: RecoveredTable | undefined;
      /** Bytes behind the footer. */
      readonly appendedBytes: number;
      readonly findings: Finding[];
    };

export async function openTableFile(
  environment: Environment,
  source: ByteSource,
  kind: FileKindResult,
  options: OpenOptions,
): Promise<OpenedTableFile> {
  const { footer, findings, fault } = locateFooter(environment, source, kind);
  if (footer?.format === 'plain') {
    const plain = openPlainTable(source, footer);
    findings.push(...plain.problems.map((error) => findingOf(error)));
    return { plain, findings };
  }
  if (footer?.format === 'cuckoo') return openCuckooTable(source, footer).rows();
  if (footer === undefined) {
    const recovered = await recoverTable(source, environment, options, undefined);
    if (recovered === undefined)
      throw new IoError(
        fault.code,
        source.name,
        fault instanceof CorruptionError ? fault.reason : fault.message,
      );
    return openedWithout(recovered, findings, 0);
  }
  const appendedBytes = source.size - footer.offset - footer.size;
  const table = await openCorrected(environment, source, footer, options, findings);
  findings.push(...table.problems.map((error) => findingOf(error, blockOfError(error, table))));
  const { indexBlock } = options;
  const visit = indexBlock === undefined ? undefined : (block: IndexBlock) => indexBlock(table, block);
  const blocks = await listDataBlocks(table, options.separators, visit, environment.decodeZstdFrames);
  const isPartial = blocks.problems.length > 0 && (options.findUnlisted === true || blocks.count === 0);
  if (table.index === undefined || isPartial) {
    findings.push(
      ...blocks.problems.map(({ error }) => findingOf(error, blockOfError(error, table, blocks))),
    );
    const recovered =
      (await recoverTable(source, environment, options, table.footer)) ??
      (await recoverUnguarded(source, environment, options, table, findings));
    if (recovered !== undefined) return openedWithout(recovered, findings, appendedBytes, { table, blocks });
  }
  return { table, blocks, recovered: undefined, appendedBytes, findings };
}

function blockOfFooter({ offset, size }: Footer): Finding['block'] {
  return { type: 'footer', offset, size, ordinal: null };
}

/**
 * Opens the table. Before format_version 6 nothing guards the footer: a checksum type that no block has, or a
 * format version that the properties contradict, is put right, so that the rest can be read.
 */
async function openCorrected(
  environment: Environment,
  source: ByteSource,
  footer: Footer,
  options: OpenOptions,
  findings: Finding[],
): Promise<TableReader> {
  const open = (as: Footer): Promise<TableReader> =>
    withPending(() => openTableAt(source, as, environment, options));
  const block = blockOfFooter(footer);
  const correct = (code: string, message: string): void => {
    findings.push({ code, severity: 'damage', message, block });
  };
  let corrected = footer;
  const checksumType = checksumTypeOfBlocks(source, footer, environment.hashes);
  if (checksumType !== undefined) {
    const [told, real] = [checksumName(footer.checksumType), checksumName(checksumType)];
    correct('checksum_type', `the footer says checksum type ${told}, the blocks have ${real}`);
    corrected = { ...corrected, checksumType };
  }
  const table = await open(corrected);
  const version = table.properties?.count('rocksdb.format.version');
  if (version === undefined || version === 0 || version === footer.formatVersion) return table;
  correct(
    'footer_version',
    `the footer says format_version ${footer.formatVersion}, property rocksdb.format.version says ${version}`,
  );
  if (footer.formatVersion > 5 || version > 5) return table;
  return open({ ...corrected, formatVersion: version });
}

/**
 * Before format_version 6 a footer of which all but the magic number is damaged looks like one: where neither metaindex
 * nor index are at the places that it says, and no block is as it says, it counts for nothing.
 */
async function recoverUnguarded(
  source: ByteSource,
  environment: Environment,
  options: OpenOptions,
  { footer, metaindex }: TableReader,
  findings: Finding[],
): Promise<RecoveredTable | undefined> {
  if (metaindex !== undefined || footer.formatVersion > 5) return undefined;
  const recovered = await recoverTable(source, environment, options, undefined);
  if (recovered === undefined) return undefined;
  const message =
    'neither metaindex nor index are where it says, and blocks have another checksum than it says';
  const block = blockOfFooter(footer);
  findings.push({ code: 'footer_handle', severity: 'damage', message, block });
  return recovered;
}

/**
 * The table as it was found without an index, or without all of it; what its metaindex and properties said, if they
 * could be read, counts.
 */
function openedWithout(
  recovered: RecoveredTable,
  findings: Finding[],
  appendedBytes: number,
  opened?: { readonly table: TableReader; readonly blocks: DataBlockList },
): OpenedTableFile {
  const table = opened?.table.metaindex === undefined ? recovered.table : opened.table;
  const dataEnd = table.properties?.count('rocksdb.data.size') ?? Number.POSITIVE_INFINITY;
  const isData = (block: BlockHandle): boolean => block.offset < dataEnd && !isMetaBlock(block, opened);
  const holes = recovered.holes.filter(isData);
  // Blocks of an index whose own blocks are lost look as if they held entries.
  const blocks = new DataBlockList();
  for (let i = 0; i < recovered.blocks.count; i++) {
    const [offset, size] = [recovered.blocks.offsets[i]!, recovered.blocks.sizes[i]!];
    if (isData({ offset, size: size + BLOCK_TRAILER_SIZE })) blocks.push(offset, size);
  }
  for (const hole of holes) {
    findings.push({
      code: 'block_lost',
      severity: 'damage',
      message: `no block can be found in ${hole.size} bytes`,
      block: { type: 'unknown', offset: hole.offset, size: hole.size, ordinal: null },
    });
  }
  return { table, blocks, recovered: { ...recovered, blocks, holes }, appendedBytes, findings };
}

/** Whether the bytes are a block, trailer included, that others refer to, and that holds no entries. */
function isMetaBlock(
  bytes: BlockHandle,
  opened: { readonly table: TableReader; readonly blocks: DataBlockList } | undefined,
): boolean {
  if (opened === undefined) return false;
  const { footer, metaindex } = opened.table;
  const { partitions } = opened.blocks;
  for (let i = 0; i < partitions.count; i++) {
    if (partitions.offsets[i] === bytes.offset && partitions.sizes[i]! + BLOCK_TRAILER_SIZE === bytes.size)
      return true;
  }
  return [footer.metaindex, footer.index, ...(metaindex ?? [])].some(
    (handle) => handle?.offset === bytes.offset && handle.size + BLOCK_TRAILER_SIZE === bytes.size,
  );
}

/** The footer, also where bytes were appended to it, and what is wrong with it. */
function locateFooter(
  environment: Environment,
  source: ByteSource,
  kind: FileKindResult,
): { footer: Footer | undefined; findings: Finding[]; fault: SstError } {
  try {
    return { footer: readFooter(source, environment.hashes), findings: [], fault: NO_FAULT };
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    if (error instanceof UnsupportedError) throw error;
    const footer = findEarlierFooter(source, environment);
    const fault = describeLostFooter(source, kind, error, footer);
    const block = {
      type: 'footer' as const,
      offset: Math.max(0, source.size - 53),
      size: Math.min(53, source.size),
      ordinal: null,
    };
    const finding = findingOf(fault, block);
    if (footer === undefined) finding.shape = shapeOfLostFooter(source);
    return { footer, findings: [finding], fault };
  }
}

const NO_FAULT = new CorruptionError('footer_magic', 'no fault');

class BlockTableView implements OpenedTable {
  constructor(
    private readonly table: TableReader,
    private readonly blocks: DataBlockList,
    readonly findings: readonly Finding[],
  ) {}

  get shape(): EntryShape {
    return this.table;
  }

  get comparatorName(): string | undefined {
    return this.table.comparatorName;
  }

  get comparator(): Comparator | undefined {
    return this.table.comparator;
  }

  get storedComparator(): Comparator | undefined {
    return this.table.storedComparator;
  }

  readRangeTombstones(): RangeTombstone[] {
    return this.table.readRangeTombstones();
  }

  lostTombstones(error: SstError): Finding {
    const lost = { after: null, before: null, entries: null };
    return { ...findingOf(error, blockOfError(error, this.table)), lost };
  }

  walk(environment: Environment, reverse: boolean, filter: KeyFilter, visitor: EntryVisitor): Promise<void> {
    const [first, end] = filter.blockRange(this.table, this.blocks);
    return walkEntries(this.table, this.blocks, environment, { first, end, reverse }, visitor);
  }
}

class PlainTableView implements OpenedTable {
  readonly shape: EntryShape;
  readonly comparatorName: string | undefined;
  readonly comparator: Comparator | undefined;

  constructor(
    private readonly plain: PlainTable,
    readonly findings: readonly Finding[],
    options: OpenOptions,
  ) {
    this.comparatorName = options.comparator?.name ?? plain.properties?.get('rocksdb.comparator');
    this.comparator =
      options.comparator ??
      (this.comparatorName === undefined ? undefined : comparatorByName(this.comparatorName));
    this.shape = {
      storedTimestampSize: options.timestampSize ?? this.comparator?.timestampSize ?? 0,
      globalSeqno: undefined,
    };
  }

  get storedComparator(): Comparator | undefined {
    return this.comparator;
  }

  readRangeTombstones(): RangeTombstone[] {
    return [];
  }

  lostTombstones(error: SstError): Finding {
    return findingOf(error);
  }

  async walk(_: Environment, reverse: boolean, _filter: KeyFilter, visitor: EntryVisitor): Promise<void> {
    if (reverse) {
      throw new UnsupportedError('reverse scan', 'plain', 'a plain table can only be read forward');
    }
    try {
      const rows = this.plain.rows();
      while (rows.next()) if (!visitor.entry(rows)) return;
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      visitor.damage(findingOf(error));
    }
  }
}
