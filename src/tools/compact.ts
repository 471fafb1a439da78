import {
  CompactionIterator,
  type CompactionSink,
  type DropCounts,
  type DropReason,
} from '../engine/compaction/compaction-iterator.ts';
import {
  CompactionOutputs,
  type OutputFile,
  type OutputTarget,
} from '../engine/compaction/compaction-outputs.ts';
import type { Environment } from '../engine/environment.ts';
import { MergingIterator } from '../engine/iterator/merging-iterator.ts';
import {
  type ComparableSeqno,
  comparableSeqno,
  MAX_SEQNO,
  seqnoOfComparable,
} from '../engine/range-del/comparable-seqno.ts';
import type { FragmentedTombstones } from '../engine/range-del/fragmented-tombstones.ts';
import { fragmentTombstones } from '../engine/range-del/fragmenter.ts';
import { CompactionRangeDelAggregator } from '../engine/range-del/range-del-aggregator.ts';
import { tombstoneSetOf } from '../engine/range-del/tombstone-set.ts';
import { InvalidArgumentError, type SstError, UnsupportedError } from '../errors.ts';
import { seqnoText, TRAILER_SIZE, trailerType } from '../format/internal-key.ts';
import type { TableBuilderEnvironment } from '../format/table-builder/table-builder.ts';
import type { TableOptions } from '../format/table-builder/table-options.ts';
import { entryTypeName } from '../format/value-type.ts';
import { bytewiseComparator, type Comparator } from '../operators/comparator.ts';
import {
  type MergeOperator,
  mergeOperatorByName,
  type NamedMergeOperator,
} from '../operators/merge-operator.ts';
import { type CompactInput, checkInput, openCompactInput } from './compact/compact-input.ts';
import { damagedInputs, type Hole, holeOf } from './compact/holes.ts';
import { identityOf, optionsOfInput } from './compact/input-options.ts';
import { openInputs } from './compact/open-inputs.ts';
import { KeyRewriter, TableCursor } from './compact/table-cursor.ts';
import type { Finding } from './finding.ts';
import type { OpenOptions } from './open-any-table.ts';

export interface CompactRequest {
  readonly paths: readonly string[];
  readonly recursive: boolean;
  /** Only tables of this column family. */
  readonly columnFamily: string | undefined;
  readonly open: OpenOptions;
  /** Sequence numbers at which readers may still look. */
  readonly snapshots: readonly bigint[];
  /** Nothing older than the inputs exists anywhere. */
  readonly bottommost: boolean;
  /** In place of what the inputs' properties name. */
  readonly mergeOperator: NamedMergeOperator | undefined;
  /** Infinity: one output. */
  readonly targetFileBytes: number;
  /** In place of what the inputs say; `undefined` of a field that is there counts. */
  readonly table: TableOptions;
  readonly salvage: boolean;
  /** Nothing is written; the result has `plans`. */
  readonly dryRun: boolean;
}

/** An entry that is not written, for whoever wants to know each. */
export interface DroppedEntry {
  readonly path: string;
  /** Without timestamp; a view, valid during the call. */
  readonly userKey: Uint8Array;
  readonly seqno: string;
  readonly type: string;
  readonly reason: DropReason;
  /** The sequence number of what made it superfluous; undefined where nothing has one. */
  readonly by: string | undefined;
}

export interface CompactEvents {
  finding(path: string, finding: Finding): void;
  failure(error: SstError): void;
  /** Something that the user should know; `warning` counts even with `--quiet`. */
  note(text: string): void;
  warning(text: string): void;
  skipped(paths: readonly string[]): void;
  progress(doneBytes: number, totalBytes: number): void;
  /** Left out where nobody wants to know. */
  dropped?(entry: DroppedEntry): void;
}

export interface CompactedInput {
  readonly path: string;
  /** Point entries and range tombstones. */
  readonly entries: number;
  readonly bytes: number;
}

