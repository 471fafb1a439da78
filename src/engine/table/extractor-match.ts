import type { TableProperties } from '../../format/properties.ts';
import { ExtractorCheck } from '../../operators/extractor-check.ts';
import { type PrefixExtractor, prefixExtractorByName } from '../../operators/prefix-extractor.ts';
import type { Statistics } from '../statistics/statistics.ts';

/** Which prefix extractors make the prefixes of a table's filter; the one known to match is found when it is opened. */
export class ExtractorMatch {
  /**
   * The instance known to match: the one given, if it has the stored name, else one made from that name. Undefined:
   * the table has no prefixes that anybody could ask for.
   */
  readonly own: PrefixExtractor | undefined;
  /** Keys of one prefix lie together in bytewise order: true of RocksDB's own extractors, whoever made the instance. */
  readonly isContiguous: boolean;
  private readonly check: ExtractorCheck;

  /** `given` is what the application reads with, `custom` others of its own that it knows. */
  constructor(
    properties: TableProperties | undefined,
    given: PrefixExtractor | undefined,
    custom: readonly PrefixExtractor[],
    statistics: Statistics,
  ) {
    const hasPrefixes = properties?.get('rocksdb.block.based.table.prefix.filtering') !== false;
    const stored = hasPrefixes ? properties?.get('rocksdb.prefix.extractor.name') : undefined;
    const named = prefixExtractorByName(stored, custom);
    this.check = new ExtractorCheck(stored, given, statistics);
    this.own = this.check.own ?? (named.status === 'known' ? named.extractor : undefined);
    this.isContiguous = prefixExtractorByName(stored).status === 'known';
  }

  /** Whether prefixes that `extractor` makes may be looked for in the table's filter. */
  accepts(extractor: PrefixExtractor): boolean {
    return extractor === this.own || this.check.accepts(extractor);
  }
}
