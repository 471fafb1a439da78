import type { Comparator } from '../../operators/comparator.ts';
import { type ComparableSeqno, MAX_SEQNO } from './comparable-seqno.ts';
import { FragmentColumnsBuilder } from './fragment-columns.ts';
import { FragmentedTombstones, type RangeDelStatistics } from './fragmented-tombstones.ts';
import { KeyOrder } from './key-order.ts';
import { SortScratch, sortKeys } from './sort-keys.ts';
import type { TombstoneSet } from './tombstone-set.ts';

export interface FragmentOptions {
  /**
   * For a flush or compaction: ascending sequence numbers of the snapshots. Of the sequence numbers of a fragment
   * only the newest in each snapshot's stripe is kept. Left out for reads; ignored with timestamps.
   */
  readonly snapshots?: readonly ComparableSeqno[];
  readonly statistics?: RangeDelStatistics;
  /** Memory for the work, kept by whoever fragments many lists. */
  readonly scratch?: FragmentScratch;
}

/**
 * Room for the work of `fragmentTombstones`, used again by the next call: half of the time for a list of a thousand
 * tombstones would go into fresh memory. Not for two calls at once.
 */
export class FragmentScratch {
  readonly starts = new SortScratch();
  readonly ends = new SortScratch();
  /** By place in start order. */
  seqnos = new Float64Array(0);
  endPrefixes = new Float64Array(0);
  endPlaces = new Int32Array(0);
  placeOf = new Int32Array(0);
  /** Fragments as they come out, before they are cut to size. */
  readonly fragments = new FragmentColumnsBuilder();

  reserve(count: number): void {
    this.starts.reserve(count);
    if (count <= this.seqnos.length) return;
    const capacity = this.starts.ids.length;
    this.seqnos = new Float64Array(capacity);
    this.endPrefixes = new Float64Array(capacity);
    this.endPlaces = new Int32Array(capacity);
    this.placeOf = new Int32Array(capacity);
  }
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
  const scratch = options.scratch ?? new FragmentScratch();
  const borders = sortBorders(set, order, scratch);
  const snapshots = set.timestampSize > 0 ? undefined : options.snapshots;
  const sweep = new Sweep(set, order, borders, snapshots, scratch.fragments);
  sweep.run();
  return new FragmentedTombstones(set, order, keyComparator, scratch.fragments.columns(), options.statistics);
}

/**
 * The tombstones that are not empty, numbered by their place in start order, with what the sweep reads of them side
 * by side in that order: it then goes through memory forward only. Arrays may be longer than `count`.
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

function sortBorders(set: TombstoneSet, order: KeyOrder, scratch: FragmentScratch): Borders {
  scratch.reserve(set.size);
  const { starts, seqnos, endPrefixes } = scratch;
  const count = takeStarts(set, order, starts.ids);
  sortKeys(order, starts, count);
  const { ids: startKeys, prefixes: startPrefixes } = starts;
  const { prefixes } = order;
  const setSeqnos = set.seqnos;
  // Tombstones of about one width end in the order in which they start: then there is nothing more to sort.
  let inOrder = true;
  let last = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < count; place++) {
    const key = startKeys[place]!;
    seqnos[place] = setSeqnos[key >> 1]!;
    const prefix = prefixes[key + 1]!;
    endPrefixes[place] = prefix;
    if (prefix < last || (prefix === last && !order.exact)) inOrder = false;
    last = prefix;
  }
  const sorted = { count, startKeys, startPrefixes, seqnos };
  if (inOrder) return { ...sorted, endPrefixes, endPlaces: undefined };
  return { ...sorted, ...sortEnds(order, scratch, count) };
}

function sortEnds(
  order: KeyOrder,
  { starts, ends, placeOf, endPlaces }: FragmentScratch,
  count: number,
): Pick<Borders, 'endPrefixes' | 'endPlaces'> {
  ends.reserve(count);
  for (let place = 0; place < count; place++) {
    const key = starts.ids[place]!;
    placeOf[key >> 1] = place;
    ends.ids[place] = key + 1;
  }
  sortKeys(order, ends, count);
  for (let i = 0; i < count; i++) endPlaces[i] = placeOf[ends.ids[i]! >> 1]!;
  return { endPrefixes: ends.prefixes, endPlaces };
}

/** The start keys of the tombstones that delete anything; returns how many. */
function takeStarts(set: TombstoneSet, order: KeyOrder, starts: Int32Array): number {
  const { prefixes, exact } = order;
  let count = 0;
  for (let t = 0; t < set.size; t++) {
    const difference = prefixes[2 * t]! - prefixes[2 * t + 1]!;
    if (difference > 0 || (difference === 0 && (exact || order.compareKeys(2 * t, 2 * t + 1) >= 0))) continue;
    starts[count++] = 2 * t;
  }
  return count;
}

