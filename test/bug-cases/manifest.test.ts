/** MANIFEST and CURRENT, and what they say of tables. */

import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { databases, sharedFixtures } from '../support/fixtures.ts';
import {
  copyDatabase,
  findingsIn,
  manifestOf,
  manifestPath,
  type TableInDatabase,
  verifyFolder,
  withFiles,
  writeDatabase,
} from '../support/manifest.ts';
import { findTool, runTool } from '../support/oracles.ts';
import { testFolders } from '../support/test-folders.ts';
import { runHere } from './run-here.ts';
import { blockOf, type Entry, internalKey, scanBytes, TYPE, writeTable } from './table-by-hand.ts';

const folders = testFolders('sstkit-manifest-');

/** Internal keys: the bound of a tombstone's end has the largest sequence number. */
const start = (key: string, seqno: number): Uint8Array => internalKey(key, seqno, TYPE.rangeDelete);
const end = (key: string): Uint8Array => {
  const bound = internalKey(key, 0, TYPE.rangeDelete);
  bound.fill(0xff, bound.length - 7);
  return bound;
};
const put = (key: string, seqno: number): Uint8Array => internalKey(key, seqno, TYPE.put);

describe('RT-01, second variant: tombstones stored as m then b, and a MANIFEST bound of m', () => {
  const { bytes } = writeTable({
    data: [],
    tombstones: [
      { start: 'm', end: 'p', seqno: 5 },
      { start: 'b', end: 'd', seqno: 9 },
    ],
  });
  const table = (level: number, smallest: Uint8Array): TableInDatabase => ({
    bytes,
    number: 9,
    level,
    smallest,
    largest: end('p'),
    smallestSeqno: 5n,
    largestSeqno: 9n,
  });

  it.each([0, 1, 6])('verify reports the bound, in level %i', async (level) => {
    writeDatabase(folders.fresh(), [table(level, start('m', 5))]);
    const reports = await verifyFolder(folders.current);
    expect(reports.get('000009.sst')!.status).toBe('ok');
    const manifest = reports.get('MANIFEST-000005')!;
    expect(manifest.status).toBe('damaged');
    expect(manifest.findings).toMatchObject([{ code: 'manifest_bounds', severity: 'damage' }]);
    expect(manifest.findings[0]!.message).toBe(
      `file 9 (level ${level}): the smallest bound in the MANIFEST, 6d (seqno 5, range_delete), ` +
        'lies above the start of its range tombstone [62, 64)',
    );
  });

  it.each([0, 1, 6])('with a bound of b all is well, in level %i', async (level) => {
    writeDatabase(folders.fresh(), [table(level, start('b', 9))]);
    expect(await findingsIn(folders.current)).toEqual([]);
  });

  it('scan shows both in order b, m', async () => {
    const { rows } = await scanBytes(bytes);
    expect(rows.map((row) => row.start)).toEqual(['62', '6d']);
  });

  it('the program ends with 1 and names file and bound', async () => {
    writeDatabase(folders.fresh(), [table(1, start('m', 5))]);
    const { status, stdout, stderr } = await runHere(['verify', '.'], { cwd: folders.current });
    expect(status).toBe(1);
    expect(stdout.toString()).toMatch(
      /MANIFEST-000005: damaged.*\n {2}damage manifest_bounds: file 9 \(level 1\)/,
    );
    expect(stderr).toContain('range tombstone [62, 64)');
  });

  it.skipIf(findTool('ldb') === undefined)('ldb reads the MANIFEST, and sees nothing wrong', () => {
    writeDatabase(folders.fresh(), [table(1, start('m', 5))]);
    const { stdout } = runTool('ldb', ['manifest_dump', `--path=${manifestPath(folders.current)}`, '--hex']);
    expect(stdout).toContain(
      `9:${bytes.length}[5 .. 9]['6D' seq:5, type:15 .. '70' seq:72057594037927935, type:15]`,
    );
  });
});

