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
  const { starts, ends } = sortedBorders(set, order);
  const sweep = new Sweep(set, order, starts.length, set.timestampSize > 0 ? undefined : options.snapshots);
  sweep.run(starts, ends);
  return new FragmentedTombstones(set, order, keyComparator, sweep.columns(), options.statistics);
}

/** Start keys and end keys of the tombstones that are not empty, each sorted. */
function sortedBorders(set: TombstoneSet, order: KeyOrder): { starts: Int32Array; ends: Int32Array } {
  let starts = new Int32Array(set.size);
  let count = 0;
  for (let t = 0; t < set.size; t++) {
    if (order.compareKeys(2 * t, 2 * t + 1) < 0) starts[count++] = 2 * t;
  }
  starts = starts.subarray(0, count);
  sortKeys(order, starts);
  // Tombstones of about one width end in the order in which they start: then this is sorted already.
  const ends = new Int32Array(count);
  for (let i = 0; i < count; i++) ends[i] = starts[i]! + 1;
  sortKeys(order, ends);
  return { starts, ends };
}

class Sweep {
  private count = 0;
  private readonly startKeys: Int32Array;
  private readonly endKeys: Int32Array;
  private readonly stackStarts: Uint32Array;
  private seqnos: Float64Array;
  private stackCount = 0;
  private stackTombstones: Int32Array | undefined;
  /** The tombstones that cover the current place: sequence numbers descending, and whose they are. */
  private activeSeqnos = new Float64Array(16);
  private activeTombstones = new Int32Array(16);
  private activeCount = 0;
  /** 1: adds nothing to another tombstone, and was left out. */
  private readonly repeated: Uint8Array;

  constructor(
    private readonly set: TombstoneSet,
    private readonly order: KeyOrder,
    tombstones: number,
    private readonly snapshots: readonly ComparableSeqno[] | undefined,
  ) {
    this.startKeys = new Int32Array(2 * tombstones);
    this.endKeys = new Int32Array(2 * tombstones);
    this.stackStarts = new Uint32Array(2 * tombstones + 1);
    this.seqnos = new Float64Array(2 * tombstones + 16);
    this.repeated = new Uint8Array(set.size);
    if (set.timestampSize > 0) this.stackTombstones = new Int32Array(2 * tombstones + 16);
  }

  run(starts: Int32Array, ends: Int32Array): void {
    const { order } = this;
    const count = starts.length;
    let nextStart = 0;
    let nextEnd = 0;
    let place = 0;
    while (nextEnd < count) {
      const isStart = nextStart < count && order.compareKeys(starts[nextStart]!, ends[nextEnd]!) <= 0;
      const border = isStart ? starts[nextStart]! : ends[nextEnd]!;
      if (this.activeCount > 0 && order.compareKeys(place, border) < 0) this.emit(place, border);
      place = border;
      if (isStart) {
        this.activate(border >> 1);
        nextStart++;
      } else {
        this.retire(border >> 1);
        nextEnd++;
      }
    }
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
    if (this.stackCount + activeCount > this.seqnos.length) this.growStacks(activeCount);
    this.startKeys[count] = startKey;
    this.endKeys[count] = endKey;
    if (this.snapshots !== undefined) this.emitVisible(this.snapshots);
    else this.emitAll();
    this.count = count + 1;
    this.stackStarts[count + 1] = this.stackCount;
  }

  private emitAll(): void {
    const { seqnos, activeSeqnos, activeCount, stackTombstones, activeTombstones } = this;
    let to = this.stackCount;
    if (activeCount < 16) for (let i = 0; i < activeCount; i++) seqnos[to++] = activeSeqnos[i]!;
    else {
      seqnos.set(activeSeqnos.subarray(0, activeCount), to);
      to += activeCount;
    }
    if (stackTombstones !== undefined) {
      for (let i = 0; i < activeCount; i++) stackTombstones[this.stackCount + i] = activeTombstones[i]!;
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

  private activate(tombstone: number): void {
    const { set } = this;
    const seqno = set.seqnos[tombstone]!;
    const at = this.positionOf(seqno);
    if (this.isRepeated(tombstone, seqno, at)) {
      this.repeated[tombstone] = 1;
      return;
    }
    if (this.activeCount === this.activeSeqnos.length) this.growActive();
    const { activeSeqnos, activeTombstones, activeCount } = this;
    if (activeCount - at < 32) {
      for (let i = activeCount; i > at; i--) {
        activeSeqnos[i] = activeSeqnos[i - 1]!;
        activeTombstones[i] = activeTombstones[i - 1]!;
      }
    } else {
      activeSeqnos.copyWithin(at + 1, at, activeCount);
      activeTombstones.copyWithin(at + 1, at, activeCount);
    }
    activeSeqnos[at] = seqno;
    activeTombstones[at] = tombstone;
    this.activeCount = activeCount + 1;
  }

  private retire(tombstone: number): void {
    if (this.repeated[tombstone] === 1) return;
    const { activeSeqnos, activeTombstones } = this;
    let at = this.positionOf(this.set.seqnos[tombstone]!);
    while (activeTombstones[at] !== tombstone) at++;
    const count = --this.activeCount;
    if (count - at < 32) {
      for (let i = at; i < count; i++) {
        activeSeqnos[i] = activeSeqnos[i + 1]!;
        activeTombstones[i] = activeTombstones[i + 1]!;
      }
    } else {
      activeSeqnos.copyWithin(at, at + 1, count + 1);
      activeTombstones.copyWithin(at, at + 1, count + 1);
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

  private isRepeated(tombstone: number, seqno: ComparableSeqno, at: number): boolean {
    for (let i = at; i < this.activeCount && this.activeSeqnos[i] === seqno; i++) {
      const other = this.activeTombstones[i]!;
      if (this.order.compareKeys(2 * other + 1, 2 * tombstone + 1) === 0 && this.sameTimestamp(other, tombstone)) {
        return true;
      }
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

  private growStacks(needed: number): void {
    const length = Math.max(2 * this.seqnos.length, this.stackCount + needed);
    const seqnos = new Float64Array(length);
    seqnos.set(this.seqnos.subarray(0, this.stackCount));
    this.seqnos = seqnos;
    if (this.stackTombstones === undefined) return;
    const tombstones = new Int32Array(length);
    tombstones.set(this.stackTombstones.subarray(0, this.stackCount));
    this.stackTombstones = tombstones;
  }

  private growActive(): void {
    const seqnos = new Float64Array(2 * this.activeSeqnos.length);
    seqnos.set(this.activeSeqnos);
    this.activeSeqnos = seqnos;
    const tombstones = new Int32Array(2 * this.activeTombstones.length);
    tombstones.set(this.activeTombstones);
    this.activeTombstones = tombstones;
  }
}
