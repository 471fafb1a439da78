import type { Environment } from '../engine/environment.ts';
import { FragmentScratch } from '../engine/range-del/fragment-scratch.ts';
import type { FragmentedTombstones, RangeDelStatistics } from '../engine/range-del/fragmented-tombstones.ts';
import { fragmentTombstones } from '../engine/range-del/fragmenter.ts';
import {
  CompactionRangeDelAggregator,
  ReadRangeDelAggregator,
} from '../engine/range-del/range-del-aggregator.ts';
import type { TombstoneSet } from '../engine/range-del/tombstone-set.ts';
import { bytewiseComparator, type Comparator } from '../operators/comparator.ts';
import { type AskedKeys, firstOf, RangeDelDraws } from './bench/range-del-draws.ts';
import { checkRangeDelParams, type RangeDelBenchParams } from './bench/range-del-params.ts';
import { Sampler, type Spread } from './bench/sampler.ts';

/** Means over all calls, in microseconds. */
export interface RangeDelBenchResults {
  fragmentTombstonesUs: number;
  addTombstonesUs: number;
  shouldDeleteFirstUs: number;
  /** Null when each run asks only once. */
  shouldDeleteRestUs: number | null;
}

export interface RangeDelBenchReport {
  results: RangeDelBenchResults;
  /** Over batches of runs, each timed as one block. */
  spread: Record<keyof RangeDelBenchResults, Spread | null>;
  /** Sets of sequence numbers that were built. */
  seqnoSetsBuilt: number;
  /** Of the keys that were asked for. */
  deletedKeys: number;
  /** Fragments of one list, on average. */
  fragmentsPerList: number;
  /** Bytes that a list holds for one tombstone, on average. */
  bytesPerTombstone: number;
  timing: { runsPerBatch: number; warmUpRuns: number; clockCallNanos: number };
}

/** Tombstones that are made before the clock starts, for all runs of one batch: few enough to stay in the caches. */
const MAX_TOMBSTONES_A_BATCH = 16 * 1024;
const MAX_RUNS_A_BATCH = 64;
/** The same for keys that are asked for. */
const MAX_KEYS_A_BATCH = 1024 * 1024;
/** The compiler has seen enough after so many tombstones, and so many aggregators that are asked for the first time. */
const WARM_UP_TOMBSTONES = 1_000_000;
const WARM_UP_AGGREGATORS = 20_000;

/** Snapshots of a compaction, as RocksDB's bench has them. */
const SNAPSHOTS = [0];

/**
 * Times fragmenting, AddTombstones and ShouldDelete. Several runs make a batch: their tombstones and keys are
 * made first, then all runs of the batch do each step, and the step is timed as a whole: a call of tens of
 * nanoseconds cannot be timed by a clock that costs as much. Nothing is subtracted. Some untimed runs come first,
 * and first questions enough for the compiler: there is one a run.
 */
export function benchRangeDel(
  environment: Pick<Environment, 'clock'>,
  params: RangeDelBenchParams,
): RangeDelBenchReport {
  return benchInTurns(environment, [params])[0]!;
}

/** The same runs with the set built late and early, batch by batch in turns: what disturbs the machine meets both. */
export function compareSeqnoSets(
  environment: Pick<Environment, 'clock'>,
  params: RangeDelBenchParams,
): { lazy: RangeDelBenchReport; eager: RangeDelBenchReport } {
  const [lazy, eager] = benchInTurns(environment, [
    { ...params, eagerSeqSet: false },
    { ...params, eagerSeqSet: true },
  ]);
  return { lazy: lazy!, eager: eager! };
}

/** Runs that differ only in when the set is built. */
function benchInTurns(
  environment: Pick<Environment, 'clock'>,
  variants: readonly RangeDelBenchParams[],
): RangeDelBenchReport[] {
  const params = variants[0]!;
  checkRangeDelParams(params);
  const benches = variants.map((variant) => new Bench(environment, variant));
  const perRun = params.numRangeTombstones * params.addTombstonesPerRun;
  const warmUpRuns = Math.max(2, Math.min(params.numRuns, Math.ceil(WARM_UP_TOMBSTONES / perRun)));
  const runsPerBatch = Math.max(
    1,
    Math.min(
      MAX_RUNS_A_BATCH,
      Math.floor(MAX_TOMBSTONES_A_BATCH / perRun),
      Math.floor(MAX_KEYS_A_BATCH / Math.max(1, params.shouldDeletesPerRun)),
    ),
  );
  const batches = (runs: number): void => {
    for (let done = 0, turn = 0; done < runs; done += runsPerBatch, turn++) {
      const size = Math.min(runsPerBatch, runs - done);
      for (let i = 0; i < benches.length; i++) benches[(turn + i) % benches.length]!.batch(size);
    }
  };
  // Reading the clock wants to be compiled too.
  clockCallNanos(environment);
  for (const bench of benches) bench.warmUpFirstQuestions(WARM_UP_AGGREGATORS);
  batches(warmUpRuns);
  for (const bench of benches) bench.forget();
  const timing = { runsPerBatch, warmUpRuns, clockCallNanos: clockCallNanos(environment) };
  batches(params.numRuns);
  return benches.map((bench) => bench.report(timing));
}

class Bench {
  private readonly draws: RangeDelDraws;
  private readonly comparator: Comparator;
  /** As a compaction keeps it. */
  private readonly scratch = new FragmentScratch();
  private readonly statistics: RangeDelStatistics = { seqnoSetsBuilt: 0 };
  private fragment = new Sampler();
  private add = new Sampler();
  private first = new Sampler();
  private rest = new Sampler();
  private fragments = 0;
  private bytes = 0;
  private lists = 0;
  /** Keys that were deleted: reported, so that no call can be left out as useless. */
  private deleted = 0;

