import type { BlockCache, CacheRoleName } from '../engine/cache/block-cache.ts';
import type { Clock } from '../engine/environment.ts';
import type { Statistics } from '../engine/statistics/statistics.ts';
import { TableSet } from '../engine/table/table-set.ts';
import { InvalidArgumentError, IoError, withPending } from '../errors.ts';
import { ByteArena } from '../format/byte-arena.ts';
import {
  fixedPrefix,
  noopPrefix,
  type PrefixExtractor,
  prefixExtractorByName,
} from '../operators/prefix-extractor.ts';
import { BenchRandom } from './bench/random.ts';

export const READ_BENCHMARKS = [
  'readrandom',
  'readmissing',
  'multireadrandom',
  'seekrandom',
  'readseq',
] as const;
export type ReadBenchmark = (typeof READ_BENCHMARKS)[number];

/** `readrandom[X5-W2]`: five runs that count, after two that do not. */
export interface BenchmarkSpec {
  readonly name: ReadBenchmark;
  readonly runs: number;
  readonly warmUps: number;
}

/** Reads db_bench's list: `readrandom,readseq[-X3]`. Throws InvalidArgumentError. */
export function parseBenchmarks(text: string): BenchmarkSpec[] {
  return text.split(',').map((part) => {
    const match = /^([a-z]+)(?:\[([XW\d-]*)\])?$/.exec(part.trim());
    const name = READ_BENCHMARKS.find((each) => each === match?.[1]);
    if (match === null || name === undefined) {
      throw new InvalidArgumentError(
        'benchmarks',
        text,
        `no benchmark "${part}": there are ${READ_BENCHMARKS.join(', ')}, each with [X<runs>-W<warm-ups>] behind it`,
      );
    }
    let runs = 1;
    let warmUps = 0;
    for (const option of (match[2] ?? '').split('-').filter((each) => each !== '')) {
      const count = Number(option.slice(1));
      if (!Number.isSafeInteger(count) || option.length < 2 || (option[0] === 'X' && count === 0)) {
        throw new InvalidArgumentError('benchmarks', text, `"${option}" is neither X<runs> nor W<warm-ups>`);
      }
      if (option[0] === 'X') runs = count;
      else warmUps = count;
    }
    return { name, runs, warmUps };
  });
}

export interface ReadBenchParams {
  readonly benchmarks: readonly BenchmarkSpec[];
  /** Operations of a run; of `readseq` rows at most. */
  readonly reads: number;
  /** Keys that are drawn from: the first ones of the tables. */
  readonly num: number;
  readonly seed: number;
  /** Keys of a `multireadrandom`. */
  readonly batchSize: number;
  /** Rows after each `seekrandom`. */
  readonly seekNexts: number;
}

/** One run that counted. */
export interface ReadBenchRun {
  readonly seconds: number;
  readonly operations: number;
  readonly found: number;
  /** Of keys and values. */
  readonly bytes: number;
}

export interface ReadBenchResult {
  readonly name: ReadBenchmark;
  readonly runs: readonly ReadBenchRun[];
}

/** The keys to draw from, one behind the other. */
export class BenchKeys {
  private readonly arena = new ByteArena();

  constructor(set: TableSet, limit: number) {
    const iterator = set.newIterator();
    for (iterator.seekToFirst(); iterator.valid && this.count < limit; iterator.next()) {
      this.arena.push(iterator.key, 0, iterator.keyLength);
    }
  }

  get count(): number {
    return this.arena.count;
  }

  draw(random: BenchRandom): Uint8Array {
    return this.arena.at(random.below(this.arena.count));
  }
}

/** The rows' keys. Codecs that are needed are loaded on the way. Throws IoError for tables without rows. */
export async function readKeys(set: TableSet, limit: number): Promise<BenchKeys> {
  const keys = await withPending(() => new BenchKeys(set, limit));
  if (keys.count === 0) throw new IoError('no_rows', set.tables[0]!.reader.source.name, 'no row to ask for');
  return keys;
}

/**
 * Runs each benchmark as often as it says; `done` hears of each run that counts. All in one loop without waiting:
 * the tables are files, which answer at once.
 */
export function benchRead(
  set: TableSet,
  keys: BenchKeys,
  clock: Clock,
  params: ReadBenchParams,
  done: (name: ReadBenchmark, run: ReadBenchRun) => void,
): ReadBenchResult[] {
  return params.benchmarks.map(({ name, runs: count, warmUps }) => {
    const runs: ReadBenchRun[] = [];
    for (let i = -warmUps; i < count; i++) {
      const run = runOnce(set, keys, clock, params, name, params.seed + i + warmUps);
      if (i < 0) continue;
      runs.push(run);
      done(name, run);
    }
    return { name, runs };
  });
}

