/** `scan --fragmented` against the range deletions of the real tool's raw dumps; `scan --covered` against the model. */
import { describe, expect, it } from 'vitest';
import { blockOf, hexOf, scanBytes, writeTable } from '../bug-cases/table-by-hand.ts';
import { fixtures, parseRawRangeDeletions, sharedFixtures } from '../support/fixtures.ts';
import { scanRows } from '../support/scan.ts';

describe('--fragmented', () => {
  const shared = sharedFixtures();
  let tables = 0;
  for (const table of shared.tables) {
    const raw = table.rawText === undefined ? [] : parseRawRangeDeletions(table.rawText());
    if (raw.length === 0) continue;
    tables++;
    it(`${table.name} has the rows of the raw dump`, async () => {
      const { rows, failures } = await scanRows([table.path], { fragmented: true });
      expect(failures).toEqual([]);
      const fragments = rows.filter(({ type }) => type === 'range_delete');
      expect(fragments.length).toBe(raw.length);
      fragments.forEach(({ start, end, seqno, timestamp }, i) => {
        const row = raw[i]!;
        // The tool shows the largest timestamp in place of the stored one; 7.8 shows no sequence numbers.
        const shown = timestamp === undefined ? '' : 'f'.repeat(timestamp.length);
        expect([`${start}${shown}`, `${end}${shown}`]).toEqual([row.start, row.end]);
        if (row.seqno !== null) expect(seqno).toBe(row.seqno);
      });
    });
  }
  it.skipIf(!shared.present)('was tried on many real files', () => {
    expect(tables).toBeGreaterThan(20);
  });
});

describe('--covered', () => {
  for (const fixture of fixtures()) {
    const { expected } = fixture;
    if (expected === undefined || fixture.comparator !== 'leveldb.BytewiseComparator') continue;
    const { rangeTombstones, entries } = expected();
    if (rangeTombstones.length === 0 || entries.length === 0) continue;
    for (const reverse of [false, true]) {
      it(`${fixture.name}${reverse ? ', backward' : ''}`, async () => {
        const { rows } = await scanRows([fixture.path], { covered: true, reverse });
        const points = rows.filter(({ type }) => type !== 'range_delete');
        const hidden = points.filter((row) => (row as { covered?: boolean }).covered);
        const wanted = entries.filter(({ key, seqno }) =>
          rangeTombstones.some(
            ({ start, end, seqno: tombstone }) =>
              start <= key && key < end && BigInt(tombstone) > BigInt(seqno),
          ),
        );
        expect(hidden.map(({ key, seqno }) => `${key} ${seqno}`).sort()).toEqual(
          wanted.map(({ key, seqno }) => `${key} ${seqno}`).sort(),
        );
      });
    }
  }
});

describe('tombstones inside of each other', () => {
  const COUNT = 60;
  const key = (i: number): string => String(i).padStart(4, '0');
  const { bytes } = writeTable({
    data: [blockOf([{ key: key(COUNT - 1), seqno: COUNT - 1, value: 'v' }])],
    tombstones: Array.from({ length: COUNT }, (_, i) => ({
      start: key(i),
      end: key(2 * COUNT - i),
      seqno: i + 1,
    })),
  });

  it('have rows as many as their square, newest first in each fragment, and backward the exact reverse', async () => {
    const { rows } = await scanBytes(bytes, { fragmented: true });
    const tombstones = rows.filter(({ type }) => type === 'range_delete');
    expect(tombstones).toHaveLength(COUNT * COUNT);
    expect(tombstones.slice(1, 3).map(({ seqno }) => seqno)).toEqual(['2', '1']);
    const backward = await scanBytes(bytes, { fragmented: true, reverse: true });
    expect(backward.rows).toEqual([...rows].reverse());
    expect((await scanBytes(bytes, { fragmented: true, limit: 2 })).rows).toEqual(rows.slice(0, 2));
  });

  it('hide what the newest of them hides', async () => {
    const { rows } = await scanBytes(bytes, { covered: true, types: new Set(['put']) });
    expect(rows).toMatchObject([{ key: hexOf(key(COUNT - 1)), covered: true }]);
  });
});

describe('with timestamps', () => {
  const at = (key: string, timestamp: number): string =>
    `${key}${String.fromCharCode(timestamp)}${'\0'.repeat(7)}`;
  const { bytes } = writeTable({
    properties: { 'rocksdb.comparator': 'leveldb.BytewiseComparator.u64ts' },
    data: [blockOf([{ key: at('b', 4), seqno: 6, value: 'v' }])],
    tombstones: [
      { start: at('b', 7), end: at('d', 7), seqno: 3 },
      { start: at('b', 1), end: at('d', 1), seqno: 9 },
      { start: at('a', 5), end: at('c', 5), seqno: 5 },
    ],
  });

  it('rows of a fragment are together, newest sequence number first, before the entries that they may hide', async () => {
    const { rows, failures } = await scanBytes(bytes, { fragmented: true, covered: true });
    expect(failures).toEqual([]);
    expect(rows.map(({ start, key, end, seqno }) => [start ?? key, end, seqno])).toEqual([
      ['61', '62', '5'],
      ['62', '63', '9'],
      ['62', '63', '5'],
      ['62', '63', '3'],
      ['62', undefined, '6'],
      ['63', '64', '9'],
      ['63', '64', '3'],
    ]);
    const backward = await scanBytes(bytes, { fragmented: true, covered: true, reverse: true });
    expect(backward.rows).toEqual([...rows].reverse());
  });
});