describe('the same kind: what lies outside of the bounds', () => {
  const entries: Entry[] = ['c', 'e', 'g'].map((key) => ({ key, seqno: 7 }));
  const points = writeTable({ data: [blockOf(entries)] }).bytes;
  const withTombstone = writeTable({
    data: [blockOf(entries)],
    tombstones: [{ start: 'a', end: 'k', seqno: 8 }],
  }).bytes;

  it.each<[string, Partial<TableInDatabase>, string | undefined]>([
    ['exact', {}, undefined],
    ['wider', { smallest: put('a', 1), largest: put('z', 1) }, undefined],
    ['smallest too large', { smallest: put('d', 7) }, 'lies above its entry 63'],
    [
      'the same user key, newer in the file',
      { smallest: put('c', 6) },
      'lies above its entry 63 (seqno 7, put)',
    ],
    ['largest too small', { largest: put('f', 7) }, 'lies below its entry 67'],
    [
      'the same user key, older in the file',
      { largest: put('g', 8) },
      'lies below its entry 67 (seqno 7, put)',
    ],
    ['sequence numbers', { largestSeqno: 6n }, 'sequence numbers 0 to 6, the file has 7 to 7'],
    ['bounds in the wrong order', { smallest: put('g', 7), largest: put('c', 7) }, 'lies behind its largest'],
  ])('entries, %s', async (_, bounds, message) => {
    for (const level of [0, 3]) {
      writeDatabase(folders.fresh(), [
        { bytes: points, number: 9, level, smallest: put('c', 7), largest: put('g', 7), ...bounds },
      ]);
      const manifest = (await verifyFolder(folders.current)).get('MANIFEST-000005')!;
      if (message === undefined) expect(manifest.findings).toEqual([]);
      else expect(manifest.findings[0]!.message).toContain(message);
    }
  });

  it('a tombstone that reaches over the bounds: wrong in level 0, cut when it is read in others', async () => {
    const table = { bytes: withTombstone, number: 9, smallest: put('c', 7), largest: put('g', 7) };
    writeDatabase(folders.fresh(), [{ ...table, level: 0 }]);
    const { findings } = (await verifyFolder(folders.current)).get('MANIFEST-000005')!;
    expect(findings.map(({ message }) => message)).toEqual([
      expect.stringContaining('lies above the start of its range tombstone [61, 6b)'),
      expect.stringContaining('lies below the end of its range tombstone [61, 6b)'),
    ]);
    writeDatabase(folders.fresh(), [{ ...table, level: 2 }]);
    expect(await findingsIn(folders.current)).toEqual([]);
    writeDatabase(folders.fresh(), [{ ...table, level: 0, smallest: start('a', 8), largest: end('k') }]);
    expect(await findingsIn(folders.current)).toEqual([]);
  });

  it('RT-05: a tombstone that two files of a level share, each with its part', async () => {
    const tombstones = [{ start: 'g', end: 'p', seqno: 7 }];
    const left = writeTable({
      data: [
        blockOf([
          { key: 'h', seqno: 3 },
          { key: 'k', seqno: 9 },
        ]),
      ],
      tombstones,
    }).bytes;
    const right = writeTable({
      data: [
        blockOf([
          { key: 'k', seqno: 4 },
          { key: 'm', seqno: 2 },
        ]),
      ],
      tombstones,
    }).bytes;
    writeDatabase(folders.fresh(), [
      { bytes: left, number: 9, level: 1, smallest: start('g', 7), largest: put('k', 9) },
      { bytes: right, number: 10, level: 1, smallest: start('k', 7), largest: end('p') },
    ]);
    expect(await findingsIn(folders.current)).toEqual([]);
  });

  it('RT-17: two files of a level that overlap', async () => {
    const file = (number: number, keys: string[]): TableInDatabase => ({
      bytes: writeTable({ data: [blockOf(keys.map((key) => ({ key, seqno: 7 })))] }).bytes,
      number,
      level: 5,
      smallest: put(keys[0]!, 7),
      largest: put(keys.at(-1)!, 7),
    });
    writeDatabase(folders.fresh(), [file(9, ['a', 'f']), file(10, ['d', 'k'])]);
    expect(await findingsIn(folders.current)).toEqual(['MANIFEST-000005: damage manifest_overlap']);
    writeDatabase(folders.fresh(), [file(10, ['d', 'k']), file(9, ['a', 'c'])]);
    expect(await findingsIn(folders.current)).toEqual([]);
  });
});

