import {
  CompactionIterator,
  type CompactionRules,
  type CompactionSink,
  type DropCounts,
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
  seqnoOfComparable,
} from '../engine/range-del/comparable-seqno.ts';
import { CorruptionError, InvalidArgumentError, UnsupportedError } from '../errors.ts';
import { seqnoText, TRAILER_SIZE, trailerType } from '../format/internal-key.ts';
import type { TableBuilderEnvironment } from '../format/table-builder/table-builder.ts';
import type { TableOptions } from '../format/table-builder/table-options.ts';
import { entryTypeName } from '../format/value-type.ts';
import type { Comparator } from '../operators/comparator.ts';
import type { MergeOperator, NamedMergeOperator } from '../operators/merge-operator.ts';
import {
  agreedComparator,
  agreedOperator,
  outputOptions,
  refuseEmbeddedValues,
  warnOfUnknownOrder,
} from './compact/agreement.ts';
import { BlobNotes } from './compact/blob-notes.ts';
import { type CheckedInputs, checkInputs, looksWhole, missesEntries } from './compact/check-inputs.ts';
import { type OpenedInput, openCompactInput } from './compact/compact-input.ts';
import type { EntrySpan } from './compact/entry-runs.ts';
import type { CompactEvents, CompactedInput } from './compact/events.ts';
import type { Hole } from './compact/holes.ts';
import { IngestableEntries } from './compact/ingestable.ts';
import { InputTombstones, isDroppable } from './compact/input-tombstones.ts';
import { KeyPart } from './compact/key-part.ts';
import { openInputs } from './compact/open-inputs.ts';
import { type CompactPlan, planCompaction } from './compact/plan.ts';
import { TableCursor } from './compact/table-cursor.ts';
import { EntrySample, type NamedTry, tryTables } from './compact/what-if.ts';
import type { KeyRange } from './key-range.ts';
import type { OpenOptions } from './open-any-table.ts';

export interface CompactRequest {
  readonly paths: readonly string[];
  readonly recursive: boolean;
  /** The part of the keys that is cut out. */
  readonly range: KeyRange;
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
  /** Outputs are for ingestion: each key once, without sequence numbers. */
  readonly ingestable: boolean;
  readonly salvage: boolean;
  /** Nothing is written; the result has `plans`. */
  readonly dryRun: boolean;
}

/** Tables that were tried on what is kept, or on a part of it. Range tombstones are left out. */
export interface WhatIf {
  readonly sample: { readonly entries: number; readonly rawBytes: number; readonly complete: boolean };
  readonly tables: readonly NamedTry[];
}

export interface CompactResult {
  readonly inputs: readonly CompactedInput[];
  readonly outputs: readonly OutputFile[];
  readonly dropped: DropCounts;
  readonly holes: readonly Hole[];
  /** Only of a dry run: what other rules would leave, and what other options would make of it. */
  readonly plans?: readonly CompactPlan[];
  readonly whatIf?: WhatIf;
}

/** Batches of all inputs together, in the files. Uncompressed and read ahead they are some times larger. */
const BATCH_BUDGET_BYTES = 16 * 1024 * 1024;
const MAX_BATCH_BYTES = 256 * 1024;

/**
 * Merges tables into new ones by RocksDB's compaction rules. Throws SstError, also when an input is not whole and
 * `salvage` is not set. `openOutput` is called with 0, 1 ...; nothing appears under its name before all is done.
 *
 * Whole inputs are read once: the merge sees itself whatever is wrong, and then they are read again for all that is.
 * To be salvaged they are read first, so that the holes are known before anything is written.
 */
export async function compactTables(
  environment: Environment & TableBuilderEnvironment,
  request: CompactRequest,
  openOutput: (number: number) => OutputTarget,
  events: CompactEvents,
): Promise<CompactResult> {
  checkRequest(request);
  const { inputs: opened, holes, close } = await openInputs(environment, request, events, openCompactInput);
  try {
    const compaction = new Compaction(environment, request, events, opened);
    return await compaction.run(openOutput, holes);
  } finally {
    close();
  }
}

/** What does not go together. Throws InvalidArgumentError. */
function checkRequest({ ingestable, snapshots }: CompactRequest): void {
  if (!ingestable || snapshots.length === 0) return;
  throw new InvalidArgumentError(
    'snapshots',
    snapshots.join(','),
    '--ingestable: a file for ingestion has one version of each key, --snapshots may keep several',
  );
}

