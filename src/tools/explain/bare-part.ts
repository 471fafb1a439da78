import { SstError } from '../../errors.ts';
import type { CuckooSummary } from '../../format/cuckoo/cuckoo-table.ts';
import type { PlainTable } from '../../format/plain/plain-table.ts';
import type { DumpSubject } from '../dump/open-subject.ts';
import { Row } from '../row.ts';
import type { Part } from './part.ts';

/** The part of the rows of a plain table, or of the buckets of a cuckoo table, at byte `at` of the file. */
export function rowsPart({ plain, cuckoo, shape }: DumpSubject, size: number, at: number): Part {
  const whole = (text: string): Part => ({ part: 'rows', start: 0, end: size, text });
  if (plain === undefined) {
    const summary = cuckoo?.summary;
    return summary === undefined ? whole('buckets of a cuckoo table') : bucketPart(summary, at);
  }
  try {
    return plainRowPart(plain, shape, at) ?? whole('behind the rows of a plain table');
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return whole(error.message);
  }
}

function plainRowPart(plain: PlainTable, shape: DumpSubject['shape'], at: number): Part | undefined {
  const rows = plain.rows();
  while (rows.next()) {
    const end = rows.entryEnd;
    if (at >= end) continue;
    const row = new Row(shape);
    row.takeEntry(rows);
    const entry = {
      offset: rows.entryOffset,
      key: row.key.slice(0, row.keyEnd),
      seqno: row.seqnoText ?? String(row.seqno),
      type: row.type,
    };
    const valueStart = end - (rows.valueEnd - rows.valueStart);
    if (at >= valueStart) return { part: 'entry.value', start: valueStart, end, text: 'its value', entry };
    const text = 'key, type and sequence number, and the length of the value';
    return { part: 'entry.key', start: rows.entryOffset, end: valueStart, text, entry };
  }
  return undefined;
}

function bucketPart({ keyLength, valueLength }: CuckooSummary, at: number): Part {
  const bucket = Math.floor(at / (keyLength + valueLength));
  const start = bucket * (keyLength + valueLength);
  const valueStart = start + keyLength;
  return at < valueStart
    ? { part: 'bucket.key', start, end: valueStart, text: `key of bucket ${bucket} of a cuckoo table` }
    : {
        part: 'bucket.value',
        start: valueStart,
        end: valueStart + valueLength,
        text: `value of bucket ${bucket} of a cuckoo table`,
      };
}