describe('MF-01: bounds of a type that older readers do not know', () => {
  it.each([0x1a, 0x18])('%i', async (type) => {
    const { bytes } = writeTable({ data: [blockOf([{ key: 'c', seqno: 7 }])] });
    writeDatabase(folders.fresh(), [
      { bytes, number: 9, level: 1, smallest: internalKey('b', 7, type), largest: put('c', 7) },
    ]);
    expect(await findingsIn(folders.current)).toEqual([]);
    writeDatabase(folders.fresh(), [
      { bytes, number: 9, level: 1, smallest: internalKey('d', 7, type), largest: put('e', 7) },
    ]);
    const { findings } = (await verifyFolder(folders.current)).get('MANIFEST-000005')!;
    expect(findings[0]!.message).toContain(type === 0x1a ? 'type_26' : 'put_preferred_seqno');
  });
});

describe('MF-03: CURRENT', () => {
  const source = databases().find(({ name }) => name === 'blob')!.path;

  it.each<[string, string, string, boolean]>([
    ['0 bytes', '', 'the file is empty (0 bytes); MANIFEST-000005 is whole', false],
    ['without its line feed', 'MANIFEST-000005', 'the line feed behind MANIFEST-000005 is missing', true],
    ['a file that is gone', 'MANIFEST-000004\n', 'not there', false],
    ['16 zero bytes', '\0'.repeat(16), 'its 16 bytes are zeros; MANIFEST-000005 is whole', false],
  ])('%s', async (_, contents, message, isCompared) => {
    cpSync(source, folders.fresh(), { recursive: true });
    writeFileSync(path.join(folders.current, 'CURRENT'), contents);
    // A newer one that is not whole is not offered.
    writeFileSync(
      path.join(folders.current, 'MANIFEST-000012'),
      readFileSync(manifestPathOf(folders.current)).subarray(0, 100),
    );
    const reports = await verifyFolder(folders.current);
    expect(reports.get('CURRENT')).toMatchObject({
      status: 'damaged',
      kind: 'current',
      findings: [{ code: 'current_file' }],
    });
    const text = reports.get('CURRENT')!.findings[0]!.message;
    expect(text).toContain(message);
    if (!isCompared) expect(text).toContain('MANIFEST-000005 is whole');
    expect(reports.get('000009.sst')).toMatchObject({ status: 'ok', findings: [] });
    expect(reports.has('MANIFEST-000005')).toBe(isCompared);
  });

  const manifestPathOf = (directory: string): string => path.join(directory, 'MANIFEST-000005');

  it('no whole MANIFEST is there', async () => {
    cpSync(source, folders.fresh(), { recursive: true });
    writeFileSync(path.join(folders.current, 'CURRENT'), 'MANIFEST-000004\n');
    rmSync(manifestPathOf(folders.current));
    const { findings } = (await verifyFolder(folders.current)).get('CURRENT')!;
    expect(findings[0]!.message).toContain('no whole MANIFEST is there');
  });
});

it('MF-05: an optional tag that is not known changes nothing', async () => {
  const source = databases().find(({ name }) => name === 'mixed')!.path;
  copyDatabase(source, folders.fresh(), (edits) => [
    { unknown: [{ tag: 8192 + 99, bytes: new Uint8Array(6) }] },
    ...edits,
  ]);
  expect(await findingsIn(folders.current)).toEqual([]);
});

