import type { Comparator } from '../../operators/comparator.ts';
import { type ComparableSeqno, MAX_SEQNO } from './comparable-seqno.ts';
import type { FragmentColumns } from './fragment-columns.ts';
import type { KeyOrder } from './key-order.ts';
import { SeqnoSet } from './seqno-set.ts';
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
 * whose buffer this list shares. 20 bytes a fragment and 8 bytes a sequence number, beside the set: keys, 8 bytes for
 * the positions of a tombstone's two and 8 for its sequence number.
 */
export class FragmentedTombstones {
  count: number;
  startKeys: Int32Array;
  endKeys: Int32Array;
  endPrefixes: Float64Array;
  stackStarts: Int32Array;
  seqnos: Float64Array;
  stackTombstones: Int32Array | undefined;
  private buffer: ArrayBuffer;
  /** Built when a compaction first asks. */
  private seqnoSet: SeqnoSet | undefined;

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
    this.endPrefixes = columns.endPrefixes;
    this.stackStarts = columns.stackStarts;
    this.seqnos = columns.seqnos;
    this.stackTombstones = columns.stackTombstones;
    this.buffer = columns.buffer;
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
      this.buffer.byteLength +
      (this.seqnoSet?.memoryBytes ?? 0)
    );
  }

  /** Gives up the memory of the fragments, and has none from then on; see `FragmentScratch.recycle`. */
  release(): ArrayBuffer {
    const { buffer } = this;
    this.count = 0;
    this.buffer = new ArrayBuffer(0);
    this.startKeys = this.endKeys = this.stackStarts = new Int32Array(0);
    this.endPrefixes = this.seqnos = new Float64Array(0);
    this.stackTombstones = undefined;
    this.seqnoSet = undefined;
    return buffer;
  }

  /** A copy of a fragment's start key, without timestamp. */
  startKey(fragment: number): Uint8Array {
    return this.keyAt(this.startKeys[fragment]!);
  }

  endKey(fragment: number): Uint8Array {
    return this.keyAt(this.endKeys[fragment]!);
  }

  startPrefix(fragment: number): number {
    const { bytes, offsets } = this.keys;
    const key = this.startKeys[fragment]!;
    return this.order.prefixOf(bytes, offsets[key]!, offsets[key + 1]!);
  }

  /** The first fragment that ends behind the user key; `count` when none does. */
  firstEndingAfter(key: Uint8Array, start: number, end: number, prefix: number): number {
    return this.firstEndingAfterIn(0, this.count, key, start, end, prefix);
  }

  /** The same, searched from a fragment that is likely near: a walk over keys asks for its neighbours. */
  firstEndingAfterNear(near: number, key: Uint8Array, start: number, end: number, prefix: number): number {
    const { count } = this;
    let low = near;
    let high = near;
    let step = 1;
    if (near < count && !this.endsAfter(near, key, start, end, prefix)) {
      do {
        low = high + 1;
        high += step;
        step *= 2;
      } while (high < count && !this.endsAfter(high, key, start, end, prefix));
      high = Math.min(high, count);
    } else {
      low = near - 1;
      while (low >= 0 && this.endsAfter(low, key, start, end, prefix)) {
        high = low;
        low -= step;
        step *= 2;
      }
      low = Math.max(low + 1, 0);
    }
    return this.firstEndingAfterIn(low, high, key, start, end, prefix);
  }

  /** Whether the fragment begins at or before the key. */
  startsAtOrBefore(fragment: number, key: Uint8Array, start: number, end: number): boolean {
    return this.order.compareWith(this.startKeys[fragment]!, key, start, end) <= 0;
  }

  private endsAfter(fragment: number, key: Uint8Array, start: number, end: number, prefix: number): boolean {
    const difference = this.endPrefixes[fragment]! - prefix;
    if (difference !== 0 || this.order.isExactFor(end - start)) return difference > 0;
    return this.order.compareWith(this.endKeys[fragment]!, key, start, end) > 0;
  }

  /** The first of the fragments [low, high) that ends behind the key; `high` when none does. */
  private firstEndingAfterIn(
    low: number,
    high: number,
    key: Uint8Array,
    start: number,
    end: number,
    prefix: number,
  ): number {
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.endsAfter(middle, key, start, end, prefix)) high = middle;
      else low = middle + 1;
    }
    return low;
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
    if (fragment === this.count || !this.startsAtOrBefore(fragment, key, start, end)) return -1;
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
    return this.seqnoSet.containsRange(lower, upper);
  }

  private buildSeqnoSet(): SeqnoSet {
    if (this.statistics !== undefined) this.statistics.seqnoSetsBuilt++;
    return new SeqnoSet(this.seqnos);
  }

  private keyAt(key: number): Uint8Array {
    const { bytes, offsets } = this.keys;
    return bytes.slice(offsets[key]!, offsets[key + 1]!);
  }
}
