/** Tables of LevelDB and of its forks. */

import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { deflateRawSync, deflateSync } from 'node:zlib';
import * as zstd from '@mongodb-js/zstd';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySource, openTable, withPending } from '../../src/index.ts';
import { databases, fixture } from '../support/fixtures.ts';
import { patchBlock } from '../support/patch.ts';
import { scanRows, testEnvironment } from '../support/scan.ts';
import { runHere } from './run-here.ts';
import { blockOf, type DataBlock, scanBytes, writeTable } from './table-by-hand.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-leveldb-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('LD-01: compression bytes 2 and 4 of the forks', () => {
  const plain = ['a', 'b', 'c'].map((key, i) =>
    blockOf([{ key, seqno: i + 1, value: 'the same text '.repeat(20) }]),
  );
  const compressed = async (
    compressionType: number,
    compress: (payload: Uint8Array) => Uint8Array | Promise<Uint8Array>,
  ): Promise<Uint8Array> => {
    const data: DataBlock[] = [];
    for (const { payload, lastKey } of plain) {
      data.push({ payload: new Uint8Array(await compress(payload)), lastKey, compressionType });
    }
    return writeTable({ data, properties: null }).bytes;
  };

  it.each([
    ['raw-deflate', 4, (payload: Uint8Array) => deflateRawSync(payload), 'zlib'],
    ['zlib-with-header', 2, (payload: Uint8Array) => deflateSync(payload), 'zlib'],
    ['zstandard', 2, (payload: Uint8Array) => zstd.compress(Buffer.from(payload)), 'zstd'],
  ])('%s is read, and named', async (name, compressionType, compress, wanted) => {
    const bytes = await compressed(compressionType, compress);
    const { rows, findings } = await scanBytes(bytes);
    expect(findings).toEqual([]);
    expect(rows.map(({ key }) => key)).toEqual(['61', '62', '63']);
    const file = path.join(folder, `${name}.ldb`);
    writeFileSync(file, bytes);
    const { stdout, status } = await runHere(['dump', file, '--json'], { cwd: tmpdir() });
    expect(status).toBe(0);
    const { footer, blocks } = JSON.parse(stdout.toString());
    expect(footer.format).toBe('leveldb');
    expect(blocks.data.byCompression).toEqual({ [wanted]: 3 });
  });
});

describe('LD-03: two megabytes, almost all zeros', () => {
  const data = ['a', 'b', 'c'].map((key, i) =>
    blockOf([{ key, seqno: i + 1, value: 'value of some length' }]),
  );
  const { bytes, data: handles } = writeTable({ data, properties: null });
  const last = handles[2]!;
  const image = new Uint8Array(2 * 1024 * 1024);
  image.set(bytes.subarray(0, last.offset + last.size + 5));

  it('is called so, and the rows of its three blocks are there', async () => {
    const started = performance.now();
    const { rows, findings, damaged } = await scanBytes(image);
    expect(rows.map(({ key }) => key)).toEqual(['61', '62', '63']);
    expect(damaged).toBe(true);
    expect(findings.map(({ message }) => message).join('\n')).toMatch(
      /the last \d+ bytes of 2097152 are zeros, the footer is lost/,
    );
    expect(performance.now() - started).toBeLessThan(30_000);
  });

  it('other files are read all the same', async () => {
    const good = fixture('leveldb/none.ldb');
    const { rows } = await scanBytes({ 'zeros.ldb': image, 'good.ldb': good.bytes() });
    expect(rows.filter(({ file }) => file === 'good.ldb').length).toBe(good.expected!().entries.length);
  });
});

describe('LD-05: the MANIFEST tells another size', () => {
  it('a table that is named is read by itself', async () => {
    const { path: database } = databases().find(({ name }) => name === 'leveldb')!;
    for (const name of readdirSync(database))
      copyFileSync(path.join(database, name), path.join(folder, name));
    const table = readdirSync(folder).find((name) => /^\d+\.ldb$/.test(name))!;
    const manifest = readdirSync(folder).find((name) => name.startsWith('MANIFEST-'))!;
    const whole = await scanRows([path.join(database, table)]);
    writeFileSync(path.join(folder, manifest), readFileSync(path.join(folder, manifest)).fill(7, 10, 40));
    const { rows, findings } = await scanRows([path.join(folder, table)]);
    expect(findings).toEqual([]);
    expect(rows.map(({ file, ...row }) => row)).toEqual(whole.rows.map(({ file, ...row }) => row));
  });
});

describe('LD-09: a filter that denies every key', () => {
  it('has no part in a scan', async () => {
    const file = fixture('leveldb/none-bloom.ldb');
    const bytes = file.bytes();
    const environment = await testEnvironment();
    const table = await withPending(() => openTable(memorySource(bytes), environment));
    const filter = table.metaindex!.find(({ type }) => type === 'filter')!;
    const patched = patchBlock(bytes, filter, { edit: (payload) => payload.fill(0, 0, payload.length - 5) });
    const { rows, damaged } = await scanBytes(patched);
    expect(damaged).toBe(false);
    expect(rows.length).toBe(file.expected!().entries.length);
  });
});
