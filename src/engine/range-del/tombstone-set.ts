import { TRAILER_SIZE } from '../../format/internal-key.ts';
import type { RangeTombstone } from '../../format/range-del-block.ts';
import { type ComparableSeqno, comparableSeqno, comparableTrailerSeqno } from './comparable-seqno.ts';
import type { KeyColumn } from './key-order.ts';

/**
 * Range tombstones as they come: in any order, overlapping, repeated, empty. Columns over one key buffer;
 * tombstone t deletes the keys from key 2t to, exclusive, key 2t + 1. Timestamps stand apart from the keys.
 */
export class TombstoneSet implements KeyColumn {
  /** Keys in the order of their addition: start, end, start, end ... */
  bytes: Uint8Array;
  offsets: Int32Array;
  seqnos: Float64Array;
  /** Timestamp of tombstone t: `timestamps[t * timestampSize, (t + 1) * timestampSize)`. */
  timestamps: Uint8Array;
  /** How many tombstones. */
  size = 0;

  constructor(
    /** Bytes of user-defined timestamp that each tombstone has; 0 without. */
    readonly timestampSize = 0,
    /** Expected number of tombstones and bytes of keys: a hint. */
    capacity = 16,
    keyBytes = capacity * 32,
  ) {
    this.bytes = new Uint8Array(keyBytes);
    this.offsets = new Int32Array(2 * capacity + 1);
    this.seqnos = new Float64Array(capacity);
    this.timestamps = new Uint8Array(timestampSize * capacity);
  }

  /** How many keys: two a tombstone. */
  get count(): number {
    return 2 * this.size;
  }

  /** Adds [start, end)@seqno; the keys have no timestamp in them. */
  add(
    start: Uint8Array,
    startFrom: number,
    startTo: number,
    end: Uint8Array,
    endFrom: number,
    endTo: number,
    seqno: ComparableSeqno,
    timestamp?: Uint8Array,
  ): void {
    if (this.size === this.seqnos.length) this.growColumns();
    const from = this.offsets[2 * this.size]!;
    const middle = from + (startTo - startFrom);
    const to = middle + (endTo - endFrom);
    if (to > this.bytes.length) this.growBytes(to);
    copyKey(start, startFrom, startTo, this.bytes, from);
    copyKey(end, endFrom, endTo, this.bytes, middle);
    this.offsets[2 * this.size + 1] = middle;
    this.offsets[2 * this.size + 2] = to;
    this.seqnos[this.size] = seqno;
    if (timestamp !== undefined) this.timestamps.set(timestamp, this.size * this.timestampSize);
    this.size++;
  }

  /** Forgets the tombstones and keeps the memory. */
  clear(): void {
    this.size = 0;
  }

  private growColumns(): void {
    const capacity = Math.max(16, 2 * this.size);
    this.offsets = grown(this.offsets, new Int32Array(2 * capacity + 1));
    this.seqnos = grown(this.seqnos, new Float64Array(capacity));
    this.timestamps = grown(this.timestamps, new Uint8Array(capacity * this.timestampSize));
  }

  private growBytes(length: number): void {
    this.bytes = grown(this.bytes, new Uint8Array(Math.max(length, 2 * this.bytes.length)));
  }
}

/** What a table stores, as a set. `globalSeqno` stands for every stored sequence number where it is given. */
export function tombstoneSetOf(
  tombstones: readonly RangeTombstone[],
  shape: { readonly storedTimestampSize: number; readonly globalSeqno: bigint | undefined },
): TombstoneSet {
  const { storedTimestampSize: size, globalSeqno } = shape;
  const set = new TombstoneSet(size, tombstones.length);
  const global = globalSeqno === undefined ? undefined : comparableSeqno(globalSeqno);
  for (const { startKey, end } of tombstones) {
    const startEnd = startKey.length - TRAILER_SIZE - size;
    set.add(
      startKey,
      0,
      startEnd,
      end,
      0,
      end.length - size,
      global ?? comparableTrailerSeqno(startKey, startKey.length),
      size === 0 ? undefined : startKey.subarray(startEnd, startEnd + size),
    );
  }
  return set;
}

function copyKey(source: Uint8Array, start: number, end: number, target: Uint8Array, pos: number): void {
  if (end - start > 40) target.set(source.subarray(start, end), pos);
  else for (let i = start; i < end; i++) target[pos++] = source[i]!;
}

function grown<T extends Uint8Array | Int32Array | Float64Array>(column: T, larger: T): T {
  larger.set(column as never);
  return larger;
}
