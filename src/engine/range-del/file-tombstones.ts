import { compareTrailers, TRAILER_SIZE } from '../../format/internal-key.ts';
import { ValueType } from '../../format/value-type.ts';
import type { Comparator } from '../../operators/comparator.ts';
import { type ComparableSeqno, MAX_SEQNO, seqnoOfComparable } from './comparable-seqno.ts';
import type { FragmentedTombstones } from './fragmented-tombstones.ts';

/** Where one output file of a compaction begins and ends, as internal keys; undefined where nothing was cut. */
export interface FileCut {
  readonly lower: Uint8Array | undefined;
  readonly upper: Uint8Array | undefined;
}

/** The tombstones that go into one output file, whole, and what they make of its bounds. */
export interface FileTombstones {
  /** Fragments by number, with the positions of the sequence numbers that are written. */
  readonly rows: readonly { readonly fragment: number; readonly position: number }[];
  /** Internal keys that the file's bounds must reach at least; undefined without rows. */
  readonly smallest: Uint8Array | undefined;
  readonly largest: Uint8Array | undefined;
}

/**
 * Chooses what of a compaction's tombstones (`CompactionRangeDelAggregator.outputTombstones`) goes into one file.
 * A tombstone that crosses a cut is written to both files, whole; only the bounds are cut.
 * `isDroppable` says that nobody needs a sequence number any more: it is at or below the earliest snapshot, and no
 * older data lies below the output in the fragment's range.
 * Source: RocksDB db/compaction/compaction_outputs.cc, AddRangeDels, for the result.
 */
export function fileTombstones(
  list: FragmentedTombstones,
  comparator: Comparator,
  cut: FileCut,
  isDroppable: (fragment: number, seqno: ComparableSeqno) => boolean,
): FileTombstones {
  const rows: { fragment: number; position: number }[] = [];
  let smallest: Uint8Array | undefined;
  let largest: Uint8Array | undefined;
  const order = (a: Uint8Array, b: Uint8Array): number => compareInternalKeys(comparator, a, b);
  for (let fragment = 0; fragment < list.count; fragment++) {
    const end = internalKey(list.endKey(fragment), MAX_SEQNO);
    if (cut.lower !== undefined && order(end, cut.lower) <= 0) continue;
    const startKey = list.startKey(fragment);
    if (cut.upper !== undefined && order(internalKey(startKey, MAX_SEQNO), cut.upper) > 0) break;
    for (let position = list.stackStarts[fragment]!; position < list.stackStarts[fragment + 1]!; position++) {
      const seqno = list.seqnos[position]!;
      let start = internalKey(startKey, seqno);
      if (cut.upper !== undefined && order(start, cut.upper) > 0) continue;
      if (isDroppable(fragment, seqno)) continue;
      rows.push({ fragment, position });
      if (cut.lower !== undefined) {
        const lowerKey = cut.lower.subarray(0, cut.lower.length - TRAILER_SIZE);
        if (comparator.compare(startKey, 0, startKey.length, lowerKey, 0, lowerKey.length) < 0) {
          start = internalKey(lowerKey, seqno);
        }
        if (order(start, cut.lower) < 0) start = cut.lower;
      }
      if (smallest === undefined || order(start, smallest) < 0) smallest = start;
      const bound = cut.upper !== undefined && order(cut.upper, end) < 0 ? cut.upper : end;
      if (largest === undefined || order(bound, largest) > 0) largest = bound;
    }
  }
  return { rows, smallest, largest };
}

/** User key and trailer of a range deletion. */
export function internalKey(userKey: Uint8Array, seqno: ComparableSeqno): Uint8Array {
  const key = new Uint8Array(userKey.length + TRAILER_SIZE);
  key.set(userKey);
  const trailer = (seqnoOfComparable(seqno) << 8n) | BigInt(ValueType.rangeDeletion);
  new DataView(key.buffer).setBigUint64(userKey.length, trailer, true);
  return key;
}

function compareInternalKeys(comparator: Comparator, a: Uint8Array, b: Uint8Array): number {
  const order = comparator.compare(a, 0, a.length - TRAILER_SIZE, b, 0, b.length - TRAILER_SIZE);
  return order !== 0 ? order : compareTrailers(a, a.length, b, b.length);
}
