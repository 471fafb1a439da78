/** The compact command: what it writes, refuses and reports. */

import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Ajv from 'ajv';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Outcome, runHere } from '../bug-cases/run-here.ts';
import { PROJECT_ROOT } from '../support/cli.ts';
import { FIXTURE_ROOT, sharedFixtures } from '../support/fixtures.ts';
import { scanRows } from '../support/scan.ts';

const schema = JSON.parse(readFileSync(path.join(PROJECT_ROOT, 'schema/compact.schema.json'), 'utf8'));
const ajv = new Ajv({ allErrors: true, strict: true });
const isReport = ajv.compile(schema);

interface Report {
  inputs: { path: string; entries: number; bytes: number }[];
  outputs: { path: string; entries: number; bytes: number; smallest: string; largest: string }[];
  dropped: Record<string, number>;
  holes: { path: string; code: string; after: string | null; before: string | null }[];
  plans?: { name: string; kept: number }[];
  whatIf?: {
    sample: { complete: boolean; entries: number };
    tables: {
      name: string;
      dataBytes: number;
      indexBytes: number;
      dataBlocks: number;
      uncompressedDataBlocks: number;
    }[];
  };
}

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'sstkit-compact-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const compact = (...words: string[]): Promise<Outcome> => runHere(['compact', ...words], { cwd });

function reportOf({ stdout }: Outcome): Report {
  const report = JSON.parse(stdout.toString());
  expect(isReport(report), ajv.errorsText(isReport.errors)).toBe(true);
  return report;
}

const fixture = (name: string): string => path.join(FIXTURE_ROOT, name);
const written = (): string[] => readdirSync(cwd).sort();
const inFolder = (name: string): string => path.join(cwd, name);

