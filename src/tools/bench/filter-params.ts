import { InvalidArgumentError } from '../../errors.ts';
import type { FilterKeyShape } from './key-maker.ts';

/** The parameters of RocksDB's filter_bench, by its names, as far as they mean something here. */
export interface FilterBenchParams extends FilterKeyShape {
  seed: number;
  /** Filters are built until they have so many MiB. */
  workingMemSizeMb: number;
  averageKeysPerFilter: number;
  /** 0 to 1. */
  varyKeyCountRatio: number;
  batchSize: number;
  bitsPerKey: number;
  /** Millions of queries for each mode. */
  mQueries: number;
  /** Millions of keys in all filters, in place of `workingMemSizeMb`; 0: no bound. */
  mKeysTotalMax: number;
  useFullBlockReader: boolean;
  /** Of our own: the full block reader decodes the filter's metadata at each query, as RocksDB did before 6.6. */
  reparse: boolean;
  newBuilder: boolean;
  /** 0 legacy Bloom, 1 fast local Bloom, 2 Ribbon. */
  impl: number;
  netIncludesHashing: boolean;
  /** Ask a new filter for all its keys, while the clock of the build runs. */
  detectFilterConstructCorruption: boolean;
  quick: boolean;
  bestCase: boolean;
  allowBadFpRate: boolean;
  runs: number;
}

export const FILTER_BENCH_DEFAULTS: FilterBenchParams = {
  seed: 0,
  workingMemSizeMb: 200,
  averageKeysPerFilter: 10000,
  varyKeyCountRatio: 0.4,
  keySize: 24,
  varyKeyAlignment: true,
  varyKeySizeLog2Interval: 5,
  batchSize: 8,
  bitsPerKey: 10,
  mQueries: 200,
  mKeysTotalMax: 0,
  useFullBlockReader: false,
  reparse: false,
  newBuilder: false,
  impl: 0,
  netIncludesHashing: false,
  detectFilterConstructCorruption: false,
  quick: false,
  bestCase: false,
  allowBadFpRate: false,
  runs: 1,
};

/** Longer ones say nothing more of a filter, which sees a hash. */
const KEY_SIZE_MAX = 8 * 1024 * 1024;
/** Hashes of one filter, which are kept until it is built. */
const KEYS_PER_FILTER_MAX = 100e6;

export type FilterBenchMode =
  | 'single'
  | 'batch_prepared'
  | 'batch_unprepared'
  | 'fifty_one'
  | 'eighty_twenty'
  | 'random';

/** Bytes of all filters together, about. */
export function filterBenchBytes({ workingMemSizeMb, mKeysTotalMax, bitsPerKey }: FilterBenchParams): number {
  return mKeysTotalMax > 0 ? (1e6 * mKeysTotalMax * bitsPerKey) / 8 : workingMemSizeMb * 1024 * 1024;
}

/** Throws InvalidArgumentError, with the parameter's name. */
export function checkFilterBenchParams(params: FilterBenchParams): void {
  const check = (name: keyof FilterBenchParams, holds: boolean, wanted: string): void => {
    if (holds) return;
    throw new InvalidArgumentError(name, String(params[name]), `${name} is ${params[name]}: ${wanted}`);
  };
  check(
    'impl',
    params.impl >= 0 && params.impl <= 2,
    '0 legacy Bloom, 1 fast local Bloom or 2 Ribbon is wanted',
  );
  check(
    'varyKeyCountRatio',
    params.varyKeyCountRatio >= 0 && params.varyKeyCountRatio <= 1,
    '0 to 1 is wanted',
  );
  check(
    'averageKeysPerFilter',
    params.averageKeysPerFilter >= 1 && params.averageKeysPerFilter <= KEYS_PER_FILTER_MAX,
    `1 to ${KEYS_PER_FILTER_MAX} is wanted`,
  );
  check('keySize', params.keySize >= 0 && params.keySize <= KEY_SIZE_MAX, `0 to ${KEY_SIZE_MAX} is wanted`);
  check('batchSize', params.batchSize >= 1 && params.batchSize <= 512, '1 to 512 is wanted');
  check('mQueries', params.mQueries > 0, 'more than 0 is wanted');
  check('runs', params.runs >= 1, 'at least 1 is wanted');
  check('bitsPerKey', params.bitsPerKey >= 0.5, 'below 0.5 bits a key there is no filter');
  check('mKeysTotalMax', params.mKeysTotalMax >= 0, 'at least 0 is wanted');
  check(
    'workingMemSizeMb',
    params.workingMemSizeMb > 0 || params.mKeysTotalMax > 0,
    'without a bound there is no end of filters',
  );
}
