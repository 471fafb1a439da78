import { InvalidArgumentError } from '../../errors.ts';

/** The parameters of RocksDB's range_del_aggregator_bench, by its names, and two of our own. */
export interface RangeDelBenchParams {
  numRangeTombstones: number;
  numRuns: number;
  /** Exclusive upper bound of the start keys. */
  tombstoneStartUpperBound: number;
  /** Exclusive upper bound of the keys that are asked for. */
  shouldDeleteUpperBound: number;
  tombstoneWidthMean: number;
  tombstoneWidthStddev: number;
  seed: number;
  shouldDeletesPerRun: number;
  addTombstonesPerRun: number;
  useCompactionRangeDelAggregator: boolean;
  /**
   * Build the set of sequence numbers with each list, and count it as fragmenting, as RocksDB did before 7.8: there
   * number by number, here from all at once, by the code that otherwise runs late. What differs is when, not how.
   */
  eagerSeqSet: boolean;
  /** `fixed`: 8-byte big-endian; `variable`: decimal text behind a prefix, of different lengths. */
  keyShape: 'fixed' | 'variable';
  /** `bytewise`, or `custom`: an order that is a function of the application's. */
  keyOrder: 'bytewise' | 'custom';
  /**
   * How the fragmenter gets the tombstones: `key`, in key order, as from a block or memtable, and as RocksDB's
   * bench has them before its clock starts; `drawn`, as they were drawn, so that sorting them is timed too.
   */
  inputOrder: 'key' | 'drawn';
}

export const RANGE_DEL_BENCH_DEFAULTS: RangeDelBenchParams = {
  numRangeTombstones: 1000,
  numRuns: 1000,
  tombstoneStartUpperBound: 1000,
  shouldDeleteUpperBound: 1000,
  tombstoneWidthMean: 100,
  tombstoneWidthStddev: 0,
  seed: 0,
  shouldDeletesPerRun: 1,
  addTombstonesPerRun: 1,
  useCompactionRangeDelAggregator: false,
  eagerSeqSet: false,
  keyShape: 'fixed',
  keyOrder: 'bytewise',
  inputOrder: 'key',
};

/** Largest number that is made a key of; longer text would not be ordered as numbers are. */
export function maxKeyOf({ keyShape }: Pick<RangeDelBenchParams, 'keyShape'>): number {
  return keyShape === 'fixed' ? Number.MAX_SAFE_INTEGER : 10 ** VARIABLE_KEY_DIGITS - 1;
}

/** Digits of a number in a key of variable length. */
export const VARIABLE_KEY_DIGITS = 12;

/** Of RocksDB's flags. */
const INT32_MAX = 2 ** 31 - 1;
/** What a batch of one run is made of before the clock starts: a gigabyte, or half of one. */
const TOMBSTONES_A_RUN_MAX = 10_000_000;
const KEYS_A_RUN_MAX = 10_000_000;

/** Throws InvalidArgumentError, with the parameter's name. */
export function checkRangeDelParams(params: RangeDelBenchParams): void {
  const refuse = (name: keyof RangeDelBenchParams, why: string): never => {
    throw new InvalidArgumentError(name, String(params[name]), `${name} is ${params[name]}: ${why}`);
  };
  const between = (name: keyof RangeDelBenchParams, least: number, most: number): void => {
    const value = params[name] as number;
    if (!(value >= least)) refuse(name, `at least ${least} is needed`);
    if (value > most) refuse(name, `at most ${most} is possible`);
  };
  between('numRangeTombstones', 1, TOMBSTONES_A_RUN_MAX);
  between('numRuns', 1, INT32_MAX);
  between('tombstoneStartUpperBound', 1, maxKeyOf(params));
  between('shouldDeleteUpperBound', 1, maxKeyOf(params));
  between('tombstoneWidthStddev', 0, Number.MAX_VALUE);
  between('shouldDeletesPerRun', 0, KEYS_A_RUN_MAX);
  between('addTombstonesPerRun', 1, TOMBSTONES_A_RUN_MAX);
  if (params.numRangeTombstones * params.addTombstonesPerRun > TOMBSTONES_A_RUN_MAX) {
    refuse('addTombstonesPerRun', `a run may have ${TOMBSTONES_A_RUN_MAX} tombstones in all its lists`);
  }
  if (params.shouldDeletesPerRun > params.shouldDeleteUpperBound) {
    refuse('shouldDeletesPerRun', `so many keys do not lie below the bound ${params.shouldDeleteUpperBound}`);
  }
}
