import type { Comparator } from '../../operators/comparator.ts';
import { ActiveSeqnos } from './active-seqnos.ts';
import { type ComparableSeqno, MAX_SEQNO } from './comparable-seqno.ts';
import { FragmentBuilder } from './fragment-columns.ts';
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
  /** Prefixes of the set's keys, by key. */
  prefixes = new Float64Array(0);
  readonly starts = new SortScratch();
  readonly ends = new SortScratch();
  /** By place in start order. */
  seqnos = new Float64Array(0);
  endPrefixes = new Float64Array(0);
  /** Needed only where ends come in another order than starts. */
  endPlaces = new Int32Array(0);
  placeOf = new Int32Array(0);
  readonly active = new ActiveSeqnos();
  /** Fragments as they come out where their number is not known, before they are cut to size. */
  readonly fragments = new FragmentBuilder(0, 0, false);

  reserve(count: number): void {
    this.starts.reserve(count);
    if (count <= this.seqnos.length) return;
    const capacity = this.starts.ids.length;
    this.prefixes = new Float64Array(2 * capacity);
    this.seqnos = new Float64Array(capacity);
    this.endPrefixes = new Float64Array(capacity);
  }

  reserveEnds(count: number): void {
    this.ends.reserve(count);
    if (count <= this.endPlaces.length) return;
    const capacity = this.ends.ids.length;
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
  const scratch = options.scratch ?? new FragmentScratch();
  scratch.reserve(set.size);
  const order = new KeyOrder(set, keyComparator, scratch.prefixes);
  const borders = sortBorders(set, order, scratch);
  const snapshots = set.timestampSize > 0 ? undefined : options.snapshots;
  const out = builderFor(set, order, borders, snapshots, scratch);
  new Sweep(set, order, borders, snapshots, scratch, out).run();
  const columns = out === scratch.fragments ? out.copiedColumns() : out.columns();
  return new FragmentedTombstones(set, order, keyComparator, columns, options.statistics);
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
  const { starts, seqnos, endPrefixes, prefixes } = scratch;
  const { exact } = order;
  const { ids, prefixes: startPrefixes } = starts;
  let count = 0;
  // Tables and memtables hold tombstones in start order, and those of about one width end in it too: then nothing is
  // left to be sorted.
  let startsInOrder = true;
  let endsInOrder = true;
  let lastKey = 0;
  let lastStart = Number.NEGATIVE_INFINITY;
  let lastEnd = Number.NEGATIVE_INFINITY;
  for (let key = 0; key < set.count; key += 2) {
    const start = prefixes[key]!;
    const end = prefixes[key + 1]!;
    if (start > end || (start === end && order.compareTies(key, key + 1) >= 0)) continue;
    if (start < lastStart || (start === lastStart && order.compareTies(lastKey, key) > 0))
      startsInOrder = false;
    if (end < lastEnd || (end === lastEnd && !exact)) endsInOrder = false;
    lastKey = key;
    lastStart = start;
    lastEnd = end;
    ids[count] = key;
    startPrefixes[count] = start;
    endPrefixes[count] = end;
    seqnos[count] = set.seqnos[key >> 1]!;
    count++;
  }
  if (!startsInOrder) {
    sortKeys(order, starts, count);
    endsInOrder = gatherByPlace(set, order, scratch, count);
  }
  const sorted = { count, startKeys: starts.ids, startPrefixes: starts.prefixes, seqnos };
  if (endsInOrder) return { ...sorted, endPrefixes, endPlaces: undefined };
  return { ...sorted, ...sortEnds(set, order, scratch, count) };
}

/** Puts sequence numbers and end prefixes beside the sorted starts; returns whether the ends are in order too. */
function gatherByPlace(
  set: TombstoneSet,
  { exact }: KeyOrder,
  { starts, seqnos, endPrefixes, prefixes }: FragmentScratch,
  count: number,
): boolean {
  let inOrder = true;
  let last = Number.NEGATIVE_INFINITY;
  for (let place = 0; place < count; place++) {
    const key = starts.ids[place]!;
    seqnos[place] = set.seqnos[key >> 1]!;
    const end = prefixes[key + 1]!;
    endPrefixes[place] = end;
    if (end < last || (end === last && !exact)) inOrder = false;
    last = end;
  }
  return inOrder;
}

