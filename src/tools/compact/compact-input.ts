import type { Environment, FileSource } from '../../engine/environment.ts';
import { SstError, withPending } from '../../errors.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import { COMPRESSION_DICT_BLOCK, RANGE_DEL_BLOCK } from '../../format/metaindex.ts';
import type { TableProperties } from '../../format/properties.ts';
import type { RangeTombstone } from '../../format/range-del-block.ts';
import { recoverTable } from '../../format/recover-table.ts';
import type { EntryShape, EntrySource } from '../../format/table-entry.ts';
import type { TableReader } from '../../format/table-reader.ts';
import { isPointType } from '../../format/value-type.ts';
import { type Comparator, comparatorByName } from '../../operators/comparator.ts';
import { DEFAULT_COLUMN_FAMILY } from '../column-families.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { OpenInput } from '../input.ts';
import { type OpenedTableFile, type OpenOptions, openTableFile } from '../open-any-table.ts';
import { walkEntries } from '../walk-entries.ts';
import { KeyRewriter } from './cursor-keys.ts';
import { type EntrySpan, OrderWatch, RunCutter } from './entry-runs.ts';
import { findMisplaced, type Misplaced } from './misplaced.ts';

/** A table that is to be compacted, opened and read once. */
export interface CompactInput {
  readonly path: string;
  readonly source: FileSource;
  readonly opened: OpenedTableFile;
  readonly properties: TableProperties | undefined;
  readonly shape: EntryShape;
  /** Timestamp bytes that keys do not store and are given. */
  readonly paddedTimestampSize: number;
  readonly comparatorName: string | undefined;
  /** Of user keys with timestamps; undefined: not known here. */
  readonly comparator: Comparator | undefined;
  readonly columnFamily: string;
  /** Null: there is one, and it cannot be read. */
  readonly dictionary: Uint8Array | undefined | null;
  readonly tombstones: readonly RangeTombstone[];
  /** Came from outside by ingestion, with the sequence number 0 in the file: only a MANIFEST knows the real one. */
  readonly hasUnknownSeqno: boolean;
}

/** With what was found wrong when it was opened. */
export type OpenedInput = CompactInput & { readonly openFindings: readonly Finding[] };

/** What the file holds, and what is wrong with it. */
export interface InputCheck {
  /** Point entries. */
  points: number;
  /** In findings' order; those with `lost` may have cost entries. */
  readonly findings: readonly Finding[];
  /** Point entries that do not fit into the order of the others. */
  readonly misplaced: readonly EntrySpan[];
}

/** Opens a table as far as its state allows. Throws SstError when nothing of it can be read. */
export async function openCompactInput(
  environment: Environment,
  { file, source, kind }: OpenInput,
  options: OpenOptions,
): Promise<OpenedInput> {
  const withoutSeparators = { ...options, separators: false, findUnlisted: true };
  const opened = await findMetaBlocks(
    environment,
    source,
    options,
    await openTableFile(environment, source, kind, withoutSeparators),
  );
  const openFindings = [...opened.findings];
  let dictionary: Uint8Array | undefined | null;
  let tombstones: readonly RangeTombstone[] = [];
  if (opened.plain === undefined) {
    // A lost dictionary is reported by the walk over the entries.
    dictionary = (await attempt(() => opened.table.readDictionary(), undefined)) ?? undefined;
    if (dictionary === undefined && opened.table.metaBlock(COMPRESSION_DICT_BLOCK) !== undefined)
      dictionary = null;
    tombstones =
      (await attempt(
        () => opened.table.readRangeTombstones(),
        (finding) => openFindings.push(lostTombstones(finding, opened.table)),
      )) ?? [];
  }
  const table = opened.plain === undefined ? opened.table : undefined;
  const properties = table?.properties ?? opened.plain?.properties;
  const comparatorName =
    table?.comparatorName ?? options.comparator?.name ?? properties?.get('rocksdb.comparator');
  const comparator =
    table?.comparator ??
    options.comparator ??
    (comparatorName === undefined ? undefined : comparatorByName(comparatorName));
  const timestampSize = table?.timestampSize ?? options.timestampSize ?? comparator?.timestampSize ?? 0;
  const shape = table ?? { storedTimestampSize: timestampSize, globalSeqno: undefined };
  return {
    path: file.path,
    source,
    opened,
    properties,
    shape,
    paddedTimestampSize: timestampSize - shape.storedTimestampSize,
    comparatorName,
    comparator,
    columnFamily: properties?.get('rocksdb.column.family.name') || DEFAULT_COLUMN_FAMILY,
    dictionary,
    tombstones,
    hasUnknownSeqno:
      properties?.get('rocksdb.external_sst_file.version') !== undefined && shape.globalSeqno === undefined,
    openFindings,
  };
}

