import { readFixed32 } from '../../bytes/fixed.ts';
import { isMaxSeqno, trailerSeqno } from '../../format/internal-key.ts';

/**
 * Sequence numbers as numbers that compare as they do, for all 56 bits.
 *
 * Below 2^53 a number is the sequence number itself: every real one. From 2^53 on, where a double is exact no
 * more, the n-th sequence number is the n-th double above 2^53: adding to a double's bits goes to the next one.
 * So columns of them are plain Float64Arrays, and no loop knows of the difference.
 */
export type ComparableSeqno = number;

const FIRST_WIDE = 2n ** 53n;
const scratch = new DataView(new ArrayBuffer(8));

function bitsOf(value: number): bigint {
  scratch.setFloat64(0, value);
  return scratch.getBigUint64(0);
}

function fromBits(bits: bigint): number {
  scratch.setBigUint64(0, bits);
  return scratch.getFloat64(0);
}

const FIRST_WIDE_BITS = bitsOf(2 ** 53);

/** From 0 to 2^56 - 1. */
export function comparableSeqno(seqno: bigint): ComparableSeqno {
  return seqno < FIRST_WIDE ? Number(seqno) : fromBits(FIRST_WIDE_BITS + (seqno - FIRST_WIDE));
}

export function seqnoOfComparable(seqno: ComparableSeqno): bigint {
  return seqno < 2 ** 53 ? BigInt(seqno) : FIRST_WIDE + (bitsOf(seqno) - FIRST_WIDE_BITS);
}

/** 2^56 - 1: above every stored one. */
export const MAX_SEQNO: ComparableSeqno = comparableSeqno(2n ** 56n - 1n);

/** The sequence number of the internal key that ends at `end`. */
export function comparableTrailerSeqno(key: Uint8Array, end: number): ComparableSeqno {
  const seqno = trailerSeqno(key, end);
  if (seqno < 2 ** 53) return seqno;
  if (isMaxSeqno(key, end)) return MAX_SEQNO;
  const low = BigInt(key[end - 7]! | (key[end - 6]! << 8) | (key[end - 5]! << 16));
  return comparableSeqno((BigInt(readFixed32(key, end - 4)) << 24n) | low);
}

/** The one behind it. */
export function nextSeqno(seqno: ComparableSeqno): ComparableSeqno {
  return seqno < 2 ** 53 ? seqno + 1 : fromBits(bitsOf(seqno) + 1n);
}