function sortEnds(
  set: TombstoneSet,
  order: KeyOrder,
  scratch: FragmentScratch,
  count: number,
): Pick<Borders, 'endPrefixes' | 'endPlaces'> {
  scratch.reserveEnds(set.size);
  const { starts, ends, placeOf, endPlaces, endPrefixes } = scratch;
  for (let place = 0; place < count; place++) {
    const key = starts.ids[place]!;
    placeOf[key >> 1] = place;
    ends.ids[place] = key + 1;
    ends.prefixes[place] = endPrefixes[place]!;
  }
  sortKeys(order, ends, count);
  for (let i = 0; i < count; i++) endPlaces[i] = placeOf[ends.ids[i]! >> 1]!;
  return { endPrefixes: ends.prefixes, endPlaces };
}

/**
 * Where the fragments go. Borders of exact keys can be counted: then the list is written where it stays, and large
 * lists are not moved through memory twice. Otherwise into memory that is used again.
 */
function builderFor(
  set: TombstoneSet,
  order: KeyOrder,
  borders: Borders,
  snapshots: readonly ComparableSeqno[] | undefined,
  scratch: FragmentScratch,
): FragmentBuilder {
  const withTimestamps = set.timestampSize > 0;
  if (order.exact && snapshots === undefined) {
    const { fragments, seqnos } = countFragments(borders);
    return new FragmentBuilder(fragments, seqnos, withTimestamps);
  }
  if (withTimestamps) return new FragmentBuilder(borders.count, borders.count, true);
  scratch.fragments.clear();
  return scratch.fragments;
}

/** How many fragments exact borders make, with how many sequence numbers; fewer where tombstones repeat others. */
function countFragments({ count, startPrefixes, endPrefixes }: Borders): {
  fragments: number;
  seqnos: number;
} {
  let fragments = 0;
  let seqnos = 0;
  let nextStart = 0;
  let nextEnd = 0;
  let last = Number.NaN;
  while (nextEnd < count) {
    const isStart = nextStart < count && startPrefixes[nextStart]! <= endPrefixes[nextEnd]!;
    const prefix = isStart ? startPrefixes[nextStart]! : endPrefixes[nextEnd]!;
    const active = nextStart - nextEnd;
    if (active > 0 && prefix !== last) {
      fragments++;
      seqnos += active;
    }
    last = prefix;
    if (isStart) nextStart++;
    else nextEnd++;
  }
  return { fragments, seqnos };
}

/** Goes over the borders in key order and puts fragments out. */
class Sweep {
  private readonly active: ActiveSeqnos;
  private readonly prefixes: Float64Array;
  /** By place; 1: adds nothing to another tombstone, and was left out. */
  private repeated: Uint8Array | undefined;

  constructor(
    private readonly set: TombstoneSet,
    private readonly order: KeyOrder,
    private readonly borders: Borders,
    private readonly snapshots: readonly ComparableSeqno[] | undefined,
    scratch: FragmentScratch,
    private readonly out: FragmentBuilder,
  ) {
    this.active = scratch.active;
    this.active.count = 0;
    this.prefixes = scratch.prefixes;
  }

  run(): void {
    const { order, active } = this;
    const { count, startKeys, startPrefixes, endPlaces, endPrefixes, seqnos } = this.borders;
    const { exact } = order;
    let nextStart = 0;
    let nextEnd = 0;
    let lastKey = 0;
    let lastPrefix = 0;
    while (nextEnd < count) {
      if (active.count === 0) {
        // The end of a repeated tombstone may still be due; else what has started has ended.
        if (nextStart === nextEnd) {
          nextStart = this.emitAlone(nextStart);
          nextEnd = nextStart;
          if (nextEnd === count) return;
        }
      }
      const endPlace = endPlaces === undefined ? nextEnd : endPlaces[nextEnd]!;
      const endPrefix = endPrefixes[nextEnd]!;
      let isStart = false;
      if (nextStart < count) {
        const difference = startPrefixes[nextStart]! - endPrefix;
        isStart =
          difference < 0 ||
          (difference === 0 &&
            (exact || order.compareTies(startKeys[nextStart]!, startKeys[endPlace]! + 1) <= 0));
      }
      const prefix = isStart ? startPrefixes[nextStart]! : endPrefix;
      const key = isStart ? startKeys[nextStart]! : startKeys[endPlace]! + 1;
      // Borders come in order: those that are not equal enclose something.
      if (active.count > 0 && (lastPrefix !== prefix || (!exact && order.compareTies(lastKey, key) < 0))) {
        this.emit(lastKey, key, prefix);
      }
      lastKey = key;
      lastPrefix = prefix;
      if (isStart) this.activate(nextStart++);
      else {
        if (this.repeated === undefined || this.repeated[endPlace] === 0)
          active.remove(seqnos[endPlace]!, endPlace);
        nextEnd++;
      }
    }
  }