/** One run. */
export function runOnce(
  set: TableSet,
  keys: BenchKeys,
  clock: Clock,
  params: ReadBenchParams,
  name: ReadBenchmark,
  seed: number,
): ReadBenchRun {
  const random = new BenchRandom(seed);
  const start = clock.monotonicNanos();
  const counts = LOOPS[name](set, keys, random, params);
  return { seconds: (clock.monotonicNanos() - start) / 1e9, ...counts };
}

type Loop = (
  set: TableSet,
  keys: BenchKeys,
  random: BenchRandom,
  params: ReadBenchParams,
) => Omit<ReadBenchRun, 'seconds'>;

const DOT = 0x2e;

const LOOPS: Readonly<Record<ReadBenchmark, Loop>> = {
  readrandom: (set, keys, random, { reads }) => {
    let found = 0;
    let bytes = 0;
    for (let i = 0; i < reads; i++) {
      const key = keys.draw(random);
      const row = set.get(key);
      if (row === undefined) continue;
      found++;
      bytes += key.length + row.value.length;
    }
    return { operations: reads, found, bytes };
  },
  /** Keys that are there, with a dot behind them. */
  readmissing: (set, keys, random, { reads }) => {
    let found = 0;
    for (let i = 0; i < reads; i++) {
      const key = keys.draw(random);
      const missing = new Uint8Array(key.length + 1);
      missing.set(key);
      missing[key.length] = DOT;
      if (set.get(missing) !== undefined) found++;
    }
    return { operations: reads, found, bytes: 0 };
  },
  multireadrandom: (set, keys, random, { reads, batchSize }) => {
    let found = 0;
    let bytes = 0;
    let operations = 0;
    while (operations < reads) {
      const batch = Array.from({ length: Math.min(batchSize, reads - operations) }, () => keys.draw(random));
      operations += batch.length;
      for (const row of set.multiGet(batch)) {
        if (row === undefined) continue;
        found++;
        bytes += row.value.length;
      }
    }
    return { operations, found, bytes };
  },
  seekrandom: (set, keys, random, { reads, seekNexts }) => {
    let found = 0;
    let bytes = 0;
    const iterator = set.newIterator();
    for (let i = 0; i < reads; i++) {
      const key = keys.draw(random);
      iterator.seek(key);
      if (
        iterator.valid &&
        iterator.keyLength === key.length &&
        key.every((byte, at) => byte === iterator.key[at])
      ) {
        found++;
      }
      for (let n = 0; n < seekNexts && iterator.valid; n++) {
        bytes += iterator.keyLength + iterator.valueEnd - iterator.valueStart;
        iterator.next();
      }
    }
    return { operations: reads, found, bytes };
  },
  readseq: (set, _keys, _random, { reads }) => {
    let operations = 0;
    let bytes = 0;
    const iterator = set.newIterator();
    for (iterator.seekToFirst(); iterator.valid && operations < reads; iterator.next()) {
      bytes += iterator.keyLength + iterator.valueEnd - iterator.valueStart;
      operations++;
    }
    return { operations, found: operations, bytes };
  },
};

/** How a cache stood at the end. */
export interface CacheFacts {
  readonly capacityBytes: number;
  readonly usedBytes: number;
  readonly pinnedBytes: number;
  readonly byRole: Readonly<Record<CacheRoleName, number>>;
}

export function cacheFacts(cache: BlockCache): CacheFacts {
  return {
    capacityBytes: cache.capacityBytes,
    usedBytes: cache.usedBytes,
    pinnedBytes: cache.pinnedBytes,
    byRole: {
      data: cache.bytesOf('data'),
      index: cache.bytesOf('index'),
      filter: cache.bytesOf('filter'),
      compressionDict: cache.bytesOf('compressionDict'),
    },
  };
}

/** What `Statistics` counted, with the counters of the published changes. */
export function statisticsDocument(statistics: Statistics) {
  return {
    tickers: statistics.toJSON(),
    filterMetadataParses: statistics.filterMetadataParses,
    uncompressionDictFetches: { ...statistics.uncompressionDictFetches },
    extractorNameComparisons: statistics.extractorNameComparisons,
    blockLoads: { ...statistics.blockLoads },
  };
}

/** The same reads with the dictionary fetched for data blocks alone, and before every block. */
export interface DictFetchComparison {
  readonly rounds: number;
  /** Operations a second, a round each; one of each kind in turns. */
  readonly dataOnly: readonly number[];
  readonly everyBlock: readonly number[];
  readonly fetches: {
    readonly dataOnly: Record<string, number>;
    readonly everyBlock: Record<string, number>;
  };
}