describe('outputs', () => {
  it('is one file, under its name only when it is complete', async () => {
    const outcome = await compact('demo:basic.sst', 'demo:tombstones.sst', '--out', 'a.sst', '--json');
    expect(outcome.status).toBe(0);
    const report = reportOf(outcome);
    expect(report.outputs).toHaveLength(1);
    expect(written()).toEqual(['a.sst']);
    const { rows } = await scanRows([inFolder('a.sst')]);
    expect(rows).toHaveLength(report.outputs[0]!.entries);
    expect(readFileSync(inFolder('a.sst'))).toHaveLength(report.outputs[0]!.bytes);
    const verified = await runHere(['verify', 'a.sst'], { cwd });
    expect(verified.status).toBe(0);
  });

  it('are not replaced without --force', async () => {
    writeFileSync(inFolder('a.sst'), 'mine');
    const refused = await compact('demo:basic.sst', '--out', 'a.sst');
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('a.sst exists already');
    expect(readFileSync(inFolder('a.sst'), 'utf8')).toBe('mine');
    expect(await compact('demo:basic.sst', '--out', 'a.sst', '--force')).toMatchObject({ status: 0 });
    expect(written()).toEqual(['a.sst']);
  });

  it('are many in a directory with --target-file-size, and part the keys', async () => {
    const words = [
      'demo:basic.sst',
      '--target-file-size',
      '1k',
      '--block-size',
      '256',
      '--compression',
      'none',
    ];
    const { outputs } = reportOf(await compact(...words, '--out', 'dir', '--json'));
    expect(outputs.length).toBeGreaterThan(3);
    expect(readdirSync(inFolder('dir')).sort()).toEqual(outputs.map((output) => path.basename(output.path)));
    for (let i = 1; i < outputs.length; i++)
      expect(outputs[i - 1]!.largest <= outputs[i]!.smallest).toBe(true);
    const whole = reportOf(await compact('demo:basic.sst', '--out', 'one.sst', '--json'));
    const { rows } = await scanRows(outputs.map((output) => inFolder(output.path)));
    expect(rows).toHaveLength(whole.outputs[0]!.entries);
    const again = await compact(...words, '--out', 'dir');
    expect(again).toMatchObject({ status: 2 });
    expect(again.stderr).toContain('exists already');
    expect(await compact(...words, '--out', 'one.sst', '--force')).toMatchObject({ status: 2 });
  });

  it('are told apart from tables that stood there before', async () => {
    await compact('demo:basic.sst', '--target-file-size', '1k', '--block-size', '256', '--out', 'dir');
    const fewer = await compact('demo:basic.sst', '--out', 'dir', '--force');
    expect(fewer).toMatchObject({ status: 0 });
    expect(fewer.stderr).toMatch(
      /^dir\/000002\.sst, and \d+ others: from before, and no output of this run$/m,
    );
    const nothing = await compact('demo:basic.sst', '--to', '', '--out', 'dir/000001.sst', '--force');
    expect(nothing.stderr).toContain('dir/000001.sst: from before');
    await compact('demo:basic.sst', '--out', 'one.sst');
    const same = await compact('demo:basic.sst', '--out', 'one.sst', '--force', '--quiet');
    expect(same.stderr).toBe('');
  });

  it("do not go into a database's directory", async () => {
    mkdirSync(inFolder('db'));
    writeFileSync(path.join(inFolder('db'), 'CURRENT'), 'MANIFEST-000001\n');
    const refused = await compact('demo:basic.sst', '--out', 'db', '--force');
    expect(refused).toMatchObject({ status: 2 });
    expect(refused.stderr).toContain('DB directory');
    expect(readdirSync(inFolder('db'))).toEqual(['CURRENT']);
  });

  it('take an empty directory', async () => {
    mkdirSync(inFolder('empty'));
    expect(await compact('demo:basic.sst', '--out', 'empty')).toMatchObject({ status: 0 });
    expect(readdirSync(inFolder('empty'))).toEqual(['000001.sst']);
  });

  it('have the options that are given, and those of the inputs else', async () => {
    await compact('demo:basic.sst', '--out', 'same.sst');
    await compact(
      'demo:basic.sst',
      '--out',
      'other.sst',
      '--format-version=5',
      '--compression',
      'zstd',
      '--checksum',
      'crc32c',
      '--filter',
      'none',
    );
    const dump = async (name: string) =>
      JSON.parse((await runHere(['dump', name, '--json'], { cwd })).stdout.toString());
    const [input, same, other] = [
      await dump('demo:basic.sst'),
      await dump('same.sst'),
      await dump('other.sst'),
    ];
    expect(same.footer.checksum).toBe(input.footer.checksum);
    expect(same.footer.formatVersion).toBe(input.footer.formatVersion);
    expect(same.properties.compression).toBe(input.properties.compression);
    expect(same.filter?.kind).toBe(input.filter?.kind);
    expect(other.footer).toMatchObject({ checksum: 'crc32c', formatVersion: 5 });
    expect(Object.keys(other.blocks.data.byCompression)).toContain('zstd');
    expect(other.filter).toBeNull();
  });

  it('leave out what the inputs say and the release that is asked for does not know', async () => {
    const dump = async (name: string) =>
      JSON.parse((await runHere(['dump', name, '--json'], { cwd })).stdout.toString());
    expect(await compact('demo:basic.sst', '--out', 'a.sst', '--writer-profile', '7.8')).toMatchObject({
      status: 0,
    });
    expect((await dump('a.sst')).footer.formatVersion).toBeLessThan(6);
    await compact('demo:basic.sst', '--out', 'b.sst', '--compression', 'zstd:19');
    expect(await compact('b.sst', '--out', 'c.sst', '--compression', 'lz4')).toMatchObject({ status: 0 });
  });

  it('of which nothing is left are not written', async () => {
    const outcome = await compact(
      fixture('content/deletes-only.sst'),
      '--bottommost',
      '--out',
      'a.sst',
      '--json',
    );
    expect(reportOf(outcome).outputs).toEqual([]);
    expect(outcome.status).toBe(0);
    expect(written()).toEqual([]);
  });

  it("of LevelDB's tables are LevelDB's", async () => {
    await compact('demo:leveldb.ldb', '--out', 'a.ldb');
    const dump = JSON.parse((await runHere(['dump', 'a.ldb', '--json'], { cwd })).stdout.toString());
    expect(dump.footer.format).toBe('leveldb');
    expect((await runHere(['verify', 'a.ldb'], { cwd })).status).toBe(0);
  });

  it("of LevelDB's tables are RocksDB's where a version of these is asked for", async () => {
    for (const asked of [['--format-version', '4'], ['--ingestable']]) {
      const outcome = await compact('demo:leveldb.ldb', '--out', 'a.sst', '--force', ...asked);
      expect(outcome.status, outcome.stderr).toBe(0);
      const dump = JSON.parse((await runHere(['dump', 'a.sst', '--json'], { cwd })).stdout.toString());
      expect(dump.footer).toMatchObject({ format: 'block-based', formatVersion: asked[1] === '4' ? 4 : 5 });
      expect((await runHere(['verify', 'a.sst'], { cwd })).status).toBe(0);
    }
  });
});

