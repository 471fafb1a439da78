/** WALs beside ldb 7.8.3: those that are here, and one that db_bench leaves. */

import { readdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ldbLines, recordLines } from '../support/ldb-wal.ts';
import { findTool, runTool } from '../support/oracles.ts';
import { makeRamFolder } from '../support/ram-folder.ts';
import { realWals } from '../support/wal.ts';

/** Wide columns print from 7.9 on, records about timestamps are known from 8.0 on. */
const NEWER = /\/?(entity|udt|udt_nopersist)\/|own\/mixed\//;

function ldbOf(wal: string, headerSize: number): string[] {
  const { status, stdout, stderr } = runTool('ldb', [
    'dump_wal',
    `--walfile=${wal}`,
    '--header',
    '--print_value',
  ]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return recordLines(stdout, headerSize);
}

describe.skipIf(findTool('ldb') === undefined)('ldb dump_wal', () => {
  it.each(realWals().filter(({ name }) => !NEWER.test(name)))('$name', async ({ path: wal }) => {
    const { lines, headerSize } = await ldbLines(wal);
    expect(lines).toEqual(ldbOf(wal, headerSize));
  });
});

describe.skipIf(findTool('ldb') === undefined || findTool('db_bench') === undefined)('db_bench', () => {
  let root: string;
  beforeAll(() => {
    root = makeRamFolder('sstkit-wal-');
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it.each([
    ['plain', []],
    ['zstd', ['--wal_compression=zstd']],
  ] as const)(
    '%s: batches, values over several blocks, tombstones',
    async (name, options) => {
      const folder = path.join(root, name);
      const { status } = runTool('db_bench', [
        `--db=${folder}`,
        '--benchmarks=fillrandom',
        '--num=3000',
        '--batch_size=7',
        '--value_size=700',
        '--value_size_distribution_type=uniform',
        '--value_size_min=0',
        '--value_size_max=70000',
        '--writes_per_range_tombstone=50',
        '--max_num_range_tombstones=1000',
        '--seed=3',
        '--write_buffer_size=1000000000',
        ...options,
      ]);
      expect(status).toBe(0);
      const logs = readdirSync(folder).filter((file) => file.endsWith('.log'));
      for (const log of logs) {
        const wal = path.join(folder, log);
        const { lines, faults, end, headerSize } = await ldbLines(wal);
        expect(faults).toEqual([]);
        expect(end.state).toBe('clean');
        expect(lines.length).toBeGreaterThan(400);
        expect(lines).toEqual(ldbOf(wal, headerSize));
      }
      expect(logs.length).toBeGreaterThan(0);
    },
    60_000,
  );
});
