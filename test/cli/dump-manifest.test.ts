/** `dump` of MANIFESTs: every real one against its schema and against what verify and the reader see. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { internalKey } from '../bug-cases/table-by-hand.ts';
import { dumpHere } from '../support/dump-here.ts';
import { databases, sharedFixtures } from '../support/fixtures.ts';
import { manifestOf, manifestPath, readEdits, writeDatabase } from '../support/manifest.ts';
import { flipBit } from '../support/patch.ts';

const ALL = [...databases(), ...sharedFixtures().databases];
const mixed = manifestPath(databases().find(({ name }) => name === 'mixed')!.path);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-dump-manifest-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { text: dump, json: dumpJson } = dumpHere(() => folder);

it.each(ALL)('$name: edits and live files', async ({ path: database }) => {
  const manifest = manifestPath(database);
  const { status, document } = await dumpJson(manifest);
  expect(status).toBe(0);
  const { size, edits, end, findings, kind } = document;
  expect({ kind, end, findings }).toEqual({
    kind: 'manifest',
    end: { state: 'clean', offset: size },
    findings: [],
  });
  expect(edits).toHaveLength(readEdits(database).length);
  const numbers = Object.values<{ levels: { files: { number: number }[] }[] }>(document.live).flatMap(
    ({ levels }) => levels.flatMap(({ files }) => files.map(({ number }) => number)),
  );
  for (const number of numbers) {
    const name = path.join(database, String(number).padStart(6, '0'));
    expect([`${name}.sst`, `${name}.ldb`].some((file) => readable(file))).toBe(true);
  }
  const rows = (await dump('--format', 'ndjson', manifest)).stdout.toString().trimEnd().split('\n');
  expect(rows.map((row) => JSON.parse(row))).toEqual(
    edits.map((edit: object) => ({ file: manifest, ...edit })),
  );
  expect((await dump(manifest)).status).toBe(0);
});

function readable(file: string): boolean {
  try {
    return readFileSync(file).length > 0;
  } catch {
    return false;
  }
}

describe('the document', () => {
  it('one member a tag, user keys with their trailers', async () => {
    const { document } = await dumpJson(mixed);
    expect(document.edits[3]).toEqual({
      offset: 59,
      size: 60,
      columnFamily: 1,
      comparator: 'rocksdb.ReverseBytewiseComparator',
      logNumber: 4,
      nextFileNumber: 6,
      lastSequence: '0',
      columnFamilyAdd: 'orders',
    });
    expect(document.edits[4].newFiles).toMatchObject([
      {
        tag: 103,
        level: 0,
        number: 11,
        size: 1702,
        smallest: '6974656d2f30303030',
        smallestTrailer: { seqno: '77', type: 'range_delete' },
        smallestSeqno: '4',
        largestSeqno: '77',
      },
    ]);
    expect(document.live.orders).toMatchObject({ id: 1, comparator: 'rocksdb.ReverseBytewiseComparator' });
    expect(document.counters).toMatchObject({ nextFileNumber: 20, lastSequence: '231' });
  });

  it('keys in another form', async () => {
    const { document } = await dumpJson(mixed, '--bytes', 'utf8');
    expect(document.edits[4].newFiles[0].smallest).toBe('item/0000');
  });

  it('as text', async () => {
    const { stdout } = await dump(mixed);
    const text = stdout.toString();
    expect(text).toContain(`${mixed}: MANIFEST, 977 bytes`);
    expect(text).toContain(
      '  edit at 59, size 60, column family 1\n    comparator rocksdb.ReverseBytewiseComparator',
    );
    expect(text).toContain(
      'new file 11, level 0, 1702 bytes, item/0000 (77, range_delete) .. wide/item/0063 (33, entity)',
    );
    expect(text).toMatch(
      /Column family orders \(1\), rocksdb\.ReverseBytewiseComparator\n.*\n +0 +19 +1174 +156 +226 /,
    );
    expect(text).toContain('end of the log               clean, at 977');
  });
});

describe('damage', () => {
  it('is named, and the rest is shown', async () => {
    const file = path.join(folder, 'MANIFEST-000007');
    writeFileSync(file, flipBit(new Uint8Array(readFileSync(mixed)), 980 - 500));
    const { status, document, stderr } = await dumpJson(file);
    expect(status).toBe(1);
    expect(document.findings).toMatchObject([{ code: 'log_record_damaged', severity: 'damage' }]);
    expect(document.end).toEqual({ state: 'damage', offset: 472 });
    expect(document.edits).toHaveLength(9);
    expect(stderr).toContain('record at 472: crc32c mismatch');
  });

  it('MF-01, MF-05: types and tags that are not known', async () => {
    const file = path.join(folder, 'MANIFEST-000008');
    const bound = internalKey('k', 7, 0x1a);
    const bytes = new Uint8Array(6).fill(7);
    writeDatabase(folder, [
      { bytes: new Uint8Array(1), number: 9, level: 1, smallest: bound, largest: bound },
    ]);
    const [first, second] = readEdits(folder);
    writeFileSync(file, manifestOf([{ ...first, unknown: [{ tag: 8291, bytes }] }, second!]));
    const { status, document } = await dumpJson(file);
    expect(status).toBe(0);
    expect(document.edits[0].unknown).toEqual([{ tag: 8291, bytes: '070707070707' }]);
    expect(document.live.default.levels[0].files[0].smallestTrailer).toEqual({ seqno: '7', type: 'type_26' });
    expect((await dump(file)).stdout.toString()).toContain('unknown tag 8291: 070707070707');
  });

  it('MF-07: an unknown comparator: files as they were added', async () => {
    const bound = (key: string): Uint8Array => internalKey(key, 7, 1);
    const file = (number: number, key: string) => ({
      bytes: new Uint8Array(1),
      number,
      level: 1,
      smallest: bound(key),
      largest: bound(key),
    });
    writeDatabase(folder, [file(9, 'b'), file(10, 'a')], 'custom');
    const { status, document } = await dumpJson(manifestPath(folder));
    expect(status).toBe(0);
    expect(document.live.default.levels[0].files.map(({ number }: { number: number }) => number)).toEqual([
      9, 10,
    ]);
    const known = await dumpJson(manifestPath(folder), '--comparator', 'bytewise');
    expect(
      known.document.live.default.levels[0].files.map(({ number }: { number: number }) => number),
    ).toEqual([10, 9]);
  });
});

it('parts of a table are refused', async () => {
  for (const part of ['--blocks', '--properties', '--entries']) {
    const { status, stderr } = await dump(mixed, part);
    expect(status).toBe(4);
    expect(stderr).toContain('a MANIFEST');
  }
});

it('beside a table, in one list', async () => {
  const { status, document } = await dumpJson(mixed, 'demo:basic.sst');
  expect(status).toBe(0);
  expect(document.files.map(({ kind }: { kind: string }) => kind)).toEqual(['manifest', 'sst']);
});