describe('rules', () => {
  it('warn where they cannot tell which of two entries is newer', async () => {
    const write = (name: string, type: string): Promise<Outcome> => {
      const row = { key: '61', seqno: '5', type, value: '' };
      writeFileSync(inFolder('rows.ndjson'), JSON.stringify(row));
      return runHere(['write', '--in', 'rows.ndjson', '--out', name], { cwd });
    };
    await write('put.sst', 'put');
    await write('delete.sst', 'delete');
    const outcome = await compact('delete.sst', 'put.sst', '--out', 'a.sst', '--quiet');
    expect(outcome.stderr).toContain('1 entries have the key and sequence number of another entry');
  });

  it('keep what snapshots see', async () => {
    const file = fixture('content/many-versions.sst');
    const { rows } = await scanRows([file]);
    const seqnos = rows.map(({ seqno }) => Number(seqno));
    const all = reportOf(await compact(file, '--out', 'all.sst', '--snapshots', seqnos.join(','), '--json'));
    expect(all.outputs[0]!.entries).toBe(rows.length);
    const one = reportOf(await compact(file, '--out', 'one.sst', '--json'));
    expect(one.outputs[0]!.entries).toBe(new Set(rows.map(({ key }) => key)).size);
    expect(one.dropped.overwritten).toBe(rows.length - one.outputs[0]!.entries);
  });

  it('merge operands when the operator is known', async () => {
    const file = fixture('content/merges.sst');
    const kept = await compact(file, '--out', 'kept.sst', '--merge-operator', 'none', '--json');
    expect(reportOf(kept).dropped.mergedOperands).toBe(0);
    const words = ['--merge-operator', 'StringAppendOperator:\\x00', '--bottommost', '--json'];
    const merged = reportOf(await compact(file, '--out', 'merged.sst', ...words));
    expect(merged.dropped.mergedOperands).toBeGreaterThan(0);
    const { rows } = await scanRows([inFolder('merged.sst')]);
    expect(rows.map(({ type }) => type)).not.toContain('merge');
    const unknown = await compact(file, '--out', 'x.sst', '--merge-operator', 'mine');
    expect(unknown).toMatchObject({ status: 2 });
    expect(unknown.stderr).toContain('merge operator mine is not known');
  });

  it('keep the whole history of user-defined timestamps', async () => {
    const file = fixture('content/timestamps.sst');
    await compact(file, '--out', 'a.sst', '--bottommost');
    const strip = async (name: string) => (await scanRows([name])).rows.map(({ file: _, ...row }) => row);
    expect(await strip(inFolder('a.sst'))).toEqual(await strip(file));
  });

  it('explain each entry that is dropped', async () => {
    const outcome = await compact('demo:tombstones.sst', '--out', 'a.sst', '--explain-drops', '--json');
    const report = reportOf(outcome);
    const lines = outcome.stderr.split('\n').filter((line) => line.startsWith('demo:tombstones.sst\t'));
    expect(lines).toHaveLength(Object.values(report.dropped).reduce((sum, count) => sum + count, 0));
    expect(lines[0]!.split('\t')).toHaveLength(5);
    const text = await compact('demo:tombstones.sst', '--out', 'b.sst', '--explain-drops');
    expect(text.stdout.toString()).toContain('\tcovered by a range tombstone (newest: ');
  });

  it('cut out a part with --from, --to and --prefix', async () => {
    const keysOf = async (name: string) =>
      (await scanRows([inFolder(name)])).rows.flatMap(({ key }) => key ?? []);
    await compact('demo:basic.sst', '--out', 'whole.sst');
    await compact(
      'demo:basic.sst',
      '--out',
      'part.sst',
      '--from',
      'user:0005',
      '--to',
      'hex:757365723a30303130',
    );
    const whole = await keysOf('whole.sst');
    const [from, to] = ['user:0005', 'user:0010'].map((text) => Buffer.from(text).toString('hex')) as [
      string,
      string,
    ];
    expect(await keysOf('part.sst')).toEqual(whole.filter((key) => key >= from && key < to));
    await compact('demo:basic.sst', '--out', 'prefix.sst', '--prefix', 'user:00');
    const prefix = Buffer.from('user:00').toString('hex');
    expect(await keysOf('prefix.sst')).toEqual(whole.filter((key) => key.startsWith(prefix)));
    const nothing = await compact('demo:basic.sst', '--out', 'none.sst', '--from', 'zzz');
    expect(nothing).toMatchObject({ status: 0 });
    expect(nothing.stderr).toContain('nothing is left');
  });

  it('are for ingestion with --ingestable, in a version that every release reads', async () => {
    const words = ['demo:tombstones.sst', '--merge-operator', 'StringAppendOperator:+', '--ingestable'];
    expect(await compact(...words, '--out', 'a.sst')).toMatchObject({ status: 0 });
    const { rows } = await scanRows([inFolder('a.sst')]);
    expect(rows.filter(({ seqno }) => seqno !== '0')).toEqual([]);
    const dump = JSON.parse((await runHere(['dump', 'a.sst', '--json'], { cwd })).stdout.toString());
    expect(dump.footer.formatVersion).toBe(5);
    expect(dump.properties).toMatchObject({ externalSstFileVersion: 2, externalSstFileGlobalSeqno: '0' });
    const kept = await compact(...words, '--snapshots', '5', '--out', 'b.sst');
    expect(kept).toMatchObject({ status: 2 });
    expect(kept.stderr).toContain('one version of each key');
  });

  it('are tried out by --dry-run, which writes nothing', async () => {
    const words = ['demo:basic.sst', 'demo:tombstones.sst', '--dry-run', '--snapshots', '50'];
    const dry = reportOf(await compact(...words, '--json'));
    expect(dry.plans?.map(({ name }) => name)).toEqual([
      'as asked',
      'with --bottommost',
      'without --snapshots',
      '--bottommost alone',
    ]);
    const { sample, tables } = dry.whatIf!;
    expect(sample).toMatchObject({ complete: true, entries: dry.plans![0]!.kept });
    const bytesOf = (name: string) => tables.find((table) => table.name === name)!;
    expect(bytesOf('none').dataBytes).toBeGreaterThan(bytesOf('zlib').dataBytes);
    expect(bytesOf('none').uncompressedDataBlocks).toBe(bytesOf('none').dataBlocks);
    expect(bytesOf('blocks of 16 KiB').dataBlocks).toBeLessThan(bytesOf('as asked').dataBlocks);
    expect(bytesOf('index two_level').indexBytes).toBeGreaterThan(bytesOf('as asked').indexBytes);
    const text = (await compact(...words)).stdout.toString();
    expect(text).toContain('nothing was written');
    expect(text).toMatch(/^zstd, dictionary of 16 KiB +\d/m);
    expect(written()).toEqual([]);
    const real = reportOf(
      await compact(...words.filter((word) => word !== '--dry-run'), '--out', 'a.sst', '--json'),
    );
    expect(dry.dropped).toEqual(real.dropped);
    expect(dry.inputs).toEqual(real.inputs);
  });
});

