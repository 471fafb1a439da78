/** Damaged files as scan reads them: what is said, what is lost, what is still there. */

import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { bytewiseComparator, listDataBlocks, memorySource, openTable, withPending } from '../../src/index.ts';
import type { Finding } from '../../src/tools/finding.ts';
import { fixture } from '../support/fixtures.ts';
import { append, flipBit, overwrite, truncate, zeroRange } from '../support/patch.ts';
import { type ScannedFile, testEnvironment } from '../support/scan.ts';
import { runHere } from './run-here.ts';
import { blockOf, bytesOf, type Handle, scanBytes, writeTable } from './table-by-hand.ts';

const demo = fixture('demo/basic.sst').bytes();

async function dataBlocks(bytes: Uint8Array): Promise<Handle[]> {
  const environment = await testEnvironment();
  const table = await withPending(() => openTable(memorySource(bytes), environment));
  const blocks = await listDataBlocks(table);
  return Array.from({ length: blocks.count }, (_, i) => ({
    offset: blocks.offsets[i]!,
    size: blocks.sizes[i]!,
  }));
}

function textOf({ findings, failures }: ScannedFile): string {
  return [...findings.map(({ message }) => message), ...failures.map(({ message }) => message)].join('\n');
}

describe('FT-01: the end of the file is gone, or something stands behind it', () => {
  const random = bytesOf([0x9c, 0x11, 0xee, 0x57, 0x03, 0xa8, 0x42, 0xf0]);

  it.each<[string, Uint8Array]>([
    ['1 byte short', truncate(demo, -1)],
    ['48 bytes short', truncate(demo, -48)],
    ['53 bytes short', truncate(demo, -53)],
    ['100 bytes short', truncate(demo, -100)],
    ['the last 8 bytes at random', overwrite(demo, demo.length - 8, random)],
  ])('%s: no magic number, sizes, and all rows', async (_, bytes) => {
    const result = await scanBytes(bytes);
    expect(result.damaged).toBe(true);
    expect(textOf(result)).toMatch(/magic number/);
    expect(textOf(result)).toContain(String(bytes.length));
    expect(textOf(result)).not.toMatch(/format.version/);
    const whole = await scanBytes(demo);
    expect(result.rows).toEqual(whole.rows);
  });

  it('17 bytes of text behind it: the footer is found 17 bytes further up', async () => {
    const result = await scanBytes(append(demo, bytesOf('seventeen letters')));
    expect(textOf(result)).toContain('17 bytes follow the table');
    expect(textOf(result)).not.toMatch(/format.version/);
    expect(result.rows).toEqual((await scanBytes(demo)).rows);
  });

  it('the same for every file of one name but other lengths: none is a crash', async () => {
    for (let length = demo.length - 1; length > 0; length = Math.floor(length * 0.8)) {
      const result = await scanBytes(truncate(demo, length));
      expect(result.damaged || result.failures.length > 0).toBe(true);
      expect(textOf(result)).not.toMatch(/format.version/);
    }
  });
});

describe('FT-03: a run of zeros across the border of two blocks', () => {
  it('costs these two blocks, between the last good key and the first', async () => {
    const blocks = await dataBlocks(demo);
    const border = blocks[4]!.offset;
    const { rows, findings, damaged } = await scanBytes(zeroRange(demo, border - 256, border + 256));
    expect(damaged).toBe(true);
    const whole = await scanBytes(demo);
    const keys = (file: ScannedFile): string[] =>
      file.rows.filter(({ key }) => key !== undefined).map(({ key }) => key!);
    const lost = keys(whole).filter((key) => !rows.some((row) => row.key === key));
    const firstLost = keys(whole).indexOf(lost[0]!);
    expect(lost.length).toBeGreaterThan(10);
    const wanted: Partial<Finding> = {
      code: 'block_checksum',
      severity: 'damage',
      shape: 'zeros',
      lost: {
        after: Uint8Array.from(Buffer.from(keys(whole)[firstLost - 1]!, 'hex')),
        before: Uint8Array.from(Buffer.from(keys(whole)[firstLost + lost.length]!, 'hex')),
        entries: null,
      },
    };
    expect(findings).toMatchObject([
      { ...wanted, block: { ordinal: 3 } },
      { ...wanted, block: { ordinal: 4 } },
    ]);
  });
});

describe('FT-05: one flipped bit in a value, so that the block still parses', () => {
  const bytes = fixture('modern/fv7-none.sst').bytes();

  it('is found, with its block and its shape', async () => {
    const whole = await scanBytes(bytes);
    const [first] = await dataBlocks(bytes);
    const value = Buffer.from(whole.rows.find((row) => (row.value ?? '').length > 8)!.value!, 'hex');
    const position = Buffer.from(bytes).indexOf(value);
    expect(position).toBeGreaterThan(first!.offset);
    expect(position).toBeLessThan(first!.offset + first!.size);
    const { findings, damaged, rows } = await scanBytes(flipBit(bytes, position + 3, 2));
    expect(damaged).toBe(true);
    expect(findings).toMatchObject([
      {
        code: 'block_checksum',
        shape: 'bit_flip',
        block: { type: 'data', offset: first!.offset, ordinal: 0 },
      },
    ]);
    expect(findings[0]!.stored).not.toBe(findings[0]!.computed);
    expect(rows.length).toBeLessThan(whole.rows.length);
  });
});

