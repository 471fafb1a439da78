import { startsWith } from '../../bytes/compare.ts';
import type { SeekTarget } from '../../format/block/seek-target.ts';
import { isPointDeletion, ValueType } from '../../format/value-type.ts';
import { bytewiseComparator, type Comparator } from '../../operators/comparator.ts';
import type { MergeOperator } from '../../operators/merge-operator.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import { type MergedValue, resolveMerge } from '../merge/resolve-merge.ts';
import type { ComparableSeqno } from '../range-del/comparable-seqno.ts';
import { ReadRangeDelAggregator } from '../range-del/range-del-aggregator.ts';
import { type Statistics, Ticker } from '../statistics/statistics.ts';
import type { LookupTable } from './lookup-table.ts';
import type { IteratorOptions } from './read-options.ts';
import { NEWEST, type ReadPoint } from './read-point.ts';
import type { TableIterator } from './table-iterator.ts';
import { TableMerge } from './table-merge.ts';

const EMPTY = new Uint8Array(0);

/** What rows are made of: a `TableSet` is one. */
export interface RowSource {
  /** At least one, all in the order of `comparator`. */
  readonly tables: readonly LookupTable[];
  readonly comparator: Comparator;
  readonly statistics: Statistics;
  readonly mergeOperator: MergeOperator | undefined;
  /** Of iterators that name none. */
  readonly prefixExtractor: PrefixExtractor | undefined;
}

/**
 * The rows of a set of tables as a reader sees them: one a user key, deletions applied, operands merged. Where `valid`,
 * the user key is `key[0, keyLength)`, without timestamp, the value `data[valueStart, valueEnd)` as an entry of
 * `type` stores it; valid until the next move.
 *
 * Forwards the newest visible version of a key comes first and decides; older ones are passed. Backwards it comes
 * last: versions are taken up until the key changes, and each newer one overrules what was gathered.
 *
 * A move that has to read may be ended by the source's signal (`Pending`). It is then made again by the same call:
 * what is due next is state, not a place in the code.
 */
export class RowIterator {
  valid = false;
  key: Uint8Array = new Uint8Array(64);
  keyLength = 0;
  data: Uint8Array = EMPTY;
  valueStart = 0;
  valueEnd = 0;
  type = 0;
  /** Of the newest version; of merged ones that of the newest operand. */
  seqno: ComparableSeqno = 0;
  /** Number of the table that has the newest version. */
  table = 0;

  private readonly statistics: Statistics;
  private readonly point: ReadPoint;
  private readonly extractor: PrefixExtractor | undefined;
  private readonly keyComparator: Comparator;
  private readonly timestampSize: number;
  private readonly merge: TableMerge;
  private readonly tombstones: ReadRangeDelAggregator | undefined;
  private readonly target: SeekTarget;
  /** Rows end where the prefix does; null: they do not. */
  private prefix: Uint8Array | null = null;
  /** The prefix is to be that of the first row found: there was no key to take it from. */
  private prefixDue = false;
  private backward = false;
  /** The current entry is done with: the merge has to move. */
  private moveDue = false;
  /** Forwards: versions of `key` are passed. Backwards: they are gathered. */
  private inKey = false;
  /** Operands of `key`: forwards newest first, backwards oldest first. Not empty forwards: a base is looked for. */
  private readonly operands: Uint8Array[] = [];
  /** Backwards: the value below the operands, as far as it is known. */
  private base: MergedValue | undefined;

  constructor(
    private readonly source: RowSource,
    private readonly options: IteratorOptions,
  ) {
    const [first] = source.tables;
    this.statistics = source.statistics;
    this.point = options.point ?? NEWEST;
    this.extractor = options.prefixExtractor ?? source.prefixExtractor;
    this.keyComparator = source.comparator.withoutTimestamp;
    this.timestampSize = first!.timestampSize;
    this.merge = new TableMerge(source.tables.map((table) => table.newIterator()));
    this.target = first!.newTarget();
    const covered = source.tables.filter((table) => !table.tombstones.isEmpty);
    if (covered.length > 0) {
      this.tombstones = new ReadRangeDelAggregator(
        this.timestampSize,
        this.point.seqno,
        this.point.timestamp,
      );
      for (const table of covered) this.tombstones.addTombstones(table.tombstones);
    }
  }

