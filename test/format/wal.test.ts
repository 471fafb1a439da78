/** Every real WAL: the records that RocksDB's ldb 11.9 prints of it, and no fault. */

import { statSync } from 'node:fs';
import { expect, it } from 'vitest';
import { readGzipText, sharedFixtures } from '../support/fixtures.ts';
import { ldbLines, recordLines } from '../support/ldb-wal.ts';
import { realWals } from '../support/wal.ts';

const seen = new Set<string>();

it.each(realWals())('$name', async ({ path, expected }) => {
  const { lines, faults, end, types, headerSize } = await ldbLines(path);
  expect(faults).toEqual([]);
  expect(end.state).toMatch(/^(clean|recycled_tail)$/);
  if (end.state === 'clean') expect(end.offset).toBe(statSync(path).size);
  if (expected !== undefined) expect(lines).toEqual(recordLines(readGzipText(expected), headerSize));
  for (const type of types) seen.add(type);
});

it.skipIf(!sharedFixtures().present)('of many kinds', () => {
  expect([...seen].sort()).toEqual(
    expect.arrayContaining([
      'begin_prepare',
      'commit',
      'compression_type',
      'delete',
      'end_prepare',
      'entity',
      'merge',
      'put',
      'range_delete',
      'rollback',
      'single_delete',
      'timestamp_sizes',
    ]),
  );
});
