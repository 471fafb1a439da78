/** Range tombstones in compactions. There are no levels here: what one compaction writes stands for one of them. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { scanRows } from '../support/scan.ts';
import { runHere } from './run-here.ts';
import { blockOf, type Entry, type TableByHand, TYPE, varint, writeTable } from './table-by-hand.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'sstkit-range-tombstones-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function write(name: string, entries: readonly Entry[], rest: Partial<TableByHand> = {}): string {
  const { bytes } = writeTable({ data: entries.length > 0 ? [blockOf(entries)] : [], ...rest });
  writeFileSync(path.join(cwd, name), bytes);
  return name;
}

interface Output {
  path: string;
  smallest: string;
  largest: string;
}

async function compact(...words: string[]): Promise<Output[]> {
  const { status, stdout, stderr } = await runHere(['compact', ...words, '--bytes', 'utf8', '--json'], {
    cwd,
  });
  expect(status, stderr).toBe(0);
  return JSON.parse(stdout.toString()).outputs;
}

/** Rows of a file as `key@seqno type value`, tombstones as `[start, end)@seqno`. */
async function rowsOf(name: string): Promise<string[]> {
  const { rows, findings } = await scanRows([path.join(cwd, name)], {});
  expect(findings).toEqual([]);
  return rows.map(({ key, start, end, seqno, type, value }) =>
    start === undefined
      ? [`${text(key!)}@${seqno}`, type, text(value ?? '')].join(' ').trim()
      : `[${text(start)}, ${text(end!)})@${seqno}`,
  );
}

const text = (hex: string): string => Buffer.from(hex, 'hex').toString();

describe('RT-07: merge operands on both sides of a range tombstone', () => {
  const merger = ['--merge-operator', 'StringAppendOperator:,'];
  const files = (): string[] => [
    write('1.sst', [{ key: 'k', seqno: 2, type: TYPE.merge, value: 'x' }]),
    write('2.sst', [], { tombstones: [{ start: 'a', end: 'z', seqno: 5 }] }),
    write('3.sst', [{ key: 'k', seqno: 9, type: TYPE.merge, value: 'y' }]),
  ];

  it('the newer one alone is left, and is a value where nothing older exists', async () => {
    await compact(...files(), ...merger, '--bottommost', '--out', 'all.sst');
    expect(await rowsOf('all.sst')).toEqual(['k@0 put y']);
  });

  it('the tombstone stays where something older may exist, and hides the older operand', async () => {
    await compact(...files(), ...merger, '--out', 'all.sst');
    expect(await rowsOf('all.sst')).toEqual(['[a, z)@5', expect.stringMatching(/^k@9 (put|merge) y$/)]);
  });

  it('the files in any order', async () => {
    await compact(...files().reverse(), ...merger, '--bottommost', '--out', 'all.sst');
    expect(await rowsOf('all.sst')).toEqual(['k@0 put y']);
  });

  it('a reader before the tombstone keeps the older operand', async () => {
    await compact(...files(), ...merger, '--snapshots', '4', '--out', 'all.sst');
    const rows = await rowsOf('all.sst');
    expect(rows).toEqual(['[a, z)@5', expect.stringMatching(/^k@9 \w+ y$/), 'k@2 merge x']);
  });
});

describe('RT-13: range tombstones counted as old releases did', () => {
  const points = ['a', 'b', 'c'].map((key, i) => ({ key, seqno: i + 1 }));
  const tombstones = [{ start: 'b', end: 'c', seqno: 9 }];
  const cases = {
    'no number of range tombstones, 4 entries': { 'rocksdb.num.entries': varint(4) },
    '3 entries and 1 range tombstone': {
      'rocksdb.num.entries': varint(3),
      'rocksdb.num.range-deletions': varint(1),
    },
  };
  for (const [name, properties] of Object.entries(cases)) {
    it(`${name}: verified with a note`, async () => {
      const file = write('old.sst', points, { tombstones, properties });
      const { status, stdout } = await runHere(['verify', file, '--json'], { cwd });
      expect(status).toBe(0);
      expect(stdout.toString()).toContain('old_range_del_count');
    });

    it(`${name}: compacted, and the tombstone stays`, async () => {
      const file = write('old.sst', points, { tombstones, properties });
      await compact(file, '--out', 'new.sst');
      expect(await rowsOf('new.sst')).toEqual(['a@1 put', '[b, c)@9', 'c@3 put']);
    });
  }
});

describe('RT-17: a tombstone at the very border between old and new', () => {
  const put = (key: string, seqno: number): Entry => ({ key, seqno });
  const bottom = (): string =>
    write('bottom.sst', [put('02', 1), put('12', 2)], { tombstones: [{ start: '02', end: '12', seqno: 3 }] });
  const next = (): string => write('b.sst', [put('05', 6), put('09', 7)]);

  it('it comes out in one file with the points around it, and hides those below it', async () => {
    await compact(next(), bottom(), '--out', 'all.sst');
    expect(await rowsOf('all.sst')).toEqual(['[02, 12)@3', '05@6 put', '09@7 put', '12@2 put']);
  });

  it('a snapshot at its sequence number is on its side of the border, one before it is not', async () => {
    await compact(next(), bottom(), '--snapshots', '3', '--out', 'at.sst');
    expect(await rowsOf('at.sst')).toEqual(['[02, 12)@3', '05@6 put', '09@7 put', '12@2 put']);
    await compact(next(), bottom(), '--snapshots', '2', '--out', 'before.sst');
    expect(await rowsOf('before.sst')).toContain('02@1 put');
  });

  it('no two files that one compaction writes overlap', async () => {
    const upper = write('a.sst', [put('00', 4), put('04', 5)]);
    for (const inputs of [
      [next(), bottom()],
      [upper, next(), bottom()],
    ]) {
      const outputs = await compact(...inputs, '--target-file-size', '1', '--out', `out${inputs.length}`);
      expect(outputs.length).toBeGreaterThan(1);
      for (let i = 1; i < outputs.length; i++) {
        // The largest key is exclusive where a tombstone ends there: then two files share it as their border.
        expect(outputs[i]!.smallest >= outputs[i - 1]!.largest).toBe(true);
      }
      expect(outputs.at(-1)!.largest).toBe('12');
    }
  });
});
