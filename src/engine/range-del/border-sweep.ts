import type { BorderGroup, Borders } from './borders.ts';
import { type ComparableSeqno, MAX_SEQNO } from './comparable-seqno.ts';
import type { FragmentBuilder } from './fragment-columns.ts';
import type { FragmentScratch } from './fragment-scratch.ts';
import type { KeyOrder } from './key-order.ts';
import { sweepPlainly } from './plain-sweep.ts';
import { sortKeys } from './sort-keys.ts';
import type { TombstoneSet } from './tombstone-set.ts';

/** From this length on a built-in copy is cheaper than a loop. */
const MIN_BULK_COPY = 48;

/**
 * Goes over the borders in key order and puts fragments out. Tombstones that lie apart, as most do in real files, are
 * passed through in one loop. Others are swept over group by group: the sequence numbers of the tombstones that cover
 * the current place are kept sorted, newest first, so that each fragment copies them.
 */
export class BorderSweep {
  /** By place; 1: adds nothing to another tombstone, and was left out. */
  private repeated: Uint8Array | undefined;
  /** Nothing but keys and distinct sequence numbers decides: see plain-sweep.ts. */
  private isPlain: boolean;
  private endsInOrder = false;

  constructor(
    private readonly set: TombstoneSet,
    private readonly order: KeyOrder,
    private readonly borders: Borders,
    private readonly snapshots: readonly ComparableSeqno[] | undefined,
    private readonly scratch: FragmentScratch,
    private readonly out: FragmentBuilder,
  ) {
    this.isPlain = order.exact && snapshots === undefined && set.timestampSize === 0;
    // Behind the last start nothing begins.
    borders.startPrefixes[borders.count] = Number.POSITIVE_INFINITY;
  }

  /** False when the tombstones are not in start order, or one is empty: what was put out is of no use then. */
  run(): boolean {
    const { count } = this.borders;
    this.out.reserve(count, count);
    let place = 0;
    while (place < count) {
      place = this.emitAlone(place);
      if (place === count) break;
      const last = this.groupFrom(place);
      if (last < 0) return false;
      this.sweepGroup(place, last);
      place = last;
    }
    return true;
  }

  /**
   * Where all before `first` have ended: emits tombstones as long as each ends before the next begins. Returns the
   * place of the first that does not. Equal prefixes end it: the careful way decides.
   */
  private emitAlone(first: number): number {
    const { out } = this;
    const { count, startKeys, startPrefixes, seqnos, endPrefixes } = this.borders;
    let place = first;
    let start = startPrefixes[first]!;
    for (; place < count; place++) {
      const end = endPrefixes[place]!;
      const next = startPrefixes[place + 1]!;
      if (start >= end || next <= end) break;
      start = next;
    }
    const added = place - first;
    if (added === 0) return place;
    out.reserve(added, added);
    const { count: fragment, stackCount: stack, startKeys: outStarts, endKeys: outEnds, stackStarts } = out;
    if (added >= MIN_BULK_COPY) {
      out.endPrefixes.set(endPrefixes.subarray(first, place), fragment);
      outStarts.set(startKeys.subarray(first, place), fragment);
      out.seqnos.set(seqnos.subarray(first, place), stack);
    } else {
      for (let i = 0; i < added; i++) {
        out.endPrefixes[fragment + i] = endPrefixes[first + i]!;
        outStarts[fragment + i] = startKeys[first + i]!;
        out.seqnos[stack + i] = seqnos[first + i]!;
      }
    }
    for (let i = 0; i < added; i++) {
      outEnds[fragment + i] = outStarts[fragment + i]! + 1;
      stackStarts[fragment + i + 1] = stack + i + 1;
    }
    const { stackTombstones } = out;
    if (stackTombstones !== undefined)
      for (let i = 0; i < added; i++) stackTombstones[stack + i] = startKeys[first + i]! >> 1;
    out.count = fragment + added;
    out.stackCount = stack + added;
    return place;
  }

