import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import { ValueType } from '../../format/value-type.ts';
import { type ComparableSeqno, comparableTrailerSeqno, MAX_SEQNO, nextSeqno } from './comparable-seqno.ts';
import type { FragmentedTombstones } from './fragmented-tombstones.ts';

/** Internal keys between which a file's tombstones count, as the MANIFEST has them. */
export interface FileBounds {
  readonly smallest: Uint8Array;
  readonly largest: Uint8Array;
}

/**
 * The tombstones of one memtable or file, as far as its bounds let them count. A compaction writes a tombstone that
 * crosses a cut whole into both files, so outside of its own bounds a file's tombstone may hide what was
 * written later.
 *
 * Truncation happens on internal keys: versions of one user key may lie in two files. For a key with the user
 * key of a bound, that comes down to its sequence number:
 *   smallest k#s: versions up to s are inside;
 *   largest  k#s: versions from s on are inside, since those below are in the next file;
 *   largest  k#0: all but 0 itself;  largest k#max of a range deletion: none, the file ends before k.
 * Source: RocksDB db/range_del_aggregator.cc, TruncatedRangeDelIterator, for the result.
 */
export class TombstoneSource {
  /** Undefined: no bound. User keys, with their timestamps cut off. */
  readonly lowerKey: Uint8Array | undefined;
  readonly upperKey: Uint8Array | undefined;
  /** At the lower key: versions up to this; at the upper key: from this on. */
  private readonly lowerSeqno: ComparableSeqno = 0;
  private readonly upperSeqno: ComparableSeqno = 0;

  constructor(
    readonly list: FragmentedTombstones,
    bounds: FileBounds | undefined,
    timestampSize: number,
  ) {
    if (bounds === undefined) return;
    const { smallest, largest } = bounds;
    this.lowerKey = smallest.slice(0, smallest.length - TRAILER_SIZE - timestampSize);
    this.lowerSeqno = comparableTrailerSeqno(smallest, smallest.length);
    this.upperKey = largest.slice(0, largest.length - TRAILER_SIZE - timestampSize);
    const seqno = comparableTrailerSeqno(largest, largest.length);
    const isSentinel =
      seqno === MAX_SEQNO && trailerType(largest, largest.length) === ValueType.rangeDeletion;
    this.upperSeqno = isSentinel ? nextSeqno(MAX_SEQNO) : Math.max(1, seqno);
  }

  /** Whether the version of the user key lies inside the file's bounds. */
  isInside(key: Uint8Array, start: number, end: number, seqno: ComparableSeqno): boolean {
    const { lowerKey, upperKey } = this;
    if (lowerKey === undefined || upperKey === undefined) return true;
    const { compare } = this.list.comparator;
    const low = compare(key, start, end, lowerKey, 0, lowerKey.length);
    if (low < 0 || (low === 0 && seqno > this.lowerSeqno)) return false;
    const high = compare(key, start, end, upperKey, 0, upperKey.length);
    return high < 0 || (high === 0 && seqno >= this.upperSeqno);
  }

  /** Whether the file ends before its largest user key: its bound was extended by a tombstone. */
  get endsBeforeUpperKey(): boolean {
    return this.upperSeqno > MAX_SEQNO;
  }

  /** The fragment's user keys after truncation; undefined when nothing of it is left. */
  truncated(fragment: number): { start: Uint8Array; end: Uint8Array } | undefined {
    const { list, lowerKey, upperKey } = this;
    let start = list.startKey(fragment);
    let end = list.endKey(fragment);
    if (lowerKey === undefined || upperKey === undefined) return { start, end };
    const order = (a: Uint8Array, b: Uint8Array): number =>
      list.comparator.compare(a, 0, a.length, b, 0, b.length);
    // [s, e) is left when e lies behind the smallest key, and s before the largest.
    if (order(end, lowerKey) <= 0) return undefined;
    const atUpper = order(start, upperKey);
    if (atUpper > 0 || (atUpper === 0 && this.endsBeforeUpperKey)) return undefined;
    if (order(start, lowerKey) < 0) start = lowerKey;
    if (order(end, upperKey) > 0) end = upperKey;
    return { start, end };
  }
}
