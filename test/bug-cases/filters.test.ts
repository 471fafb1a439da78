/** Filters as far as reading goes: they are recognised, and no row depends on them. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from './run-here.ts';
import { blockOf, bytesOf, scanBytes, writeTable } from './table-by-hand.ts';

/** 64 bytes of bits, then the marker of the newer Bloom filters: -1, 0, 6 probes, 0, 0. */
const FILTER = bytesOf(new Uint8Array(64).fill(0xff), [0xff, 0, 6, 0, 0]);

describe('PF-09: one filter under several names', () => {
  it.each(['fullfilter.rocksdb.BuiltinBloomFilter', 'fullfilter.bloomfilter', 'fullfilter.my.filter'])(
    '%s is listed, and the rows are the same',
    async (name) => {
      const { bytes } = writeTable({ data: [blockOf([{ key: 'k', seqno: 1 }])], meta: { [name]: FILTER } });
      const { rows, findings } = await scanBytes(bytes);
      expect(findings).toEqual([]);
      expect(rows.map(({ key }) => key)).toEqual(['6b']);

      const folder = mkdtempSync(path.join(tmpdir(), 'sstkit-filter-'));
      try {
        const file = path.join(folder, 'named.sst');
        writeFileSync(file, bytes);
        const { stdout, status } = await runHere(['dump', file, '--json'], { cwd: tmpdir() });
        expect(status).toBe(0);
        const document = JSON.parse(stdout.toString());
        expect(document.metaindex.map((entry: { name: string }) => entry.name)).toContain(name);
        expect(document.filter).toMatchObject({
          metaindexName: name,
          isRead: name === 'fullfilter.rocksdb.BuiltinBloomFilter',
        });
      } finally {
        rmSync(folder, { recursive: true, force: true });
      }
    },
  );
});
