import { trailerSeqno } from '../../format/internal-key.ts';
import { isPointDeletion, ValueType } from '../../format/value-type.ts';

/** What the properties of a table count, counted again over its point entries or over its range tombstones. */
export class EntryTotals {
  entries = 0;
  deletions = 0;
  /** Of `deletions` those of type delete_with_timestamp. */
  timestampDeletions = 0;
  merges = 0;
  /** Bytes of internal keys, and of values, as stored. */
  keyBytes = 0;
  valueBytes = 0;
  /** Stored sequence numbers; of no entries: infinity and -1. Exact below 2^53. */
  smallestSeqno = Number.POSITIVE_INFINITY;
  largestSeqno = -1;

  add(key: Uint8Array, keyLength: number, type: number, valueLength: number): void {
    this.entries++;
    this.keyBytes += keyLength;
    this.valueBytes += valueLength;
    if (type !== ValueType.value) {
      if (isPointDeletion(type)) {
        this.deletions++;
        if (type === ValueType.deletionWithTimestamp) this.timestampDeletions++;
      } else if (type === ValueType.merge) this.merges++;
    }
    const seqno = trailerSeqno(key, keyLength);
    if (seqno < this.smallestSeqno) this.smallestSeqno = seqno;
    if (seqno > this.largestSeqno) this.largestSeqno = seqno;
  }
}