describe('damage', () => {
  it('is refused before anything is written', async () => {
    const outcome = await compact('demo:basic.sst', 'demo:damaged.sst', '--out', 'a.sst');
    expect(outcome.status).toBe(1);
    expect(outcome.stderr).toMatch(/demo:damaged\.sst: data block .*nothing was written/);
    expect(written()).toEqual([]);
  });

  it('is passed over by --salvage, which names what may come back', async () => {
    const outcome = await compact('demo:damaged.sst', '--out', 'a.sst', '--salvage', '--json');
    expect(outcome.status).toBe(1);
    const { holes, outputs } = reportOf(outcome);
    expect(holes).toMatchObject([{ path: 'demo:damaged.sst', code: 'block_checksum' }]);
    expect(holes[0]!.after! < holes[0]!.before!).toBe(true);
    expect(outcome.stderr).toMatch(/older versions and deleted keys of that range may be visible again/);
    expect((await runHere(['verify', 'a.sst'], { cwd })).status).toBe(0);
    expect(outputs).toHaveLength(1);
  });

  it('of the footer alone costs nothing: status 0', async () => {
    const bytes = readFileSync(fixture('demo/basic.sst'));
    writeFileSync(inFolder('cut.sst'), bytes.subarray(0, bytes.length - 20));
    expect(await compact('cut.sst', '--out', 'a.sst')).toMatchObject({ status: 1 });
    const salvaged = await compact('cut.sst', '--out', 'a.sst', '--salvage', '--json');
    expect(reportOf(salvaged).holes).toEqual([]);
    expect(salvaged.status).toBe(0);
    const whole = reportOf(await compact('demo:basic.sst', '--out', 'b.sst', '--json'));
    expect(reportOf(salvaged).outputs[0]!.entries).toBe(whole.outputs[0]!.entries);
  });

  it('of a whole file does not keep --salvage from the others', async () => {
    writeFileSync(inFolder('text.sst'), 'no table at all\n'.repeat(10));
    expect(await compact('demo:basic.sst', 'text.sst', '--out', 'a.sst')).toMatchObject({ status: 3 });
    expect(written()).toEqual(['text.sst']);
    const salvaged = await compact('demo:basic.sst', 'text.sst', '--out', 'a.sst', '--salvage', '--json');
    expect(salvaged.status).toBe(1);
    expect(reportOf(salvaged).holes).toMatchObject([{ path: 'text.sst', after: null, before: null }]);
  });
});

