/** Indexes and blocks that point outside of themselves. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  BlockIterator,
  CorruptionError,
  memorySource,
  openCuckooTable,
  openTable,
  readFooter,
  twinHashFunctions,
  withPending,
} from '../../src/index.ts';
import { fixture } from '../support/fixtures.ts';
import { overwrite } from '../support/patch.ts';
import { testEnvironment } from '../support/scan.ts';
import { runHere } from './run-here.ts';
import {
  block,
  blockOf,
  bytesOf,
  type DataBlock,
  fixed32,
  scanBytes,
  varint,
  writeTable,
} from './table-by-hand.ts';

const HASH_INDEX_FLAG = 0x80000000;
const SEPARATED_FLAG = 0x10000000;
/** Three blocks; the one in the middle may be replaced. */
const threeBlocks = (middle: DataBlock = blockOf([{ key: 'b', seqno: 2 }])): DataBlock[] => [
  blockOf([{ key: 'a', seqno: 1 }]),
  middle,
  blockOf([{ key: 'c', seqno: 3 }]),
];
const keysOf = (rows: readonly { key?: string }[]): string[] =>
  rows.map(({ key }) => Buffer.from(key!, 'hex').toString());

describe('IX-01: a hash index with more buckets than bytes', () => {
  const contents = block([], [...new Uint8Array(81), ...[0, 254]], HASH_INDEX_FLAG);
  const middle = { ...blockOf([{ key: 'b', seqno: 2 }]), payload: contents };

  it('is damage with its block, and the other blocks are read', async () => {
    expect(contents.length).toBe(91);
    const table = writeTable({ data: threeBlocks(middle) });
    const { rows, findings, damaged } = await scanBytes(table.bytes);
    expect(keysOf(rows)).toEqual(['a', 'c']);
    expect(damaged).toBe(true);
    expect(findings).toMatchObject([
      {
        code: 'block_format',
        severity: 'damage',
        block: { type: 'data', offset: table.data[1]!.offset, ordinal: 1 },
        lost: { after: bytesOf('a'), before: bytesOf('c') },
      },
    ]);
    expect(findings[0]!.message).toContain('65024 hash buckets');
  });
});

describe('IX-03: a handle that leads out of the file', () => {
  it.each<[string, { offset: number | bigint; size: number | bigint }]>([
    ['a size of 2^60', { offset: 0, size: 2n ** 60n }],
    ['a size of 2^50', { offset: 0, size: 2 ** 50 }],
    ['an offset behind the end', { offset: 1_000_000, size: 20 }],
    ['an offset of 2^53 - 1', { offset: 2 ** 53 - 1, size: 20 }],
    ['an offset of 2^64 - 1', { offset: 2n ** 64n - 1n, size: 20 }],
  ])('%s is refused before anything is allocated', async (_, handle) => {
    const before = process.memoryUsage().arrayBuffers;
    const { bytes } = writeTable({ data: threeBlocks(), handles: { 1: handle } });
    const { rows, findings, failures, damaged } = await scanBytes(bytes);
    expect(failures).toEqual([]);
    expect(damaged).toBe(true);
    expect(keysOf(rows)[0]).toBe('a');
    expect(['index_handle', 'entry_malformed']).toContain(findings[0]!.code);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
  });

  it('the blocks behind a handle that fits its varint are read', async () => {
    const { bytes } = writeTable({ data: threeBlocks(), handles: { 1: { offset: 1_000_000, size: 20 } } });
    expect(keysOf((await scanBytes(bytes)).rows)).toEqual(['a', 'c']);
  });
});

describe('IX-05: sizes of filter partitions', () => {
  it.each(['filter/partitioned.sst', 'filter/partitioned-fv2.sst', 'filter/partitioned-ribbon.sst'])(
    'of %s and of their index add up to the property',
    async (name) => {
      const file = fixture(name);
      const { stdout, status } = await runHere(['dump', file.path, '--blocks', '--format', 'ndjson'], {
        cwd: tmpdir(),
      });
      expect(status).toBe(0);
      const rows: { type: string; size: number }[] = stdout
        .toString()
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line));
      const sizesOf = (type: string): number[] =>
        rows.filter((row) => row.type === type).map(({ size }) => size);
      const partitions = sizesOf('filter_partition');
      expect(partitions.length).toBeGreaterThan(1);
      const environment = await testEnvironment();
      const table = await withPending(() => openTable(memorySource(file.bytes()), environment));
      const total = [...partitions, ...sizesOf('filter_index')].reduce((sum, size) => sum + size, 0);
      expect(total).toBe(table.properties!.count('rocksdb.filter.size'));
    },
  );
});