  /** To the first row whose key is not before `key`. */
  seek(key: Uint8Array): void {
    const { lowerBound } = this.options;
    const from = lowerBound !== undefined && this.compareKeys(key, lowerBound) < 0 ? lowerBound : key;
    this.start(false, key);
    this.target.set(from, 0, from.length, undefined, undefined, undefined);
    this.merge.seek(this.target, this.tablesFor(key, false));
    this.goForward();
    this.statistics.tickers[Ticker.seeks]!++;
    if (this.valid) this.statistics.tickers[Ticker.seeksFound]!++;
  }

  /** To the last row whose key is not behind `key`. */
  seekForPrev(key: Uint8Array): void {
    const { upperBound } = this.options;
    this.start(true, key);
    if (upperBound !== undefined && this.compareKeys(key, upperBound) >= 0) {
      this.target.set(upperBound, 0, upperBound.length);
    } else {
      this.target.setAfter(key, 0, key.length);
    }
    this.merge.seekForPrev(this.target, this.tablesFor(key, true));
    this.goBackward();
    this.statistics.tickers[Ticker.seeks]!++;
    if (this.valid) this.statistics.tickers[Ticker.seeksFound]!++;
  }

  /** To the first row. */
  seekToFirst(): void {
    const { lowerBound } = this.options;
    this.start(false, undefined);
    if (lowerBound === undefined) {
      this.merge.seekToFirst();
    } else {
      this.target.set(lowerBound, 0, lowerBound.length);
      this.merge.seek(this.target, undefined);
    }
    this.goForward();
  }

  /** To the last row. */
  seekToLast(): void {
    const { upperBound } = this.options;
    this.start(true, undefined);
    if (upperBound === undefined) {
      this.merge.seekToLast();
    } else {
      this.target.set(upperBound, 0, upperBound.length);
      this.merge.seekForPrev(this.target, undefined);
    }
    this.goBackward();
  }

  /** To the next row. Only where `valid`. */
  next(): void {
    if (this.backward) this.turn(false);
    this.goForward();
    this.statistics.tickers[Ticker.nexts]!++;
    if (this.valid) this.statistics.tickers[Ticker.nextsFound]!++;
  }

  /** To the row before. Only where `valid`. */
  previous(): void {
    if (!this.backward) this.turn(true);
    this.goBackward();
    this.statistics.tickers[Ticker.prevs]!++;
    if (this.valid) this.statistics.tickers[Ticker.prevsFound]!++;
  }

  private start(backward: boolean, key: Uint8Array | undefined): void {
    this.backward = backward;
    this.moveDue = false;
    this.inKey = false;
    this.operands.length = 0;
    const { extractor } = this;
    const ends = this.options.prefixSameAsStart === true && extractor !== undefined;
    this.prefixDue = ends && key === undefined;
    this.prefix =
      ends && key !== undefined && extractor.inDomain(key, 0, key.length)
        ? key.slice(0, extractor.prefixEnd(key, 0, key.length))
        : null;
  }

  /** The other way from the current row: all tables are set anew beside its key. */
  private turn(backward: boolean): void {
    this.target.set(this.key, 0, this.keyLength);
    if (backward) this.merge.seekForPrev(this.target, undefined);
    else this.merge.seek(this.target, undefined);
    this.backward = backward;
    this.moveDue = false;
    this.operands.length = 0;
    // Forwards the versions of the row's own key come next, and are passed.
    this.inKey = !backward;
  }

  private goForward(): void {
    const { merge, operands } = this;
    this.valid = false;
    for (;;) {
      if (this.moveDue) {
        merge.next();
        this.moveDue = false;
      }
      const top = merge.current;
      if (operands.length > 0) {
        if (this.takeUpBelow(top)) return;
        continue;
      }
      if (top === undefined) return;
      if (!this.isVisible(top) || (this.inKey && this.isKeyOf(top))) {
        this.moveDue = true;
        continue;
      }
      if (this.isBeyond(top)) return;
      this.takeKey(top);
      this.inKey = true;
      this.moveDue = true;
      if (isPointDeletion(top.type) || this.isCovered(top)) continue;
      this.seqno = top.seqno;
      this.table = merge.source;
      if (top.type === ValueType.merge) operands.push(operandOf(top));
      else {
        this.showEntry(top);
        return;
      }
    }
  }

