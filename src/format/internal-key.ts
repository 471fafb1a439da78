import { readFixed32 } from '../bytes/fixed.ts';

/**
 * Internal key: user key, then a trailer of eight bytes: fixed64 of (sequence number << 8 | value type).
 * Order: user keys ascending by the comparator, then trailers descending, so that the newest comes first.
 *
 * A sequence number has at most 56 bits. As a number it is exact below 2^53, which no real database reaches;
 * the largest, 2^56 - 1, marks bounds and seek keys and is recognised before it is converted (`isMaxSeqno`).
 * Source: RocksDB db/dbformat.h.
 */
export const TRAILER_SIZE = 8;

/** The largest sequence number, 2^56 - 1, as the text that reports print. */
export const MAX_SEQNO_TEXT = '72057594037927935';

/** Value type of the internal key that ends at `end`. */
export function trailerType(key: Uint8Array, end: number): number {
  return key[end - 8]!;
}

/** Sequence number of the internal key that ends at `end`; exact below 2^53. */
export function trailerSeqno(key: Uint8Array, end: number): number {
  return (
    (key[end - 7]! | (key[end - 6]! << 8) | (key[end - 5]! << 16)) + readFixed32(key, end - 4) * 0x1000000
  );
}

/** Whether the sequence number is 2^56 - 1, which seek keys and the ends of range tombstones in bounds have. */
export function isMaxSeqno(key: Uint8Array, end: number): boolean {
  for (let i = end - 7; i < end; i++) if (key[i] !== 0xff) return false;
  return true;
}

/** The sequence number as decimal text, exact for all 56 bits. */
export function seqnoText(key: Uint8Array, end: number): string {
  const seqno = trailerSeqno(key, end);
  if (seqno <= Number.MAX_SAFE_INTEGER) return String(seqno);
  const low = BigInt(key[end - 7]! | (key[end - 6]! << 8) | (key[end - 5]! << 16));
  return String((BigInt(readFixed32(key, end - 4)) << 24n) | low);
}

/** Compares two trailers as 64-bit numbers; the smaller number comes LAST in internal order. */
export function compareTrailers(a: Uint8Array, aEnd: number, b: Uint8Array, bEnd: number): number {
  const high = readFixed32(b, bEnd - 4) - readFixed32(a, aEnd - 4);
  return high !== 0 ? high : readFixed32(b, bEnd - 8) - readFixed32(a, aEnd - 8);
}

/** Whether the bytes can be an internal key that a table stores: long enough, and of a type that exists. */
export function isInternalKey(key: Uint8Array, length: number): boolean {
  return length >= TRAILER_SIZE && trailerType(key, length) < 0x7f;
}
