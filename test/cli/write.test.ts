import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Ajv from 'ajv';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { runHere } from '../bug-cases/run-here.ts';
import { PROJECT_ROOT } from '../support/cli.ts';
import { fixture } from '../support/fixtures.ts';
import { findTool, runTool } from '../support/oracles.ts';
import { linesOf } from '../write/write-here.ts';

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'sstkit-write-cli-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
beforeEach(() => {
  for (const name of readdirSync(cwd)) rmSync(path.join(cwd, name), { recursive: true });
});

const hex = (text: string): string => Buffer.from(text).toString('hex');

function put(key: string, value: string, seqno = '0'): object {
  return { key: hex(key), seqno, type: 'put', value: hex(value) };
}

/** Runs `write` on rows, as ndjson or as they are. */
async function write(rows: readonly object[] | string, ...flags: string[]) {
  writeFileSync(path.join(cwd, 'rows'), typeof rows === 'string' ? rows : linesOf(rows));
  return runHere(['write', '--in', 'rows', '--out', 'out.sst', ...flags], { cwd });
}

async function rowsOf(file: string, ...flags: string[]): Promise<object[]> {
  const { stdout } = await runHere(['scan', file, '--format', 'ndjson', ...flags], { cwd });
  const lines = stdout.toString().split('\n').slice(0, -1);
  return lines.map((line) => {
    const { file: _, ...row } = JSON.parse(line);
    return row;
  });
}

async function properties(): Promise<Record<string, unknown>> {
  const { stdout } = await runHere(['dump', 'out.sst', '--json'], { cwd });
  return JSON.parse(stdout.toString());
}

const leftOver = (): string[] => readdirSync(cwd).filter((name) => name !== 'rows');

describe('the result', () => {
  it('is one document that follows its schema', async () => {
    const { status, stdout } = await write([put('a', '1'), put('b', '2')], '--json');
    const document = JSON.parse(stdout.toString());
    const schema = JSON.parse(readFileSync(path.join(PROJECT_ROOT, 'schema/write.schema.json'), 'utf8'));
    const validate = new Ajv({ strict: true }).compile(schema);
    expect({ status, errors: validate(document) ? null : validate.errors }).toEqual({
      status: 0,
      errors: null,
    });
    const bytes = readFileSync(path.join(cwd, 'out.sst')).length;
    expect(document).toEqual({
      schema: 1,
      path: 'out.sst',
      entries: 2,
      bytes,
      smallest: '61',
      largest: '62',
    });
  });

  it('counts range tombstones, with both ends', async () => {
    const tombstone = { start: '61', end: '7a', seqno: '9', type: 'range_delete' };
    const { stdout } = await write([put('b', '1'), tombstone], '--json');
    expect(JSON.parse(stdout.toString())).toMatchObject({ entries: 2, smallest: '61', largest: '7a' });
  });

  it('is a table without entries for no rows', async () => {
    const { status, stdout } = await write('', '--json');
    expect(status).toBe(0);
    expect(JSON.parse(stdout.toString())).toMatchObject({ entries: 0, smallest: null, largest: null });
    expect((await runHere(['verify', 'out.sst'], { cwd })).status).toBe(0);
  });

  it('has the defaults of RocksDB 11.9', async () => {
    await write([put('a', 'x'.repeat(200))]);
    expect(await properties()).toMatchObject({
      footer: { formatVersion: 7, checksum: 'xxh3' },
      index: { type: 'binary_search' },
      filter: null,
      properties: { comparator: 'leveldb.BytewiseComparator' },
      blocks: { data: { count: 1, byCompression: { lz4: 1 } } },
    });
  });
});

describe('an existing output', () => {
  it('stays as it is without --force', async () => {
    writeFileSync(path.join(cwd, 'out.sst'), 'precious');
    expect(await write([put('a', '1')])).toMatchObject({ status: 2 });
    expect(readFileSync(path.join(cwd, 'out.sst'), 'utf8')).toBe('precious');
    expect(await write([put('a', '1')], '--force')).toMatchObject({ status: 0 });
    expect(await rowsOf('out.sst')).toHaveLength(1);
  });

  it('stays as it is when a row is wrong, and nothing is left beside it', async () => {
    writeFileSync(path.join(cwd, 'out.sst'), 'precious');
    expect(await write([put('b', '1'), put('a', '1')], '--force', '--sort=false')).toMatchObject({
      status: 2,
    });
    expect(readFileSync(path.join(cwd, 'out.sst'), 'utf8')).toBe('precious');
    expect(leftOver()).toEqual(['out.sst']);
  });
});

