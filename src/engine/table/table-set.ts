import { InvalidArgumentError } from '../../errors.ts';
import type { BlockCursor } from '../../format/block/block-cursor.ts';
import { trailerType } from '../../format/internal-key.ts';
import { isPointDeletion, ValueType } from '../../format/value-type.ts';
import type { Comparator } from '../../operators/comparator.ts';
import type { MergeOperator } from '../../operators/merge-operator.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import { resolveMerge } from '../merge/resolve-merge.ts';
import type { ComparableSeqno } from '../range-del/comparable-seqno.ts';
import { type Statistics, Ticker } from '../statistics/statistics.ts';
import { FilterVerdict, type LookupTable } from './lookup-table.ts';
import type { IteratorOptions, ReadOptions } from './read-options.ts';
import { NEWEST, type ReadPoint } from './read-point.ts';
import { RowIterator } from './row-iterator.ts';
import { listVersions, type Version } from './versions.ts';

/** What a reader sees of a key. */
export interface FoundRow {
  /** `ValueType` of the value: a put, an entity, a blob reference, a put with a preferred sequence number. */
  readonly type: number;
  /** As an entry of the type stores it; a view of the block, or made by a merge operator. */
  readonly value: Uint8Array;
  /** Of the newest version; of merged ones that of the newest operand. */
  readonly seqno: ComparableSeqno;
  /** Number of the table that has it. */
  readonly table: number;
}

export interface TableSetOptions {
  /** Combines operands; without one a read of such a key throws. */
  readonly mergeOperator?: MergeOperator | undefined;
  /** Of reads that name none. Default: no extractor. */
  readonly prefixExtractor?: PrefixExtractor | undefined;
  readonly statistics?: Statistics;
}

/**
 * Tables that are read as one: of each user key the newest visible version counts, whichever table has it, unless a
 * range tombstone of any of them covers it. Of versions with the same sequence number that of the table first given
 * counts. Tables may overlap in every way: there are no levels here.
 *
 * Tables are asked newest first, by the largest sequence number that each tells of itself, until what was found is
 * newer than everything that is left.
 */
export class TableSet {
  readonly comparator: Comparator;
  readonly statistics: Statistics;
  readonly mergeOperator: MergeOperator | undefined;
  readonly prefixExtractor: PrefixExtractor | undefined;
  /** Numbers of tables by largest sequence number, descending. */
  private readonly byAge: readonly number[];
  private withTombstones: readonly LookupTable[] | undefined;

  /** Throws InvalidArgumentError for tables of different orders. */
  constructor(
    readonly tables: readonly LookupTable[],
    options: TableSetOptions = {},
  ) {
    const [first] = tables;
    if (first === undefined) throw new InvalidArgumentError('tables', '', 'there is no table to look into');
    this.comparator = first.comparator;
    for (const table of tables) {
      if (table.comparator === first.comparator && table.timestampSize === first.timestampSize) continue;
      throw new InvalidArgumentError(
        'comparator',
        table.comparator.name,
        `${table.reader.source.name} is in the order ${table.comparator.name}, ` +
          `${first.reader.source.name} in ${first.comparator.name}: they cannot be read as one`,
      );
    }
    this.statistics = options.statistics ?? first.statistics;
    this.mergeOperator = options.mergeOperator;
    this.prefixExtractor = options.prefixExtractor;
    this.byAge = tables.map((_, i) => i).sort((a, b) => compareAge(tables[a]!, tables[b]!) || a - b);
  }

  /** What a reader sees of a user key (without timestamp); undefined: nothing. */
  get(key: Uint8Array, options: ReadOptions = {}): FoundRow | undefined {
    const { point = NEWEST, prefixExtractor = this.prefixExtractor } = options;
    const { tickers } = this.statistics;
    tickers[Ticker.keysRead]!++;
    const found = this.lookUp(key, point, prefixExtractor);
    if (found !== undefined) tickers[Ticker.bytesRead]! += found.value.length;
    return found;
  }

  /**
   * `get` of many keys: in the order of keys, so that neighbours share one read of their block, and with one question
   * to a filter for all keys of a batch. Answers stand in the order given.
   */
  multiGet(keys: readonly Uint8Array[], options: ReadOptions = {}): (FoundRow | undefined)[] {
    const { point = NEWEST, prefixExtractor = this.prefixExtractor } = options;
    const { tickers } = this.statistics;
    const results = new Batch(keys, this.comparator).run(this, this.byAge, point, prefixExtractor);
    tickers[Ticker.multiGets]!++;
    tickers[Ticker.multiGetKeysRead]! += keys.length;
    for (const found of results) {
      if (found === undefined) continue;
      tickers[Ticker.multiGetKeysFound]!++;
      tickers[Ticker.multiGetBytesRead]! += found.value.length;
    }
    return results;
  }

  /** Rows in order, both ways. */
  newIterator(options: IteratorOptions = {}): RowIterator {
    return new RowIterator(this, options);
  }

  /** Every version of a user key that `point` can see, newest first, the ones that nobody sees included. */
  versions(key: Uint8Array, point: ReadPoint = NEWEST): Version[] {
    return listVersions(this.tables, key, point, this.coveringSeqno(key, point));
  }

  /** The newest sequence number of a visible range tombstone over the key; -1: none covers it. */
  coveringSeqno(key: Uint8Array, point: ReadPoint): ComparableSeqno {
    this.withTombstones ??= this.tables.filter((table) => !table.tombstones.isEmpty);
    let newest = -1;
    for (const { tombstones } of this.withTombstones) {
      const seqno = tombstones.maxCoveringSeqno(key, 0, key.length, point.seqno, point.timestamp);
      if (seqno > newest) newest = seqno;
    }
    return newest;
  }

