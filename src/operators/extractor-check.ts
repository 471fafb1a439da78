import { type PrefixExtractor, prefixExtractorByName } from './prefix-extractor.ts';

/**
 * How the extractor of a lookup stands to that of a file: the instance that the file was opened with; another one of
 * the same name; one that makes other prefixes, or may; or there is none in the file, or in the lookup.
 */
export type ExtractorMatch = 'identity' | 'name' | 'incompatible' | 'none_stored' | 'none_given';

/** Counts that show how often names are compared: once a file and instance. */
export interface ExtractorCounters {
  extractorNameComparisons: number;
}

/**
 * Whether an extractor makes the prefixes of a file. Names are compared when the file is opened, and once more for
 * an instance that was not seen before; lookups then compare references alone. A name is read-only, so what was found
 * of an instance stays true.
 * (RocksDB compared names in each lookup before 6.27, and still does for other instances than the first.)
 */
export class ExtractorCheck {
  /** The name by which the file is asked; undefined where it says none, or one without its length. */
  private readonly storedName: string | undefined;
  private readonly isNone: boolean;
  /** The one that the file was opened with, if it has the stored name. */
  readonly own: PrefixExtractor | undefined;
  private readonly verdicts = new WeakMap<PrefixExtractor, boolean>();
  /** The other instance that was asked for last, and what came of it. */
  private other: PrefixExtractor | undefined;
  private otherMatch: ExtractorMatch = 'incompatible';

  /** `stored` as in property `rocksdb.prefix.extractor.name`; `opened` is the one that the file is opened with. */
  constructor(
    stored: string | undefined,
    opened: PrefixExtractor | undefined,
    private readonly counters: ExtractorCounters = { extractorNameComparisons: 0 },
  ) {
    const named = prefixExtractorByName(stored);
    this.isNone = named.status === 'none';
    this.storedName =
      named.status === 'known' ? named.extractor.name : named.status === 'unknown' ? named.name : undefined;
    if (opened === undefined) return;
    const fits = this.hasStoredName(opened);
    this.verdicts.set(opened, fits);
    if (fits) this.own = opened;
  }

  match(given: PrefixExtractor | undefined): ExtractorMatch {
    if (given === undefined) return this.isNone ? 'none_stored' : 'none_given';
    if (given === this.own) return 'identity';
    if (this.isNone) return 'none_stored';
    if (given !== this.other) {
      let verdict = this.verdicts.get(given);
      if (verdict === undefined) {
        verdict = this.hasStoredName(given);
        this.verdicts.set(given, verdict);
      }
      this.otherMatch = verdict ? 'name' : 'incompatible';
      this.other = given;
    }
    return this.otherMatch;
  }

  /** Whether the file may be asked for prefixes that `given` makes. */
  accepts(given: PrefixExtractor): boolean {
    if (given === this.own) return true;
    const match = this.match(given);
    return match === 'identity' || match === 'name';
  }

  /** By the names, each time: what `match` spares. */
  hasStoredName({ name }: PrefixExtractor): boolean {
    if (this.storedName === undefined) return false;
    this.counters.extractorNameComparisons++;
    return name === this.storedName;
  }
}
