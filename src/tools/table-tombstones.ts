import { comparableTrailerSeqno, seqnoOfComparable } from '../engine/range-del/comparable-seqno.ts';
import type { FragmentedTombstones } from '../engine/range-del/fragmented-tombstones.ts';
import { fragmentTombstones } from '../engine/range-del/fragmenter.ts';
import { type PositioningMode, ReadRangeDelAggregator } from '../engine/range-del/range-del-aggregator.ts';
import { tombstoneSetOf } from '../engine/range-del/tombstone-set.ts';
import { InvalidArgumentError } from '../errors.ts';
import { TRAILER_SIZE } from '../format/internal-key.ts';
import type { RangeTombstone } from '../format/range-del-block.ts';
import { type EntrySource, userKeyEnd } from '../format/table-entry.ts';
import { ValueType } from '../format/value-type.ts';
import type { OpenedTable } from './open-any-table.ts';

/**
 * The tombstones of one table, fragmented; of each fragment all sequence numbers, or with `newestOnly` one. Throws
 * InvalidArgumentError when the order of keys is not known.
 * A file's own sequence numbers are compared: a global one stands for all of them alike.
 */
export function fragmentTable(
  table: OpenedTable,
  tombstones: readonly RangeTombstone[],
  option: string,
  { newestOnly = false } = {},
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
  return fragmentTombstones(set, comparator, newestOnly ? { snapshots: [] } : {});
}

/**
 * The fragments as tombstones in key order, one for each sequence number, newest first; `reverse`: the other way
 * round. Made fragment by fragment: where tombstones lie inside of each other, rows are as many as their square.
 */
export function* fragmentRows(list: FragmentedTombstones, reverse: boolean): Generator<RangeTombstone> {
  for (let i = 0; i < list.count; i++) {
    const rows = rowsOfFragment(list, reverse ? list.count - 1 - i : i);
    yield* reverse ? rows.reverse() : rows;
  }
}

function rowsOfFragment(list: FragmentedTombstones, fragment: number): RangeTombstone[] {
  const rows: RangeTombstone[] = [];
  const start = list.startKey(fragment);
  const end = list.endKey(fragment);
  const stackEnd = list.stackStarts[fragment + 1]!;
  for (let position = list.stackStarts[fragment]!; position < stackEnd; position++) {
    const timestamp = list.timestampAt(position);
    const startKey = new Uint8Array(start.length + timestamp.length + TRAILER_SIZE);
    startKey.set(start);
    startKey.set(timestamp, start.length);
    const trailer = (seqnoOfComparable(list.seqnos[position]!) << 8n) | BigInt(ValueType.rangeDeletion);
    new DataView(startKey.buffer).setBigUint64(startKey.length - TRAILER_SIZE, trailer, true);
    const endKey = new Uint8Array(end.length + timestamp.length);
    endKey.set(end);
    endKey.set(timestamp, end.length);
    rows.push({ startKey, end: endKey });
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
