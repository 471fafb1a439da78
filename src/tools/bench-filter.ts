import { InvalidArgumentError } from '../errors.ts';
import { fastLocalBloomFpRate } from '../format/filter/bloom-math.ts';
import { createFilterBuilder } from '../format/filter/create-filter-builder.ts';
import type { FilterBuilder } from '../format/filter/filter-builder.ts';
import { parseFilterPolicy } from '../format/filter/filter-policy.ts';
import type { FilterCounters } from '../format/filter/filter-reader.ts';
import type { NodeEnvironment } from '../node/environment.ts';
import {
  checkFilterBenchParams,
  type FilterBenchMode,
  type FilterBenchParams,
} from './bench/filter-params.ts';
import { BenchFilters, type FilterFpRates, type FilterInterface } from './bench/filter-set.ts';
import { drawFilter, type Skew, skewOf } from './bench/filter-skew.ts';
import { KeyMaker } from './bench/key-maker.ts';
import { median } from './bench/median.ts';
import { Random32 } from './bench/random32.ts';

export type FilterBenchPhase = 'mixed' | 'inside' | 'outside';

export interface FilterBuildResult {
  nsPerKey: number;
  filters: number;
  keys: number;
  bytes: number;
  bitsPerKey: number;
  /** Percent; of all filters, by their keys. Null for Ribbon, whose rate is in its size. */
  predictedFpPercent: number | null;
}

export interface FilterVerification {
  bestPossibleFpPercent: number;
  tolerableFpPercent: number;
  prelimFpPercent: number;
}

export interface FilterModeResult {
  mode: FilterBenchMode;
  /** Nanoseconds a query; null where there are too few filters for the mode. */
  grossNs: number | null;
  dryRunNs: number | null;
  netNs: number;
  /** The last 20 bits of the sum of hashes: the same as RocksDB's for the same parameters. */
  dryRunHash: string | null;
}

/** One run: what was built, then each phase, then the rates of false positives of the last mode. */
export interface FilterBenchRun {
  build: FilterBuildResult;
  verification: FilterVerification | null;
  phases: { phase: FilterBenchPhase; modes: FilterModeResult[] }[];
  fpRates: FilterFpRates;
  /** How often a filter's metadata was decoded: once a filter and way to ask it, unless queries do. */
  filterMetadataParses: number;
}

/** What is known as soon as it is known: a run may take minutes. */
export interface FilterBenchEvents {
  building(): void;
  built(build: FilterBuildResult): void;
  verifying(expected: Omit<FilterVerification, 'prelimFpPercent'>): void;
  verified(verification: FilterVerification): void;
  phase(phase: FilterBenchPhase): void;
  mode(result: FilterModeResult): void;
  done(fpRates: FilterFpRates): void;
}

type BenchEnvironment = Pick<NodeEnvironment, 'clock' | 'keyHash'>;

const ALL_MODES: readonly FilterBenchMode[] = [
  'single',
  'batch_prepared',
  'batch_unprepared',
  'fifty_one',
  'eighty_twenty',
  'random',
];
const QUICK_MODES: readonly FilterBenchMode[] = ['single', 'random'];
const BEST_CASE_MODES: readonly FilterBenchMode[] = ['single'];

const UINT32_MAX = 0xffffffff;
/** Each mode, with the filter and without, three times. */
const WARM_UP_QUERIES = 50_000;
/**
 * Draws up to here ask for a key that was added. 95 % in place of all, or none, keep the processor from guessing
 * every branch.
 */
const PHASES: readonly { phase: FilterBenchPhase; insideMax: number; seedOffset: number }[] = [
  { phase: 'mixed', insideMax: Math.floor(UINT32_MAX / 2), seedOffset: 1 },
  { phase: 'inside', insideMax: Math.floor(UINT32_MAX / 20) * 19, seedOffset: 1 },
  { phase: 'outside', insideMax: Math.floor(UINT32_MAX / 20), seedOffset: 2 },
];

const POLICIES = [
  'rocksdb.internal.LegacyBloomFilter',
  'rocksdb.internal.FastLocalBloomFilter',
  'rocksdb.internal.Standard128RibbonFilter',
] as const;

/** Numbers with this bit were never added. */
export const OUTSIDE_BIT = 0x80000000;

/**
 * RocksDB's filter_bench over our filters: the same filters, keys and draws for the same parameters, so that sizes,
 * hashes and rates of false positives are the same, and times can be compared.
 */
