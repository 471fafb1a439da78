/** Compressed blocks and dictionaries. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { listDataBlocks, memorySource, openTable, withPending } from '../../src/index.ts';
import { fixture } from '../support/fixtures.ts';
import { flipBit, patchBlock } from '../support/patch.ts';
import { testEnvironment } from '../support/scan.ts';
import { runHere } from './run-here.ts';
import {
  blockOf,
  bytesOf,
  type DataBlock,
  fixed64,
  type Handle,
  scanBytes,
  varint,
  writeTable,
} from './table-by-hand.ts';

const DICTIONARY = bytesOf('the quick brown fox jumps over the lazy dog '.repeat(100)).subarray(0, 4096);
const ZLIB = 2;

async function firstDataBlock(bytes: Uint8Array): Promise<Handle> {
  const environment = await testEnvironment();
  const table = await withPending(() => openTable(memorySource(bytes), environment));
  const blocks = await listDataBlocks(table);
  return { offset: blocks.offsets[0]!, size: blocks.sizes[0]! };
}

const withZlib = ({ payload, lastKey }: DataBlock): DataBlock => ({
  payload: bytesOf(
    varint(payload.length),
    deflateRawSync(payload, { windowBits: 14, dictionary: DICTIONARY }),
  ),
  compressionType: ZLIB,
  lastKey,
});

const twoBlocks = ['a', 'b'].map((key, i) =>
  blockOf([{ key, seqno: i + 1, value: 'the quick brown fox jumps over the lazy cat' }]),
);

describe('CO-01: a dictionary that no block uses', () => {
  const { bytes } = writeTable({ data: twoBlocks, meta: { 'rocksdb.compression_dict': DICTIONARY } });

  it('does not get in the way of the rows', async () => {
    const { rows, findings } = await scanBytes(bytes);
    expect(rows.map(({ key }) => key)).toEqual(['61', '62']);
    expect(findings).toEqual([]);
  });

  it('is told by dump', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'sstkit-dictionary-'));
    try {
      const file = path.join(folder, 'unused.sst');
      writeFileSync(file, bytes);
      const { stdout, status } = await runHere(['dump', file, '--json'], { cwd: tmpdir() });
      expect(status).toBe(0);
      const { dictionary } = JSON.parse(stdout.toString());
      expect(dictionary).toMatchObject({ size: DICTIONARY.length, used: false });
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('CO-05: tombstones beside a dictionary', () => {
  const table = writeTable({
    data: twoBlocks.map(withZlib),
    meta: { 'rocksdb.compression_dict': DICTIONARY },
    tombstones: [
      { start: 'a', end: 'c', seqno: 8 },
      { start: 'x', end: 'z', seqno: 9 },
    ],
  });

  it('both are read', async () => {
    const { rows, findings } = await scanBytes(table.bytes);
    expect(findings).toEqual([]);
    expect(rows.map(({ type }) => type)).toEqual(['range_delete', 'put', 'put', 'range_delete']);
  });

  it('a damaged dictionary costs the data blocks alone', async () => {
    const { offset } = table.meta['rocksdb.compression_dict']!;
    const { rows, findings, damaged } = await scanBytes(flipBit(table.bytes, offset + 100));
    expect(rows.map(({ type }) => type)).toEqual(['range_delete', 'range_delete']);
    expect(damaged).toBe(true);
    expect(findings[0]).toMatchObject({ code: 'block_checksum' });
    expect(findings.slice(1)).toMatchObject([
      { code: 'block_decompress', block: { ordinal: 0 } },
      { code: 'block_decompress', block: { ordinal: 1 } },
    ]);
  });
});

describe('CO-07: the length in front of LZ4', () => {
  /** Its lower half is not 0: such eight bytes would be those of a big-endian machine. */
  const LENGTH = 2 ** 40 + 1;

  it.each([
    ['compression/lz4-fv5.sst', bytesOf(varint(LENGTH))],
    ['compression/lz4-fv0.sst', bytesOf(fixed64(BigInt(LENGTH)))],
    ['compression/lz4hc-fv5.sst', bytesOf(varint(LENGTH))],
    ['compression/lz4hc-fv0.sst', bytesOf(fixed64(BigInt(LENGTH)))],
  ])('%s decodes; a length of a terabyte is told with the block, and not allocated', async (name, length) => {
    const file = fixture(name);
    const bytes = file.bytes();
    const whole = await scanBytes(bytes);
    expect(whole.findings).toEqual([]);
    const handle = await firstDataBlock(bytes);
    const before = process.memoryUsage().arrayBuffers;
    const patched = patchBlock(bytes, handle, { edit: (payload) => payload.set(length) });
    const { rows, findings, damaged } = await scanBytes(patched);
    expect(damaged).toBe(true);
    expect(findings).toMatchObject([
      { code: 'block_decompress', block: { type: 'data', offset: handle.offset, ordinal: 0 } },
    ]);
    expect(findings[0]!.message).toContain(String(LENGTH));
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
    expect(rows.length).toBeGreaterThan(0);
    expect(rows.length).toBeLessThan(whole.rows.length);
  });
});

describe('CO-09: XPRESS, and what only its writer can read', () => {
  it.each([
    [6, 'xpress'],
    [0x81, 'custom_81'],
    [0x22, 'reserved_22'],
  ])('compression byte %i is not supported, and no damage', async (compressionType, name) => {
    const bytes = fixture('modern/fv7-none.sst').bytes();
    const patched = patchBlock(bytes, await firstDataBlock(bytes), { compressionType });
    const { findings, rows, damaged } = await scanBytes(patched);
    expect(damaged).toBe(false);
    expect(findings).toMatchObject([{ code: 'unsupported', severity: 'warning' }]);
    expect(findings[0]!.message).toContain(name);
    expect(rows.length).toBeGreaterThan(0);

    const folder = mkdtempSync(path.join(tmpdir(), 'sstkit-xpress-'));
    try {
      const file = path.join(folder, 'xpress.sst');
      writeFileSync(file, patched);
      const { status, stderr } = await runHere(['scan', file, '--count'], { cwd: tmpdir() });
      expect(status).toBe(4);
      expect(stderr).toContain(name);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

describe('CO-11: framed Snappy where raw Snappy belongs', () => {
  it('raw Snappy is read', async () => {
    const { rows, findings } = await scanBytes(fixture('leveldb/snappy.ldb').bytes());
    expect(findings).toEqual([]);
    expect(rows.length).toBeGreaterThan(0);
  });

  it('the stream format is named', async () => {
    const framed: DataBlock = {
      ...blockOf([{ key: 'a', seqno: 1 }]),
      payload: bytesOf([0xff, 6, 0, 0], 'sNaPpY', [0, 8, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]),
      compressionType: 1,
    };
    const { bytes } = writeTable({ data: [framed, blockOf([{ key: 'b', seqno: 2 }])], properties: null });
    const { rows, findings, damaged } = await scanBytes(bytes);
    expect(rows.map(({ key }) => key)).toEqual(['62']);
    expect(damaged).toBe(true);
    expect(findings[0]!.message).toContain('framed Snappy');
  });
});