  /** Looks for what lies below the operands of `key`. True: the row is there. */
  private takeUpBelow(top: TableIterator | undefined): boolean {
    const { operands } = this;
    if (top === undefined || !this.isKeyOf(top)) {
      this.showMerged(undefined, operands.reverse());
      return true;
    }
    this.moveDue = true;
    if (!this.isVisible(top)) return false;
    if (isPointDeletion(top.type) || this.isCovered(top)) this.showMerged(undefined, operands.reverse());
    else if (top.type !== ValueType.merge) this.showMerged(mergedValueOf(top), operands.reverse());
    else {
      operands.push(operandOf(top));
      return false;
    }
    return true;
  }

  private goBackward(): void {
    const { merge, operands } = this;
    this.valid = false;
    for (;;) {
      if (this.moveDue) {
        merge.previous();
        this.moveDue = false;
      }
      const top = merge.current;
      if (this.inKey && (top === undefined || !this.isKeyOf(top))) {
        this.inKey = false;
        if (operands.length > 0) {
          this.showMerged(this.base, operands);
          return;
        }
        if (this.base !== undefined) {
          this.showValue(this.base);
          return;
        }
      }
      if (top === undefined) return;
      this.moveDue = true;
      if (!this.isVisible(top)) continue;
      if (!this.inKey) {
        if (this.isBeyond(top)) return;
        this.takeKey(top);
        this.inKey = true;
        this.base = undefined;
        operands.length = 0;
      }
      this.gather(top);
    }
  }

  /** A newer version than those before it. */
  private gather(top: TableIterator): void {
    this.seqno = top.seqno;
    this.table = this.merge.source;
    if (top.type === ValueType.merge && !this.isCovered(top)) {
      this.operands.push(operandOf(top));
      return;
    }
    this.operands.length = 0;
    this.base = isPointDeletion(top.type) || this.isCovered(top) ? undefined : mergedValueOf(top);
  }

  private isVisible(top: TableIterator): boolean {
    const { seqno, timestamp } = this.point;
    if (top.seqno > seqno) return false;
    if (timestamp === undefined || this.timestampSize === 0) return true;
    // Little-endian, and later is larger.
    const { key } = top.entry;
    for (let i = this.timestampSize - 1; i >= 0; i--) {
      const difference = key[top.userKeyEnd + i]! - timestamp[i]!;
      if (difference !== 0) return difference < 0;
    }
    return true;
  }

  private isCovered(top: TableIterator): boolean {
    const { tombstones } = this;
    if (tombstones === undefined) return false;
    const mode = this.backward ? 'backward' : 'forward';
    return tombstones.shouldDelete(top.entry.key, 0, top.userKeyEnd, top.seqno, mode);
  }

  private isKeyOf(top: TableIterator): boolean {
    return this.keyComparator.compare(top.entry.key, 0, top.userKeyEnd, this.key, 0, this.keyLength) === 0;
  }

  /** Whether rows end before this entry: by a bound, or by the prefix. */
  private isBeyond(top: TableIterator): boolean {
    const { key } = top.entry;
    const end = top.userKeyEnd;
    const { lowerBound, upperBound } = this.options;
    const { compare } = this.keyComparator;
    if (this.backward) {
      if (lowerBound !== undefined && compare(key, 0, end, lowerBound, 0, lowerBound.length) < 0) return true;
    } else if (upperBound !== undefined && compare(key, 0, end, upperBound, 0, upperBound.length) >= 0) {
      return true;
    }
    const { prefix, extractor } = this;
    if (prefix === null) return false;
    if (!startsWith(key, 0, end, prefix) || !extractor!.inDomain(key, 0, end)) return true;
    return extractor!.prefixEnd(key, 0, end) !== prefix.length;
  }

  /** The row is there. */
  private show(): void {
    this.valid = true;
    if (!this.prefixDue) return;
    this.prefixDue = false;
    const { extractor, key, keyLength } = this;
    if (extractor!.inDomain(key, 0, keyLength)) {
      this.prefix = key.slice(0, extractor!.prefixEnd(key, 0, keyLength));
    }
  }

