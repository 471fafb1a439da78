import type { Comparator } from '../../operators/comparator.ts';
import { type ComparableSeqno, MAX_SEQNO } from './comparable-seqno.ts';
import { type FragmentColumns, FragmentedTombstones, type RangeDelStatistics } from './fragmented-tombstones.ts';
import { KeyOrder } from './key-order.ts';
import { sortKeys } from './sort-keys.ts';
import type { TombstoneSet } from './tombstone-set.ts';

export interface FragmentOptions {
  /**
   * For a flush or compaction: ascending sequence numbers of the snapshots. Of the sequence numbers of a fragment
   * only the newest in each snapshot's stripe is kept. Left out for reads; ignored with timestamps.
   */
  readonly snapshots?: readonly ComparableSeqno[];
  readonly statistics?: RangeDelStatistics;
}

/**
 * Cuts range tombstones at each other's borders.
 *
 *   a---------e 10          a--c 10
 *      c---------g 8   ->      c--e 10, 8
 *           e--f 12               e--f 12, 8
 *                                    f--g 8
 *
 * A sweep over all borders in key order: the sequence numbers of the tombstones that cover the current place are
 * kept sorted, newest first, so that each fragment copies them. Borders cut also where the sequence numbers on
 * both sides are equal. Tombstones whose start is not before their end are ignored; one with the end and
 * sequence number of another that covers its start adds nothing.
 *
 * n log n for the borders, and for each the tombstones that cover it. The set must not change afterwards.
 * Source: RocksDB db/range_tombstone_fragmenter.cc for the result; the way there is our own.
 */
export function fragmentTombstones(
  set: TombstoneSet,
  comparator: Comparator,
  options: FragmentOptions = {},
): FragmentedTombstones {
  const keyComparator = comparator.withoutTimestamp;
  const order = new KeyOrder(set, keyComparator);
  const borders = sortBorders(set, order);
  const sweep = new Sweep(set, order, borders, set.timestampSize > 0 ? undefined : options.snapshots);
  sweep.run();
  return new FragmentedTombstones(set, order, keyComparator, sweep.columns(), options.statistics);
}

/**
 * The tombstones that are not empty, numbered by their place in start order, with what the sweep reads of them side
 * by side in that order: it then goes through memory forward only.
 */
interface Borders {
  readonly count: number;
  /** By place: start key of the set, its prefix, sequence number. The end key is the one behind the start key. */
  readonly startKeys: Int32Array;
  readonly startPrefixes: Float64Array;
  readonly seqnos: Float64Array;
  /** In end order: prefixes of the end keys, and places; undefined where the orders are the same. */
  readonly endPrefixes: Float64Array;
  readonly endPlaces: Int32Array | undefined;
}

function sortBorders(set: TombstoneSet, order: KeyOrder): Borders {
  const { ids: startKeys, prefixes: startPrefixes } = sortKeys(order, nonEmptyStarts(set, order));
  const { prefixes } = order;
  const count = startKeys.length;
  const seqnos = new Float64Array(count);
  const endPrefixes = new Float64Array(count);
  // Tombstones of about one width end in the order in which they start: then there is nothing more to sort.
  let inOrder = true;
  let last = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < count; place++) {
    const key = startKeys[place]!;
    seqnos[place] = set.seqnos[key >> 1]!;
    const prefix = prefixes[key + 1]!;
    endPrefixes[place] = prefix;
    if (prefix < last || (prefix === last && !order.exact)) inOrder = false;
    last = prefix;
  }
  const starts = { count, startKeys, startPrefixes, seqnos };
  return inOrder ? { ...starts, endPrefixes, endPlaces: undefined } : { ...starts, ...sortEnds(set, order, startKeys) };
}