  /** The place behind the group that begins at `first`; -1 when it is out of order or a tombstone is empty. */
  private groupFrom(first: number): number {
    const { order } = this;
    const { exact } = order;
    const { count, startKeys, startPrefixes, endPrefixes } = this.borders;
    let inOrder = true;
    let lastStart = startPrefixes[first]!;
    let lastEnd = Number.NEGATIVE_INFINITY;
    let furthest = Number.NEGATIVE_INFINITY;
    let place = first;
    for (; place < count; place++) {
      const start = startPrefixes[place]!;
      const end = endPrefixes[place]!;
      if (start > furthest && place > first) break;
      if (start < lastStart || start > end) return -1;
      if (!exact || start === end) {
        const key = startKeys[place]!;
        if (start === end && order.compareTies(key, key + 1) >= 0) return -1;
        if (start === lastStart && place > first && order.compareTies(startKeys[place - 1]!, key) > 0)
          return -1;
      }
      if (end < lastEnd || (end === lastEnd && !exact)) inOrder = false;
      lastStart = start;
      lastEnd = end;
      if (end > furthest) furthest = end;
    }
    this.endsInOrder = inOrder;
    return place;
  }

  private sweepGroup(first: number, last: number): void {
    const { borders, out } = this;
    const { count, startKeys, startPrefixes, endPrefixes, seqnos } = borders;
    const ends = this.endsInOrder ? undefined : this.sortEnds(first, last);
    const group = {
      count,
      startKeys,
      startPrefixes,
      endPrefixes,
      seqnos,
      first,
      last,
      sortedEnds: ends ?? endPrefixes,
      endPlaces: ends === undefined ? undefined : this.scratch.endPlaces,
      endsFrom: ends === undefined ? first : 0,
    };
    if (this.isPlain) {
      const { count: fragments, stackCount } = out;
      if (sweepPlainly(group, out)) return;
      // Sequence numbers come more than once, likely in other groups too: files that were ingested have but one.
      this.isPlain = false;
      out.count = fragments;
      out.stackCount = stackCount;
    }
    this.sweep(group);
  }

  /** Sorts the ends of the places [first, last) into `scratch.endPlaces`, from 0 on; returns their prefixes. */
  private sortEnds(first: number, last: number): Float64Array {
    const { scratch, order, set } = this;
    const { startKeys, endPrefixes } = this.borders;
    scratch.reserveEnds(set.size);
    const { ends, placeOf, endPlaces } = scratch;
    for (let place = first; place < last; place++) {
      const key = startKeys[place]!;
      placeOf[key >> 1] = place;
      ends.ids[place - first] = key + 1;
      ends.prefixes[place - first] = endPrefixes[place]!;
    }
    sortKeys(order, ends, last - first);
    for (let i = 0; i < last - first; i++) endPlaces[i] = placeOf[ends.ids[i]! >> 1]!;
    return ends.prefixes;
  }

  private sweep({ first, last, startKeys, startPrefixes, seqnos, ...group }: BorderGroup): void {
    const { order } = this;
    const { active } = this.scratch;
    const { sortedEnds, endPlaces, endsFrom } = group;
    const { exact } = order;
    active.count = 0;
    let nextStart = first;
    let lastKey = 0;
    let lastPrefix = 0;
    for (let nextEnd = first; nextEnd < last; ) {
      const endIndex = nextEnd - first + endsFrom;
      const endPlace = endPlaces === undefined ? endIndex : endPlaces[endIndex]!;
      const endPrefix = sortedEnds[endIndex]!;
      let isStart = false;
      if (nextStart < last) {
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

  private emit(startKey: number, endKey: number, endPrefix: number): void {
    const { out } = this;
    out.reserve(1, this.scratch.active.count);
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
    const { out } = this;
    const { active } = this.scratch;
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
    const { seqnos, count } = this.scratch.active;
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
    const { active } = this.scratch;
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
    const { seqnos, tombstones: places, count } = this.scratch.active;
    for (let i = position; i < count && seqnos[i] === seqno; i++) {
      const other = places[i]!;
      if (this.haveSameEnd(other, place) && this.haveSameTimestamp(other, place)) return true;
    }
    return false;
  }

  private haveSameEnd(a: number, b: number): boolean {
    const { endPrefixes, startKeys } = this.borders;
    return (
      endPrefixes[a] === endPrefixes[b] && this.order.compareTies(startKeys[a]! + 1, startKeys[b]! + 1) === 0
    );
  }

  private haveSameTimestamp(a: number, b: number): boolean {
    const { timestamps, timestampSize } = this.set;
    const { startKeys } = this.borders;
    const own = (startKeys[a]! >> 1) * timestampSize;
    const other = (startKeys[b]! >> 1) * timestampSize;
    for (let i = 0; i < timestampSize; i++) {
      if (timestamps[own + i] !== timestamps[other + i]) return false;
    }
    return true;
  }
}
