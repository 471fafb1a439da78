import { CorruptionError } from '../errors.ts';
import { readFixed32, readFixed64 } from './fixed.ts';

/**
 * A cursor over bytes that come from a file: every read is checked against `end` before it is made.
 * For structures that are read once a file or once a block; entries have a faster way (block-iterator.ts).
 * Source of the encodings: RocksDB util/coding.h.
 */
export class ByteReader {
  readonly bytes: Uint8Array;
  pos: number;
  readonly end: number;
  private readonly code: string;

  /** Faults throw CorruptionError with `code`, a finding code of docs/findings.md. */
  constructor(bytes: Uint8Array, code: string, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.pos = start;
    this.end = end;
    this.code = code;
  }

  get remaining(): number {
    return this.end - this.pos;
  }

  byte(): number {
    this.need(1);
    return this.bytes[this.pos++]!;
  }

  fixed32(): number {
    this.need(4);
    this.pos += 4;
    return readFixed32(this.bytes, this.pos - 4);
  }

  fixed64(): bigint {
    this.need(8);
    this.pos += 8;
    return readFixed64(this.bytes, this.pos - 8);
  }

  /** At most five bytes, at most 2^32 - 1. */
  varint32(): number {
    const value = this.varint64();
    if (value > 0xffffffff) this.fail(`varint32 of ${value} is above 2^32 - 1`);
    return value;
  }

  /** At most ten bytes, as a number: above 2^53 - 1 it is no offset, size or count that a file can have. */
  varint64(): number {
    let value = 0;
    let scale = 1;
    const start = this.pos;
    for (let i = 0; i < 10; i++) {
      const byte = this.byte();
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        if (value > Number.MAX_SAFE_INTEGER) this.fail(`varint64 at ${start} is above 2^53 - 1`);
        return value;
      }
      scale *= 128;
    }
    return this.fail(`varint64 at ${start} has more than ten bytes`);
  }

  /** At most ten bytes, modulo 2^64: for values that may be 2^64 - 1 ("unknown"). */
  varint64Big(): bigint {
    let value = 0n;
    const start = this.pos;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte();
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return BigInt.asUintN(64, value);
    }
    return this.fail(`varint64 at ${start} has more than ten bytes`);
  }

  /** Zigzag: 0, -1, 1, -2 are stored as 0, 1, 2, 3. */
  signedVarint64(): number {
    const value = this.varint64();
    const half = Math.floor(value / 2);
    return value % 2 === 0 ? half : -half - 1;
  }

  /** `length` bytes as a view. */
  view(length: number): Uint8Array {
    this.need(length);
    this.pos += length;
    return this.bytes.subarray(this.pos - length, this.pos);
  }

  /** varint32 length, then the bytes, as a view. */
  lengthPrefixed(): Uint8Array {
    return this.view(this.varint32());
  }

  /** What is left, as a view. */
  rest(): Uint8Array {
    return this.view(this.remaining);
  }

  fail(reason: string): never {
    throw new CorruptionError(this.code, reason);
  }

  private need(length: number): void {
    if (length <= this.end - this.pos) return;
    this.fail(`${length} bytes wanted at ${this.pos}, ${this.end - this.pos} are left`);
  }
}