describe('FT-09: empty files, and files whose tail is zeros', () => {
  it('an empty file is called so', async () => {
    const { failures, rows } = await scanBytes(new Uint8Array(0));
    expect(rows).toEqual([]);
    expect(failures).toMatchObject([{ code: 'empty' }]);
  });

  it('a tail of 64 KiB of zeros: the blocks before it are read', async () => {
    const entries = Array.from({ length: 3000 }, (_, i) => ({
      key: `key${String(i).padStart(6, '0')}`,
      seqno: i,
      value: 'x'.repeat(40),
    }));
    const blocks = Array.from({ length: 30 }, (_, i) => blockOf(entries.slice(100 * i, 100 * i + 100)));
    const { bytes, data } = writeTable({ data: blocks });
    const zerosFrom = bytes.length - 64 * 1024;
    const result = await scanBytes(zeroRange(bytes, zerosFrom, bytes.length));
    expect(textOf(result)).toMatch(/the last \d+ bytes of \d+ are zeros, the footer is lost/);
    expect(result.damaged).toBe(true);
    const wholeBlocks = data.filter(({ offset, size }) => offset + size + 5 <= zerosFrom).length;
    expect(wholeBlocks).toBeGreaterThan(10);
    expect(result.rows.length).toBe(100 * wholeBlocks);
  });

  it('nothing but zeros cannot be read', async () => {
    const { failures } = await scanBytes(new Uint8Array(2000));
    expect(failures.map(({ message }) => message).join()).toContain('zeros');
  });
});

/** Before format_version 6 a footer has no checksum: the checksum type, two handles, the version and the magic number. */
describe('a footer that only looks like one', () => {
  const VERSIONS = [2, 3, 4, 5].flatMap((version) =>
    ['crc32c', 'xxh32', 'xxh64', 'xxh3'].map((checksum) => `version/fv${version}-${checksum}.sst`),
  );

  it.each(VERSIONS)('%s: zeros up to its version, all rows are found', async (name) => {
    const bytes = fixture(name).bytes();
    const result = await scanBytes(zeroRange(bytes, bytes.length - 53, bytes.length - 12));
    expect(result.damaged).toBe(true);
    expect(textOf(result)).toContain('neither metaindex nor index are where it says');
    expect(result.rows).toEqual((await scanBytes(bytes)).rows);
  });

  it('no checksums, and handles to where a compression stands that is none: compact does not take it for empty', async () => {
    const bytes = fixture('version/fv5-xxh64.sst').bytes();
    // Handles to 1500 (size 3) and 1510 (size 4), and bytes there that name no compression.
    const damaged = overwrite(
      overwrite(
        zeroRange(bytes, bytes.length - 53, bytes.length - 12),
        bytes.length - 52,
        bytesOf([0xdc, 0x0b, 3, 0xe6, 0x0b, 4]),
      ),
      1500,
      bytesOf([0x31, 0x31, 0x31, 0x31, 0, 0, 0, 0, 0, 0, 0x31, 0x31, 0x31, 0x31, 0x31]),
    );
    const folder = mkdtempSync(path.join(tmpdir(), 'sstkit-footer-'));
    try {
      writeFileSync(path.join(folder, 'in.sst'), damaged);
      const refused = await runHere(['compact', 'in.sst', '--out', 'out.sst'], { cwd: folder });
      expect([1, 4]).toContain(refused.status);
      expect(existsSync(path.join(folder, 'out.sst'))).toBe(false);
      const verified = await runHere(['verify', 'in.sst', '--json'], { cwd: folder });
      expect(verified.status).toBe(1);
      const salvaged = await runHere(['compact', 'in.sst', '--out', 'out.sst', '--salvage', '--json'], {
        cwd: folder,
      });
      expect(salvaged.status).toBe(1);
      expect(JSON.parse(salvaged.stdout.toString()).outputs).toHaveLength(1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});

describe('one lost block does not hide the others', () => {
  const withLost = async (name: string): Promise<Uint8Array> => {
    const environment = await testEnvironment();
    const table = await withPending(() => openTable(memorySource(demo), environment));
    return flipBit(demo, table.metaBlock(name)!.offset + 10);
  };

  it('the filter has no part in the rows', async () => {
    const { rows, damaged } = await scanBytes(await withLost('fullfilter.rocksdb.BuiltinBloomFilter'));
    expect(rows).toEqual((await scanBytes(demo)).rows);
    expect(damaged).toBe(false);
  });

  it('without the properties the order of keys is not known: tombstones come first', async () => {
    const bytes = await withLost('rocksdb.properties');
    const whole = await scanBytes(demo);
    const isTombstone = ({ type }: { type: string }): boolean => type === 'range_delete';
    const { rows, damaged } = await scanBytes(bytes);
    expect(damaged).toBe(true);
    expect(rows).toEqual([
      ...whole.rows.filter(isTombstone),
      ...whole.rows.filter((row) => !isTombstone(row)),
    ]);
    const told = await scanBytes(bytes, { comparator: bytewiseComparator });
    expect(told.rows).toEqual(whole.rows);
  });

  it('the index: the data blocks are found without it', async () => {
    const environment = await testEnvironment();
    const table = await withPending(() => openTable(memorySource(demo), environment));
    const { rows, damaged } = await scanBytes(flipBit(demo, table.index!.handle.offset + 3));
    expect(damaged).toBe(true);
    expect(rows).toEqual((await scanBytes(demo)).rows);
  });
});