function sortEnds(set: TombstoneSet, order: KeyOrder, startKeys: Int32Array): Pick<Borders, 'endPrefixes' | 'endPlaces'> {
  const placeOf = new Int32Array(set.size);
  const endKeys = new Int32Array(startKeys.length);
  for (let place = 0; place < startKeys.length; place++) {
    placeOf[startKeys[place]! >> 1] = place;
    endKeys[place] = startKeys[place]! + 1;
  }
  const { ids, prefixes } = sortKeys(order, endKeys);
  const endPlaces = new Int32Array(ids.length);
  for (let i = 0; i < ids.length; i++) endPlaces[i] = placeOf[ids[i]! >> 1]!;
  return { endPrefixes: prefixes, endPlaces };
}

/** The start keys of the tombstones that delete anything. */
function nonEmptyStarts(set: TombstoneSet, order: KeyOrder): Int32Array {
  const { prefixes, exact } = order;
  const starts = new Int32Array(set.size);
  let count = 0;
  for (let t = 0; t < set.size; t++) {
    const difference = prefixes[2 * t]! - prefixes[2 * t + 1]!;
    if (difference > 0 || (difference === 0 && (exact || order.compareKeys(2 * t, 2 * t + 1) >= 0))) continue;
    starts[count++] = 2 * t;
  }
  return count === set.size ? starts : starts.subarray(0, count);
}

class Sweep {
  private count = 0;
  private startKeys: Int32Array;
  private endKeys: Int32Array;
  private stackStarts: Int32Array;
  private seqnos: Float64Array;
  private stackCount = 0;
  private stackTombstones: Int32Array | undefined;
  /** What covers the current place: sequence numbers descending, and the tombstones that they are of, by place. */
  private activeSeqnos = new Float64Array(16);
  private activePlaces: Int32Array = new Int32Array(16);
  private activeCount = 0;
  /** 1: adds nothing to another tombstone, and was left out. */
  private repeated: Uint8Array | undefined;

  constructor(
    private readonly set: TombstoneSet,
    private readonly order: KeyOrder,
    private readonly borders: Borders,
    private readonly snapshots: readonly ComparableSeqno[] | undefined,
  ) {
    const { count } = borders;
    // There are at most two fragments a tombstone; where tombstones lie apart, one.
    this.startKeys = new Int32Array(count + 16);
    this.endKeys = new Int32Array(count + 16);
    this.stackStarts = new Int32Array(count + 17);
    this.seqnos = new Float64Array(count + (count >> 3) + 16);
    if (set.timestampSize > 0) this.stackTombstones = new Int32Array(this.seqnos.length);
  }

  run(): void {
    const { order } = this;
    const { count, startKeys, startPrefixes, endPlaces, endPrefixes } = this.borders;
    const { exact } = order;
    let nextStart = 0;
    let nextEnd = 0;
    let lastKey = 0;
    let lastPrefix = 0;
    while (nextEnd < count) {
      if (this.activeCount === 0) {
        const alone = this.emitAlone(nextStart, nextEnd);
        nextStart += alone;
        nextEnd += alone;
        if (nextEnd === count) return;
      }
      const endPlace = endPlaces === undefined ? nextEnd : endPlaces[nextEnd]!;
      const endPrefix = endPrefixes[nextEnd]!;
      let isStart = false;
      if (nextStart < count) {
        const difference = startPrefixes[nextStart]! - endPrefix;
        isStart =
          difference < 0 ||
          (difference === 0 &&
            (exact || order.compareKeys(startKeys[nextStart]!, startKeys[endPlace]! + 1) <= 0));
      }
      const prefix = isStart ? startPrefixes[nextStart]! : endPrefix;
      const key = isStart ? startKeys[nextStart]! : startKeys[endPlace]! + 1;
      if (this.activeCount > 0) {
        // Borders come in order: equal prefixes of exact keys are equal keys, and enclose nothing.
        if (lastPrefix !== prefix || (!exact && order.compareKeys(lastKey, key) < 0)) this.emit(lastKey, key);
      }
      lastKey = key;
      lastPrefix = prefix;
      if (isStart) this.activate(nextStart++);
      else {
        this.retire(endPlace);
        nextEnd++;
      }
    }
  }