class Sweep {
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
    private readonly out: FragmentColumnsBuilder,
  ) {
    out.begin(borders.count, set.timestampSize > 0);
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
    const { out } = this;
    const { startKeys: outStarts, endKeys: outEnds, stackStarts, seqnos: outSeqnos, stackTombstones } = out;
    const { count, startKeys, startPrefixes, seqnos, endPlaces, endPrefixes } = this.borders;
    if (endPlaces === undefined && nextEnd !== nextStart) return 0;
    let fragment = out.count;
    let stack = out.stackCount;
    const last = Math.min(
      count,
      nextStart + outSeqnos.length - stack,
      nextStart + outStarts.length - fragment,
    );
    const shift = nextEnd - nextStart;
    let place = nextStart;
    for (; place < last; place++) {
      if (endPlaces !== undefined && endPlaces[place + shift] !== place) break;
      // Equal prefixes: the careful way decides.
      if (place + 1 < count && startPrefixes[place + 1]! <= endPrefixes[place + shift]!) break;
      const key = startKeys[place]!;
      outStarts[fragment] = key;
      outEnds[fragment] = key + 1;
      outSeqnos[stack] = seqnos[place]!;
      if (stackTombstones !== undefined) stackTombstones[stack] = key >> 1;
      stackStarts[++fragment] = ++stack;
    }
    out.count = fragment;
    out.stackCount = stack;
    return place - nextStart;
  }

  private emit(startKey: number, endKey: number): void {
    const { out, activeCount } = this;
    out.reserve(activeCount);
    const { count } = out;
    out.startKeys[count] = startKey;
    out.endKeys[count] = endKey;
    if (this.snapshots !== undefined) this.emitVisible(this.snapshots);
    else this.emitAll();
    out.count = count + 1;
    out.stackStarts[count + 1] = out.stackCount;
  }

  private emitAll(): void {
    const { out, activeSeqnos, activeCount, activePlaces } = this;
    const { seqnos, stackTombstones } = out;
    let to = out.stackCount;
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
    out.stackCount = to;
  }

  /** Only the newest sequence number of each stripe between snapshots: no reader can tell the others. */
  private emitVisible(snapshots: readonly ComparableSeqno[]): void {
    const { out } = this;
    let limit = MAX_SEQNO;
    let snapshot = snapshots.length;
    for (let i = 0; i < this.activeCount; i++) {
      const seqno = this.activeSeqnos[i]!;
      if (seqno > limit) continue;
      out.seqnos[out.stackCount++] = seqno;
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
      if (this.order.compareKeys(other + 1, own + 1) === 0 && this.sameTimestamp(other >> 1, own >> 1))
        return true;
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

  private growActive(): void {
    const seqnos = new Float64Array(2 * this.activeSeqnos.length);
    seqnos.set(this.activeSeqnos);
    this.activeSeqnos = seqnos;
    const places = new Int32Array(2 * this.activePlaces.length);
    places.set(this.activePlaces);
    this.activePlaces = places;
  }
}
