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
