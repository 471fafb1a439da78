import { seqnoText, TRAILER_SIZE, trailerSeqno, trailerType } from './internal-key.ts';

/**
 * What an iterator over the entries of a table shows: the internal key is `key[0, keyLength)`, the value
 * `data[valueStart, valueEnd)`. Valid until its next move. As long as `data` is the same array object it holds the
 * same bytes; the key's array is written again and again. BlockIterator and PlainTableIterator are such.
 */
export interface EntrySource {
  readonly data: Uint8Array;
  readonly key: Uint8Array;
  readonly keyLength: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

/** What all entries of one file have in common. */
export interface EntryShape {
  /** Bytes of user-defined timestamp before the trailer, as stored. */
  readonly storedTimestampSize: number;
  /** Sequence number that stands for all stored ones. */
  readonly globalSeqno: bigint | undefined;
}

/** Where the user key ends, its timestamp excluded. Negative: the key is too short for an internal key. */
export function userKeyEnd(entry: EntrySource, shape: EntryShape): number {
  return entry.keyLength - TRAILER_SIZE - shape.storedTimestampSize;
}

export function entryType(entry: EntrySource): number {
  return trailerType(entry.key, entry.keyLength);
}

/** Stored sequence number, exact below 2^53. */
export function storedSeqno(entry: EntrySource): number {
  return trailerSeqno(entry.key, entry.keyLength);
}

/** The sequence number that counts, as decimal text. */
export function effectiveSeqnoText(entry: EntrySource, shape: EntryShape): string {
  return shape.globalSeqno !== undefined ? String(shape.globalSeqno) : seqnoText(entry.key, entry.keyLength);
}
