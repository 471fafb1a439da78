import { TRAILER_SIZE } from '../../format/internal-key.ts';
import { type ComparableSeqno, comparableTrailerSeqno } from '../range-del/comparable-seqno.ts';
import type { LookupTable } from './lookup-table.ts';
import type { ReadPoint } from './read-point.ts';

/** One stored version of a user key. */
export interface Version {
  readonly seqno: ComparableSeqno;
  /** The one in the file, where a global sequence number stands for it. */
  readonly storedSeqno: ComparableSeqno;
  readonly type: number;
  /** A view of the block. */
  readonly value: Uint8Array;
  /** The internal key as stored. */
  readonly key: Uint8Array;
  /** Empty without timestamps. */
  readonly timestamp: Uint8Array;
  /** Number of the table, and the offset of the block in it. */
  readonly table: number;
  readonly blockOffset: number;
  /** The newest visible range tombstone that deletes it; -1: none does. */
  readonly coveredBy: ComparableSeqno;
}

/**
 * Every version of a user key in `tables`, of one comparator, that `point` can see, newest first. `covering` is the
 * newest visible range tombstone over the key; -1: none.
 */
export function listVersions(
  tables: readonly LookupTable[],
  key: Uint8Array,
  point: ReadPoint,
  covering: ComparableSeqno,
): Version[] {
  const versions: Version[] = [];
  for (let i = 0; i < tables.length; i++) {
    const table = tables[i]!;
    const { compare } = table.comparator.withoutTimestamp;
    const target = table.newTarget();
    target.set(key, 0, key.length, undefined, undefined, point.timestamp);
    const iterator = table.newIterator();
    for (iterator.seek(target); iterator.valid; iterator.next()) {
      const { entry, userKeyEnd, seqno, type } = iterator;
      if (compare(entry.key, 0, userKeyEnd, key, 0, key.length) !== 0) break;
      if (seqno > point.seqno) continue;
      versions.push({
        seqno,
        storedSeqno: comparableTrailerSeqno(entry.key, entry.keyLength),
        type,
        value: entry.data.subarray(entry.valueStart, entry.valueEnd),
        key: entry.key.slice(0, entry.keyLength),
        timestamp: entry.key.slice(userKeyEnd, entry.keyLength - TRAILER_SIZE),
        table: i,
        blockOffset: iterator.blockOffset,
        coveredBy: covering > seqno ? covering : -1,
      });
    }
  }
  const { compare } = tables[0]!.comparator;
  return versions.sort(
    (a, b) =>
      compare(a.key, 0, a.key.length - TRAILER_SIZE, b.key, 0, b.key.length - TRAILER_SIZE) ||
      (a.seqno === b.seqno ? a.table - b.table : a.seqno > b.seqno ? -1 : 1),
  );
}