/** What one set of rules would leave over. */
export interface CompactPlan {
  readonly name: string;
  readonly kept: number;
  readonly keptTombstones: number;
  readonly dropped: DropCounts;
  /** Bytes of keys and values that are kept, of those in the inputs. */
  readonly rawBytes: number;
  readonly share: number;
  /** The inputs' size times the share. */
  readonly estimatedBytes: number;
}

export interface CompactResult {
  readonly inputs: readonly CompactedInput[];
  readonly outputs: readonly OutputFile[];
  readonly dropped: DropCounts;
  readonly holes: readonly Hole[];
  /** Only of a dry run. */
  readonly plans?: readonly CompactPlan[];
}

/** Batches of all inputs together, in the files. Uncompressed and read ahead they are some times larger. */
const BATCH_BUDGET_BYTES = 16 * 1024 * 1024;
const MAX_BATCH_BYTES = 256 * 1024;

/**
 * Merges tables into new ones by RocksDB's compaction rules. Inputs are read twice: once to see that they are
 * whole, before anything is written, and once to be merged. Throws SstError, also when they are not whole and
 * `salvage` is not set. `openOutput` is called with 0, 1 ...; nothing appears under its name before all is done.
 */
export async function compactTables(
  environment: Environment & TableBuilderEnvironment,
  request: CompactRequest,
  openOutput: (number: number) => OutputTarget,
  events: CompactEvents,
): Promise<CompactResult> {
  const { inputs: opened, holes, close } = await openInputs(environment, request, events, openCompactInput);
  try {
    const compaction = new Compaction(environment, request, events, opened);
    return await compaction.run(openOutput, holes);
  } finally {
    close();
  }
}

type Opened = Awaited<ReturnType<typeof openCompactInput>>;

class Compaction {
  private readonly comparator: Comparator;
  private readonly inputs: Opened[];
  private readonly snapshots: ComparableSeqno[];
  private readonly operator: MergeOperator | undefined;
  private readonly tombstones: FragmentedTombstones[];
  private readonly totalBytes: number;
  private doneBytes = 0;

  constructor(
    private readonly environment: Environment & TableBuilderEnvironment,
    private readonly request: CompactRequest,
    private readonly events: CompactEvents,
    opened: readonly Opened[],
  ) {
    this.comparator = agreedComparator(opened, request, events);
    const { comparator } = this;
    this.inputs = opened.map((input) => ({ ...input, comparator }));
    this.snapshots = [...new Set(request.snapshots)].sort((a, b) => (a < b ? -1 : 1)).map(comparableSeqno);
    this.operator = this.chooseOperator();
    this.tombstones = this.inputs.map((input) => fragmentsOf(input, comparator));
    this.totalBytes = 2 * this.inputs.reduce((sum, { source }) => sum + source.size, 0);
    this.warnOfUnknownOrder();
  }

  async run(
    openOutput: (number: number) => OutputTarget,
    unreadable: readonly Hole[],
  ): Promise<CompactResult> {
    const checked = await this.check();
    const { inputs } = checked;
    const holes = [...unreadable, ...checked.holes];
    if (this.request.dryRun) {
      const plans = await this.plan(inputs);
      return { inputs, outputs: [], dropped: plans[0]!.dropped, holes, plans };
    }
    const table = this.tableOptions();
    const outputs = new CompactionOutputs(
      {
        table,
        comparator: this.comparator,
        targetFileBytes: this.request.targetFileBytes,
        tombstones: this.outputTombstones(this.snapshots),
        isDroppable: (seqno) => this.isDroppable(seqno, this.request.bottommost, this.snapshots),
      },
      openOutput,
      this.environment,
    );
    try {
      const dropped = await this.write(outputs);
      dropped.tombstones += outputs.droppedTombstones;
      outputs.commit();
      return { inputs, outputs: outputs.files, dropped, holes };
    } catch (error) {
      outputs.discard();
      throw error;
    }
  }

