import type { TableProperties } from '../../format/properties.ts';
import { type PrefixExtractor, prefixExtractorByName } from '../../operators/prefix-extractor.ts';
import type { Statistics } from '../statistics/statistics.ts';

/**
 * Which prefix extractors are the one that made a table's filter. Names are compared when the table is opened, and
 * once for each further instance; from then on an instance is known by itself, so that a look-up costs one comparison
 * of references.
 *
 *   the one given at open, if it has the stored name; else one made from that name   `own`
 *   another instance with that name                                                  accepted by name once
 *   another name, or a stored name that lacks its length                             never
 *
 * RocksDB compares the names at every look-up with another instance; a verdict about an instance cannot change, as
 * its name is read-only, so it is kept here.
 */
export class ExtractorMatch {
  /** The instance known to match; undefined: the table has no prefixes that anybody could ask for. */
  readonly own: PrefixExtractor | undefined;
  /** Keys of one prefix lie together in bytewise order: true of RocksDB's own extractors, whoever made the instance. */
  readonly isContiguous: boolean = false;
  private readonly storedName: string | undefined;
  private readonly verdicts = new WeakMap<PrefixExtractor, boolean>();
  private lastAccepted: PrefixExtractor | undefined;
  private lastRejected: PrefixExtractor | undefined;

  /** `given` is what the application reads with, `custom` others of its own that it knows. */
  constructor(
    properties: TableProperties | undefined,
    given: PrefixExtractor | undefined,
    custom: readonly PrefixExtractor[],
    private readonly statistics: Statistics,
  ) {
    const stored = properties?.get('rocksdb.prefix.extractor.name');
    const named = prefixExtractorByName(stored, custom);
    const hasPrefixes = properties?.get('rocksdb.block.based.table.prefix.filtering') !== false;
    if (!hasPrefixes || named.status === 'none' || named.status === 'incomplete') return;
    this.storedName = named.status === 'known' ? named.extractor.name : named.name;
    this.isContiguous = prefixExtractorByName(this.storedName).status === 'known';
    if (given !== undefined && this.hasStoredName(given)) this.own = given;
    else if (named.status === 'known') this.own = named.extractor;
    if (given !== undefined && given !== this.own) this.verdicts.set(given, false);
    this.lastAccepted = this.own;
  }

  /** Whether prefixes that `extractor` makes may be looked for in the table's filter. */
  accepts(extractor: PrefixExtractor): boolean {
    if (extractor === this.own || extractor === this.lastAccepted) return true;
    if (extractor === this.lastRejected || this.storedName === undefined) return false;
    let verdict = this.verdicts.get(extractor);
    if (verdict === undefined) {
      verdict = this.hasStoredName(extractor);
      this.verdicts.set(extractor, verdict);
    }
    if (verdict) this.lastAccepted = extractor;
    else this.lastRejected = extractor;
    return verdict;
  }

  private hasStoredName(extractor: PrefixExtractor): boolean {
    this.statistics.extractorNameComparisons++;
    return extractor.name === this.storedName;
  }
}