export function benchFilter(
  environment: BenchEnvironment,
  params: FilterBenchParams,
  events: FilterBenchEvents,
): FilterBenchRun[] {
  checkFilterBenchParams(params);
  const runs: FilterBenchRun[] = [];
  for (let run = 0; run < params.runs; run++) {
    const bench = new FilterBench(environment, { ...params, seed: params.seed + 100 * run });
    runs.push(bench.run(events));
  }
  return runs;
}

export class FilterBench {
  private readonly random: Random32;
  private readonly makers: KeyMaker[];
  private readonly counters: FilterCounters = { filterMetadataParses: 0 };
  private filters: BenchFilters;
  /** Of the mode that was timed last. */
  private fpRates: FilterFpRates;

  constructor(
    private readonly environment: BenchEnvironment,
    private readonly params: FilterBenchParams,
  ) {
    this.random = new Random32(params.seed);
    this.makers = Array.from({ length: params.batchSize }, () => new KeyMaker(params));
    this.filters = new BenchFilters(environment.keyHash, params.impl);
    this.fpRates = this.filters.fpRates();
  }

  run(events: FilterBenchEvents): FilterBenchRun {
    const { params } = this;
    events.building();
    const build = this.build();
    events.built(build);
    const verification = params.quick || params.bestCase ? null : this.verify(build, events);
    const phases: FilterBenchRun['phases'] = [];
    const modes = params.bestCase ? BEST_CASE_MODES : params.quick ? QUICK_MODES : ALL_MODES;
    this.warmUp(modes);
    for (const { phase, insideMax, seedOffset } of params.quick ? PHASES.slice(0, 1) : PHASES) {
      events.phase(phase);
      const results: FilterModeResult[] = [];
      for (const mode of modes) {
        const result = this.mode(mode, insideMax, params.seed + seedOffset);
        events.mode(result);
        results.push(result);
      }
      phases.push({ phase, modes: results });
    }
    const { fpRates } = this;
    events.done(fpRates);
    return {
      build,
      verification,
      phases,
      fpRates,
      filterMetadataParses: this.filterMetadataParses,
    };
  }

  /** Builds filters until there are enough of them. */
  build(): FilterBuildResult {
    const { params, random, counters, environment } = this;
    const { averageKeysPerFilter, varyKeyCountRatio } = params;
    const range = 1 + 2 * Math.trunc(varyKeyCountRatio * averageKeysPerFilter);
    const offset = Math.floor(range / 2);
    const keysMax =
      params.mKeysTotalMax > 0 ? Math.trunc(1e6 * params.mKeysTotalMax) : Number.MAX_SAFE_INTEGER;
    const workingMb = params.workingMemSizeMb / (params.bestCase && !params.quick ? 10 : 1);
    const bytesMax =
      params.mKeysTotalMax > 0 || workingMb === 0 ? Infinity : Math.trunc(1024 * 1024 * workingMb);
    const filters = new BenchFilters(environment.keyHash, params.impl);
    const maker = this.makers[0]!;
    let builder: FilterBuilder | undefined;
    let keys = 0;
    let bytes = 0;
    let predicted = 0;
    const begin = environment.clock.monotonicNanos();
    while (bytes < bytesMax && keys < keysMax) {
      const id = random.uint32() | 0;
      const count = Math.min(averageKeysPerFilter + random.below(range) - offset, keysMax - keys);
      builder ??= this.createBuilder();
      addKeys(builder, maker, id, count);
      const contents = builder.finish();
      if (params.newBuilder) builder = undefined;
      const reader = filters.add(id, count, contents, counters);
      if (params.detectFilterConstructCorruption) this.askInside(filters, filters.count - 1);
      const { probes, dataBytes, lines } = reader.facts;
      if (lines > 0) predicted += count * fastLocalBloomFpRate((8 * dataBytes) / count, probes);
      bytes += contents.length;
      keys += count;
    }
    const nanos = environment.clock.monotonicNanos() - begin;
    this.filters = filters;
    return {
      nsPerKey: nanos / keys,
      filters: filters.count,
      keys,
      bytes,
      bitsPerKey: (8 * bytes) / keys,
      predictedFpPercent: params.impl === 2 ? null : (100 * predicted) / keys,
    };
  }