  /** The first pass: what is wrong with the inputs, before anything is written. */
  private async check(): Promise<{ inputs: CompactedInput[]; holes: Hole[] }> {
    const { request, events } = this;
    const holes: Hole[] = [];
    let refusal: SstError | undefined;
    const blobFiles = new Set<number>();
    const inputs: CompactedInput[] = [];
    for (const input of this.inputs) {
      const { path, source, tombstones } = input;
      const start = this.doneBytes;
      const check = await checkInput(this.environment, input, (offset) => this.advance(start + offset));
      this.advance(start + source.size);
      for (const finding of check.findings) {
        events.finding(path, finding);
        const hole = holeOf(path, finding);
        if (hole !== undefined) holes.push(hole);
      }
      const faults = check.findings.filter(
        ({ severity, lost }) => severity === 'damage' || lost !== undefined,
      );
      if (faults.length > 0 && !request.salvage) {
        const error = damagedInputs(path, faults);
        if (refusal === undefined || refusal instanceof UnsupportedError) refusal = error;
      }
      for (const number of check.blobFiles) blobFiles.add(number);
      inputs.push({ path, entries: check.points + tombstones.length, bytes: source.size });
    }
    if (refusal !== undefined) throw refusal;
    for (const hole of holes) events.warning(holeWarning(hole));
    if (blobFiles.size > 0) {
      const names = [...blobFiles]
        .sort((a, b) => a - b)
        .map((number) => `${String(number).padStart(6, '0')}.blob`);
      events.note(
        `values lie in blob files and stay there: ${names.join(', ')} are needed beside the output`,
      );
    }
    return { inputs, holes };
  }

  private async write(outputs: CompactionOutputs): Promise<DropCounts> {
    const merging = this.merge();
    const machine = new CompactionIterator(
      this.rules(this.request.bottommost, this.snapshots),
      this.sink(outputs),
    );
    const cuts = this.request.targetFileBytes !== Number.POSITIVE_INFINITY;
    await outputs.open();
    await merging.open();
    while (merging.source >= 0) {
      const { key, keyLength, data, valueStart, valueEnd } = merging.current;
      if (cuts && outputs.isFull && machine.startsUserKey(key, keyLength)) {
        machine.endUserKey();
        await outputs.cutBefore(key, keyLength);
      }
      machine.push(merging.source, key, keyLength, data, valueStart, valueEnd);
      if (outputs.isSaturated) await outputs.settle();
      if (!merging.next()) await merging.load();
    }
    machine.endUserKey();
    await outputs.finish();
    assertBalanced(machine);
    if (machine.repeated > 0) {
      this.events.warning(
        `${machine.repeated} entries have the key and sequence number of an entry of another input: ` +
          'of such the one of the first PATH is kept',
      );
    }
    return machine.drops;
  }

  /** What other rules would leave over: all sets of rules see the same entries, in one pass. */
  private async plan(inputs: readonly CompactedInput[]): Promise<CompactPlan[]> {
    const { request } = this;
    const variants: { name: string; bottommost: boolean; snapshots: readonly ComparableSeqno[] }[] = [
      { name: 'as asked', bottommost: request.bottommost, snapshots: this.snapshots },
      {
        name: request.bottommost ? 'without --bottommost' : 'with --bottommost',
        bottommost: !request.bottommost,
        snapshots: this.snapshots,
      },
    ];
    if (this.snapshots.length > 0) {
      variants.push({ name: 'without --snapshots', bottommost: request.bottommost, snapshots: [] });
      variants.push({ name: '--bottommost alone', bottommost: true, snapshots: [] });
    }
    const sinks = variants.map(() => new CountingSink());
    const machines = variants.map(
      ({ bottommost, snapshots }, i) =>
        new CompactionIterator(this.rules(bottommost, snapshots), i === 0 ? this.sink(sinks[i]!) : sinks[i]!),
    );
    const merging = this.merge();
    let rawBytes = 0;
    await merging.open();
    while (merging.source >= 0) {
      const { key, keyLength, data, valueStart, valueEnd } = merging.current;
      rawBytes += keyLength + valueEnd - valueStart;
      for (const machine of machines)
        machine.push(merging.source, key, keyLength, data, valueStart, valueEnd);
      if (!merging.next()) await merging.load();
    }
    const fileBytes = inputs.reduce((sum, { bytes }) => sum + bytes, 0);
    return variants.map(({ name, bottommost, snapshots }, i) => {
      const machine = machines[i]!;
      machine.endUserKey();
      assertBalanced(machine);
      const list = this.outputTombstones(snapshots);
      const seqnos = list?.seqnos.subarray(0, list.stackCount) ?? new Float64Array(0);
      const droppable = seqnos.reduce(
        (n, seqno) => n + (this.isDroppable(seqno, bottommost, snapshots) ? 1 : 0),
        0,
      );
      machine.drops.tombstones += droppable;
      const share = rawBytes === 0 ? 1 : sinks[i]!.rawBytes / rawBytes;
      return {
        name,
        kept: machine.kept,
        keptTombstones: seqnos.length - droppable,
        dropped: machine.drops,
        rawBytes: sinks[i]!.rawBytes,
        share,
        estimatedBytes: Math.round(share * fileBytes),
      };
    });
  }

