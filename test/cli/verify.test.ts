import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Ajv from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileSystem } from '../../src/engine/environment.ts';
import { IoError } from '../../src/errors.ts';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import { type FileReport, verifyPaths } from '../../src/tools/verify.ts';
import { PROJECT_ROOT, runCli } from '../support/cli.ts';
import { manifestOf } from '../support/manifest.ts';

const FIXTURES = path.join(PROJECT_ROOT, 'test/fixtures');
const SHARED = path.resolve(PROJECT_ROOT, '../shared/fixtures/db');
const schema = JSON.parse(readFileSync(path.join(PROJECT_ROOT, 'schema/verify.schema.json'), 'utf8'));
const ajv = new Ajv({ allErrors: true, strict: true, allowUnionTypes: true });
const isDocument = ajv.compile(schema);
const isFile = ajv.compile({ ...schema.definitions.file, definitions: schema.definitions });

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-verify-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function verifyJson(...args: string[]) {
  const { status, stdout } = await runCli(['verify', ...args, '--json']);
  const document = JSON.parse(stdout.toString());
  expect(isDocument(document), ajv.errorsText(isDocument.errors)).toBe(true);
  return { status, document };
}

describe('one damaged file', () => {
  const damaged = 'test/fixtures/demo/damaged.sst';

  it('as JSON: everything that the contract names', async () => {
    const { status, document } = await verifyJson(damaged);
    expect(status).toBe(1);
    expect(document.summary).toMatchObject({ files: 1, ok: 0, damaged: 1, unreadable: 0, unsupported: 0 });
    expect(document.files).toMatchObject([
      {
        path: damaged,
        kind: 'sst',
        status: 'damaged',
        formatVersion: 5,
        findings: [
          {
            code: 'block_checksum',
            severity: 'damage',
            block: { type: 'data', offset: 1867, size: 357, ordinal: 5 },
            stored: '3464a342',
            computed: 'c7dbfd21',
            lost: { after: '757365723a30303631', before: '757365723a30303739', entries: 18 },
            shape: 'bit_flip',
          },
        ],
      },
    ]);
  });

  it('as text: file, block, offset and lost range, also on stderr, and a last line for all', async () => {
    for (const quiet of [[], ['--quiet']]) {
      const { status, stdout, stderr } = await runCli(['verify', damaged, ...quiet]);
      expect(status).toBe(1);
      const lines = stdout.toString().trimEnd().split('\n');
      expect(lines[0]).toContain(`${damaged}: damaged`);
      expect(lines[1]).toMatch(/data block 5 at 1867 .*bit flip.*between user:0061 and user:0079 \(18\)/);
      expect(lines.at(-1)).toMatch(/^1 file: 0 ok, 1 damaged, 0 unreadable, 0 unsupported, \d+ bytes$/);
      expect(stderr).toMatch(/damaged\.sst: data block 5 at 1867 .*between user:0061/);
    }
  });

  it('keys in another form', async () => {
    const { stdout } = await runCli(['verify', damaged, '--bytes', 'hex']);
    expect(stdout.toString()).toContain('between 757365723a30303631 and ');
  });

  it('as one line of JSON a file', async () => {
    const { status, stdout } = await runCli([
      'verify',
      damaged,
      'test/fixtures/demo/basic.sst',
      '--format',
      'ndjson',
    ]);
    expect(status).toBe(1);
    const files = stdout
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    for (const file of files) expect(isFile(file), ajv.errorsText(isFile.errors)).toBe(true);
    expect(files.map(({ status: each }) => each)).toEqual(['damaged', 'ok']);
  });
});

