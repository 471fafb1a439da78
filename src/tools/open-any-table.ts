import type { ByteSource } from '../bytes/source.ts';
import type { Environment } from '../engine/environment.ts';
import { CorruptionError, IoError, SstError, UnsupportedError, withPending } from '../errors.ts';
import { openCuckooTable } from '../format/cuckoo/cuckoo-table.ts';
import type { FileKindResult } from '../format/file-kind.ts';
import { type Footer, readFooter } from '../format/footer.ts';
import { type DataBlockList, listDataBlocks } from '../format/index/data-blocks.ts';
import { openPlainTable, type PlainTable } from '../format/plain/plain-table.ts';
import type { RangeTombstone } from '../format/range-del-block.ts';
import { findEarlierFooter, type RecoveredTable, recoverTable } from '../format/recover-table.ts';
import type { EntryShape } from '../format/table-entry.ts';
import { openTableAt, type OpenTableOptions, type TableReader } from '../format/table-reader.ts';
import { type Comparator, comparatorByName } from '../operators/comparator.ts';
import { describeLostFooter } from './lost-footer.ts';
import { type Finding, findingOf } from './finding.ts';
import type { KeyFilter } from './key-range.ts';
import { type EntryVisitor, walkEntries } from './walk-entries.ts';

export type OpenOptions = OpenTableOptions;

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
    if (recovered === undefined) throw new IoError(fault.code, source.name, fault instanceof CorruptionError ? fault.reason : fault.message);
    return openedWithout(recovered, findings, 0);
  }
  const appendedBytes = source.size - footer.offset - footer.size;
  const table = await withPending(() => openTableAt(source, footer, environment, options));
  findings.push(...table.problems.map((error) => findingOf(error)));
  const blocks = await listDataBlocks(table);
  if (table.index === undefined || (blocks.count === 0 && blocks.problems.length > 0)) {
    findings.push(...blocks.problems.map(({ error }) => findingOf(error)));
    const recovered = await recoverTable(source, environment, options, footer);
    if (recovered !== undefined) return openedWithout(recovered, findings, appendedBytes, table);
  }
  return { table, blocks, recovered: undefined, appendedBytes, findings };
}

/** The table as it was found without an index; what its metaindex and properties said, if they could be read, counts. */
function openedWithout(
  recovered: RecoveredTable,
  findings: Finding[],
  appendedBytes: number,
  opened?: TableReader,
): OpenedTableFile {
  for (const hole of recovered.holes) {
    findings.push({
      code: 'block_lost',
      severity: 'damage',
      message: `no block can be found in ${hole.size} bytes`,
      block: { type: 'unknown', offset: hole.offset, size: hole.size, ordinal: null },
    });
  }
  const table = opened?.metaindex === undefined ? recovered.table : opened;
  return { table, blocks: recovered.blocks, recovered, appendedBytes, findings };
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
    const block = { type: 'footer' as const, offset: Math.max(0, source.size - 53), size: Math.min(53, source.size), ordinal: null };
    const finding = findingOf(fault, block);
    if (footer === undefined) finding.shape = 'truncated';
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