/**
 * Where the metaindex alone is lost, range tombstones, dictionary and properties are looked for block by block; the
 * data blocks are known from the index all the same.
 */
async function findMetaBlocks(
  environment: Environment,
  source: FileSource,
  options: OpenOptions,
  opened: OpenedTableFile,
): Promise<OpenedTableFile> {
  if (opened.plain !== undefined || opened.recovered !== undefined) return opened;
  if (opened.table.metaindex !== undefined) return opened;
  const recovered = await recoverTable(source, environment, options, opened.table.footer);
  return recovered === undefined ? opened : { ...opened, table: recovered.table };
}

/** Which keys they hid is not known any more. */
function lostTombstones(finding: Finding, table: TableReader): Finding {
  const { offset, size } = table.metaBlock(RANGE_DEL_BLOCK)!;
  const lost = { after: null, before: null, entries: null };
  return { ...finding, block: { type: 'range_del', offset, size, ordinal: null }, lost };
}

async function attempt<T>(
  step: () => T,
  failed: ((finding: Finding) => void) | undefined,
): Promise<T | undefined> {
  try {
    return await withPending(step);
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    failed?.(findingOf(error));
    return undefined;
  }
}

/**
 * Reads the whole table once: checksums, entries, their order and types, and whether there are as many as its
 * properties say. What is missing gets the range of keys that it may have cost.
 */
export async function checkInput(
  environment: Environment,
  input: OpenedInput,
  advanced: (offset: number) => void,
): Promise<InputCheck> {
  const check = new InputChecker(input);
  await visitInput(environment, input, {
    entry: (entry) => check.entry(entry),
    damage: (finding) => check.damage(finding),
    lostBehind: (finding) => check.lostBehind(finding),
    advanced: (offset) => {
      check.blockEnd = offset;
      advanced(offset);
    },
  });
  return check.finish(check.isMisordered ? await misplacedIn(environment, input) : undefined);
}

interface InputVisitor {
  entry(entry: EntrySource): void;
  damage(finding: Finding): void;
  /** Nothing behind the fault can be read. */
  lostBehind(finding: Finding): void;
  /** Before each block: where it ends. */
  advanced(offset: number): void;
}

async function visitInput(
  environment: Environment,
  { opened }: OpenedInput,
  visitor: InputVisitor,
): Promise<void> {
  if (opened.plain === undefined) {
    const entry = (each: EntrySource): true => {
      visitor.entry(each);
      return true;
    };
    await walkEntries(opened.table, opened.blocks, environment, {}, { ...visitor, entry });
    return;
  }
  try {
    const rows = opened.plain.rows();
    while (rows.next()) visitor.entry(rows);
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    visitor.lostBehind(findingOf(error));
  }
}

/** Reads the table once more, for what is to be left out so that its keys ascend. */
async function misplacedIn(environment: Environment, input: OpenedInput): Promise<Misplaced> {
  const comparator = input.comparator!;
  const rewriter = new KeyRewriter(input.shape.globalSeqno, input.paddedTimestampSize);
  const cutter = new RunCutter(comparator);
  await visitInput(environment, input, {
    entry: ({ key, keyLength }) => {
      if (!isPointType(trailerType(key, keyLength))) return;
      const length = rewriter.rewrite(key, keyLength);
      cutter.add(rewriter.key, length);
    },
    advanced: () => cutter.cut(),
    damage: () => undefined,
    lostBehind: () => undefined,
  });
  cutter.cut();
  const suffix = TRAILER_SIZE + comparator.timestampSize;
  return findMisplaced(cutter.runs, comparator, (key) => key.subarray(0, key.length - suffix));
}

class InputChecker {
  blockEnd = 0;
  isMisordered = false;
  private points = 0;
  private readonly findings: Finding[] = [];
  /** Bytes in which no block was found, by offset: the keys on both sides are still to come. */
  private readonly gaps: Finding[] = [];
  private readonly watch: OrderWatch | undefined;
  private readonly rewriter: KeyRewriter;
  private lastKey: Uint8Array | null = null;

  constructor(private readonly input: OpenedInput) {
    for (const finding of input.openFindings) {
      if (finding.code === 'block_lost') this.gaps.push(finding);
      else this.findings.push(finding);
    }
    this.gaps.sort((a, b) => a.block!.offset - b.block!.offset);
    this.watch = input.comparator === undefined ? undefined : new OrderWatch(input.comparator);
    this.rewriter = new KeyRewriter(input.shape.globalSeqno, input.paddedTimestampSize);
  }

  entry(entry: EntrySource): void {
    const { key, keyLength } = entry;
    const type = trailerType(key, keyLength);
    if (!isPointType(type)) {
      this.lose('entry_malformed', `an entry has type ${type}, which no data block holds`, key, keyLength);
      return;
    }
    if (this.gaps.length > 0) this.closeGaps(entry);
    this.points++;
    if (this.watch === undefined) return;
    const length = this.rewriter.rewrite(key, keyLength);
    if (!this.watch.ascends(this.rewriter.key, length)) this.isMisordered = true;
  }