describe('a directory', () => {
  it('one line a file and a summary; other files are counted', async () => {
    const { status, stdout, stderr } = await runCli(['verify', 'test/fixtures/db/mixed']);
    expect(status).toBe(0);
    const lines = stdout.toString().trimEnd().split('\n');
    const tables = readdirSync(path.join(FIXTURES, 'db/mixed')).filter((name) => name.endsWith('.sst'));
    expect(lines).toHaveLength(tables.length + 3);
    expect(lines).toContainEqual(expect.stringMatching(/^test\/fixtures\/db\/mixed\/000017\.log: ok, /));
    expect(lines.at(-2)).toMatch(/^test\/fixtures\/db\/mixed\/MANIFEST-000005: ok, 977 bytes$/);
    expect(lines[0]).toMatch(/^test\/fixtures\/db\/mixed\/000012\.sst: ok, /);
    expect(stderr).toMatch(/^\d+ other files skipped/m);
    const verbose = await runCli(['verify', 'test/fixtures/db/mixed', '--verbose']);
    expect(verbose.stderr).toContain('test/fixtures/db/mixed/CURRENT: skipped (current)');
  });

  it('with --quiet names what is damaged or missing, and nothing else', async () => {
    const { status, stdout, stderr } = await runCli([
      'verify',
      'test/fixtures/demo',
      'no-such.sst',
      '--quiet',
    ]);
    expect(status).toBe(1);
    expect(stdout.toString()).not.toContain('basic.sst');
    for (const output of [stdout.toString(), stderr]) {
      expect(output).toContain('damaged.sst');
      expect(output).toContain('no-such.sst');
    }
  });

  it('of every kind of file', async () => {
    const mixed = path.join(folder, 'mixed');
    mkdirSync(path.join(mixed, 'below'), { recursive: true });
    copyFileSync(path.join(FIXTURES, 'demo/basic.sst'), path.join(mixed, 'whole.sst'));
    copyFileSync(path.join(FIXTURES, 'demo/basic.sst'), path.join(mixed, 'without-extension'));
    copyFileSync(path.join(FIXTURES, 'demo/leveldb.ldb'), path.join(mixed, 'below/000005.ldb'));
    copyFileSync(path.join(FIXTURES, 'db/mixed/000017.log'), path.join(mixed, '000017.log'));
    copyFileSync(path.join(FIXTURES, 'db/mixed/000017.log'), path.join(mixed, 'log-by-another-name.sst'));
    writeFileSync(path.join(mixed, '000018.log'), '');
    writeFileSync(path.join(mixed, 'empty.sst'), '');
    writeFileSync(path.join(mixed, 'notes.txt'), 'notes');
    writeFileSync(path.join(mixed, 'text.sst'), 'a text');
    writeFileSync(
      path.join(mixed, 'bytes.ldb'),
      Uint8Array.from({ length: 500 }, (_, i) => (i * 7) & 255),
    );
    writeFileSync(
      path.join(mixed, 'MANIFEST-000001'),
      Uint8Array.from({ length: 500 }, (_, i) => (i * 11) & 255),
    );
    const { status, document } = await verifyJson(mixed);
    const found = Object.fromEntries(
      document.files.map((file: { path: string; status: string }) => [path.basename(file.path), file.status]),
    );
    expect(found).toEqual({
      'MANIFEST-000001': 'unreadable',
      'bytes.ldb': 'unreadable',
      'empty.sst': 'unreadable',
      'log-by-another-name.sst': 'unsupported',
      'text.sst': 'unreadable',
      'whole.sst': 'ok',
      'without-extension': 'ok',
    });
    expect(status).toBe(3);
    const deep = await verifyJson(mixed, '--recursive');
    expect(deep.document.files.map((file: { path: string }) => file.path)).toContain(
      `${mixed}/below/000005.ldb`,
    );
  });

  it('without a table file', async () => {
    const empty = path.join(folder, 'empty');
    mkdirSync(empty);
    expect((await verifyJson(empty)).status).toBe(3);
    writeFileSync(path.join(empty, 'CURRENT'), 'MANIFEST-000001\n');
    expect((await verifyJson(empty)).document.files).toMatchObject([
      { path: `${empty}/CURRENT`, kind: 'current', status: 'damaged', findings: [{ code: 'current_file' }] },
    ]);
    writeFileSync(
      path.join(empty, 'MANIFEST-000001'),
      manifestOf([{ comparator: 'c', logNumber: 1, nextFileNumber: 2, lastSequence: 0n }]),
    );
    const { status, document } = await verifyJson(empty);
    expect(status).toBe(0);
    expect(document.files).toMatchObject([{ kind: 'manifest', status: 'ok' }]);
  });

  it('is left as it was', async () => {
    const copy = path.join(folder, 'copy');
    mkdirSync(copy);
    copyFileSync(path.join(FIXTURES, 'demo/damaged.sst'), path.join(copy, '000001.sst'));
    const before = statSync(path.join(copy, '000001.sst')).mtimeMs;
    await runCli(['verify', copy]);
    expect(readdirSync(copy)).toEqual(['000001.sst']);
    expect(statSync(path.join(copy, '000001.sst')).mtimeMs).toBe(before);
  });
});

