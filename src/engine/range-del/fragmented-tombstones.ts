import type { Comparator } from '../../operators/comparator.ts';
import { type ComparableSeqno, MAX_SEQNO } from './comparable-seqno.ts';
import type { FragmentColumns } from './fragment-columns.ts';
import type { KeyOrder } from './key-order.ts';
import type { TombstoneSet } from './tombstone-set.ts';

/** Counts what a list does that is not free: handed in by whoever wants to know. */
export interface RangeDelStatistics {
  /** Sets of sequence numbers that were built. */
  seqnoSetsBuilt: number;
}

/**
 * Range tombstones cut at each other's borders: fragments that do not overlap, in key order, each with the
 * sequence numbers of all tombstones that cover it, newest first.
 *
 * A fragment is no object but a number: it indexes columns, and its keys are keys of the set that was fragmented,
 * whose buffer this list shares. 20 bytes a fragment, 8 bytes a sequence number, beside the keys and 8 bytes a key.
 */
export class FragmentedTombstones {
  readonly count: number;
  readonly startKeys: Int32Array;
  readonly endKeys: Int32Array;
  readonly stackStarts: Int32Array;
  readonly seqnos: Float64Array;
  readonly stackTombstones: Int32Array | undefined;
  /** Distinct sequence numbers ascending; built when a compaction first asks. */
  private seqnoSet: Float64Array | undefined;

