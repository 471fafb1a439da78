import { compareTrailers, seqnoText, TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import type { NewFile } from '../../format/manifest/version-edit.ts';
import { entryTypeName } from '../../format/value-type.ts';
import type { Comparator } from '../../operators/comparator.ts';
import type { Finding } from '../finding.ts';
import { keyText } from './key-text.ts';
import type { ObservedTable, TableObserver } from './table-observer.ts';

/** A bound in a message: user key, sequence number and type. */
export function boundText(key: Uint8Array): string {
  const user = keyText(key, key.length - TRAILER_SIZE);
  return `${user} (seqno ${seqnoText(key, key.length)}, ${entryTypeName(trailerType(key, key.length))})`;
}

/** Order of internal keys: negative, zero, positive. */
export function compareInternalKeys(
  order: Comparator,
  a: Uint8Array,
  aLength: number,
  b: Uint8Array,
  bLength: number,
): number {
  const users = order.compare(a, 0, aLength - TRAILER_SIZE, b, 0, bLength - TRAILER_SIZE);
  return users !== 0 ? users : compareTrailers(a, aLength, b, bLength);
}

type Side = 'smallest' | 'largest';

/**
 * Compares what a table holds with what the MANIFEST says of it: no entry lies outside of the bounds, as readers look
 * for a key only in files whose bounds enclose it, and no sequence number outside of its range.
 *
 * Range tombstones count to the bounds too, from their start to their end. Compactions that make several files store
 * a tombstone whole in each file that it touches, and cut it to the file's bounds when it is read: in levels above 0
 * only a tombstone that lies outside altogether is wrong. Level 0 holds flushed and ingested files, where none is cut.
 * Of ingested files the stored sequence numbers say nothing, and user keys alone are compared.
 * Source: RocksDB db/version_edit.h (UpdateBoundariesForRange), db/compaction/compaction_outputs.cc (AddRangeDels).
 */
export class BoundsCheck implements Omit<TableObserver, 'blob'> {
  /** As the file names it; undefined as long as it is not open. */
  comparatorName: string | undefined;
  private order: Comparator | undefined;
  private usersOnly = false;
  private timestampSize = 0;
  /** Of the bounds, without timestamps. */
  private smallestUserLength = 0;
  private largestUserLength = 0;
  private pointBelow: Finding | undefined;
  private pointAbove: Finding | undefined;
  private tombstoneBelow: Finding | undefined;
  private tombstoneAbove: Finding | undefined;
  private seqnoFinding: Finding | undefined;
  private shortBound: Finding | undefined;

  constructor(
    readonly file: NewFile,
    /** How messages name the file. */
    private readonly name: string,
  ) {}

  get findings(): Finding[] {
    return [
      this.shortBound,
      this.pointBelow,
      this.pointAbove,
      this.tombstoneBelow,
      this.tombstoneAbove,
      this.seqnoFinding,
    ].filter((finding) => finding !== undefined);
  }

  opened(table: ObservedTable): void {
    const { smallest, largest, smallestSeqno, largestSeqno } = this.file;
    this.comparatorName = table.comparatorName;
    this.timestampSize = table.timestampSize;
    this.usersOnly = table.isExternal && smallestSeqno === largestSeqno;
    const minLength = TRAILER_SIZE + table.timestampSize;
    this.smallestUserLength = smallest.length - minLength;
    this.largestUserLength = largest.length - minLength;
    if (smallest.length < minLength || largest.length < minLength) {
      this.shortBound = this.finding(`a bound has no room for a timestamp of ${table.timestampSize} bytes`);
    } else {
      this.order = table.order;
    }
  }

  point(key: Uint8Array, length: number): void {
    if (this.order === undefined) return;
    if (this.pointBelow === undefined && this.compareTo('smallest', key, length) < 0) {
      this.pointBelow = this.outside('smallest', 'above', `its entry ${boundText(key.slice(0, length))}`);
    }
    if (this.pointAbove === undefined && this.compareTo('largest', key, length) > 0) {
      this.pointAbove = this.outside('largest', 'below', `its entry ${boundText(key.slice(0, length))}`);
    }
  }

  tombstone(key: Uint8Array, length: number, data: Uint8Array, endStart: number, endEnd: number): void {
    const { order, timestampSize } = this;
    if (order === undefined || (this.tombstoneBelow !== undefined && this.tombstoneAbove !== undefined))
      return;
    const users = order.withoutTimestamp;
    const { smallest, largest, level } = this.file;
    const startLength = length - TRAILER_SIZE - timestampSize;
    const end = endEnd - timestampSize;
    const isBelow =
      level === 0
        ? this.startsBelow(key, length)
        : users.compare(data, endStart, end, smallest, 0, this.smallestUserLength) < 0;
    const isAbove =
      level === 0
        ? users.compare(largest, 0, this.largestUserLength, data, endStart, end) < 0
        : users.compare(key, 0, startLength, largest, 0, this.largestUserLength) > 0;
    if (!isBelow && !isAbove) return;
    const text = `[${keyText(key, startLength)}, ${keyText(data.subarray(endStart, end), end - endStart)})`;
    if (isBelow) {
      this.tombstoneBelow ??= this.outside('smallest', 'above', `the start of its range tombstone ${text}`);
    }
    if (isAbove) {
      const what = level === 0 ? 'the end of its range tombstone' : 'its range tombstone';
      this.tombstoneAbove ??= this.outside('largest', 'below', `${what} ${text}`);
    }
  }

  seqnos(smallest: number, largest: number): void {
    const { smallestSeqno, largestSeqno } = this.file;
    if (smallestSeqno === undefined || largestSeqno === undefined || this.usersOnly) return;
    // Above 2^53 the numbers that were gathered are not exact.
    if (largest > Number.MAX_SAFE_INTEGER) return;
    if (BigInt(smallest) >= smallestSeqno && BigInt(largest) <= largestSeqno) return;
    this.seqnoFinding = {
      code: 'seqno_bounds',
      severity: 'damage',
      message:
        `${this.name}: the MANIFEST says sequence numbers ${smallestSeqno} to ${largestSeqno}, ` +
        `the file has ${smallest} to ${largest}`,
      stored: `${smallestSeqno} to ${largestSeqno}`,
      computed: `${smallest} to ${largest}`,
    };
  }

  /** With timestamps only the keys before them are compared: that of the bound need not be the tombstone's. */
  private startsBelow(key: Uint8Array, length: number): boolean {
    if (this.timestampSize === 0) return this.compareTo('smallest', key, length) < 0;
    const users = this.order!.withoutTimestamp;
    const userLength = length - TRAILER_SIZE - this.timestampSize;
    return users.compare(key, 0, userLength, this.file.smallest, 0, this.smallestUserLength) < 0;
  }

  private compareTo(side: Side, key: Uint8Array, length: number): number {
    const bound = this.file[side];
    if (!this.usersOnly) return compareInternalKeys(this.order!, key, length, bound, bound.length);
    return this.order!.compare(key, 0, length - TRAILER_SIZE, bound, 0, bound.length - TRAILER_SIZE);
  }

  private outside(side: Side, relation: 'above' | 'below', what: string): Finding {
    const bound = boundText(this.file[side]);
    return this.finding(`the ${side} bound in the MANIFEST, ${bound}, lies ${relation} ${what}`);
  }

  private finding(what: string): Finding {
    return { code: 'manifest_bounds', severity: 'damage', message: `${this.name}: ${what}` };
  }
}
