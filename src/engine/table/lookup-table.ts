import type { ByteSource } from '../../bytes/source.ts';
import { InvalidArgumentError, UnsupportedError } from '../../errors.ts';
import { BlockCursor, HashAnswer } from '../../format/block/block-cursor.ts';
import { SeekTarget } from '../../format/block/seek-target.ts';
import { type Footer, readFooter } from '../../format/footer.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import { COMPRESSION_DICT_BLOCK } from '../../format/metaindex.ts';
import { UNKNOWN_UINT64 } from '../../format/properties.ts';
import {
  type OpenTableOptions,
  openTableAt,
  type TableEnvironment,
  type TableReader,
} from '../../format/table-reader.ts';
import type { KeyHash } from '../../hash/key-hash.ts';
import {
  bytewiseComparator,
  type Comparator,
  reverseBytewiseComparator,
} from '../../operators/comparator.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import type { BlockCache } from '../cache/block-cache.ts';
import {
  type ComparableSeqno,
  comparableSeqno,
  comparableTrailerSeqno,
  MAX_SEQNO,
} from '../range-del/comparable-seqno.ts';
import type { FragmentedTombstones } from '../range-del/fragmented-tombstones.ts';
import { fragmentTombstones } from '../range-del/fragmenter.ts';
import { tombstoneSetOf } from '../range-del/tombstone-set.ts';
import { Statistics, Ticker } from '../statistics/statistics.ts';
import { BlockStore, type DecodedBlock, type LookupHooks } from './block-store.ts';
import { ExtractorMatch } from './extractor-match.ts';
import type { ReadPoint } from './read-point.ts';
import { TableFilter } from './table-filter.ts';
import { type KeptIndex, keepIndex, TableIndexCursor } from './table-index.ts';
import { TableIterator } from './table-iterator.ts';

/** What look-ups are given from outside. */
export interface LookupEnvironment extends TableEnvironment {
  readonly keyHash: KeyHash;
}

/** Names and defaults are RocksDB's (include/rocksdb/table.h, BlockBasedTableOptions) where it has them. */
export interface LookupTableOptions extends OpenTableOptions {
  /** Shared by the tables of a database. Without one every block is read each time. */
  readonly blockCache?: BlockCache<DecodedBlock>;
  /**
   * Equal identities mean equal bytes, for the cache. Default: the source's name and size, which is enough for files
   * that are not replaced while the cache lives.
   */
  readonly identity?: string;
  readonly statistics?: Statistics;
  /**
   * Index, filter and dictionary go through the block cache and count there. Otherwise the table holds them beside it
   * from the moment it is opened (of partitioned ones the top level). Default false.
   */
  readonly cacheIndexAndFilterBlocks?: boolean;
  /** With the former: the index and the top level of partitioned ones stay in the cache. Default true. */
  readonly pinTopLevelIndex?: boolean;
  /** A full filter, or the top level of a partitioned one. Default false. */
  readonly pinFilter?: boolean;
  /** Default false. */
  readonly pinDictionary?: boolean;
  /** Partitions of index and filter are read when the table is opened, and stay. Default false. */
  readonly pinPartitions?: boolean;
  /** Filters are never asked. Default false. */
  readonly ignoreFilter?: boolean;
  /** What the application makes prefixes with: kept as known to match, where it has the name that the file tells. */
  readonly prefixExtractor?: PrefixExtractor;
  /** Further ones of the application, found by their names. */
  readonly customExtractors?: readonly PrefixExtractor[];
}

/**
 * A table that is looked up: `TableReader` knows its parts, this one finds keys in it, through filter, index and
 * block cache. Synchronous as everything below it; over a source that answers later its calls throw the source's
 * signal, and are run in `withPending`.
 */
export class LookupTable {
  /** Of user keys as stored. */
  readonly comparator: Comparator;
  /** Bytes of timestamp in stored keys. */
  readonly timestampSize: number;
  /** -1: every entry has its own. */
  readonly globalSeqno: ComparableSeqno;
  /** At least that of each entry: where the file does not tell, the largest that there can be. */
  readonly largestSeqno: ComparableSeqno;
  /** Undefined: the table has no filter, or it must not be asked. */
  readonly filter: TableFilter | undefined;
  readonly filterHasKeys: boolean;
  readonly extractor: ExtractorMatch;
  /** Where `find` ended. */
  readonly entry = new BlockCursor();
  private readonly target: SeekTarget;
  private readonly index: TableIndexCursor;
  private readonly keptIndex: KeptIndex;
  private readonly usesHashIndex: boolean;
  private fragments: FragmentedTombstones | undefined;
  private slowIterator: TableIterator | undefined;
  /** `index` and `entry` stand where the last search found its block. */
  private isPositioned = false;

