/**
 * Every row of every fixture, against what its writer stored (our own set) or what the real tool prints of it
 * (the larger set, where it is there).
 */
import { describe, expect, it } from 'vitest';
import { fixtures, parseRawRangeDeletions, parseScanText, sharedFixtures } from '../support/fixtures.ts';
import { type JsonRow, scanRows } from '../support/scan.ts';

const TYPE_NUMBERS: Readonly<Record<string, number>> = {
  delete: 0,
  put: 1,
  merge: 2,
  single_delete: 7,
  blob_index: 0x11,
  delete_with_timestamp: 0x14,
  entity: 0x16,
  put_preferred_seqno: 0x18,
};

describe('fixtures', () => {
  for (const fixture of fixtures()) {
    const { expected } = fixture;
    if (expected === undefined || fixture.format === 'cuckoo') continue;
    it(`${fixture.name} has the rows that were written`, async () => {
      const { rows, findings, failures } = await scanRows([fixture.path]);
      expect(failures).toEqual([]);
      expect(findings.filter(({ severity }) => severity === 'damage')).toEqual([]);
      const wanted = expected();
      const points = rows.filter(({ type }) => type !== 'range_delete');
      expect(points.map(entryOf)).toEqual(wanted.entries.map((entry) => comparable(entry)));
      const tombstones = rows.filter(({ type }) => type === 'range_delete');
      expect(tombstones.map(tombstoneOf).sort()).toEqual(wanted.rangeTombstones.map(tombstoneOf).sort());
      expectTombstonesInPlace(rows, fixture.comparator);
    });
  }
});

describe('the larger set of real databases', () => {
  const shared = sharedFixtures();
  it.skipIf(!shared.present)('is there', () => {
    expect(shared.tables.length).toBeGreaterThan(100);
  });
  for (const table of shared.tables) {
    const { scanText, rawText } = table;
    if (scanText === undefined) continue;
    it(`${table.name} has the rows that sst_dump prints`, async () => {
      const { rows, findings, failures } = await scanRows([table.path]);
      expect(failures).toEqual([]);
      expect(findings.filter(({ severity }) => severity === 'damage')).toEqual([]);
      const wanted = parseScanText(scanText());
      const points = rows.filter(({ type }) => type !== 'range_delete');
      expect(points.length).toBe(wanted.length);
      points.forEach((row, i) => {
        const { key, timestamp, seqno, type, text } = wanted[i]!;
        expect(row.key).toBe(key);
        // The tool shows the minimum timestamp where the file stores none.
        if (row.timestamp !== undefined) expect(littleEndian(row.timestamp)).toBe(timestamp);
        else expect(timestamp ?? 0n).toBe(0n);
        expect(TYPE_NUMBERS[row.type]).toBe(type);
        expect(row.seqno).toBe(seqno);
        if (row.value !== undefined && row.blob === undefined && row.preferredSeqno === undefined) {
          expect(row.value).toBe(text.toLowerCase());
        }
      });
      if (rawText === undefined) return;
      // The raw dump prints fragments; a flush and a compaction store fragments, so they are the same here.
      const tombstones = rows.filter(({ type }) => type === 'range_delete');
      const raw = parseRawRangeDeletions(rawText());
      expect(tombstones.length > 0).toBe(raw.length > 0);
    });
  }
});

interface Comparable {
  key?: string;
  seqno: string;
  type: string;
  value?: string;
  columns?: { name: string; value: string }[];
  timestamp?: string;
}

function entryOf(row: JsonRow): string {
  return comparable(row);
}

function comparable({ key, seqno, type, value, columns, timestamp }: Comparable): string {
  const shown =
    type === 'blob_index' ? '(reference)' : columns === undefined ? value : JSON.stringify(columns);
  return [key, timestamp ?? '', seqno, type, shown].join(' ');
}

function tombstoneOf(row: { start?: string; end?: string; seqno: string; timestamp?: string }): string {
  return [row.start, row.end, row.seqno, row.timestamp ?? ''].join(' ');
}

function littleEndian(hex: string): bigint {
  return BigInt(`0x${hex.match(/../g)!.reverse().join('')}`);
}

/** Each tombstone stands before the first entry whose key is not smaller than its start. */
function expectTombstonesInPlace(rows: readonly JsonRow[], comparator: string): void {
  if (comparator !== 'leveldb.BytewiseComparator') return;
  rows.forEach((row, i) => {
    if (row.type !== 'range_delete') return;
    const before = rows.slice(0, i).filter(({ type }) => type !== 'range_delete');
    for (const { key } of before) expect(key! < row.start!).toBe(true);
    const after = rows.slice(i + 1).find(({ type }) => type !== 'range_delete');
    if (after !== undefined) expect(after.key! >= row.start!).toBe(true);
  });
}
