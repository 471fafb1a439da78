import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import type { ReadPoint } from './read-point.ts';

/** Of every read. */
export interface ReadOptions {
  /** What can be seen. Default: everything. */
  readonly point?: ReadPoint;
  /** What makes prefixes now. Default: what the tables were opened with. */
  readonly prefixExtractor?: PrefixExtractor | undefined;
}

/**
 * How an iterator goes. Without any of the modes rows come in total order, and no filter is asked: RocksDB's own
 * default, where an extractor is set, leaves open what follows behind the prefix.
 *
 *   prefixSameAsStart       rows end with the prefix of the key that was looked for; tables are passed over whose
 *                           filter denies that prefix. A key without prefix is looked for in total order.
 *   autoPrefixMode          total order, with filters asked where the upper bound shows that this changes nothing
 *   totalOrderSeek: false   as RocksDB's default: filters are asked and rows do not end; those behind the prefix may
 *                           be missing
 *   totalOrderSeek: true    no filter is asked, whatever else is set
 */
export interface IteratorOptions extends ReadOptions {
  readonly totalOrderSeek?: boolean;
  readonly prefixSameAsStart?: boolean;
  readonly autoPrefixMode?: boolean;
  /** First user key, inclusive, and end of user keys, exclusive; without timestamps. */
  readonly lowerBound?: Uint8Array | undefined;
  readonly upperBound?: Uint8Array | undefined;
}
