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