  /** One mode with the filter and as a dry run, which draws and hashes the same keys and asks no filter. */
  mode(mode: FilterBenchMode, insideMax: number, seed: number): FilterModeResult {
    const { filters } = this;
    const gross = this.time(mode, insideMax, seed, this.way);
    if (gross !== null) this.fpRates = filters.fpRates();
    const dry = this.time(mode, insideMax, seed, this.dryWay);
    if (gross === null || dry === null) {
      return { mode, grossNs: null, dryRunNs: null, netNs: 0, dryRunHash: null };
    }
    const dryRunHash = (filters.dryRunHash & 0xfffff).toString(16);
    return { mode, grossNs: gross, dryRunNs: dry, netNs: gross - dry, dryRunHash };
  }

  /**
   * Some queries of both ways, which count for nothing: where each was compiled while it was timed, the one less the
   * other was -20 to 80 ns.
   */
  private warmUp(modes: readonly FilterBenchMode[]): void {
    const { params, counters } = this;
    const parses = counters.filterMetadataParses;
    const queries = Math.min(WARM_UP_QUERIES, this.queriesPerMode / 20);
    for (let round = 0; round < 3; round++) {
      for (const mode of modes) {
        for (const way of [this.way, this.dryWay]) {
          this.time(mode, PHASES[0]!.insideMax, params.seed, way, queries);
        }
      }
    }
    counters.filterMetadataParses = parses;
  }

  private get way(): FilterInterface {
    const { useFullBlockReader, reparse } = this.params;
    return useFullBlockReader ? (reparse ? 'reparse' : 'block') : 'bits';
  }

  private get dryWay(): FilterInterface {
    return this.params.netIncludesHashing ? 'dry' : 'hash';
  }

  /** Nanoseconds a query; null where there are too few filters for the mode. */
  time(
    mode: FilterBenchMode,
    insideMax: number,
    seed: number,
    way: FilterInterface,
    queries = this.queriesPerMode,
  ): number | null {
    const { filters, random, makers, params, environment } = this;
    random.seed(seed);
    filters.resetCounts();
    const skew = skewOf(mode, filters.count);
    if (skew === undefined) return null;
    const batched = mode === 'batch_prepared' || mode === 'batch_unprepared';
    const keys = batched ? makers : makers.slice(0, 1);
    const together = mode === 'batch_prepared' && !params.useFullBlockReader;
    const begin = environment.clock.monotonicNanos();
    if (batched) this.askBatches(skew, insideMax, keys, together, way, queries);
    else this.askKeys(skew, insideMax, keys[0]!, way, queries);
    return (environment.clock.monotonicNanos() - begin) / queries;
  }

  private askKeys(skew: Skew, insideMax: number, key: KeyMaker, way: FilterInterface, queries: number): void {
    const { filters, random } = this;
    for (let query = 0; query < queries; query++) {
      const inside = random.uint32() <= insideMax;
      const index = drawFilter(random, skew);
      const number = random.below(filters.keysOf(index));
      key.make(filters.idOf(index), inside ? number : number | OUTSIDE_BIT);
      filters.ask(index, key, inside, way);
    }
  }

  private askBatches(
    skew: Skew,
    insideMax: number,
    keys: readonly KeyMaker[],
    together: boolean,
    way: FilterInterface,
    queries: number,
  ): void {
    const { filters, random } = this;
    for (let query = 0; query < queries; query += keys.length) {
      const inside = random.uint32() <= insideMax;
      const index = drawFilter(random, skew);
      const id = filters.idOf(index);
      const added = filters.keysOf(index);
      for (let i = 0; i < keys.length; i++) {
        const number = random.below(added);
        keys[i]!.make(id, inside ? number : number | OUTSIDE_BIT);
      }
      if (together) filters.askTogether(index, keys, inside, way);
      else for (let i = 0; i < keys.length; i++) filters.ask(index, keys[i]!, inside, way);
    }
  }

  /** How often metadata was decoded so far. */
  get filterMetadataParses(): number {
    return this.counters.filterMetadataParses;
  }

  get queriesPerMode(): number {
    const { mQueries, quick, bestCase } = this.params;
    return Math.floor(1e6 * (mQueries / (quick ? 7 : bestCase ? 3 : 1)) + 0.5);
  }

  private createBuilder(): FilterBuilder {
    const policy = parseFilterPolicy(`${POLICIES[this.params.impl]}:${this.params.bitsPerKey}`)!;
    const builder = createFilterBuilder(policy, { formatVersion: 5 }, this.environment.keyHash);
    if (builder !== undefined) return builder;
    throw new InvalidArgumentError(
      'bits-per-key',
      String(this.params.bitsPerKey),
      'below 0.5 bits a key there is no filter',
    );
  }