  constructor(
    private readonly environment: Pick<Environment, 'clock'>,
    private readonly params: RangeDelBenchParams,
  ) {
    this.draws = new RangeDelDraws(params);
    this.comparator = params.keyOrder === 'bytewise' ? bytewiseComparator : customComparator();
  }

  forget(): void {
    this.fragment = new Sampler();
    this.add = new Sampler();
    this.first = new Sampler();
    this.rest = new Sampler();
    this.statistics.seqnoSetsBuilt = 0;
    this.deleted = 0;
    this.fragments = 0;
    this.bytes = 0;
    this.lists = 0;
  }

  batch(runs: number): void {
    const { params, environment } = this;
    const { addTombstonesPerRun: adds, shouldDeletesPerRun: asks } = params;
    const now = environment.clock.monotonicNanos;
    const sets = Array.from({ length: runs * adds }, () => this.draws.tombstones());
    const keys = Array.from({ length: runs }, () => this.draws.askedKeys(asks));
    const firstKeys = firstOf(keys);
    const aggregators = Array.from({ length: runs }, () => this.aggregator());

    const lists: FragmentedTombstones[] = [];
    let begin = now();
    for (let i = 0; i < sets.length; i++) lists.push(this.fragmentOne(sets[i]!));
    this.fragment.add(now() - begin, sets.length);

    begin = now();
    for (let i = 0; i < lists.length; i++) aggregators[Math.floor(i / adds)]!.addTombstones(lists[i]!);
    this.add.add(now() - begin, lists.length);

    const seqno = Math.floor(params.numRangeTombstones / 2);
    begin = now();
    if (asks > 0)
      for (let run = 0; run < runs; run++) this.ask(aggregators[run]!, firstKeys, run, run + 1, seqno);
    this.first.add(now() - begin, asks > 0 ? runs : 0);

    begin = now();
    for (let run = 0; run < runs; run++) this.ask(aggregators[run]!, keys[run]!, 1, asks, seqno);
    this.rest.add(now() - begin, runs * Math.max(0, asks - 1));

    for (const list of lists) {
      this.fragments += list.count;
      this.bytes += list.memoryBytes;
      this.scratch.recycle(list);
    }
    this.lists += lists.length;
  }

  /** Keys from all over the lists: an answer that the compiler has not seen throws its code away. */
  warmUpFirstQuestions(count: number): void {
    const lists = Array.from({ length: 4 }, () => this.fragmentOne(this.draws.tombstones()));
    const keys = this.draws.keysAmongTombstones(64);
    for (let i = 0; i < count; i++) {
      const aggregator = this.aggregator();
      aggregator.addTombstones(lists[i % lists.length]!);
      this.ask(aggregator, keys, i % 64, (i % 64) + 1, Math.floor(this.params.numRangeTombstones / 2));
    }
    for (const list of lists) this.scratch.recycle(list);
  }

  report(timing: RangeDelBenchReport['timing']): RangeDelBenchReport {
    const { fragment, add, first, rest, lists } = this;
    return {
      results: {
        fragmentTombstonesUs: fragment.meanMicros ?? 0,
        addTombstonesUs: add.meanMicros ?? 0,
        shouldDeleteFirstUs: first.meanMicros ?? 0,
        shouldDeleteRestUs: rest.meanMicros,
      },
      spread: {
        fragmentTombstonesUs: fragment.spread(),
        addTombstonesUs: add.spread(),
        shouldDeleteFirstUs: first.spread(),
        shouldDeleteRestUs: rest.spread(),
      },
      seqnoSetsBuilt: this.statistics.seqnoSetsBuilt,
      deletedKeys: this.deleted,
      fragmentsPerList: this.fragments / lists,
      bytesPerTombstone: this.bytes / lists / this.params.numRangeTombstones,
      timing,
    };
  }

  private aggregator(): ReadRangeDelAggregator | CompactionRangeDelAggregator {
    return this.params.useCompactionRangeDelAggregator
      ? new CompactionRangeDelAggregator(this.comparator, SNAPSHOTS)
      : new ReadRangeDelAggregator();
  }

  private fragmentOne(set: TombstoneSet): FragmentedTombstones {
    const options = this.params.useCompactionRangeDelAggregator
      ? { snapshots: SNAPSHOTS, statistics: this.statistics, scratch: this.scratch }
      : { statistics: this.statistics, scratch: this.scratch };
    const list = fragmentTombstones(set, this.comparator, options);
    if (this.params.eagerSeqSet) list.containsRange(0, 0);
    return list;
  }

  private ask(
    aggregator: ReadRangeDelAggregator | CompactionRangeDelAggregator,
    { bytes, offsets }: AskedKeys,
    from: number,
    to: number,
    seqno: number,
  ): void {
    for (let i = from; i < to; i++) {
      if (aggregator.shouldDelete(bytes, offsets[i]!, offsets[i + 1]!, seqno, 'forward')) this.deleted++;
    }
  }
}

/** The bytewise order as a function that no fast path knows. */
function customComparator(): Comparator {
  const { compare } = bytewiseComparator;
  const comparator = {
    name: 'sstkit.bench.Custom',
    timestampSize: 0,
    compare: (...args: Parameters<typeof compare>) => compare(...args),
  } as { -readonly [Field in keyof Comparator]: Comparator[Field] };
  comparator.withoutTimestamp = comparator;
  return comparator;
}

/** What one reading of the clock costs. */
function clockCallNanos({ clock }: Pick<Environment, 'clock'>): number {
  const calls = 10_000;
  const begin = clock.monotonicNanos();
  for (let i = 0; i < calls; i++) clock.monotonicNanos();
  return (clock.monotonicNanos() - begin) / calls;
}