  private takeKey(top: TableIterator): void {
    const length = top.userKeyEnd;
    const from = top.entry.key;
    if (length > this.key.length) this.key = new Uint8Array(2 * length);
    const to = this.key;
    if (length <= 40) for (let i = 0; i < length; i++) to[i] = from[i]!;
    else to.set(from.subarray(0, length));
    this.keyLength = length;
  }

  private showEntry(top: TableIterator): void {
    this.data = top.entry.data;
    this.valueStart = top.entry.valueStart;
    this.valueEnd = top.entry.valueEnd;
    this.type = top.type;
    this.show();
  }

  private showMerged(base: MergedValue | undefined, operands: readonly Uint8Array[]): void {
    const merged = resolveMerge(this.source.mergeOperator, base, operands);
    this.operands.length = 0;
    this.showValue(merged);
  }

  private showValue({ type, value }: MergedValue): void {
    this.data = value;
    this.valueStart = 0;
    this.valueEnd = value.length;
    this.type = type;
    this.show();
  }

  private compareKeys(a: Uint8Array, b: Uint8Array): number {
    return this.keyComparator.compare(a, 0, a.length, b, 0, b.length);
  }

  /** For each table whether it takes part in the search for `key`; undefined: all do. */
  private tablesFor(key: Uint8Array, backward: boolean): Uint8Array | undefined {
    const { extractor } = this;
    if (extractor === undefined || !this.asksFilters(key, extractor, backward)) return undefined;
    const { tables } = this.source;
    const taking = new Uint8Array(tables.length).fill(1);
    const target = this.source.tables[0]!.newTarget();
    if (backward) target.setAfter(key, 0, key.length);
    else target.set(key, 0, key.length);
    for (let i = 0; i < tables.length; i++) {
      if (tables[i]!.mayHavePrefix(target, extractor, backward) === false) taking[i] = 0;
    }
    return taking;
  }

  private asksFilters(key: Uint8Array, extractor: PrefixExtractor, backward: boolean): boolean {
    const { totalOrderSeek, prefixSameAsStart, autoPrefixMode } = this.options;
    if (totalOrderSeek === true) return false;
    if (prefixSameAsStart === true) return true;
    if (autoPrefixMode === true) return !backward && this.boundKeepsPrefix(key, extractor);
    return totalOrderSeek === false;
  }

  /**
   * Whether all keys from `key` up to the upper bound have the prefix of `key`: the bound has it too, or is the very
   * next string of its length. Only in bytewise order, and for extractors that are known to cut at a fixed length.
   */
  private boundKeepsPrefix(key: Uint8Array, extractor: PrefixExtractor): boolean {
    const { upperBound } = this.options;
    if (upperBound === undefined || this.keyComparator !== bytewiseComparator) return false;
    if (!this.source.tables.every((table) => table.extractor.isContiguous || table.filter === undefined))
      return false;
    if (!extractor.inDomain(key, 0, key.length)) return false;
    const length = extractor.prefixEnd(key, 0, key.length);
    if (extractor.inDomain(upperBound, 0, upperBound.length)) {
      const upperLength = extractor.prefixEnd(upperBound, 0, upperBound.length);
      if (upperLength === length && startsWith(upperBound, 0, upperLength, key.subarray(0, length)))
        return true;
    }
    return upperBound.length === length && length < key.length && isNext(key, upperBound);
  }
}

function operandOf({ entry }: TableIterator): Uint8Array {
  return entry.data.subarray(entry.valueStart, entry.valueEnd);
}

function mergedValueOf(top: TableIterator): MergedValue {
  return { type: top.type, value: operandOf(top) };
}

/** Whether `next` is the first string of its length behind those that begin as `key` does. */
function isNext(key: Uint8Array, next: Uint8Array): boolean {
  let i = next.length - 1;
  for (; i >= 0 && key[i] === 0xff; i--) if (next[i] !== 0) return false;
  if (i < 0 || next[i] !== key[i]! + 1) return false;
  for (i--; i >= 0; i--) if (next[i] !== key[i]) return false;
  return true;
}