  private merge(): MergingIterator<TableCursor> {
    const batchBytes = Math.min(MAX_BATCH_BYTES, Math.floor(BATCH_BUDGET_BYTES / this.inputs.length));
    const cursors = this.inputs.map((input) => {
      let before = 0;
      return new TableCursor(input, this.environment, this.comparator, {
        batchBytes,
        salvage: this.request.salvage,
        advanced: (offset) => {
          this.advance(this.doneBytes + Math.max(0, offset - before));
          before = Math.max(before, offset);
        },
      });
    });
    return new MergingIterator(cursors, this.comparator);
  }

  private rules(bottommost: boolean, snapshots: readonly ComparableSeqno[]) {
    return {
      comparator: this.comparator,
      snapshots,
      bottommost,
      tombstones: this.aggregator(snapshots),
      mergeOperator: this.operator,
    };
  }

  private aggregator(snapshots: readonly ComparableSeqno[]): CompactionRangeDelAggregator | undefined {
    if (this.tombstones.every(({ isEmpty }) => isEmpty)) return undefined;
    const aggregator = new CompactionRangeDelAggregator(this.comparator, snapshots);
    // Without a MANIFEST a file's tombstones count as they stand in it.
    for (const list of this.tombstones) aggregator.addTombstones(list);
    return aggregator;
  }

  private outputTombstones(snapshots: readonly ComparableSeqno[]): FragmentedTombstones | undefined {
    const list = this.aggregator(snapshots)?.outputTombstones();
    return list === undefined || list.isEmpty ? undefined : list;
  }

  private isDroppable(
    seqno: ComparableSeqno,
    bottommost: boolean,
    snapshots: readonly ComparableSeqno[],
  ): boolean {
    return bottommost && this.comparator.timestampSize === 0 && seqno <= (snapshots[0] ?? MAX_SEQNO);
  }

  private sink(outputs: Pick<CompactionSink, 'keep'>): CompactionSink {
    const { events, inputs } = this;
    const { timestampSize } = this.comparator;
    return {
      keep: (key, keyLength, data, start, end) => outputs.keep(key, keyLength, data, start, end),
      drop: (key, keyLength, source, reason, by) => {
        if (events.dropped === undefined) return;
        const cause = reason === 'rangeDeleted' ? this.coveringSeqno(key, keyLength) : by;
        events.dropped({
          path: inputs[source]!.path,
          userKey: key.subarray(0, keyLength - TRAILER_SIZE - timestampSize),
          seqno: seqnoText(key, keyLength),
          type: entryTypeName(trailerType(key, keyLength)),
          reason,
          by: cause < 0 ? undefined : String(seqnoOfComparable(cause)),
        });
      },
    };
  }

