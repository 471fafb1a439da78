/** What each command ends with, and what it says, for inputs in every state: docs/exit-codes.md. */

import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Ajv from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli.ts';
import type { DirectoryEntry, Environment, FileSystem } from '../../src/engine/environment.ts';
import { IoError, SstError } from '../../src/errors.ts';
import { statusOfError, worstStatus } from '../../src/exit-status.ts';
import { openNodeEnvironment } from '../../src/node/environment.ts';
import { type ScanEvents, scanInputs } from '../../src/tools/scan-inputs.ts';
import { runHere } from '../bug-cases/run-here.ts';
import { PROJECT_ROOT, runCli } from '../support/cli.ts';
import { fixture } from '../support/fixtures.ts';
import { manifestOf } from '../support/manifest.ts';
import { flipBit, overwrite, patchFooter } from '../support/patch.ts';

interface Outcome {
  status: unknown;
  stdout: string;
  stderr: string;
}

async function run(argv: readonly string[]): Promise<Outcome> {
  const { status, stdout, stderr } = await runHere(argv, { cwd: folder });
  return { status, stdout: stdout.toString('latin1'), stderr };
}

/** Those that read tables and are there. */
const COMMAND_NAMES = ['scan', 'dump', 'verify'].filter((name) => Object.hasOwn(COMMANDS, name));

const readSchema = (name: string): object =>
  JSON.parse(readFileSync(path.join(PROJECT_ROOT, 'schema', name), 'utf8'));
const isErrorDocument = new Ajv({ strict: true }).compile(readSchema('error.schema.json'));

const setVersion = (footer: Uint8Array): void =>
  new DataView(footer.buffer, footer.byteOffset).setUint32(41, 9, true);

/** Noise of a fixed seed: no format, no text, no zeros. */
function noise(length: number): Uint8Array {
  let state = 1;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  });
}

