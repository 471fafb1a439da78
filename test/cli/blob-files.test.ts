/** `dump`, `verify` and `scan --resolve-blobs` of blob files: real ones against what was put, damaged ones (BW-03). */

import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fromHex } from '../../src/bytes/text.ts';
import { encodeBlobFooter, encodeBlobHeader, encodeBlobRecord } from '../../src/format/blob/blob-file.ts';
import { twinHashFunctions } from '../../src/hash/hash-functions.ts';
import { runHere } from '../bug-cases/run-here.ts';
import { dumpHere } from '../support/dump-here.ts';
import { type Fixture, fixtures } from '../support/fixtures.ts';
import { flipBit } from '../support/patch.ts';

const hashes = twinHashFunctions();
const bytesOf = (hex: string): Uint8Array => fromHex(hex)!;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-dump-blob-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const run = (...args: string[]) => runHere(args, { cwd: folder });

const { json: dumpJson } = dumpHere(() => folder);

interface Reference {
  key: string;
  type: string;
  blob: { file: number; offset: number; size: number };
}

const withBlobs: Fixture[] = fixtures().filter(({ path: file }) =>
  readdirSync(path.dirname(file)).some((name) => name.endsWith('.blob')),
);
const blobOf = (file: string, number: number): string =>
  path.join(path.dirname(file), `${String(number).padStart(6, '0')}.blob`);

describe.each(withBlobs)('$name', ({ path: table, expected }) => {
  it('each reference leads to the record with its key and the value that was put', async () => {
    const { stdout } = await run('scan', table, '--format', 'ndjson');
    const references: Reference[] = stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'blob_index');
    const values = expected!().entries.filter(({ type }) => type === 'blob_index');
    expect(references).toHaveLength(values.length);
    const { status, document } = await dumpJson(blobOf(table, references[0]!.blob.file));
    expect(status).toBe(0);
    expect(document).toMatchObject({
      kind: 'blob',
      findings: [],
      footer: { blobCount: document.records.length },
    });
    const records = new Map(
      document.records.map((record: { valueOffset: number }) => [record.valueOffset, record]),
    );
    for (const [i, { key, blob }] of references.entries()) {
      expect(records.get(blob.offset)).toMatchObject({ key, size: blob.size, value: values[i]!.value });
    }
  });
});