  private constructor(
    readonly reader: TableReader,
    readonly store: BlockStore,
    readonly statistics: Statistics,
    private readonly hash: KeyHash,
    options: LookupTableOptions,
    private readonly hooks: LookupHooks,
  ) {
    const { properties } = reader;
    this.comparator = reader.storedComparator!;
    this.timestampSize = reader.storedTimestampSize;
    const { globalSeqno } = reader;
    this.globalSeqno = globalSeqno === undefined ? -1 : comparableSeqno(globalSeqno);
    const largest = properties?.get('rocksdb.key.largest.seqno');
    this.largestSeqno =
      globalSeqno !== undefined
        ? this.globalSeqno
        : largest === undefined || largest === UNKNOWN_UINT64
          ? MAX_SEQNO
          : comparableSeqno(BigInt(largest));
    const cached = options.cacheIndexAndFilterBlocks === true && options.blockCache !== undefined;
    const partitions = options.pinPartitions === true;
    const topKept = !cached || options.pinTopLevelIndex !== false;
    this.keptIndex = keepIndex(reader.index!, store, { top: topKept, partitions, inCache: cached });
    this.filter =
      options.ignoreFilter === true
        ? undefined
        : TableFilter.open(reader, store, hash, {
            top: !cached || options.pinFilter === true,
            partitions,
            inCache: cached,
          });
    this.filterHasKeys = properties?.get('rocksdb.block.based.table.whole.key.filtering') !== false;
    this.extractor = new ExtractorMatch(
      properties,
      options.prefixExtractor,
      options.customExtractors ?? [],
      statistics,
    );
    this.target = this.newTarget();
    this.index = this.openIndex();
    // Keys that compare equal have equal bytes: only then does their hash say the same as their order.
    this.usesHashIndex =
      this.comparator === bytewiseComparator || this.comparator === reverseBytewiseComparator;
  }

  /**
   * Opens a table and what of it is kept. Throws what stands in the reader's `problems` where index or metaindex
   * cannot be read: without them a look-up could miss rows. InvalidArgumentError: the order of keys is one that is not known.
   * CacheFullError: a strict cache has no room for a pin.
   */
  static open(
    source: ByteSource,
    environment: LookupEnvironment,
    options: LookupTableOptions = {},
  ): LookupTable {
    return LookupTable.openWithHooks(source, environment, options, {});
  }

  /** @internal For benches and tests that break a rule to show its worth. */
  static openWithHooks(
    source: ByteSource,
    environment: LookupEnvironment,
    options: LookupTableOptions,
    hooks: LookupHooks,
  ): LookupTable {
    const footer = readFooter(source, environment.hashes);
    requireBlocks(source, footer);
    const reader = openTableAt(source, footer, environment, options);
    if (reader.index === undefined || reader.metaindex === undefined) {
      throw reader.problems[0] ?? new UnsupportedError('index', 'none', 'the table has no index');
    }
    requireOrder(reader);
    const statistics = options.statistics ?? new Statistics();
    const file = options.blockCache?.fileNumber(options.identity ?? `${source.name}:${source.size}`) ?? 0;
    const dictionary = reader.metaBlock(COMPRESSION_DICT_BLOCK);
    const store = new BlockStore(reader, dictionary, options.blockCache, file, statistics, hooks);
    const cached = options.cacheIndexAndFilterBlocks === true && options.blockCache !== undefined;
    statistics.count(Ticker.fileOpens);
    try {
      if (!cached || options.pinDictionary === true) store.keepDictionary(cached);
      return new LookupTable(reader, store, statistics, environment.keyHash, options, hooks);
    } catch (error) {
      store.close();
      throw error;
    }
  }

  /** Gives pins back; the source is its owner's to close. */
  close(): void {
    this.store.close();
  }

  openIndex(): TableIndexCursor {
    return new TableIndexCursor(this.reader.index!, this.store, this.keptIndex);
  }

  newIterator(): TableIterator {
    return new TableIterator(this);
  }

  newTarget(): SeekTarget {
    return new SeekTarget(this.comparator, this.timestampSize);
  }

  /** The range tombstones, with the sequence numbers that count; fragmented at the first call. */
  get tombstones(): FragmentedTombstones {
    this.fragments ??= fragmentTombstones(
      tombstoneSetOf(this.reader.readRangeTombstones(), this.reader),
      this.reader.comparator!,
    );
    return this.fragments;
  }