  /**
   * Where nothing is active: emits tombstones as long as each ends before the next begins, as most do in real files.
   * Returns how many.
   */
  private emitAlone(nextStart: number, nextEnd: number): number {
    const { startKeys: outStarts, endKeys: outEnds, stackStarts, seqnos: outSeqnos, stackTombstones } = this;
    const { count, startKeys, startPrefixes, seqnos, endPlaces, endPrefixes } = this.borders;
    let fragment = this.count;
    let stack = this.stackCount;
    const room = Math.min(outSeqnos.length - stack, outStarts.length - fragment);
    let alone = 0;
    for (; nextStart + alone < count && alone < room; alone++) {
      const place = nextStart + alone;
      if (endPlaces !== undefined ? endPlaces[nextEnd + alone] !== place : nextEnd !== nextStart) break;
      // Equal prefixes: the careful way decides.
      if (place + 1 < count && startPrefixes[place + 1]! <= endPrefixes[nextEnd + alone]!) break;
      const key = startKeys[place]!;
      outStarts[fragment] = key;
      outEnds[fragment] = key + 1;
      outSeqnos[stack] = seqnos[place]!;
      if (stackTombstones !== undefined) stackTombstones[stack] = key >> 1;
      stackStarts[++fragment] = ++stack;
    }
    this.count = fragment;
    this.stackCount = stack;
    return alone;
  }

  columns(): FragmentColumns {
    const { count } = this;
    return {
      count,
      startKeys: this.startKeys.subarray(0, count),
      endKeys: this.endKeys.subarray(0, count),
      stackStarts: this.stackStarts.subarray(0, count + 1),
      seqnos: this.seqnos,
      stackTombstones: this.stackTombstones,
    };
  }

  private emit(startKey: number, endKey: number): void {
    const { count, activeCount } = this;
    if (count === this.startKeys.length) this.growFragments();
    if (this.stackCount + activeCount > this.seqnos.length) this.growStacks(activeCount);
    this.startKeys[count] = startKey;
    this.endKeys[count] = endKey;
    if (this.snapshots !== undefined) this.emitVisible(this.snapshots);
    else this.emitAll();
    this.count = count + 1;
    this.stackStarts[count + 1] = this.stackCount;
  }

  private emitAll(): void {
    const { seqnos, activeSeqnos, activeCount, stackTombstones, activePlaces } = this;
    let to = this.stackCount;
    if (stackTombstones !== undefined) {
      for (let i = 0; i < activeCount; i++) {
        stackTombstones[to + i] = this.borders.startKeys[activePlaces[i]!]! >> 1;
      }
    }
    if (activeCount < 48) for (let i = 0; i < activeCount; i++) seqnos[to++] = activeSeqnos[i]!;
    else {
      seqnos.set(activeSeqnos.subarray(0, activeCount), to);
      to += activeCount;
    }
    this.stackCount = to;
  }

  /** Only the newest sequence number of each stripe between snapshots: no reader can tell the others. */
  private emitVisible(snapshots: readonly ComparableSeqno[]): void {
    let limit = MAX_SEQNO;
    let snapshot = snapshots.length;
    for (let i = 0; i < this.activeCount; i++) {
      const seqno = this.activeSeqnos[i]!;
      if (seqno > limit) continue;
      this.seqnos[this.stackCount++] = seqno;
      while (snapshot > 0 && snapshots[snapshot - 1]! >= seqno) snapshot--;
      if (snapshot === 0) return;
      limit = snapshots[snapshot - 1]!;
    }
  }

