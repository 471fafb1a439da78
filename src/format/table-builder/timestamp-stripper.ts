import { TRAILER_SIZE } from '../internal-key.ts';

/** Takes the timestamp out of internal keys, for tables that do not keep them. */
export class TimestampStripper {
  /** The key stripped last; valid until the next one. */
  key: Uint8Array = new Uint8Array(64);

  constructor(private readonly timestampSize: number) {}

  /** Puts user key without timestamp, and trailer, into `key`; returns their length. */
  stripInternalKey(source: Uint8Array, start: number, end: number): number {
    const length = end - start - this.timestampSize;
    if (length > this.key.length) this.key = new Uint8Array(2 * length);
    const trailer = end - TRAILER_SIZE;
    this.key.set(source.subarray(start, trailer - this.timestampSize));
    this.key.set(source.subarray(trailer, end), length - TRAILER_SIZE);
    return length;
  }
}