describe('a wrong row is named by its line', () => {
  const good = JSON.stringify(put('a', '1', '5'));
  it.each([
    ['keys out of order', JSON.stringify(put('A', '1', '5')), 'out of order'],
    ['seqnos out of order', JSON.stringify(put('a', '1', '6')), 'out of order'],
    ['a duplicate', good, 'stands on line 1 already'],
    ['a duplicate of another type', JSON.stringify({ ...put('a', '', '5'), type: 'delete' }), 'already'],
    ['no JSON', '{"key":', 'no JSON object'],
    ['an array', '[1]', 'a row is a JSON object'],
    ['an odd digit', '{"key":"616","seqno":"1","type":"put","value":""}', 'not hexadecimal'],
    ['a foreign digit', '{"key":"6g","seqno":"1","type":"put","value":""}', 'not hexadecimal'],
    [
      'a value that is no hexadecimal',
      '{"key":"62","seqno":"1","type":"put","value":"zz"}',
      'not hexadecimal',
    ],
    [
      'a large seqno',
      '{"key":"62","seqno":"72057594037927936","type":"put","value":""}',
      'no sequence number',
    ],
    ['a negative seqno', '{"key":"62","seqno":-1,"type":"put","value":""}', 'no sequence number'],
    ['an unknown type', '{"key":"62","seqno":"1","type":"upsert","value":""}', 'range_delete'],
    ['an unknown field', '{"key":"62","seqNo":"1"}', 'no field'],
    ['no key', '{"seqno":"1","type":"put","value":""}', 'key is missing'],
    [
      'a timestamp too many',
      '{"key":"62","timestamp":"0000000000000000","seqno":"1"}',
      'the comparator has none',
    ],
    [
      'a blob within the table that it was read from',
      '{"key":"62","type":"blob_index","blob":{"kind":"blob","file":0,"offset":0,"size":3,"compression":0}}',
      'file 0 points into the table',
    ],
    ['an entity without columns', '{"key":"62","type":"entity"}', 'needs columns'],
    ['a tombstone without an end', '{"start":"62","seqno":"1","type":"range_delete"}', 'end is missing'],
    [
      'a tombstone the wrong way',
      '{"start":"62","end":"61","seqno":"1","type":"range_delete"}',
      'ends before',
    ],
  ])('%s', async (_, row, message) => {
    const { status, stderr } = await write(`${good}\n${row}\n`);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
    expect(stderr).toContain('rows: line 2: ');
    expect(leftOver()).toEqual([]);
  });

  it('also behind a sort', async () => {
    const { status, stderr } = await write([put('b', '1'), put('a', '1'), put('b', '2')], '--sort');
    expect(status).toBe(2);
    expect(stderr).toMatch(/rows: line [13]: .*stands on line [13] already/);
  });
});

describe('options', () => {
  it.each([
    ['lz4hc', 'lz4'],
    ['bzip2', 'zstd'],
    ['xpress', 'snappy and lz4'],
  ])('%s can be read and not written', async (name, instead) => {
    const { status, stderr } = await write([put('a', '1')], '--compression', name);
    expect(status).toBe(4);
    expect(stderr).toContain(`compression ${name}`);
    expect(stderr).toContain(instead);
    expect(leftOver()).toEqual([]);
  });

  it("take RocksDB's names and values, with - and _", async () => {
    const rows = Array.from({ length: 2000 }, (_, i) =>
      put(`k${String(i).padStart(6, '0')}`, 'v'.repeat(50)),
    );
    const flags = ['--filter_policy=ribbon:10', '--compression=kZSTD:3', '--compression_max_dict_bytes=4k'];
    flags.push('--checksum', 'kCRC32c', '--index_type', 'kTwoLevelIndexSearch', '--block-size=1KiB');
    flags.push('--no-whole-key-filtering=false', '--format_version', '5', '--partition-filters');
    expect(await write(rows, ...flags)).toMatchObject({ status: 0, stderr: '' });
    expect(await properties()).toMatchObject({
      footer: { formatVersion: 5, checksum: 'crc32c' },
      index: { type: 'two_level' },
      filter: { kind: expect.stringContaining('ribbon') },
      blocks: { data: { byCompression: { zstd: expect.any(Number) } } },
    });
    expect((await properties()).dictionary).not.toBeNull();
    expect((await runHere(['verify', 'out.sst'], { cwd })).status).toBe(0);
  });

  it.each([
    ['--format-version=9', 4],
    ['--format-version=x', 2],
    ['--checksum=md5', 2],
    ['--filter=cuckoo:3', 2],
    ['--comparator=my.Own', 2],
    ['--index-type=hash', 2],
    ['--ts-size=8', 2],
    ['--no-order', 2],
  ])('%s ends with %i', async (flag, status) => {
    expect((await write([put('a', '1')], flag)).status).toBe(status);
    expect(leftOver()).toEqual([]);
  });

  it('a comparator that is not known is taken at its word', async () => {
    const rows = [put('bb', '1', '4'), put('a', '2', '3'), put('ccc', '3', '2')];
    expect(await write(rows, '--comparator', 'my.Own', '--no-order')).toMatchObject({ status: 0 });
    expect(await rowsOf('out.sst')).toEqual(rows);
    expect(await properties()).toMatchObject({ properties: { comparator: 'my.Own' } });
  });

  it('--bytes reads what scan --bytes prints', async () => {
    for (const mode of ['escape', 'base64', 'utf8']) {
      for (const format of ['ndjson', 'csv']) {
        const basic = fixture('demo/basic.sst').path;
        const { stdout } = await runHere(['scan', basic, '--bytes', mode, '--format', format], { cwd });
        expect(await write(stdout.toString(), '--bytes', mode, '--force')).toMatchObject({ status: 0 });
        expect(await rowsOf('out.sst')).toEqual(await rowsOf(basic));
      }
    }
  });
});