class Compaction {
  private readonly comparator: Comparator;
  private readonly part: KeyPart | undefined;
  private readonly inputs: OpenedInput[];
  private readonly snapshots: readonly ComparableSeqno[];
  private readonly operator: MergeOperator | undefined;
  private readonly tombstones: InputTombstones;
  private readonly inputBytes: number;

  constructor(
    private readonly environment: Environment & TableBuilderEnvironment,
    private readonly request: CompactRequest,
    private readonly events: CompactEvents,
    opened: readonly OpenedInput[],
  ) {
    refuseEmbeddedValues(opened);
    const { open, salvage, range, snapshots, mergeOperator } = request;
    this.comparator = agreedComparator(opened, open.comparator, salvage, events);
    const { comparator } = this;
    this.part = KeyPart.of(range, comparator);
    this.inputs = opened.map((input) => ({ ...input, comparator }));
    this.snapshots = [...new Set(snapshots)].sort((a, b) => (a < b ? -1 : 1)).map(comparableSeqno);
    this.operator = agreedOperator(this.inputs, mergeOperator, events);
    this.tombstones = new InputTombstones(this.inputs, comparator, this.part);
    this.inputBytes = this.inputs.reduce((sum, { source }) => sum + source.size, 0);
    warnOfUnknownOrder(this.inputs, events);
  }

  async run(
    openOutput: (number: number) => OutputTarget,
    unreadable: readonly Hole[],
  ): Promise<CompactResult> {
    const { salvage, dryRun } = this.request;
    if (!salvage && !dryRun && this.inputs.every(looksWhole)) return this.writeWhole(openOutput);
    const { inputs, holes: found, misplaced } = await this.check();
    const holes = [...unreadable, ...found];
    const cursors = this.openCursors(this.inputBytes, 2 * this.inputBytes, misplaced);
    if (!dryRun) return { ...(await this.write(cursors, openOutput)), inputs, holes };
    const sample = new EntrySample();
    const plans = await this.plan(cursors, sample);
    const whatIf = {
      sample: { entries: sample.count, rawBytes: sample.rawBytes, complete: !sample.isPart },
      tables: await tryTables(this.environment, this.tableOptions(), sample),
    };
    return { inputs, outputs: [], dropped: plans[0]!.dropped, holes, plans, whatIf };
  }

  private check(): Promise<CheckedInputs> {
    const total = 2 * this.inputBytes;
    return checkInputs(this.environment, this.inputs, this.request.salvage, this.events, (bytes) =>
      this.events.progress(bytes, total),
    );
  }

  /** Without a check first. Damage is found on the way; then the check says what there is of it, and refuses. */
  private async writeWhole(openOutput: (number: number) => OutputTarget): Promise<CompactResult> {
    const cursors = this.openCursors(0, this.inputBytes);
    try {
      const written = await this.write(cursors, openOutput, () => {
        const short = this.inputs.find((input, i) => missesEntries(input, cursors[i]!.count));
        if (short === undefined) return;
        throw new CorruptionError(
          'properties_mismatch',
          'the properties count more entries than were found',
          {
            file: short.path,
          },
        );
      });
      const inputs = this.inputs.map(({ path, source, tombstones }, i) => ({
        path,
        entries: cursors[i]!.count + tombstones.length,
        bytes: source.size,
      }));
      return { ...written, inputs, holes: [] };
    } catch (error) {
      if (error instanceof CorruptionError || error instanceof UnsupportedError) await this.check();
      throw error;
    }
  }

  /** `accept` throws when what was read is not to be written after all. */
  private async write(
    cursors: readonly TableCursor[],
    openOutput: (number: number) => OutputTarget,
    accept: () => void = () => undefined,
  ): Promise<Pick<CompactResult, 'outputs' | 'dropped'>> {
    const { request, comparator, snapshots, tombstones, events } = this;
    const { targetFileBytes, bottommost, ingestable } = request;
    const toWrite = tombstones.output(snapshots);
    const rules = this.rules(bottommost, snapshots);
    let entries: IngestableEntries | undefined;
    const outputs = new CompactionOutputs(
      {
        table: this.tableOptions(),
        comparator,
        targetFileBytes,
        tombstones: () => (entries === undefined ? toWrite : entries.outputTombstones()),
        isDroppable: (seqno) => isDroppable(seqno, rules),
      },
      openOutput,
      this.environment,
    );
    if (ingestable) {
      const left = bottommost ? undefined : toWrite;
      if (left !== undefined && targetFileBytes !== Number.POSITIVE_INFINITY) throw manyIngestable();
      entries = new IngestableEntries(comparator, left, outputs);
    }
    const blobs = new BlobNotes(entries ?? outputs);
    try {
      const machine = new CompactionIterator(rules, this.sink(blobs));
      await this.merge(cursors, machine, outputs);
      accept();
      machine.drops.tombstones += outputs.droppedTombstones;
      outputs.commit();
      blobs.report(events);
      return { outputs: outputs.files, dropped: machine.drops };
    } catch (error) {
      outputs.discard();
      throw error;
    }
  }