  constructor(
    readonly keys: TombstoneSet,
    readonly order: KeyOrder,
    /** Of user keys without timestamps. */
    readonly comparator: Comparator,
    columns: FragmentColumns,
    private readonly statistics?: RangeDelStatistics,
  ) {
    this.count = columns.count;
    this.startKeys = columns.startKeys;
    this.endKeys = columns.endKeys;
    this.stackStarts = columns.stackStarts;
    this.seqnos = columns.seqnos;
    this.stackTombstones = columns.stackTombstones;
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  /** Sequence numbers over all fragments. */
  get stackCount(): number {
    return this.count === 0 ? 0 : this.stackStarts[this.count]!;
  }

  /** Bytes that this list holds, its keys included. */
  get memoryBytes(): number {
    const { keys } = this;
    return (
      keys.bytes.byteLength +
      keys.offsets.byteLength +
      keys.seqnos.byteLength +
      keys.timestamps.byteLength +
      this.order.prefixes.byteLength +
      this.startKeys.byteLength +
      this.endKeys.byteLength +
      this.stackStarts.byteLength +
      this.seqnos.byteLength +
      (this.stackTombstones?.byteLength ?? 0) +
      (this.seqnoSet?.byteLength ?? 0)
    );
  }

  /** A copy of a fragment's start key, without timestamp. */
  startKey(fragment: number): Uint8Array {
    return this.keyAt(this.startKeys[fragment]!);
  }

  endKey(fragment: number): Uint8Array {
    return this.keyAt(this.endKeys[fragment]!);
  }

  /** The first fragment that ends behind the user key; `count` when none does. */
  firstEndingAfter(key: Uint8Array, start: number, end: number, prefix: number): number {
    const { endKeys, order } = this;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (order.compareWith(endKeys[middle]!, key, start, end, prefix) > 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** The same, searched from a fragment that is likely near: a walk over keys asks for its neighbours. */
  firstEndingAfterNear(near: number, key: Uint8Array, start: number, end: number, prefix: number): number {
    const { endKeys, order, count } = this;
    let low: number;
    let high: number;
    if (near < count && order.compareWith(endKeys[near]!, key, start, end, prefix) <= 0) {
      let step = 1;
      low = near + 1;
      high = low;
      while (high < count && order.compareWith(endKeys[high]!, key, start, end, prefix) <= 0) {
        low = high + 1;
        high += step;
        step *= 2;
      }
      high = Math.min(high, count);
    } else {
      let step = 1;
      high = Math.min(near, count);
      low = high - 1;
      while (low >= 0 && order.compareWith(endKeys[low]!, key, start, end, prefix) > 0) {
        high = low;
        low -= step;
        step *= 2;
      }
      low = Math.max(low + 1, 0);
    }
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (order.compareWith(endKeys[middle]!, key, start, end, prefix) > 0) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /** Whether the fragment begins at or before the key. */
  startsAtOrBefore(fragment: number, key: Uint8Array, start: number, end: number, prefix: number): boolean {
    return this.order.compareWith(this.startKeys[fragment]!, key, start, end, prefix) <= 0;
  }

  /** Position in `seqnos` of the fragment's newest sequence number up to `upper`; the stack's end when none is. */
  newestUpTo(fragment: number, upper: ComparableSeqno): number {
    const { seqnos, stackStarts } = this;
    let low = stackStarts[fragment]!;
    let high = stackStarts[fragment + 1]!;
    // Most reads are at the newest sequence number.
    if (low < high && seqnos[low]! <= upper) return low;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (seqnos[middle]! <= upper) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  /**
   * The newest tombstone up to `upper` that covers the user key `key[start, end)` (without timestamp): its
   * sequence number, or -1. With timestamps, of tombstones whose timestamp is not above `timestamp`.
   */
  maxCoveringSeqno(
    key: Uint8Array,
    start = 0,
    end = key.length,
    upper: ComparableSeqno = MAX_SEQNO,
    timestamp?: Uint8Array,
  ): ComparableSeqno {
    const prefix = this.order.prefixOf(key, start, end);
    const fragment = this.firstEndingAfter(key, start, end, prefix);
    if (fragment === this.count || !this.startsAtOrBefore(fragment, key, start, end, prefix)) return -1;
    return this.newestVisible(fragment, upper, timestamp);
  }

  /** The fragment's newest sequence number up to `upper` and `timestamp`, or -1. */
  newestVisible(fragment: number, upper: ComparableSeqno, timestamp?: Uint8Array): ComparableSeqno {
    const position = this.newestVisibleAt(fragment, upper, timestamp);
    return position < this.stackStarts[fragment + 1]! ? this.seqnos[position]! : -1;
  }

  /** Its position in `seqnos`; the stack's end when there is none. */
  newestVisibleAt(fragment: number, upper: ComparableSeqno, timestamp?: Uint8Array): number {
    let position = this.newestUpTo(fragment, upper);
    if (timestamp === undefined || this.stackTombstones === undefined) return position;
    const end = this.stackStarts[fragment + 1]!;
    while (position < end && this.compareTimestampAt(position, timestamp) > 0) position++;
    return position;
  }

  /** The timestamp of the tombstone at a position in `seqnos`, as a view; empty without timestamps. */
  timestampAt(position: number): Uint8Array {
    const { timestamps, timestampSize } = this.keys;
    if (this.stackTombstones === undefined) return timestamps.subarray(0, 0);
    const start = this.stackTombstones[position]! * timestampSize;
    return timestamps.subarray(start, start + timestampSize);
  }

  /** Order of the timestamp at a position in `seqnos` against another, both fixed-width and little-endian. */
  compareTimestampAt(position: number, timestamp: Uint8Array): number {
    const { timestamps, timestampSize } = this.keys;
    const start = this.stackTombstones![position]! * timestampSize;
    for (let i = timestampSize - 1; i >= 0; i--) {
      const difference = timestamps[start + i]! - timestamp[i]!;
      if (difference !== 0) return difference;
    }
    return 0;
  }

  /**
   * Whether any tombstone has a sequence number in [lower, upper]. Asked by compactions alone, so the set of sequence
   * numbers is built at the first call: most lists serve reads and never need it.
   */
  containsRange(lower: ComparableSeqno, upper: ComparableSeqno): boolean {
    this.seqnoSet ??= this.buildSeqnoSet();
    const set = this.seqnoSet;
    let low = 0;
    let high = set.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (set[middle]! >= lower) high = middle;
      else low = middle + 1;
    }
    return low < set.length && set[low]! <= upper;
  }

  private buildSeqnoSet(): Float64Array {
    if (this.statistics !== undefined) this.statistics.seqnoSetsBuilt++;
    const sorted = this.seqnos.slice(0, this.stackCount).sort();
    let count = 0;
    for (let i = 0; i < sorted.length; i++) {
      if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[count++] = sorted[i]!;
    }
    return sorted.subarray(0, count);
  }

  private keyAt(key: number): Uint8Array {
    const { bytes, offsets } = this.keys;
    return bytes.slice(offsets[key]!, offsets[key + 1]!);
  }
}
