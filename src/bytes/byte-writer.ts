import { writeFixed32, writeFixed64 } from './fixed.ts';
import { varintLength, writeVarint } from './varint.ts';

/** A varint64 of any value. */
const MAX_VARINT_LENGTH = 10;

/**
 * Bytes that grow at their end. `bytes` is the buffer itself, of which [0, length) is written; it is another
 * array after a write that does not fit, so it is never kept.
 */
export class ByteWriter {
  bytes: Uint8Array;
  length = 0;

  constructor(capacity = 256) {
    this.bytes = new Uint8Array(capacity);
  }

  /** Makes room for `count` bytes more. */
  reserve(count: number): void {
    const needed = this.length + count;
    if (needed <= this.bytes.length) return;
    const larger = new Uint8Array(Math.max(needed, 2 * this.bytes.length));
    larger.set(this.bytes.subarray(0, this.length));
    this.bytes = larger;
  }

  /** Forgets what is behind `length`, which is at most the present one. */
  truncate(length: number): void {
    this.length = length;
  }

  byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  fixed16(value: number): void {
    this.reserve(2);
    this.bytes[this.length++] = value;
    this.bytes[this.length++] = value >>> 8;
  }

  fixed32(value: number): void {
    this.reserve(4);
    writeFixed32(this.bytes, this.length, value);
    this.length += 4;
  }

  fixed64(value: bigint): void {
    this.reserve(8);
    writeFixed64(this.bytes, this.length, value);
    this.length += 8;
  }

  /** At most 2^53 - 1. */
  varint(value: number): void {
    this.reserve(MAX_VARINT_LENGTH);
    this.length = writeVarint(this.bytes, this.length, value);
  }

  /** The low 64 bits of `value`. */
  varintBig(value: bigint): void {
    this.reserve(MAX_VARINT_LENGTH);
    let rest = BigInt.asUintN(64, value);
    while (rest >= 128n) {
      this.bytes[this.length++] = Number(rest & 127n) | 128;
      rest >>= 7n;
    }
    this.bytes[this.length++] = Number(rest);
  }

  /** Zigzag: 0, -1, 1, -2 become 0, 1, 2, 3. Within -2^52 and 2^52 - 1. */
  signedVarint(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  append(source: Uint8Array, start = 0, end = source.length): void {
    this.reserve(end - start);
    this.bytes.set(start === 0 && end === source.length ? source : source.subarray(start, end), this.length);
    this.length += end - start;
  }

  /** varint32 length, then the bytes. */
  lengthPrefixed(source: Uint8Array): void {
    this.varint(source.length);
    this.append(source);
  }

  /** What is written, as a view: valid until the next write. */
  view(): Uint8Array {
    return this.bytes.subarray(0, this.length);
  }

  /** What is written, as bytes of its own. */
  copy(): Uint8Array {
    return this.bytes.slice(0, this.length);
  }
}

/** The varint of `value` alone. */
export function encodeVarint(value: number): Uint8Array {
  const bytes = new Uint8Array(varintLength(value));
  writeVarint(bytes, 0, value);
  return bytes;
}