  damage(finding: Finding): void {
    this.findings.push(finding);
  }

  /** Nothing behind the fault can be read. */
  lostBehind(finding: Finding): void {
    finding.lost = { after: this.lastUserKey(), before: null, entries: null };
    this.findings.push(finding);
  }

  finish(misplaced: Misplaced | undefined): InputCheck {
    for (const gap of this.gaps) this.lostBehind(gap);
    if (misplaced !== undefined) {
      for (const finding of this.findings) misplaced.correct(finding);
      this.findings.push(...misplaced.findings);
      for (const { start, end } of misplaced.entries) this.points -= end - start;
    }
    this.compareCounts();
    this.compareTombstones();
    return { points: this.points, findings: this.findings, misplaced: misplaced?.entries ?? [] };
  }

  /** Where the footer is lost, only the properties tell whether more followed. */
  private compareCounts(): void {
    const { properties, tombstones, opened } = this.input;
    const alreadyLost = this.findings.some(({ lost }) => lost !== undefined);
    const footerLost = this.findings.some(({ block }) => block?.type === 'footer');
    const entries = properties?.count('rocksdb.num.entries');
    if (entries === undefined) {
      const isLevelDb = opened.plain === undefined && opened.table.family === 'leveldb';
      if (!footerLost && (isLevelDb || opened.plain !== undefined) && !alreadyLost) return;
      if (!footerLost) return;
      this.lostBehind({
        code: 'entries_unknown',
        severity: 'damage',
        message:
          'neither footer nor properties tell how many entries there were: some at the end may be missing',
        block: {
          type: 'unknown',
          offset: this.blockEnd,
          size: this.input.source.size - this.blockEnd,
          ordinal: null,
        },
      });
      return;
    }
    if (alreadyLost) return;
    // Old releases leave range tombstones out of the count.
    if (this.points >= entries || this.points + tombstones.length >= entries) return;
    this.findings.push({
      code: 'properties_mismatch',
      severity: 'damage',
      message: `the properties count ${entries} entries, ${this.points + tombstones.length} were found`,
      lost: { after: null, before: null, entries: entries - this.points - tombstones.length },
    });
  }

  /** Without the file's own list of meta blocks, only the properties tell how many range tombstones there were. */
  private compareTombstones(): void {
    const { properties, tombstones, opened } = this.input;
    if (opened.plain !== undefined || this.findings.some(({ block }) => block?.type === 'range_del')) return;
    const counted = properties?.count('rocksdb.num.range-deletions');
    const isComplete = counted === undefined ? this.hasOwnMetaindex() : tombstones.length >= counted;
    if (isComplete) return;
    this.findings.push({
      code: 'range_dels_unknown',
      severity: 'damage',
      message:
        counted === undefined
          ? 'neither metaindex nor properties tell whether there were range tombstones'
          : `the properties count ${counted} range tombstones, ${tombstones.length} were found`,
      block: { type: 'range_del', offset: 0, size: this.input.source.size, ordinal: null },
      lost: {
        after: null,
        before: null,
        entries: counted === undefined ? null : counted - tombstones.length,
      },
    });
  }

  /** It could be read, and was not put together from blocks that were found. */
  private hasOwnMetaindex(): boolean {
    return !this.findings.some(({ block }) => block?.type === 'metaindex' || block?.type === 'footer');
  }

  private closeGaps(entry: EntrySource): void {
    while (this.gaps.length > 0 && this.gaps[0]!.block!.offset < this.blockEnd) {
      const gap = this.gaps.shift()!;
      gap.lost = {
        after: this.lastUserKey(),
        before: this.userKey(entry.key, entry.keyLength),
        entries: null,
      };
      this.findings.push(gap);
    }
    // Only while a gap is open: a copy an entry costs too much otherwise.
    this.lastKey = this.gaps.length > 0 ? this.userKey(entry.key, entry.keyLength) : this.lastKey;
  }

  private lose(code: string, message: string, key: Uint8Array, keyLength: number): void {
    const at = this.userKey(key, keyLength);
    this.findings.push({ code, severity: 'damage', message, lost: { after: at, before: at, entries: 1 } });
  }

  private lastUserKey(): Uint8Array | null {
    const last = this.watch?.lastKey();
    if (last === undefined || last === null) return this.lastKey;
    const { comparator } = this.input;
    return last.subarray(0, last.length - TRAILER_SIZE - (comparator?.timestampSize ?? 0));
  }

  private userKey(key: Uint8Array, keyLength: number): Uint8Array {
    return key.slice(0, Math.max(0, keyLength - TRAILER_SIZE - this.input.shape.storedTimestampSize));
  }
}
