import { type ComparableSeqno, comparableSeqno, MAX_SEQNO } from '../range-del/comparable-seqno.ts';

/** What a read can see: versions up to a sequence number, and with timestamps up to a timestamp. */
export interface ReadPoint {
  readonly seqno: ComparableSeqno;
  /** The largest trailer that can be seen, in halves: for searches. */
  readonly trailerHigh: number;
  readonly trailerLow: number;
  readonly timestamp: Uint8Array | undefined;
}

const MAX_SEQNO_VALUE = 2n ** 56n - 1n;

/** By default everything can be seen. `seqno` is at most 2^56 - 1. */
export function readPoint(seqno: bigint = MAX_SEQNO_VALUE, timestamp?: Uint8Array): ReadPoint {
  return {
    seqno: seqno === MAX_SEQNO_VALUE ? MAX_SEQNO : comparableSeqno(seqno),
    trailerHigh: Number(seqno >> 24n),
    trailerLow: Number(((seqno & 0xffffffn) << 8n) | 0xffn),
    timestamp,
  };
}

export const NEWEST = readPoint();
