import { readFixed32 } from '../../bytes/fixed.ts';
import { CorruptionError } from '../../errors.ts';
import type { Comparator } from '../../operators/comparator.ts';
import { TRAILER_SIZE } from '../internal-key.ts';

/** Above every stored trailer: a search finds the newest version. */
const NEWEST = 0xffffffff;

/**
 * What a search in a table looks for: an internal key in a buffer that is used again, and its order against keys as
 * they are stored. One target serves the search in all blocks of a lookup. Whoever wants to see each comparison
 * overrides the two methods (`explain` does).
 */
export class SeekTarget {
  /** User key with its timestamp, and trailer: `key[0, length)`. */
  key: Uint8Array = new Uint8Array(64);
  length = 0;
  /** End of the user key without timestamp: what filters are asked for. */
  userKeyEnd = 0;
  /** The trailer as two halves, so that a comparison reads only the other side's. */
  private trailerHigh = NEWEST;
  private trailerLow = NEWEST;

  constructor(
    /** Of user keys as the table stores them, with or without timestamps. */
    readonly comparator: Comparator,
    /** Bytes of timestamp that stored keys have. */
    protected readonly timestampSize: number,
  ) {}

  /**
   * Looks for the first version of the user key `bytes[start, end)` (without timestamp) with a trailer of at most
   * `high`, `low`; without these the newest. With timestamps: that of `timestamp`, or the newest.
   */
  set(
    bytes: Uint8Array,
    start: number,
    end: number,
    high = NEWEST,
    low = NEWEST,
    timestamp?: Uint8Array,
  ): void {
    const userKeyEnd = end - start;
    const storedEnd = userKeyEnd + this.timestampSize;
    const length = storedEnd + TRAILER_SIZE;
    if (length > this.key.length) this.key = new Uint8Array(2 * length);
    const { key } = this;
    if (userKeyEnd <= 40) for (let i = 0; i < userKeyEnd; i++) key[i] = bytes[start + i]!;
    else key.set(bytes.subarray(start, end));
    if (this.timestampSize > 0) {
      if (timestamp === undefined) key.fill(0xff, userKeyEnd, storedEnd);
      else key.set(timestamp, userKeyEnd);
    }
    this.userKeyEnd = userKeyEnd;
    this.length = length;
    this.setTrailer(high, low);
  }

  /** Looks behind all versions of the user key: for the search backwards. */
  setAfter(bytes: Uint8Array, start: number, end: number): void {
    this.set(
      bytes,
      start,
      end,
      0,
      0,
      this.timestampSize === 0 ? undefined : new Uint8Array(this.timestampSize),
    );
  }

  private setTrailer(high: number, low: number): void {
    const { key } = this;
    const at = this.length - TRAILER_SIZE;
    key[at] = low;
    key[at + 1] = low >>> 8;
    key[at + 2] = low >>> 16;
    key[at + 3] = low >>> 24;
    key[at + 4] = high;
    key[at + 5] = high >>> 8;
    key[at + 6] = high >>> 16;
    key[at + 7] = high >>> 24;
    this.trailerHigh = high;
    this.trailerLow = low;
  }

  /** Order of the internal key `data[start, end)` against the target: negative where it comes before. */
  compareInternalKey(data: Uint8Array, start: number, end: number): number {
    const userEnd = end - TRAILER_SIZE;
    if (userEnd < start) throw tooShort(end - start);
    const order = this.comparator.compare(data, start, userEnd, this.key, 0, this.length - TRAILER_SIZE);
    if (order !== 0) return order;
    // The larger trailer comes first.
    const high = this.trailerHigh - readFixed32(data, end - 4);
    return high !== 0 ? high : this.trailerLow - readFixed32(data, end - 8);
  }

  /** The same for a stored user key: all versions of the target's own user key are alike to it. */
  compareUserKey(data: Uint8Array, start: number, end: number): number {
    return this.comparator.compare(data, start, end, this.key, 0, this.length - TRAILER_SIZE);
  }
}

function tooShort(length: number): CorruptionError {
  return new CorruptionError('entry_malformed', `a key of ${length} bytes has no room for a trailer`);
}
