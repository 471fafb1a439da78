import { readFixed32 } from '../../bytes/fixed.ts';
import { TRAILER_SIZE } from '../internal-key.ts';
import { ValueType } from '../value-type.ts';
import type { ResolvedTableOptions } from './table-options.ts';

const TIMESTAMP_SIZE = 8;

/** What the properties say of the entries of one table, range tombstones included. */
export class TableStatistics {
  entries = 0;
  rangeDeletions = 0;
  deletions = 0;
  mergeOperands = 0;
  /** Internal keys, as stored. */
  rawKeyBytes = 0;
  /** Values; of a range tombstone its end key. */
  rawValueBytes = 0;
  /** Sequence numbers as (hi, lo) of the key's trailer, the type byte cut off. */
  private smallestHigh = 0xffffffff;
  private smallestLow = 0xffffff;
  private largestHigh = 0;
  private largestLow = 0;
  private minTimestamp: Uint8Array | undefined;
  private maxTimestamp: Uint8Array | undefined;
  private readonly countsTimestampedDeletions: boolean;
  private readonly timestamps: boolean;

  constructor(options: ResolvedTableOptions) {
    this.countsTimestampedDeletions = options.writerProfile === '11.9';
    this.timestamps =
      options.comparator.timestampSize === TIMESTAMP_SIZE && options.persistUserDefinedTimestamps;
  }

  add(key: Uint8Array, keyStart: number, keyEnd: number, valueLength: number): void {
    const type = key[keyEnd - TRAILER_SIZE]!;
    const high = readFixed32(key, keyEnd - 4);
    const low = readFixed32(key, keyEnd - 8) >>> 8;
    if (high < this.smallestHigh || (high === this.smallestHigh && low < this.smallestLow)) {
      this.smallestHigh = high;
      this.smallestLow = low;
    }
    if (high > this.largestHigh || (high === this.largestHigh && low > this.largestLow)) {
      this.largestHigh = high;
      this.largestLow = low;
    }
    this.entries++;
    this.rawKeyBytes += keyEnd - keyStart;
    this.rawValueBytes += valueLength;
    if (type === ValueType.rangeDeletion) this.rangeDeletions++;
    if (type === ValueType.merge) this.mergeOperands++;
    if (
      type === ValueType.deletion ||
      type === ValueType.singleDeletion ||
      type === ValueType.rangeDeletion ||
      (type === ValueType.deletionWithTimestamp && this.countsTimestampedDeletions)
    ) {
      this.deletions++;
    }
    if (this.timestamps) this.takeTimestamp(key, keyEnd - TRAILER_SIZE);
  }

  /** Smallest and largest sequence number; undefined and 0 for a table without entries, as RocksDB has it. */
  get smallestSeqno(): bigint | undefined {
    return this.entries === 0 ? undefined : seqno(this.smallestHigh, this.smallestLow);
  }

  get largestSeqno(): bigint {
    return seqno(this.largestHigh, this.largestLow);
  }

  /** Undefined where keys have no timestamps; empty for a table without entries. */
  get timestampBounds(): { min: Uint8Array; max: Uint8Array } | undefined {
    if (!this.timestamps) return undefined;
    return { min: this.minTimestamp ?? new Uint8Array(0), max: this.maxTimestamp ?? new Uint8Array(0) };
  }

  private takeTimestamp(key: Uint8Array, end: number): void {
    const start = end - TIMESTAMP_SIZE;
    if (this.minTimestamp === undefined || compareTimestamps(key, start, this.minTimestamp) < 0) {
      this.minTimestamp = key.slice(start, end);
    }
    if (this.maxTimestamp === undefined || compareTimestamps(key, start, this.maxTimestamp) > 0) {
      this.maxTimestamp = key.slice(start, end);
    }
  }
}

function seqno(high: number, low: number): bigint {
  return (BigInt(high) << 24n) | BigInt(low);
}

/** fixed64 numbers, by size. */
function compareTimestamps(a: Uint8Array, aStart: number, b: Uint8Array): number {
  const high = readFixed32(a, aStart + 4) - readFixed32(b, 4);
  return high !== 0 ? high : readFixed32(a, aStart) - readFixed32(b, 0);
}