  private lookUp(
    key: Uint8Array,
    point: ReadPoint,
    extractor: PrefixExtractor | undefined,
  ): FoundRow | undefined {
    if (this.tables[0]!.timestampSize > 0) return this.resolve(key, point);
    const covering = this.coveringSeqno(key, point);
    let seqno: ComparableSeqno = -1;
    let newest = -1;
    for (const i of this.byAge) {
      const table = this.tables[i]!;
      if (seqno > table.largestSeqno || covering > table.largestSeqno) break;
      if (!table.find(key, 0, key.length, point, extractor)) continue;
      const found = table.foundSeqno;
      if (found < seqno || (found === seqno && i > newest)) continue;
      seqno = found;
      newest = i;
    }
    if (newest < 0 || covering > seqno) return undefined;
    const { found } = this.tables[newest]!;
    return this.rowOf(key, found, newest, seqno, point);
  }

  /** @internal What an entry means to a reader: for `multiGet`. */
  rowOf(
    key: Uint8Array,
    entry: BlockCursor,
    table: number,
    seqno: ComparableSeqno,
    point: ReadPoint,
  ): FoundRow | undefined {
    const type = trailerType(entry.key, entry.keyLength);
    if (isPointDeletion(type)) return undefined;
    if (type === ValueType.merge) return this.resolve(key, point);
    return { type, value: entry.data.subarray(entry.valueStart, entry.valueEnd), seqno, table };
  }

  /** @internal The way over all versions: for merge operands, and where versions have timestamps. */
  resolve(key: Uint8Array, point: ReadPoint): FoundRow | undefined {
    const versions = this.versions(key, point);
    const operands: Uint8Array[] = [];
    let base: Version | undefined;
    for (const version of versions) {
      if (version.coveredBy >= 0 || isPointDeletion(version.type)) break;
      if (version.type !== ValueType.merge) {
        base = version;
        break;
      }
      operands.push(version.value);
    }
    const newest = versions[0];
    if (newest === undefined) return undefined;
    const { seqno, table } = newest;
    if (operands.length === 0) {
      return base === undefined ? undefined : { type: base.type, value: base.value, seqno, table };
    }
    return { ...resolveMerge(this.mergeOperator, base, operands.reverse()), seqno, table };
  }
}

function compareAge(a: LookupTable, b: LookupTable): number {
  return a.largestSeqno === b.largestSeqno ? 0 : a.largestSeqno > b.largestSeqno ? -1 : 1;
}

/** The work of one `multiGet`. */
class Batch {
  /** Places in `keys`, in the order of keys. */
  private readonly order: Int32Array;

  constructor(
    private readonly keys: readonly Uint8Array[],
    comparator: Comparator,
  ) {
    const { compare } = comparator.withoutTimestamp;
    this.order = Int32Array.from(keys.keys()).sort((a, b) => {
      const [left, right] = [keys[a]!, keys[b]!];
      return compare(left, 0, left.length, right, 0, right.length);
    });
  }

  run(
    set: TableSet,
    byAge: readonly number[],
    point: ReadPoint,
    extractor: PrefixExtractor | undefined,
  ): (FoundRow | undefined)[] {
    const { keys, order } = this;
    if (set.tables[0]!.timestampSize > 0) return keys.map((key) => set.resolve(key, point));
    const results = new Array<FoundRow | undefined>(keys.length).fill(undefined);
    const covering = Float64Array.from(keys, (key) => set.coveringSeqno(key, point));
    const seqnos = new Float64Array(keys.length).fill(-1);
    const owners = new Int32Array(keys.length).fill(-1);
    const verdicts = new Uint8Array(keys.length);
    for (const i of byAge) {
      const table = set.tables[i]!;
      const asked = order.filter(
        (k) => seqnos[k]! <= table.largestSeqno && covering[k]! <= table.largestSeqno,
      );
      const { bytes, offsets } = this.joined(asked);
      if (!table.askFilterForMany(bytes, offsets, asked.length, verdicts)) verdicts.fill(FilterVerdict.ask);
      let after = false;
      for (let n = 0; n < asked.length; n++) {
        const k = asked[n]!;
        const key = keys[k]!;
        const verdict = verdicts[n] as FilterVerdict;
        const isFound = table.find(key, 0, key.length, point, extractor, after, verdict);
        after = true;
        if (!isFound) continue;
        const seqno = table.foundSeqno;
        if (seqno < seqnos[k]! || (seqno === seqnos[k] && i > owners[k]!)) continue;
        seqnos[k] = seqno;
        owners[k] = i;
        results[k] = covering[k]! > seqno ? undefined : set.rowOf(key, table.found, i, seqno, point);
      }
    }
    return results;
  }

  /** The keys one behind the other. */
  private joined(places: Int32Array): { bytes: Uint8Array; offsets: Uint32Array } {
    const offsets = new Uint32Array(places.length + 1);
    for (let n = 0; n < places.length; n++) offsets[n + 1] = offsets[n]! + this.keys[places[n]!]!.length;
    const bytes = new Uint8Array(offsets[places.length]!);
    for (let n = 0; n < places.length; n++) bytes.set(this.keys[places[n]!]!, offsets[n]!);
    return { bytes, offsets };
  }
}