  private activate(place: number): void {
    const seqno = this.borders.seqnos[place]!;
    const { activeCount } = this;
    let at = 0;
    if (activeCount > 0) {
      at = this.positionOf(seqno);
      if (at < activeCount && this.activeSeqnos[at] === seqno && this.isRepeated(place, seqno, at)) {
        this.repeated ??= new Uint8Array(this.borders.count);
        this.repeated[place] = 1;
        return;
      }
      if (activeCount === this.activeSeqnos.length) this.growActive();
      this.moveActive(at, at + 1);
    }
    this.activeSeqnos[at] = seqno;
    this.activePlaces[at] = place;
    this.activeCount = activeCount + 1;
  }

  private retire(place: number): void {
    if (this.repeated !== undefined && this.repeated[place] === 1) return;
    let at = 0;
    if (this.activeCount > 1) {
      at = this.positionOf(this.borders.seqnos[place]!);
      while (this.activePlaces[at] !== place) at++;
      this.moveActive(at + 1, at);
    }
    this.activeCount--;
  }

  /** Moves what is active from `from` on to `to`. Short runs by a loop: `copyWithin` has its price at any length. */
  private moveActive(from: number, to: number): void {
    const { activeSeqnos, activePlaces, activeCount } = this;
    if (activeCount - from > 48) {
      activeSeqnos.copyWithin(to, from, activeCount);
      activePlaces.copyWithin(to, from, activeCount);
    } else if (to > from) {
      for (let i = activeCount; i > from; i--) {
        activeSeqnos[i] = activeSeqnos[i - 1]!;
        activePlaces[i] = activePlaces[i - 1]!;
      }
    } else {
      for (let i = from; i < activeCount; i++) {
        activeSeqnos[i - 1] = activeSeqnos[i]!;
        activePlaces[i - 1] = activePlaces[i]!;
      }
    }
  }

  /** The first active place whose sequence number is not above `seqno`. */
  private positionOf(seqno: ComparableSeqno): number {
    const { activeSeqnos } = this;
    let low = 0;
    let high = this.activeCount;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (activeSeqnos[middle]! <= seqno) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Whether an active tombstone with this sequence number has the same end (and timestamp). */
  private isRepeated(place: number, seqno: ComparableSeqno, at: number): boolean {
    const { startKeys } = this.borders;
    for (let i = at; i < this.activeCount && this.activeSeqnos[i] === seqno; i++) {
      const [other, own] = [startKeys[this.activePlaces[i]!]!, startKeys[place]!];
      if (this.order.compareKeys(other + 1, own + 1) === 0 && this.sameTimestamp(other >> 1, own >> 1)) return true;
    }
    return false;
  }

  private sameTimestamp(a: number, b: number): boolean {
    const { timestamps, timestampSize } = this.set;
    for (let i = 0; i < timestampSize; i++) {
      if (timestamps[a * timestampSize + i] !== timestamps[b * timestampSize + i]) return false;
    }
    return true;
  }

  private growFragments(): void {
    const length = Math.min(2 * this.startKeys.length, 2 * this.borders.count + 16);
    this.startKeys = grownInts(this.startKeys, length);
    this.endKeys = grownInts(this.endKeys, length);
    this.stackStarts = grownInts(this.stackStarts, length + 1);
  }

  private growStacks(needed: number): void {
    const length = Math.max(2 * this.seqnos.length, this.stackCount + needed);
    const seqnos = new Float64Array(length);
    seqnos.set(this.seqnos.subarray(0, this.stackCount));
    this.seqnos = seqnos;
    if (this.stackTombstones === undefined) return;
    this.stackTombstones = grownInts(this.stackTombstones, length);
  }

  private growActive(): void {
    const seqnos = new Float64Array(2 * this.activeSeqnos.length);
    seqnos.set(this.activeSeqnos);
    this.activeSeqnos = seqnos;
    this.activePlaces = grownInts(this.activePlaces, 2 * this.activePlaces.length);
  }
}

function grownInts(column: Int32Array, length: number): Int32Array {
  const larger = new Int32Array(length);
  larger.set(column);
  return larger;
}