describe('refusals', () => {
  it.each([[['--db', 'x']], [['--db=x']], [['demo:basic.sst', '--out', 'a.sst', '--db=x']]])(
    '%j',
    async (words) => {
      const outcome = await compact(...words);
      expect(outcome.status).toBe(2);
      expect(outcome.stderr).toContain('--db: not supported: a DB cannot be compacted in place');
      expect(written()).toEqual([]);
    },
  );

  it.each([
    [['demo:basic.sst'], '--out'],
    [['demo:basic.sst', '--out', 'a.sst', '--snapshots', '1,x'], '--snapshots: "x"'],
    [['demo:basic.sst', '--out', 'a.sst', '--target-file-size', '0'], '--target-file-size'],
    [['demo:basic.sst', fixture('content/reverse-comparator.sst'), '--out', 'a.sst'], 'comparators differ'],
    [[fixture('content/unknown-comparator.sst'), '--out', 'a.sst'], '--comparator'],
    [[fixture('db/blob'), '--out', 'a.sst'], 'DB directory'],
  ])('%s', async (words, text) => {
    const outcome = await compact(...words);
    expect(outcome.status).toBe(2);
    expect(outcome.stderr).toContain(text);
    expect(written()).toEqual([]);
  });

  it('of files of several column families, unless one is chosen', async () => {
    const cfs = sharedFixtures().databases.find(({ name }) => name === 'cfs');
    if (cfs === undefined) return;
    for (const table of cfs.tables) copyFileSync(table.path, inFolder(path.basename(table.path)));
    const outcome = await compact('.', '--out', 'out/');
    expect(outcome.status).toBe(2);
    expect(outcome.stderr).toContain('--cf');
    expect(await compact('.', '--out', 'out/', '--cf', 'index')).toMatchObject({ status: 0 });
    expect(await compact('.', '--out', 'out2/', '--cf', 'none')).toMatchObject({ status: 2 });
  });

  it('of values that lie in the table itself is status 4', async () => {
    const outcome = await compact(fixture('flip/fv7-embedded-blobs.sst'), '--out', 'a.sst');
    expect(outcome).toMatchObject({ status: 4 });
    expect(outcome.stderr).toContain('embedded in the table');
    expect(written()).toEqual([]);
  });

  it('of a missing file is status 3', async () => {
    expect(await compact('gone.sst', '--out', 'a.sst')).toMatchObject({ status: 3 });
  });
});