  /**
   * Finds the newest version of the user key `key[start, end)` (without timestamp) that `point` can see, and stands
   * there: `entry`, `foundSeqno`. False: the table has none.
   *
   * `after`: the key does not come before that of the last call, as in sorted batches; then the block at hand is
   * tried first. `filterVerdict`: what a batch has found out already.
   */
  find(
    key: Uint8Array,
    start: number,
    end: number,
    point: ReadPoint,
    extractor?: PrefixExtractor,
    after = false,
    filterVerdict: FilterVerdict = FilterVerdict.ask,
  ): boolean {
    // Also where the filter ends the call: what an earlier batch left says nothing of this one.
    if (!after) this.isPositioned = false;
    if (this.globalSeqno > point.seqno) return false;
    const { target } = this;
    if (this.globalSeqno >= 0) target.set(key, start, end, undefined, undefined, point.timestamp);
    else target.set(key, start, end, point.trailerHigh, point.trailerLow, point.timestamp);
    const verdict = filterVerdict === FilterVerdict.ask ? this.askFilter(extractor) : filterVerdict;
    if (verdict === FilterVerdict.no) return false;
    const found = this.timestampSize > 0 ? this.searchTimestamps(point) : this.search(after);
    if (found && verdict !== FilterVerdict.ask) {
      this.statistics.tickers[
        verdict === FilterVerdict.mayPrefix ? Ticker.bloomPrefixTruePositive : Ticker.bloomFullTruePositive
      ]!++;
    }
    return found;
  }

  /** Sequence number of the entry that `find` found. */
  get foundSeqno(): ComparableSeqno {
    const { key, keyLength } = this.found;
    return this.globalSeqno >= 0 ? this.globalSeqno : comparableTrailerSeqno(key, keyLength);
  }

  /** The entry that `find` found. */
  get found(): BlockCursor {
    return this.timestampSize > 0 ? this.slowIterator!.entry : this.entry;
  }

  /** Handle of the block that it lies in. */
  get foundBlockOffset(): number {
    return this.timestampSize > 0 ? this.slowIterator!.blockOffset : this.index.leaf.offset;
  }

  /**
   * Asks the filter for many keys at once: key i is `bytes[offsets[i], offsets[i + 1])`, without timestamp. Puts a
   * `FilterVerdict` into `out[i]` and answers true; false: this filter is asked key by key.
   */
  askFilterForMany(bytes: Uint8Array, offsets: Uint32Array, count: number, out: Uint8Array): boolean {
    const { filter, statistics } = this;
    if (filter === undefined || !this.filterHasKeys || !filter.isFull) return false;
    const reader = filter.full();
    if (reader === undefined) return false;
    const found = reader.mayContainMany(this.hash, bytes, offsets, count, out);
    for (let i = 0; i < count; i++) out[i] = out[i] === 1 ? FilterVerdict.mayKey : FilterVerdict.no;
    statistics.tickers[Ticker.bloomFullPositive]! += found;
    statistics.tickers[Ticker.bloomUseful]! += count - found;
    return true;
  }

  /**
   * Whether the table may have keys with the prefix that `extractor` makes of the target's user key; undefined where
   * the filter has no say: it is not of that extractor, or the key has no prefix.
   */
  mayHavePrefix(target: SeekTarget, extractor: PrefixExtractor, backward: boolean): boolean | undefined {
    const { filter, statistics } = this;
    if (filter === undefined || !this.acceptsExtractor(extractor)) return undefined;
    if (!extractor.inDomain(target.key, 0, target.userKeyEnd)) return undefined;
    const end = extractor.prefixEnd(target.key, 0, target.userKeyEnd);
    const may = backward ? filter.mayContainBefore(target, end) : filter.mayContain(target, end);
    statistics.tickers[Ticker.bloomPrefixChecked]!++;
    if (!may) statistics.tickers[Ticker.bloomPrefixUseful]!++;
    return may;
  }

  private acceptsExtractor(extractor: PrefixExtractor): boolean {
    const { acceptsExtractor } = this.hooks;
    if (acceptsExtractor === undefined) return this.extractor.accepts(extractor);
    return acceptsExtractor(extractor, this.extractor.own?.name ?? '');
  }

  /** By whole keys where the filter has them, else by prefix, if an extractor can make those of this table. */
  private askFilter(extractor: PrefixExtractor | undefined): FilterVerdict {
    const { filter, target, statistics } = this;
    if (filter === undefined) return FilterVerdict.ask;
    if (this.filterHasKeys) {
      if (filter.mayContain(target, target.userKeyEnd)) {
        statistics.tickers[Ticker.bloomFullPositive]!++;
        return FilterVerdict.mayKey;
      }
      statistics.tickers[Ticker.bloomUseful]!++;
      return FilterVerdict.no;
    }
    // Without an extractor of the application's own the file's will do: a look-up of one key asks for no more than
    // what that one added.
    const made = extractor ?? this.extractor.own;
    if (made === undefined) return FilterVerdict.ask;
    const may = this.mayHavePrefix(target, made, false);
    if (may === undefined) return FilterVerdict.ask;
    return may ? FilterVerdict.mayPrefix : FilterVerdict.no;
  }