function makeInputs(folder: string): void {
  const good = fixture('demo/basic.sst').bytes();
  const modern = fixture('modern/fv6-none-bloom.sst').bytes();
  const write = (name: string, bytes: Uint8Array | string): void =>
    writeFileSync(path.join(folder, name), bytes);
  write('good.sst', good);
  write('empty.sst', '');
  write('text.sst', 'not a table\n');
  write('damaged.sst', fixture('demo/damaged.sst').bytes());
  write('cut.sst', good.subarray(0, good.length - 1));
  write('pebble.sst', overwrite(good, good.length - 8, Buffer.from('f09faab3f09faab3', 'hex')));
  write('version9.sst', overwrite(good, good.length - 12, Uint8Array.of(9, 0, 0, 0)));
  write('version9-sealed.sst', patchFooter(modern, setVersion));
  write('version9-damaged.sst', overwrite(modern, modern.length - 12, Uint8Array.of(9, 0, 0, 0)));
  write('noise.sst', noise(256 * 1024));
  write('zeros.sst', new Uint8Array(2000));
  write('000004.log', readFileSync(path.join(PROJECT_ROOT, 'test/fixtures/db/mixed/000017.log')));
  for (const directory of ['all', 'unsupported', 'unreadable', 'no-table', 'nothing', 'empty-db']) {
    mkdirSync(path.join(folder, directory));
  }
  for (const name of ['good.sst', 'empty.sst', 'text.sst', 'damaged.sst', 'pebble.sst', 'version9.sst']) {
    write(`all/${name}`, readFileSync(path.join(folder, name)));
  }
  write('unsupported/good.sst', good);
  write('unsupported/pebble.sst', readFileSync(path.join(folder, 'pebble.sst')));
  write('unreadable/good.sst', good);
  write('unreadable/pebble.sst', readFileSync(path.join(folder, 'pebble.sst')));
  write('unreadable/empty.sst', '');
  write('no-table/readme.txt', 'nothing here\n');
  write('empty-db/CURRENT', 'MANIFEST-000001\n');
  write(
    'empty-db/MANIFEST-000001',
    manifestOf([{ comparator: 'c', logNumber: 1, nextFileNumber: 2, lastSequence: 0n }]),
  );
  write('empty-db/000002.log', '');
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-status-'));
  makeInputs(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FILES: [input: string, status: number, said: RegExp][] = [
  ['good.sst', 0, /^/],
  ['damaged.sst', 1, /data block 5 at 1867/],
  ['cut.sst', 1, /magic number/],
  ['version9-damaged.sst', 1, /footer checksum mismatch/],
  ['missing.sst', 3, /missing\.sst: no such file or directory/],
  ['empty.sst', 3, /empty\.sst: .*empty/],
  ['text.sst', 3, /text\.sst: .*text/],
  ['zeros.sst', 3, /zeros/],
  ['pebble.sst', 4, /Pebble/],
  ['version9.sst', 4, /format_version 9/],
  ['version9-sealed.sst', 4, /format_version 9/],
  ['noise.sst', 4, /encrypted/],
];

const DIRECTORIES: [input: string, status: number][] = [
  ['all', 1],
  ['unreadable', 3],
  ['unsupported', 4],
  ['no-table', 3],
  ['nothing', 3],
];

describe.each(COMMAND_NAMES)('%s', (name) => {
  describe('of a file', () => {
    it.each(FILES)('%s: %i', async (input, wanted, said) => {
      const { status, stdout, stderr } = await run([name, input]);
      expect({ status, stderr }).toMatchObject({ status: wanted });
      expect(stderr + stdout).toMatch(said);
      expect(stderr).not.toMatch(/^ {4}at |bug of sstkit/m);
    });
  });

  describe('of what is no command line', () => {
    it.each([
      [['good.sst', '--frob']],
      [[]],
      [['good.sst', '--format', 'xml']],
      [['good.sst', '--comparator', 'nobody.knows.this.one']],
      [['good.sst', '--out', 'text.sst']],
      ...(name === 'scan'
        ? [
            [['good.sst', '--key', 'hex:0']],
            [['good.sst', '--from', '0xzz']],
            [['good.sst', '--types', 'frob']],
            [['good.sst', '--limit', 'many']],
            [['empty-db']],
          ]
        : []),
    ])('%j: 2', async (args) => {
      const text = await run([name, ...args]);
      expect(text.status).toBe(2);
      expect(text.stdout.length).toBe(0);
      expect(text.stderr).toMatch(/^sstkit: /);
      const json = await run([name, ...args, '--json']);
      // With --format given twice the last one counts.
      if (args.includes('--format')) return;
      expect(json.status).toBe(2);
      const document = JSON.parse(json.stdout);
      expect(isErrorDocument(document)).toBe(true);
      expect(document.error.code).toBe('invalid_argument');
    });
  });
});

describe.concurrent('as a process of its own', () => {
  it.each([
    ['scan good.sst', 0],
    ['scan damaged.sst', 1],
    ['scan good.sst --frob', 2],
    ['scan missing.sst', 3],
    ['scan pebble.sst', 4],
  ])('sstkit %s: %i', async (line, wanted) => {
    const { status } = await runCli(line.split(' '), { cwd: folder });
    expect(status).toBe(wanted);
  });
});

describe.each(COMMAND_NAMES)('%s of several files', (name) => {
  describe('of a directory', () => {
    it.each(DIRECTORIES)('%s: %i', async (input, wanted) => {
      const { status } = await run([name, input]);
      expect(status).toBe(wanted);
    });
  });

  it('several PATHs: the worst of them', async () => {
    const { status } = await run([name, 'good.sst', 'pebble.sst', 'missing.sst']);
    expect(status).toBe(3);
    const worse = await run([name, 'missing.sst', 'damaged.sst', 'good.sst']);
    expect(worse.status).toBe(1);
  });
});

it.each(['scan', 'verify', 'dump'])('%s of an empty database: 0', async (name) => {
  const view = name === 'scan' ? ['--view', 'files'] : [];
  const { status, stderr } = await run([name, 'empty-db', ...view]);
  expect({ status, stderr }).toMatchObject({ status: 0 });
});

describe('the error document', () => {
  it.each([
    ['scan', 'missing.sst', 3, 'not_found'],
    ['scan', 'empty.sst', 3, 'empty'],
    ['scan', 'text.sst', 3, 'not_a_table'],
    ['scan', 'no-table', 3, 'no_table'],
    ['scan', 'pebble.sst', 4, 'unsupported'],
    ['scan', 'version9.sst', 4, 'unsupported'],
    ['scan', '000004.log', 4, 'unsupported'],
    ['dump', 'missing.sst', 3, 'not_found'],
    ['dump', 'empty.sst', 3, 'empty'],
    ['dump', 'pebble.sst', 4, 'unsupported'],
    ['dump', 'version9.sst', 4, 'unsupported'],
  ])('%s %s', async (name, input, wanted, code) => {
    if (!COMMAND_NAMES.includes(name)) return;
    const { status, stdout } = await run([name, input, '--json']);
    expect(status).toBe(wanted);
    const document = JSON.parse(stdout);
    expect(isErrorDocument(document)).toBe(true);
    expect(document.error).toMatchObject({ code, file: input });
  });

  it.runIf(COMMAND_NAMES.includes('scan'))('does not replace rows that could be read', async () => {
    const { status, stdout } = await run(['scan', 'good.sst', 'missing.sst', '--json']);
    expect(status).toBe(3);
    expect(JSON.parse(stdout).entries.length).toBe(200);
  });
});

describe('--out', () => {
  it.each(COMMAND_NAMES.filter((name) => Object.hasOwn(COMMANDS[name]!.flags, 'out')))(
    'of %s replaces a file only with --force',
    async (name) => {
      const out = path.join(folder, `${name}-out.txt`);
      writeFileSync(out, 'mine');
      expect((await run([name, 'good.sst', '--out', out])).status).toBe(2);
      expect(readFileSync(out, 'utf8')).toBe('mine');
      const forced = await run([name, 'good.sst', '--out', out, '--force']);
      expect({ status: forced.status, stderr: forced.stderr }).toMatchObject({ status: 0 });
      expect(readFileSync(out).length).toBeGreaterThan(10);
    },
  );

  it('into a directory that is not there: 3', async () => {
    const { status, stderr } = await runCli(['scan', 'good.sst', '--out', 'not-there/rows.txt'], {
      cwd: folder,
    });
    expect(status).toBe(3);
    expect(stderr).toContain('not-there/rows.txt: no such file or directory');
  });
});

it('a reader that goes away: 0, and nothing is said', async () => {
  const large = fixture('content/large-value.sst').path;
  const args = ['scan', ...new Array<string>(60).fill(large)];
  const child = spawn(process.execPath, [path.join(PROJECT_ROOT, 'bin/run.js'), ...args]);
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  child.stdout.once('data', () => child.stdout.destroy());
  const status = await new Promise((resolve) => child.on('close', resolve));
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
});

describe('a file system that fails', () => {
  /** `overrides` stands in for parts of this machine's. */
  async function scanWith(overrides: (files: FileSystem) => Partial<FileSystem>, paths: readonly string[]) {
    const real: Environment = await openNodeEnvironment();
    const environment = { ...real, files: { ...real.files, ...overrides(real.files) } };
    const said = { failures: [] as SstError[], gone: [] as string[], rows: 0 };
    const events: ScanEvents = {
      finding: () => undefined,
      failure: (error) => said.failures.push(error),
      gone: (file) => said.gone.push(file),
      skipped: () => undefined,
      progress: () => undefined,
    };
    let status = 0;
    try {
      await scanInputs(
        environment,
        { paths, recursive: true, databaseFiles: true, columnFamily: undefined, scan: {} },
        events,
        () => ({ row: () => said.rows++ }),
      );
      status = worstStatus(...said.failures.map(statusOfError));
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      status = statusOfError(error);
    }
    return { ...said, status };
  }

  const denied = (file: string): never => {
    throw new IoError('permission', file, 'permission denied');
  };

  it('no right to list a directory: 3', async () => {
    const result = await scanWith(() => ({ list: denied }), [path.join(folder, 'unsupported')]);
    expect(result.status).toBe(3);
    expect(result.failures).toMatchObject([{ code: 'permission', file: path.join(folder, 'unsupported') }]);
  });

  it('no right to list a sub-directory: 3, and the rest is read', async () => {
    const result = await scanWith(
      (files) => ({
        list(directory) {
          if (directory.endsWith('/locked')) denied(directory);
          const locked: DirectoryEntry[] = [{ name: 'locked', kind: 'directory' }];
          return [...files.list(directory).filter(({ name }) => name === 'good.sst'), ...locked];
        },
      }),
      [path.join(folder, 'unsupported')],
    );
    expect(result).toMatchObject({ status: 3, rows: 200 });
  });

  it('no right to open a file: 3', async () => {
    const result = await scanWith(() => ({ open: denied }), [path.join(folder, 'good.sst')]);
    expect(result.status).toBe(3);
    expect(result.failures).toMatchObject([{ code: 'permission' }]);
  });

  it('a file that goes away between listing and opening: 0 and a note', async () => {
    const result = await scanWith(
      (files) => ({
        list: (directory) => [...files.list(directory), { name: 'vanished.sst', kind: 'file' }],
      }),
      [path.join(folder, 'no-table')],
    );
    expect(result).toMatchObject({
      status: 0,
      gone: [path.join(folder, 'no-table', 'vanished.sst')],
      rows: 0,
    });
  });

  it('a file that goes away between the plan and the rows: 0 and a note', async () => {
    let opened = 0;
    const result = await scanWith(
      (files) => ({
        open(file) {
          if (++opened > 1) throw new IoError('not_found', file, 'no such file or directory');
          return files.open(file);
        },
        list: () => [{ name: 'good.sst', kind: 'file' }],
      }),
      [path.join(folder, 'unsupported')],
    );
    expect(result).toMatchObject({ status: 0, gone: [path.join(folder, 'unsupported/good.sst')], rows: 0 });
  });

  it('a file that is cut while it is read: 3', async () => {
    const result = await scanWith(
      (files) => ({
        open(file) {
          const source = files.open(file);
          const fail = (): never => {
            throw new IoError('io_error', file, 'the file ends after 0 of them');
          };
          return {
            ...source,
            name: source.name,
            size: source.size,
            close: () => source.close(),
            read: (offset, length) => (offset < 1000 && length > 53 ? fail() : source.read(offset, length)),
            readInto: fail,
          };
        },
      }),
      [path.join(folder, 'good.sst')],
    );
    expect(result.status).toBe(3);
  });
});

it('one flipped bit anywhere in a data block is told by scan', async () => {
  const good = fixture('demo/basic.sst').bytes();
  const file = path.join(folder, 'flipped.sst');
  for (const offset of [0, 500, 1500]) {
    writeFileSync(file, flipBit(good, offset, offset % 8));
    const { status } = await run(['scan', file, '--count']);
    expect(status).toBe(1);
  }
});