  /**
   * Where all before `first` have ended: emits tombstones as long as each ends before the next begins, as most do in
   * real files. Returns the place of the first that does not.
   */
  private emitAlone(first: number): number {
    const { out } = this;
    const { count, startKeys, startPrefixes, seqnos, endPlaces, endPrefixes } = this.borders;
    const { startKeys: outStarts, endKeys: outEnds, endPrefixes: outPrefixes, stackStarts } = out;
    const { seqnos: outSeqnos, stackTombstones } = out;
    let fragment = out.count;
    let stack = out.stackCount;
    const last = Math.min(count, first + outSeqnos.length - stack, first + outStarts.length - fragment);
    let place = first;
    for (; place < last; place++) {
      if (endPlaces !== undefined && endPlaces[place] !== place) break;
      const endPrefix = endPrefixes[place]!;
      // Equal prefixes: the careful way decides.
      if (place + 1 < count && startPrefixes[place + 1]! <= endPrefix) break;
      const key = startKeys[place]!;
      outStarts[fragment] = key;
      outEnds[fragment] = key + 1;
      outPrefixes[fragment] = endPrefix;
      outSeqnos[stack] = seqnos[place]!;
      if (stackTombstones !== undefined) stackTombstones[stack] = key >> 1;
      stackStarts[++fragment] = ++stack;
    }
    out.count = fragment;
    out.stackCount = stack;
    return place;
  }

  private emit(startKey: number, endKey: number, endPrefix: number): void {
    const { out, active } = this;
    out.reserve(active.count);
    const { count } = out;
    out.startKeys[count] = startKey;
    out.endKeys[count] = endKey;
    out.endPrefixes[count] = endPrefix;
    if (this.snapshots !== undefined) this.emitVisible(this.snapshots);
    else this.emitAll();
    out.count = count + 1;
    out.stackStarts[count + 1] = out.stackCount;
  }

  private emitAll(): void {
    const { out, active } = this;
    active.copySeqnos(out.seqnos, out.stackCount);
    if (out.stackTombstones !== undefined) {
      for (let i = 0; i < active.count; i++) {
        out.stackTombstones[out.stackCount + i] = this.borders.startKeys[active.tombstones[i]!]! >> 1;
      }
    }
    out.stackCount += active.count;
  }

  /** Only the newest sequence number of each stripe between snapshots: no reader can tell the others. */
  private emitVisible(snapshots: readonly ComparableSeqno[]): void {
    const { out } = this;
    const { seqnos, count } = this.active;
    let limit = MAX_SEQNO;
    let snapshot = snapshots.length;
    for (let i = 0; i < count; i++) {
      const seqno = seqnos[i]!;
      if (seqno > limit) continue;
      out.seqnos[out.stackCount++] = seqno;
      while (snapshot > 0 && snapshots[snapshot - 1]! >= seqno) snapshot--;
      if (snapshot === 0) return;
      limit = snapshots[snapshot - 1]!;
    }
  }

  private activate(place: number): void {
    const { active } = this;
    const seqno = this.borders.seqnos[place]!;
    const position = active.positionOf(seqno);
    if (this.isRepeated(place, seqno, position)) {
      this.repeated ??= new Uint8Array(this.borders.count);
      this.repeated[place] = 1;
    } else {
      active.insertAt(position, seqno, place);
    }
  }

  /** Whether an active tombstone, from `position` on, has the same sequence number and end (and timestamp). */
  private isRepeated(place: number, seqno: ComparableSeqno, position: number): boolean {
    const { seqnos, tombstones: places, count } = this.active;
    const { startKeys } = this.borders;
    for (let i = position; i < count && seqnos[i] === seqno; i++) {
      const other = startKeys[places[i]!]!;
      const own = startKeys[place]!;
      if (this.isSameKey(other + 1, own + 1) && this.sameTimestamp(other >> 1, own >> 1)) return true;
    }
    return false;
  }

  private isSameKey(a: number, b: number): boolean {
    return this.prefixes[a] === this.prefixes[b] && this.order.compareTies(a, b) === 0;
  }

  private sameTimestamp(a: number, b: number): boolean {
    const { timestamps, timestampSize } = this.set;
    for (let i = 0; i < timestampSize; i++) {
      if (timestamps[a * timestampSize + i] !== timestamps[b * timestampSize + i]) return false;
    }
    return true;
  }
}