/** Published change 1 as a ratio: rounds of `readrandom` in turns, over two sets that differ in the hook alone. */
export function compareDictFetch(
  dataOnly: TableSet,
  everyBlock: TableSet,
  keys: BenchKeys,
  clock: Clock,
  params: ReadBenchParams,
  rounds: number,
): DictFetchComparison {
  const sets = [dataOnly, everyBlock];
  const rates: [number[], number[]] = [[], []];
  for (let round = -1; round < rounds; round++) {
    // Who comes first changes from round to round.
    for (const which of round % 2 === 0 ? [0, 1] : [1, 0]) {
      const run = runOnce(sets[which]!, keys, clock, params, 'readrandom', params.seed + round);
      if (round >= 0) rates[which]!.push(run.operations / run.seconds);
    }
  }
  return {
    rounds,
    dataOnly: rates[0],
    everyBlock: rates[1],
    fetches: {
      dataOnly: { ...dataOnly.statistics.uncompressionDictFetches },
      everyBlock: { ...everyBlock.statistics.uncompressionDictFetches },
    },
  };
}

/** Look-ups of keys whose prefix is not there, by the extractor that they are made with. */
export interface ExtractorComparison {
  readonly rounds: number;
  /** Operations a second, a round each, in turns. */
  readonly rates: Readonly<Record<ExtractorKind, readonly number[]>>;
  readonly nameComparisons: Readonly<Record<ExtractorKind, number>>;
}

export type ExtractorKind = 'same_instance' | 'equal_instance' | 'other' | 'none' | 'names_each_time';

/**
 * Published change 2: the same instance, another one with the same name, one with another name, none; and as it was
 * before, where both names were read and compared at each look-up (`hooked`). The tables' filters are of prefixes
 * alone, or the extractor plays no part. Throws InvalidArgumentError without an extractor.
 */
export function compareExtractors(
  set: TableSet,
  hooked: TableSet,
  keys: BenchKeys,
  clock: Clock,
  params: ReadBenchParams,
  rounds: number,
): ExtractorComparison {
  const given = set.prefixExtractor;
  const equal = prefixExtractorByName(given?.name);
  if (given === undefined || equal.status !== 'known' || given.name === noopPrefix.name) {
    throw new InvalidArgumentError(
      'compare-extractor',
      given?.name ?? '',
      'a comparison of extractors needs --prefix-extractor fixed:N or capped:N',
    );
  }
  const plain = new TableSet(set.tables, {});
  const ways: readonly [ExtractorKind, TableSet, PrefixExtractor | undefined][] = [
    ['same_instance', plain, given],
    ['equal_instance', plain, equal.extractor],
    ['other', plain, fixedPrefix(1)],
    ['none', plain, undefined],
    ['names_each_time', new TableSet(hooked.tables, {}), given],
  ];
  const rates = Object.fromEntries(ways.map(([kind]) => [kind, [] as number[]])) as Record<
    ExtractorKind,
    number[]
  >;
  const nameComparisons = Object.fromEntries(ways.map(([kind]) => [kind, 0])) as Record<
    ExtractorKind,
    number
  >;
  for (let round = -1; round < rounds; round++) {
    for (let i = 0; i < ways.length; i++) {
      const [kind, reads, extractor] = ways[(i + round + 1) % ways.length]!;
      const before = reads.statistics.extractorNameComparisons;
      const seconds = missPrefixes(reads, keys, clock, params, extractor);
      nameComparisons[kind] += reads.statistics.extractorNameComparisons - before;
      if (round >= 0) rates[kind].push(params.reads / seconds);
    }
  }
  return { rounds, rates, nameComparisons };
}

/** Gets of keys that begin as no key does. */
function missPrefixes(
  set: TableSet,
  keys: BenchKeys,
  clock: Clock,
  { reads, seed }: ReadBenchParams,
  prefixExtractor: PrefixExtractor | undefined,
): number {
  const random = new BenchRandom(seed);
  const key = new Uint8Array(256);
  const options = { prefixExtractor };
  const start = clock.monotonicNanos();
  for (let i = 0; i < reads; i++) {
    const drawn = keys.draw(random);
    const length = Math.min(drawn.length, key.length);
    for (let at = 0; at < length; at++) key[at] = drawn[at]! ^ 0x55;
    set.get(key.subarray(0, length), options);
  }
  return (clock.monotonicNanos() - start) / 1e9;
}

/** How releases before this change told whether an extractor is that of the table: both names are read, each time. */
export function comparesNamesEachTime(extractor: PrefixExtractor, storedName: string): boolean {
  const [given, stored] = [prefixExtractorByName(extractor.name), prefixExtractorByName(storedName)];
  return (
    given.status === 'known' && stored.status === 'known' && given.extractor.name === stored.extractor.name
  );
}