describe('scan --resolve-blobs', () => {
  const [first] = withBlobs;
  const references = () => first!.expected!().entries.filter(({ type }) => type === 'blob_index');
  const blobRows = (stdout: Buffer) =>
    stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ type }) => type === 'blob_index');

  /** The table and its blob file, changed. */
  function copy(change: (bytes: Uint8Array) => Uint8Array | undefined): string {
    const blob = change(new Uint8Array(readFileSync(blobOf(first!.path, 10))));
    rmSync(path.join(folder, '000010.blob'), { force: true });
    if (blob !== undefined) writeFileSync(path.join(folder, '000010.blob'), blob);
    writeFileSync(path.join(folder, '000009.sst'), readFileSync(first!.path));
    return '000009.sst';
  }

  it.each(withBlobs)('shows the values that were put: $name', async ({ path: table, expected }) => {
    const { status, stdout } = await run('scan', table, '--resolve-blobs', '--format', 'ndjson');
    expect(status).toBe(0);
    const wanted = expected!().entries.filter(({ type }) => type === 'blob_index');
    expect(blobRows(stdout).map(({ key, blob }) => [key, blob.value])).toEqual(
      wanted.map(({ key, value }) => [key, value]),
    );
    const text = (await run('scan', table, '--resolve-blobs')).stdout.toString();
    expect(text.match(/blob_index\tkind=blob\t.*\tvalue=/g)).toHaveLength(wanted.length);
  });

  it('a blob file that is gone: references stay, each is named', async () => {
    const table = copy(() => undefined);
    const { status, stdout, stderr } = await run('scan', table, '--resolve-blobs', '--format', 'ndjson');
    expect(status).toBe(1);
    expect(blobRows(stdout)).toHaveLength(references().length);
    expect(stdout.toString()).not.toContain('"compression":0,"value"');
    expect(
      stderr.match(/key 6b.*: a reference to offset .* of blob file 10: there is no 000010.blob/g),
    ).toHaveLength(references().length);
    expect((await run('scan', table, '--resolve-blobs', '--count')).status).toBe(0);
    expect((await run('scan', table)).status).toBe(0);
  });

  it('one damaged value: the others are shown', async () => {
    const { document } = await dumpJson(blobOf(first!.path, 10));
    const { valueOffset, key } = document.records[2];
    const table = copy((bytes) => flipBit(bytes, valueOffset + 1));
    const { status, stdout, stderr } = await run('scan', table, '--resolve-blobs', '--format', 'ndjson');
    expect(status).toBe(1);
    expect(stderr).toContain(
      `key ${key}: the checksum of the value at ${valueOffset} of blob file 10 does not hold`,
    );
    expect(blobRows(stdout).filter(({ blob }) => blob.value === undefined)).toHaveLength(1);
  });

  it('its rows make the same table again', async () => {
    const { stdout } = await run('scan', first!.path, '--resolve-blobs', '--format', 'ndjson');
    writeFileSync(path.join(folder, 'rows.ndjson'), stdout);
    expect((await run('write', '--in', 'rows.ndjson', '--out', 'again.sst', '--force')).status).toBe(0);
    const again = (await run('scan', 'again.sst', '--digest', '--json')).stdout.toString();
    const before = (await run('scan', first!.path, '--digest', '--json')).stdout.toString();
    expect(JSON.parse(again).digest).toBe(JSON.parse(before).digest);
  });
});

describe('BW-03: damaged blob files', () => {
  const whole = new Uint8Array(readFileSync(blobOf(withBlobs[0]!.path, 10)));

  it('the first four bytes', async () => {
    const damaged = whole.slice();
    damaged.set([1, 2, 3, 4]);
    writeFileSync(path.join(folder, 'head.blob'), damaged);
    const { status, document, stderr } = await dumpJson('head.blob');
    expect(status).toBe(1);
    expect(stderr).toContain('head.blob: header at 0: the file does not begin with the magic');
    expect(document.header).toBeNull();
    expect(document.records).toHaveLength(document.footer.blobCount);
    const verified = await run('verify', 'head.blob');
    expect(verified.status).toBe(1);
    expect(verified.stdout.toString()).toContain('head.blob: damaged');
  });

  it('cut before the footer, and inside of a record', async () => {
    const count = (await dumpJson(blobOf(withBlobs[0]!.path, 10))).document.records.length;
    for (const [cut, left, text] of [
      [32, count, `footer at ${whole.length - 32}: the file ends without a footer`],
      [33, count - 1, 'the last record is cut off'],
    ] as const) {
      writeFileSync(path.join(folder, 'cut.blob'), whole.subarray(0, whole.length - cut));
      const { status, document, stderr } = await dumpJson('cut.blob');
      expect(status).toBe(1);
      expect(stderr).toContain(text);
      expect(document.records).toHaveLength(left);
      expect(document.footer).toBeNull();
    }
  });

  it('a record header: the others are found, and its bytes are named', async () => {
    const { document } = await dumpJson(blobOf(withBlobs[0]!.path, 10));
    const second = document.records[1].offset;
    writeFileSync(path.join(folder, 'record.blob'), flipBit(whole, second + 9, 3));
    const damaged = await dumpJson('record.blob');
    expect(damaged.status).toBe(1);
    const offsets = (records: { offset: number }[]) => records.map(({ offset }) => offset);
    expect(offsets(damaged.document.records)).toEqual(
      offsets(document.records).filter((offset) => offset !== second),
    );
    expect(damaged.stderr).toContain(`record.blob: record at ${second}: crc32c mismatch`);
  });

  it('a value: its key is named, --strict stops there', async () => {
    const { document } = await dumpJson(blobOf(withBlobs[0]!.path, 10));
    const { valueOffset, key } = document.records[2];
    writeFileSync(path.join(folder, 'value.blob'), flipBit(whole, valueOffset + 1));
    const damaged = await dumpJson('value.blob');
    expect(damaged.document.records[2]).toMatchObject({ key, value: null });
    expect((await dumpJson('value.blob', '--strict')).document.records).toHaveLength(3);
    const { stdout, status } = await run('verify', 'value.blob', '--checksums-only');
    expect(status).toBe(1);
    expect(stdout.toString()).toContain(`the key reads ${key}`);
  });

  it('a version that is not known', async () => {
    const other = whole.slice();
    other[4] = 9;
    writeFileSync(path.join(folder, 'version.blob'), other);
    for (const command of ['dump', 'verify']) expect((await run(command, 'version.blob')).status).toBe(4);
  });
});