  private verify(build: FilterBuildResult, events: FilterBenchEvents): FilterVerification {
    const { filters, params } = this;
    const { bitsPerKey } = build;
    const expected = {
      bestPossibleFpPercent: 100 * 2 ** -bitsPerKey,
      tolerableFpPercent: 100 * 2 ** (-(bitsPerKey - 1) / (1.4 + bitsPerKey / 50)),
    };
    events.verifying(expected);
    const outsideQueries = Math.trunc((params.mQueries * 1e6) / filters.count);
    filters.resetCounts();
    const maker = this.makers[0]!;
    for (let index = 0; index < filters.count; index++) {
      this.askInside(filters, index);
      for (let i = 0; i < outsideQueries; i++) {
        maker.make(filters.idOf(index), (i | OUTSIDE_BIT) >>> 0);
        filters.ask(index, maker, false, 'bits');
      }
    }
    const prelimFpPercent = filters.fpRates().averagePercent;
    const verification = { ...expected, prelimFpPercent };
    events.verified(verification);
    if (!params.allowBadFpRate && prelimFpPercent >= expected.tolerableFpPercent) {
      throw new InvalidArgumentError(
        'allow-bad-fp-rate',
        'false',
        `the rate of false positives, ${prelimFpPercent.toFixed(3)} %, is not tolerable (--allow_bad_fp_rate)`,
      );
    }
    return verification;
  }

  private askInside(filters: BenchFilters, index: number): void {
    const maker = this.makers[0]!;
    for (let i = 0; i < filters.keysOf(index); i++) {
      maker.make(filters.idOf(index), i);
      filters.ask(index, maker, true, 'bits');
    }
  }
}

/** A function of its own: in the middle of `build` its calls were not compiled in line. */
function addKeys(builder: FilterBuilder, maker: KeyMaker, filter: number, count: number): void {
  for (let i = 0; i < count; i++) {
    maker.make(filter, i);
    builder.addKey(maker.bytes, maker.start, maker.end);
  }
}

/** One way to ask, over alternating rounds. */
export interface FilterWayTimes {
  way: 'bits' | 'block' | 'reparse';
  /** Medians, nanoseconds a query; net is gross less the dry run of the same round. */
  grossNs: number;
  netNs: number;
  /** Medians of the ratios to the bits reader, round by round. */
  grossRatio: number;
  netRatio: number;
  /** Of the timed queries. */
  filterMetadataParses: number;
}

export interface FilterReaderComparison {
  build: FilterBuildResult;
  rounds: number;
  queriesPerRound: number;
  modes: { mode: FilterBenchMode; ways: FilterWayTimes[] }[];
}

const WAYS = ['bits', 'block', 'reparse'] as const;
const INSIDE_HALF = PHASES[0]!.insideMax;

/**
 * The published change: a cached filter block keeps its parsed reader. The same queries by the bits reader alone, by
 * the full block reader as it is cached, and by one that is parsed for each query, in turns, one round untimed.
 */
export function compareFilterReaders(
  environment: BenchEnvironment,
  params: FilterBenchParams,
  rounds: number,
): FilterReaderComparison {
  checkFilterBenchParams(params);
  const bench = new FilterBench(environment, { ...params, mQueries: params.mQueries / rounds });
  const build = bench.build();
  const modes = (['single', 'random'] as const).map((mode) => {
    const dry: number[] = [];
    const gross = WAYS.map((): number[] => []);
    const parses = WAYS.map(() => 0);
    for (let round = -1; round < rounds; round++) {
      const seed = params.seed + 1 + round;
      for (const [i, way] of WAYS.entries()) {
        const before = bench.filterMetadataParses;
        const nanos = bench.time(mode, INSIDE_HALF, seed, way);
        if (round < 0) continue;
        gross[i]!.push(nanos ?? Number.NaN);
        parses[i]! += bench.filterMetadataParses - before;
      }
      const nanos = bench.time(mode, INSIDE_HALF, seed, 'hash');
      if (round >= 0) dry.push(nanos ?? Number.NaN);
    }
    const net = gross.map((each) => each.map((nanos, round) => nanos - dry[round]!));
    const ratio = (times: number[][], i: number): number =>
      median(times[i]!.map((nanos, round) => nanos / times[0]![round]!));
    const ways = WAYS.map((way, i) => ({
      way,
      grossNs: median(gross[i]!),
      netNs: median(net[i]!),
      grossRatio: ratio(gross, i),
      netRatio: ratio(net, i),
      filterMetadataParses: parses[i]!,
    }));
    return { mode, ways };
  });
  return { build, rounds, queriesPerRound: bench.queriesPerMode, modes };
}