  private search(after: boolean): boolean {
    const { index, target, entry } = this;
    if (after && this.isPositioned && index.leaf.compareWith(target) >= 0) {
      if (this.searchBlock()) return this.isTargetsKey();
      if (this.separatorIsBehind()) return false;
      if (!index.next()) return this.lost();
    } else {
      this.isPositioned = false;
      if (!index.seek(target)) return false;
    }
    for (;;) {
      if (index.leaf.firstKeyEnd > index.leaf.firstKeyStart && this.firstKeyIsBehind()) return this.lost();
      entry.load(this.store.data(index.leaf.offset, index.leaf.size));
      this.isPositioned = true;
      if (this.searchBlock()) return this.isTargetsKey();
      // All keys of the block come before the target. Only where its separator has the very user key can the next
      // block begin with an older version of it.
      if (this.separatorIsBehind()) return false;
      if (!index.next()) return this.lost();
    }
  }

  /** There is no block at which `index` stands. */
  private lost(): false {
    this.isPositioned = false;
    return false;
  }

  /** To the first entry of the block that is not before the target. */
  private searchBlock(): boolean {
    const { entry, target } = this;
    try {
      if (this.usesHashIndex) {
        const answer = entry.askHashIndex(target);
        if (answer === HashAnswer.absent) return false;
        if (answer !== HashAnswer.ask) {
          entry.toRestart(answer);
          return entry.walkTo(target);
        }
      }
      return entry.seek(target);
    } catch (error) {
      throw this.store.placed(error, 'data', this.index.leaf.offset);
    }
  }

  private isTargetsKey(): boolean {
    const { entry, target, comparator } = this;
    const end = entry.keyLength - TRAILER_SIZE;
    return comparator.compare(entry.key, 0, end, target.key, 0, target.userKeyEnd) === 0;
  }

  private separatorIsBehind(): boolean {
    const { leaf } = this.index;
    const end = leaf.keyLength - (this.reader.index!.userKeys ? 0 : TRAILER_SIZE);
    return this.comparator.compare(leaf.key, 0, end, this.target.key, 0, this.target.userKeyEnd) > 0;
  }

  private firstKeyIsBehind(): boolean {
    const { data, firstKeyStart, firstKeyEnd } = this.index.leaf;
    const end = firstKeyEnd - TRAILER_SIZE;
    return this.comparator.compare(data, firstKeyStart, end, this.target.key, 0, this.target.userKeyEnd) > 0;
  }

  /** Between timestamps the sequence numbers are in no order: versions are passed until one can be seen. */
  private searchTimestamps(point: ReadPoint): boolean {
    this.slowIterator ??= this.newIterator();
    const iterator = this.slowIterator;
    const { target } = this;
    const { compare } = this.comparator.withoutTimestamp;
    for (iterator.seek(target); iterator.valid; iterator.next()) {
      if (compare(iterator.entry.key, 0, iterator.userKeyEnd, target.key, 0, target.userKeyEnd) !== 0)
        return false;
      if (iterator.seqno <= point.seqno) return true;
    }
    return false;
  }
}

/** Throws UnsupportedError for tables that are not made of blocks. */
export function requireBlocks(source: ByteSource, { format }: Footer): void {
  if (format === 'block-based' || format === 'leveldb') return;
  throw new UnsupportedError(
    'table format',
    format,
    `look-ups read block-based and LevelDB tables, this one is ${format}`,
    { file: source.name },
  );
}

/**
 * Throws where the order of the table's keys is not known: the damage that hides its name, or InvalidArgumentError for
 * a name that is not known here.
 */
export function requireOrder({ storedComparator, comparatorName, blocks, problems }: TableReader): void {
  if (storedComparator !== undefined) return;
  const [problem] = problems;
  if (comparatorName === undefined && problem !== undefined) throw problem;
  const name = comparatorName ?? '(unknown)';
  throw new InvalidArgumentError(
    'comparator',
    name,
    `${blocks.source.name}: a look-up needs the order of keys, and comparator ${name} is not known here`,
  );
}

/** What a filter says of a key. */
export const FilterVerdict = {
  /** It was not asked, or has no say. */
  ask: 0,
  no: 1,
  mayKey: 2,
  mayPrefix: 3,
} as const;
export type FilterVerdict = (typeof FilterVerdict)[keyof typeof FilterVerdict];