describe('the exit status', () => {
  it.each([
    [0, ['demo:basic.sst', 'demo:leveldb.ldb', 'demo:tombstones.sst']],
    [0, ['test/fixtures/db/mixed', 'test/fixtures/db/mixed/MANIFEST-000005']],
    [1, ['demo:damaged.sst']],
    [1, ['demo:damaged.sst', 'no-such-file', 'test/fixtures/cuckoo/cuckoo.sst']],
    [3, ['no-such-file', 'test/fixtures/cuckoo/cuckoo.sst']],
    [3, ['package.json']],
    [4, ['test/fixtures/cuckoo/cuckoo.sst']],
    [0, ['test/fixtures/db/mixed/CURRENT']],
    [0, ['test/fixtures/db/mixed/000017.log']],
    [0, ['test/fixtures/db/mixed/OPTIONS-000007']],
    [2, ['demo:basic.sst', '--comparator', 'no.such.Comparator']],
    [2, ['demo:basic.sst', '--max-findings', '0']],
    [2, []],
  ])('%i for %j', async (wanted, args) => {
    expect((await runCli(['verify', ...args])).status).toBe(wanted);
  });

  it('0 for every table of the fixtures, their directories included', {
    skip: !existsSync(SHARED),
  }, async () => {
    const { status, document } = await verifyJson(SHARED, '--recursive');
    const wrong = document.files.filter((file: { status: string }) => file.status !== 'ok');
    expect(wrong).toEqual([]);
    expect(status).toBe(0);
    expect(document.summary.files).toBeGreaterThan(150);
  });
});

describe('a file system that changes', () => {
  async function verifyIn(change: Partial<FileSystem>): Promise<FileReport[]> {
    const environment = await openNodeEnvironment();
    const changed: NodeEnvironment = { ...environment, files: { ...environment.files, ...change } };
    const reports: FileReport[] = [];
    await verifyPaths(
      changed,
      { paths: [path.join(FIXTURES, 'demo')], recursive: false },
      { report: (report) => reports.push(report), skipped: () => undefined, progress: () => undefined },
    );
    return reports;
  }

  it('a file that vanishes after it was listed is gone: a note', async () => {
    const { files } = await openNodeEnvironment();
    const reports = await verifyIn({
      open(file) {
        if (file.endsWith('basic.sst')) throw new IoError('not_found', file, 'no such file or directory');
        return files.open(file);
      },
    });
    const gone = reports.find((report) => report.path.endsWith('basic.sst'))!;
    expect(gone).toMatchObject({ status: 'ok', findings: [{ code: 'gone', severity: 'note' }] });
  });

  it('a file that shrinks while it is read cannot be read', async () => {
    const { files } = await openNodeEnvironment();
    const reports = await verifyIn({
      open(file) {
        const source = files.open(file);
        if (!file.endsWith('basic.sst')) return source;
        return {
          name: source.name,
          size: source.size,
          read: (offset, length) => source.read(offset, length),
          readInto: () => {
            throw new IoError('io_error', file, 'the file has been cut');
          },
          close: () => source.close(),
        };
      },
    });
    const cut = reports.find((report) => report.path.endsWith('basic.sst'))!;
    expect(cut).toMatchObject({ status: 'unreadable', findings: [{ code: 'io_error' }] });
    expect(reports).toHaveLength(4);
  });
});