describe('IX-07: restart offsets above 2^31, values of many megabytes', () => {
  const restartOf = (flags: number): Uint8Array =>
    bytesOf(
      varint(0),
      varint(9),
      varint(1),
      'k',
      [1, 5, 0, 0, 0, 0, 0, 0],
      'v',
      fixed32(0x80000010),
      fixed32(1 | flags),
    );

  it('a restart outside of its block is no exception of another kind', async () => {
    for (const flags of [0, SEPARATED_FLAG]) {
      const payload =
        flags === 0 ? restartOf(0) : bytesOf(restartOf(0).subarray(0, -4), fixed32(12), fixed32(1 | flags));
      const iterator = new BlockIterator();
      try {
        iterator.reset(payload);
        while (iterator.next());
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptionError);
      }
      const middle = { ...blockOf([{ key: 'b', seqno: 2 }]), payload };
      const { rows, failures } = await scanBytes(writeTable({ data: threeBlocks(middle) }).bytes);
      expect(failures).toEqual([]);
      expect(keysOf(rows)).toEqual(expect.arrayContaining(['a', 'c']));
    }
  });

  it('a value of 70 MB is read', async () => {
    const { payload, lastKey } = blockOf([
      { key: 'b', seqno: 2, value: new Uint8Array(70_000_000).fill(0x61) },
    ]);
    const middle = {
      payload: bytesOf(varint(payload.length), deflateRawSync(payload, { level: 1 })),
      compressionType: 2,
      lastKey,
    };
    const folder = mkdtempSync(path.join(tmpdir(), 'sstkit-large-'));
    try {
      const file = path.join(folder, 'large.sst');
      writeFileSync(file, writeTable({ data: threeBlocks(middle) }).bytes);
      const before = process.memoryUsage().arrayBuffers;
      const { status, stdout } = await runHere(['scan', file, '--count', '--json'], { cwd: folder });
      expect(status).toBe(0);
      expect(JSON.parse(stdout.toString())).toMatchObject({ entries: 3, byType: { put: 3 } });
      // The block itself, and what its codec took for it; no copy for a row that is only counted.
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(3 * payload.length);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

/** Where the value of a property lies in a table without block trailers. */
function propertyPosition(bytes: Uint8Array, name: string): number {
  const source = memorySource(bytes);
  const { metaindex } = openCuckooTable(source, readFooter(source, twinHashFunctions()));
  const { offset, size } = metaindex!.find((entry) => entry.name === 'rocksdb.properties')!;
  const properties = new BlockIterator();
  properties.reset(bytes.subarray(offset, offset + size));
  while (properties.next()) {
    if (Buffer.from(properties.key.subarray(0, properties.keyLength)).toString() === name) {
      return offset + properties.valueStart;
    }
  }
  throw new Error(`no property ${name}`);
}

describe('IX-09: a cuckoo table whose size property lies', () => {
  const file = fixture('cuckoo/cuckoo.sst');
  const bytes = file.bytes();
  const valueAt = propertyPosition(bytes, 'rocksdb.cuckoo.hash.size');

  it.each([1_000_000, 0])('%i: said clearly', async (size) => {
    const patched = overwrite(bytes, valueAt, bytesOf(fixed32(size), fixed32(0)));
    const { rows, failures } = await scanBytes(patched);
    expect(rows).toEqual([]);
    expect(failures).toMatchObject([{ code: 'unsupported', value: 'cuckoo' }]);

    const folder = mkdtempSync(path.join(tmpdir(), 'sstkit-cuckoo-'));
    try {
      const target = path.join(folder, 'cuckoo.sst');
      writeFileSync(target, patched);
      const { stdout, stderr } = await runHere(['dump', target, '--json'], { cwd: tmpdir() });
      expect(JSON.parse(stdout.toString())).toMatchObject({ kind: 'sst', footer: { format: 'cuckoo' } });
      expect(stderr).not.toMatch(/bug of sstkit|NaN|Infinity/);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