  /** The newest range tombstone over the key: for explanations. */
  private coveringSeqno(key: Uint8Array, keyLength: number): ComparableSeqno {
    const end = keyLength - TRAILER_SIZE - this.comparator.timestampSize;
    return this.tombstones.reduce((max, list) => Math.max(max, list.maxCoveringSeqno(key, 0, end)), -1);
  }

  private tableOptions(): TableOptions {
    const { request, inputs } = this;
    const [largest] = [...inputs].sort((a, b) => b.source.size - a.source.size);
    const told = optionsOfInput(largest!, (text) => this.events.note(text));
    // LevelDB's tables hold puts and deletes alone, and no range tombstones.
    const profile =
      told.writerProfile === 'leveldb' &&
      inputs.every(({ opened }) => opened.plain === undefined && opened.table.family === 'leveldb');
    const { writerProfile: _, ...rest } = told;
    const base = fittingOptions(profile ? told : rest, request.table);
    const persisted = inputs.every(({ paddedTimestampSize }) => paddedTimestampSize === 0);
    const operatorName = this.operator?.name ?? base.mergeOperatorName;
    return {
      ...base,
      ...(this.comparator.timestampSize > 0 ? { persistUserDefinedTimestamps: persisted } : {}),
      ...(operatorName === undefined ? {} : { mergeOperatorName: operatorName }),
      identity: identityOf(inputs),
      ...(request.targetFileBytes === Number.POSITIVE_INFINITY
        ? {}
        : { targetFileSize: request.targetFileBytes }),
      ...request.table,
      comparator: this.comparator,
      compressionOptions: { ...base.compressionOptions, ...request.table.compressionOptions },
    };
  }

  /** By the request, or by what the inputs say and agree on. */
  private chooseOperator(): MergeOperator | undefined {
    const { request, inputs, events } = this;
    const { mergeOperator: asked } = request;
    if (asked?.status === 'known') return asked.operator;
    if (asked !== undefined) return undefined;
    const names = new Set(
      inputs.map(({ properties }) => properties?.get('rocksdb.merge.operator') || 'nullptr'),
    );
    names.delete('nullptr');
    if (names.size === 0 || !inputs.some(hasOperands)) return undefined;
    const [name] = names;
    const named = mergeOperatorByName(name);
    if (names.size === 1 && named.status === 'known') return named.operator;
    const why =
      names.size > 1
        ? `the inputs name several operators (${[...names].join(', ')})`
        : named.status === 'incomplete'
          ? `the files do not say the delimiter of ${name}: --merge-operator ${name}:DELIM resolves them`
          : `operator ${name} is not known here`;
    events.note(`merge operands are kept as they are: ${why}`);
    return undefined;
  }

  private warnOfUnknownOrder(): void {
    if (this.inputs.length < 2) return;
    for (const { path, hasUnknownSeqno } of this.inputs) {
      if (!hasUnknownSeqno) continue;
      this.events.warning(
        `${path}: a file for ingestion with a stored global sequence number of 0: which of its entries are newer than ` +
          'those of the other files stands in a MANIFEST alone, so it cannot be ordered; here it counts as the oldest',
      );
    }
  }

  private advance(bytes: number): void {
    this.doneBytes = bytes;
    this.events.progress(bytes, this.totalBytes);
  }
}

/** What the inputs say, without what does not go with the release or the compression that was asked for. */
function fittingOptions(told: TableOptions, asked: TableOptions): TableOptions {
  if (asked.writerProfile === 'leveldb') return {};
  const fitting: { -readonly [Name in keyof TableOptions]: TableOptions[Name] } = { ...told };
  if (asked.writerProfile === '7.8') {
    fitting.formatVersion = Math.min(MAX_FORMAT_VERSION_7_8, told.formatVersion ?? MAX_FORMAT_VERSION_7_8);
    delete fitting.separateKeyValueInDataBlock;
  }
  if (asked.compression !== undefined && asked.compression !== told.compression) {
    // A level, and what is in a dictionary, belong to one codec.
    const { level: _level, checksum: _checksum, ...rest } = told.compressionOptions ?? {};
    fitting.compressionOptions = rest;
  }
  return fitting;
}