describe('by hand', () => {
  const expiration = { from: 5n, to: 2n ** 64n - 1n };

  function write(name: string, compressionType: number, values: readonly Uint8Array[]): void {
    const records = values.map((value, i) => encodeBlobRecord(bytesOf(`00${i}9`), value, 2n ** 60n, hashes));
    const header = { version: 1, columnFamily: 3, hasTtl: true, compressionType, expiration };
    const footer = encodeBlobFooter({ blobCount: BigInt(values.length), expiration }, hashes);
    writeFileSync(path.join(folder, name), Buffer.concat([encodeBlobHeader(header), ...records, footer]));
  }

  it('expirations', async () => {
    write('ttl.blob', 0, [bytesOf('76')]);
    const { document, status } = await dumpJson('ttl.blob');
    expect(status).toBe(0);
    expect(document).toMatchObject({
      header: { columnFamily: 3, hasTtl: true, expirationFrom: 5, expirationTo: null },
      records: [{ key: '0009', value: '76', expiration: String(2n ** 60n) }],
      footer: { blobCount: 1, expirationTo: null },
    });
    expect((await run('dump', 'ttl.blob')).stdout.toString()).toContain(
      `\\x00\\x09\tv\texpiration=${2n ** 60n}\n`,
    );
  });

  it('values that do not decompress, and a compression that is not read', async () => {
    write('snappy.blob', 1, [bytesOf('0a2476'), bytesOf('ff')]);
    const { document, status, stderr } = await dumpJson('snappy.blob');
    expect(status).toBe(1);
    expect(document.records).toMatchObject([{ value: null }, { value: null }]);
    expect(stderr).toMatch(/at 30: snappy: .*\n.*at 67: malformed size prefix/);
    write('xpress.blob', 6, [bytesOf('0a2476'), bytesOf('ff')]);
    expect((await run('verify', 'xpress.blob')).status).toBe(4);
    expect((await run('verify', 'xpress.blob', '--checksums-only')).status).toBe(0);
  });

  it('no records, parts that only tables have, and rows', async () => {
    write('none.blob', 0, []);
    expect((await dumpJson('none.blob')).document).toMatchObject({ records: [], findings: [] });
    expect((await run('verify', 'none.blob')).status).toBe(0);
    for (const part of ['--blocks', '--properties'])
      expect((await run('dump', part, 'none.blob')).status).toBe(4);
    write('rows.blob', 0, [bytesOf('76'), bytesOf('77')]);
    const rows = (await run('dump', 'rows.blob', '--format', 'ndjson')).stdout
      .toString()
      .trimEnd()
      .split('\n');
    expect(rows.map((row) => JSON.parse(row))).toMatchObject([
      { file: 'rows.blob', key: '0009', value: '76' },
      { file: 'rows.blob', key: '0019', value: '77' },
    ]);
  });
});