  private tableOptions(): TableOptions {
    const { inputs, comparator, operator, request, events } = this;
    return outputOptions(inputs, comparator, operator, request.table, request.targetFileBytes, events);
  }

  private async merge(
    cursors: readonly TableCursor[],
    machine: CompactionIterator,
    outputs: CompactionOutputs,
  ): Promise<void> {
    const merging = new MergingIterator(cursors, this.comparator);
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
    machine.finish();
    await outputs.finish();
    if (machine.repeated > 0) {
      this.events.warning(
        `${machine.repeated} entries have the key and sequence number of an entry of another input: ` +
          'of such the one of the first PATH is kept',
      );
    }
    if (machine.ambiguous > 0) {
      this.events.warning(
        `${machine.ambiguous} entries have the key and sequence number of another entry, and another type: ` +
          'which of them is newer cannot be told, here their order in a table decides',
      );
    }
  }

  private plan(cursors: readonly TableCursor[], sample: EntrySample): Promise<CompactPlan[]> {
    const { request, comparator, tombstones, inputBytes } = this;
    const { bottommost } = request;
    const sampling: Pick<CompactionSink, 'keep'> = {
      keep: (key, keyLength, data, start, end) => sample.add(key, keyLength, data, start, end),
    };
    return planCompaction(new MergingIterator(cursors, comparator), {
      asked: { bottommost, snapshots: this.snapshots },
      rules: (low, snapshots) => this.rules(low, snapshots),
      tombstones: (snapshots) => tombstones.output(snapshots),
      asAsked: this.sink(sampling),
      inputBytes,
    });
  }

  /** Readers of all inputs, whose progress begins at `doneBytes`. */
  private openCursors(
    doneBytes: number,
    totalBytes: number,
    misplaced?: readonly (readonly EntrySpan[])[],
  ): TableCursor[] {
    const batchBytes = Math.min(MAX_BATCH_BYTES, Math.floor(BATCH_BUDGET_BYTES / this.inputs.length));
    let done = doneBytes;
    return this.inputs.map((input, i) => {
      let before = 0;
      return new TableCursor(input, this.environment, {
        batchBytes,
        salvage: this.request.salvage,
        misplaced: misplaced?.[i] ?? [],
        filter: this.part?.filter,
        advanced: (offset) => {
          done += Math.max(0, offset - before);
          before = Math.max(before, offset);
          this.events.progress(done, totalBytes);
        },
      });
    });
  }

  private rules(bottommost: boolean, snapshots: readonly ComparableSeqno[]): CompactionRules {
    return {
      comparator: this.comparator,
      snapshots,
      bottommost,
      tombstones: this.tombstones.aggregator(snapshots),
      mergeOperator: this.operator,
    };
  }

  private sink(outputs: Pick<CompactionSink, 'keep'>): CompactionSink {
    const { events, inputs, tombstones } = this;
    const suffix = TRAILER_SIZE + this.comparator.timestampSize;
    return {
      keep: (key, keyLength, data, start, end) => outputs.keep(key, keyLength, data, start, end),
      drop: (key, keyLength, source, reason, by) => {
        if (events.dropped === undefined) return;
        const cause = reason === 'rangeDeleted' ? tombstones.newestOver(key, keyLength - suffix) : by;
        events.dropped({
          path: inputs[source]!.path,
          userKey: key.subarray(0, keyLength - suffix),
          seqno: seqnoText(key, keyLength),
          type: entryTypeName(trailerType(key, keyLength)),
          reason,
          by: cause < 0 ? undefined : String(seqnoOfComparable(cause)),
        });
      },
    };
  }
}

function manyIngestable(): InvalidArgumentError {
  return new InvalidArgumentError(
    'target-file-size',
    '',
    '--ingestable: range tombstones are left, and would lie over several outputs: leave --target-file-size out, or ' +
      'give --bottommost',
  );
}
