import { comparableTrailerSeqno, seqnoOfComparable } from '../engine/range-del/comparable-seqno.ts';
import type { FragmentedTombstones } from '../engine/range-del/fragmented-tombstones.ts';
import { fragmentTombstones } from '../engine/range-del/fragmenter.ts';
import { type PositioningMode, ReadRangeDelAggregator } from '../engine/range-del/range-del-aggregator.ts';
import { tombstoneSetOf } from '../engine/range-del/tombstone-set.ts';
import { InvalidArgumentError } from '../errors.ts';
import type { RangeTombstone } from '../format/range-del-block.ts';
import { type EntrySource, userKeyEnd } from '../format/table-entry.ts';
import { ValueType } from '../format/value-type.ts';
import type { OpenedTable } from './open-any-table.ts';

/**
 * The tombstones of one table, fragmented. Throws InvalidArgumentError when the order of keys is not known.
 * A file's own sequence numbers are compared: a global one stands for all of them alike.
 */
export function fragmentTable(
  table: OpenedTable,
  tombstones: readonly RangeTombstone[],
  option: string,
): FragmentedTombstones {
  const comparator = table.comparator;
  if (comparator === undefined) {
    const name = table.comparatorName ?? '(unknown)';
    throw new InvalidArgumentError(
      option,
      name,
      `--${option} needs the order of keys, and comparator ${name} is not known here: give one with --comparator`,
    );
  }
  const { storedTimestampSize } = table.shape;
  const set = tombstoneSetOf(tombstones, { storedTimestampSize, globalSeqno: undefined });
  return fragmentTombstones(set, comparator);
}

/** The fragments as tombstones, one for each sequence number, newest first. */
export function fragmentRows(list: FragmentedTombstones): RangeTombstone[] {
  const rows: RangeTombstone[] = [];
  for (let f = 0; f < list.count; f++) {
    const start = list.startKey(f);
    const end = list.endKey(f);
    for (let position = list.stackStarts[f]!; position < list.stackStarts[f + 1]!; position++) {
      const timestamp = list.timestampAt(position);
      const startKey = new Uint8Array(start.length + timestamp.length + 8);
      startKey.set(start);
      startKey.set(timestamp, start.length);
      const trailer = (seqnoOfComparable(list.seqnos[position]!) << 8n) | BigInt(ValueType.rangeDeletion);
      new DataView(startKey.buffer).setBigUint64(startKey.length - 8, trailer, true);
      const endKey = new Uint8Array(end.length + timestamp.length);
      endKey.set(end);
      endKey.set(timestamp, end.length);
      rows.push({ startKey, end: endKey });
    }
  }
  return rows;
}

/** Tells which entries of a table its own tombstones hide. */
export class CoverMarker {
  private readonly aggregator = new ReadRangeDelAggregator();
  private readonly mode: PositioningMode;

  constructor(
    list: FragmentedTombstones,
    private readonly table: OpenedTable,
    reverse: boolean,
  ) {
    this.aggregator.addTombstones(list);
    this.mode = reverse ? 'backward' : 'forward';
  }

  isCovered(entry: EntrySource): boolean {
    const end = userKeyEnd(entry, this.table.shape);
    const seqno = comparableTrailerSeqno(entry.key, entry.keyLength);
    return this.aggregator.shouldDelete(entry.key, 0, end, seqno, this.mode);
  }
}