describe('csv', () => {
  it('takes quotes, CRLF, and columns in any order', async () => {
    const csv = 'value,key,seqno\r\n"a ""b"", c",k1,2\r\n"two\r\nlines",k2,1\r\n';
    expect(await write(csv, '--bytes', 'utf8')).toMatchObject({ status: 0 });
    expect(await rowsOf('out.sst')).toEqual([put('k1', 'a "b", c', '2'), put('k2', 'two\r\nlines', '1')]);
  });

  it.each([
    ['key,seqno,colour\n61,1,red\n', 'line 1: no column is called "colour"'],
    ['seqno\n1\n', 'line 1: column key is missing'],
    ['key,seqno\n61,1\n62\n', 'line 3: 1 fields where the header has 2'],
    ['key,value\n61,"00\n', 'line 2: a quoted field has no end'],
  ])('%j is refused', async (csv, message) => {
    const { status, stderr } = await write(csv);
    expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
  });
});

describe('--ingestable', () => {
  it('has sequence numbers 0, and says so in its properties', async () => {
    expect(await write([put('a', '1', '7'), put('b', '2', '3')], '--ingestable')).toMatchObject({
      status: 0,
    });
    expect(await rowsOf('out.sst')).toEqual([put('a', '1'), put('b', '2')]);
    expect(await properties()).toMatchObject({
      footer: { formatVersion: 5 },
      properties: { externalSstFileVersion: 2, externalSstFileGlobalSeqno: '0' },
    });
  });

  const tombstone = (start: string, end: string) => ({
    start: hex(start),
    end: hex(end),
    seqno: '0',
    type: 'range_delete',
  });
  it.each([
    ['two versions of a key', [put('a', '1', '7'), put('a', '2', '3')]],
    ['a tombstone over a key', [tombstone('a', 'c'), put('b', '1')]],
    ['a tombstone over a key before it', [put('a', '1'), put('b', '1'), tombstone('b', 'c')]],
    ['two tombstones that overlap', [tombstone('a', 'c'), tombstone('b', 'd')]],
    ['a blob reference', [{ key: '61', type: 'blob_index', value: '' }]],
    ['nothing', []],
  ])('refuses %s', async (_, rows) => {
    const { status } = await write(rows, '--ingestable');
    expect(status).toBe(2);
    expect(leftOver()).toEqual([]);
  });

  it('takes tombstones between keys, wherever they stand', async () => {
    const rows = [
      tombstone('b', 'c'),
      put('a', '1'),
      put('c', '1'),
      tombstone('0', '1'),
      tombstone('x', 'y'),
    ];
    expect(await write(rows, '--ingestable')).toMatchObject({ status: 0 });
    const late = [put('a', '1'), put('c', '1'), tombstone('b', 'c')];
    expect(await write(late, '--ingestable', '--force')).toMatchObject({ status: 2 });
    expect(await write(late, '--ingestable', '--force', '--sort')).toMatchObject({ status: 0 });
  });

  it.skipIf(findTool('ldb') === undefined)('is taken by ldb ingest_extern_sst', async () => {
    const rows = Array.from({ length: 500 }, (_, i) => put(`k${String(i).padStart(4, '0')}`, `v${i}`, '9'));
    const gone = tombstone('x', 'y');
    expect(await write([...rows, gone], '--ingestable')).toMatchObject({ status: 0 });
    const check = runTool('sst_dump', ['--file=out.sst', '--command=check', '--verify_checksum'], { cwd });
    expect(check).toMatchObject({ status: 0, stderr: '' });
    runTool('ldb', ['--db=db', '--create_if_missing', 'put', 'x1', 'old'], { cwd });
    const ingest = runTool('ldb', ['--db=db', 'ingest_extern_sst', 'out.sst'], { cwd });
    expect(ingest).toMatchObject({
      status: 0,
      stderr: expect.stringContaining('external SST files ingested'),
    });
    const scan = runTool('ldb', ['--db=db', 'scan'], { cwd });
    expect(scan.stdout.trim().split('\n')).toHaveLength(500);
    expect(runTool('ldb', ['--db=db', 'get', 'k0123'], { cwd }).stdout.trim()).toBe('v123');
  });
});

it('an input that is missing ends with 3', async () => {
  const { status } = await runHere(['write', '--in', 'nowhere', '--out', 'out.sst'], { cwd });
  expect(status).toBe(3);
  expect(existsSync(path.join(cwd, 'out.sst'))).toBe(false);
});
