/** Databases that RocksDB's db_bench makes: several levels, tombstones over the borders of files, file checksums. */

import { readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareBytes } from '../../src/bytes/compare.ts';
import { memorySource } from '../../src/bytes/source.ts';
import { withPending } from '../../src/errors.ts';
import { readManifest } from '../../src/format/manifest/manifest-reader.ts';
import type { NewFile } from '../../src/format/manifest/version-edit.ts';
import { openTable } from '../../src/format/table-reader.ts';
import { twinHashFunctions } from '../../src/hash/hash-functions.ts';
import { findingsIn, manifestPath, verifyFolder } from '../support/manifest.ts';
import { findTool, runTool } from '../support/oracles.ts';
import { makeRamFolder } from '../support/ram-folder.ts';
import { testEnvironment } from '../support/scan.ts';

const TOMBSTONE_WIDTH = 3000;

describe.skipIf(findTool('db_bench') === undefined)('db_bench 7.8.3', () => {
  let root: string;
  let folder: string;
  let files: NewFile[];
  beforeAll(() => {
    root = makeRamFolder('sstkit-db-bench-');
    folder = path.join(root, 'db');
    const { status } = runTool('db_bench', [
      `--db=${folder}`,
      '--benchmarks=fillrandom',
      '--num=100000',
      '--value_size=40',
      '--write_buffer_size=200000',
      '--target_file_size_base=60000',
      '--max_bytes_for_level_base=400000',
      '--max_bytes_for_level_multiplier=4',
      '--level0_file_num_compaction_trigger=3',
      '--writes_per_range_tombstone=200',
      `--range_tombstone_width=${TOMBSTONE_WIDTH}`,
      '--max_num_range_tombstones=100000',
      '--compression_type=none',
      '--subcompactions=2',
      '--file_checksum=true',
      '--seed=4',
    ]);
    expect(status).toBe(0);
    const manifest = memorySource(new Uint8Array(readFileSync(manifestPath(folder))));
    const { state } = readManifest(manifest, twinHashFunctions(), {
      fault: (error) => {
        throw error;
      },
    });
    files = [...state.columnFamilies.get(0)!.files.values()];
  }, 60_000);
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it('is whole by its own MANIFEST, file checksums included', async () => {
    expect(await findingsIn(folder)).toEqual([]);
    // The tables, the MANIFEST, and the log with what was not flushed.
    expect((await verifyFolder(folder)).size).toBe(files.length + 2);
    expect(files.every((file) => file.fileChecksumFunction === 'FileChecksumCrc32c')).toBe(true);
  });

  it('has levels, and tombstones that reach over the bounds of their files', async () => {
    const environment = await testEnvironment();
    let reaching = 0;
    for (const { number, level, smallest, largest } of files) {
      if (level === 0) continue;
      const bytes = new Uint8Array(readFileSync(path.join(folder, `${String(number).padStart(6, '0')}.sst`)));
      const table = await withPending(() => openTable(memorySource(bytes), environment));
      for (const { startKey, end } of table.readRangeTombstones()) {
        const starts = compareBytes(startKey, 0, startKey.length - 8, smallest, 0, smallest.length - 8) < 0;
        const ends = compareBytes(end, 0, end.length, largest, 0, largest.length - 8) > 0;
        if (starts || ends) reaching++;
      }
    }
    expect(new Set(files.map(({ level }) => level)).size).toBeGreaterThan(1);
    expect(reaching).toBeGreaterThan(0);
  });
});