it('MF-07: with a comparator that is not known overlaps are not looked for', async () => {
  const properties = { 'rocksdb.comparator': 'custom' };
  const file = (number: number, from: string, to: string): TableInDatabase => ({
    bytes: writeTable({
      data: [
        blockOf([
          { key: from, seqno: 7 },
          { key: to, seqno: 7 },
        ]),
      ],
      properties,
    }).bytes,
    number,
    level: 1,
    smallest: put(from, 7),
    largest: put(to, 7),
  });
  writeDatabase(folders.fresh(), [file(9, 'AB', 'AB'), file(10, 'AAA', 'AAB')], 'custom');
  const manifest = (await verifyFolder(folders.current)).get('MANIFEST-000005')!;
  expect(manifest).toMatchObject({
    status: 'ok',
    findings: [{ code: 'order_not_checked', severity: 'note' }],
  });
});

const align = sharedFixtures().databases.find(({ name }) => name === 'align');
it.skipIf(align === undefined)('FT-07: the checksum of a whole file counts its padding', async () => {
  const files = (change: (bytes: Buffer) => void): ((file: { number: number }) => Uint8Array) => {
    return ({ number }) => {
      const bytes = readFileSync(path.join(align!.path, `${String(number).padStart(6, '0')}.sst`));
      change(bytes);
      return bytes;
    };
  };
  const checksumOf = (bytes: Uint8Array): Uint8Array => {
    // Bit by bit: nothing of the code under test.
    let crc = 0xffffffff;
    for (const byte of bytes) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (0x82f63b78 & -(crc & 1));
    }
    const out = Buffer.alloc(4);
    out.writeUInt32BE(~crc >>> 0);
    return new Uint8Array(out);
  };
  const read = files(() => undefined);
  copyDatabase(align!.path, folders.fresh(), (edits) =>
    withFiles(edits, (file) => ({
      ...file,
      fileChecksum: checksumOf(read(file)),
      fileChecksumFunction: 'FileChecksumCrc32c',
    })),
  );
  expect((await findingsIn(folders.current)).filter((each) => each.startsWith('MANIFEST'))).toEqual([]);
  // A byte of the padding.
  const name = path.join(folders.current, '000009.sst');
  const bytes = readFileSync(name);
  const zeros = bytes.indexOf(Buffer.alloc(32));
  expect(zeros).toBeGreaterThan(0);
  bytes[zeros + 16] = 1;
  writeFileSync(name, bytes);
  expect((await findingsIn(folders.current)).filter((each) => each.startsWith('MANIFEST'))).toEqual([
    'MANIFEST-000005: damage manifest_checksum',
  ]);
});

it('LD-05: the MANIFEST says 21,210 bytes', async () => {
  const source = databases().find(({ name }) => name === 'leveldb')!.path;
  copyDatabase(source, folders.fresh(), (edits) => withFiles(edits, (file) => ({ ...file, size: 21_210 })));
  const reports = await verifyFolder(folders.current);
  const { findings } = reports.get('MANIFEST-000007')!;
  expect(findings).toMatchObject([
    { code: 'manifest_size', stored: '21210', computed: '827' },
    { code: 'manifest_size', stored: '21210', computed: '829' },
  ]);
  expect(reports.get('000005.ldb')!.status).toBe('ok');
});

it('LD-07: a record that exactly fills its block', async () => {
  const header = 7;
  const counters = {
    comparator: 'leveldb.BytewiseComparator',
    logNumber: 1,
    nextFileNumber: 9,
    lastSequence: 1n,
  };
  const first = manifestOf([counters]).length;
  // An optional tag of a length that fills the rest, as our writer writes it: one Full record.
  const rest = 32768 - first - 2 * header;
  const bytes = new Uint8Array(rest + header - 5);
  writeDatabase(folders.fresh(), []);
  writeFileSync(
    manifestPath(folders.current),
    manifestOf([counters, { unknown: [{ tag: 8192 + 99, bytes }] }, {}]),
  );
  const manifest = new Uint8Array(readFileSync(manifestPath(folders.current)));
  expect(manifest[first + 6]).toBe(1);
  expect(manifest.length).toBe(32768 + header);
  expect(await findingsIn(folders.current)).toEqual([]);
});