const MAX_FORMAT_VERSION_7_8 = 5;

class CountingSink implements CompactionSink {
  rawBytes = 0;

  keep(_key: Uint8Array, keyLength: number, _data: Uint8Array, start: number, end: number): void {
    this.rawBytes += keyLength + end - start;
  }

  drop(): void {}
}

/** Every entry is kept or dropped, and none twice. */
function assertBalanced({ pushed, kept, drops }: CompactionIterator): void {
  const dropped = Object.values(drops).reduce((sum, count) => sum + count, 0);
  if (pushed !== kept + dropped)
    throw new Error(`${pushed} entries came, ${kept} were kept and ${dropped} dropped`);
}

function hasOperands({ properties }: CompactInput): boolean {
  return properties?.count('rocksdb.merge.operands') !== 0;
}

function fragmentsOf(input: CompactInput, comparator: Comparator): FragmentedTombstones {
  const rewriter = new KeyRewriter(input.shape.globalSeqno, input.paddedTimestampSize);
  const rewritten = input.tombstones.map(({ startKey, end }) => {
    const length = rewriter.rewrite(startKey, startKey.length);
    const padded = new Uint8Array(end.length + input.paddedTimestampSize);
    padded.set(end);
    return { startKey: rewriter.key.slice(0, length), end: padded };
  });
  const size = comparator.timestampSize;
  const set = tombstoneSetOf(rewritten, { storedTimestampSize: size, globalSeqno: undefined });
  return fragmentTombstones(set, comparator);
}

/** The one order of all inputs. */
function agreedComparator(
  inputs: readonly CompactInput[],
  { open, salvage }: CompactRequest,
  events: CompactEvents,
): Comparator {
  if (open.comparator !== undefined) return open.comparator;
  const named = inputs.filter(({ comparatorName }) => comparatorName !== undefined);
  const [first] = named;
  for (const input of named) {
    if (input.comparator === undefined) {
      const name = input.comparatorName!;
      throw new InvalidArgumentError(
        'comparator',
        name,
        `${input.path}: comparator ${name} is not known here: give one that orders keys alike with --comparator`,
      );
    }
    if (input.comparatorName !== first!.comparatorName) {
      throw new InvalidArgumentError(
        'comparator',
        input.comparatorName!,
        `comparators differ: ${first!.path} has ${first!.comparatorName}, ${input.path} has ${input.comparatorName}`,
      );
    }
  }
  if (named.length === inputs.length) return first!.comparator!;
  const nameless = inputs.find(({ comparatorName }) => comparatorName === undefined)!;
  const comparator = first?.comparator ?? bytewiseComparator;
  if (!salvage) {
    // Without properties the file is damaged, and is refused when it is checked.
    return comparator;
  }
  events.warning(
    `${nameless.path}: its properties are lost: its keys are taken to be in the order of ${comparator.name} ` +
      '(--comparator says otherwise)',
  );
  return comparator;
}

function holeWarning({ path, after, before, lostTombstones }: Hole): string {
  const place = (key: Uint8Array | null, end: string): string => (key === null ? end : hexOrText(key));
  // Versions of the two keys themselves may have lain between.
  const range = `from ${place(after, 'the beginning')} to ${place(before, 'the end')}`;
  const what = lostTombstones ? 'range tombstones are' : 'entries may be';
  return `${path}: ${what} lost ${range}: older versions and deleted keys of that range may be visible again`;
}

function hexOrText(key: Uint8Array): string {
  let text = '';
  for (const byte of key) {
    if (byte === 0x5c) text += '\\\\';
    else if (byte >= 0x20 && byte <= 0x7e) text += String.fromCharCode(byte);
    else text += `\\x${byte.toString(16).padStart(2, '0')}`;
  }
  return text;
}
