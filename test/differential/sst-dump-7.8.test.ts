/**
 * `--compat=7.8` against the installed sst_dump: files of release 7.8.3, and files of every table shape that db_bench
 * makes. Output is compared as it is, but for what `normalise` takes away.
 */

import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from '../bug-cases/run-here.ts';
import { FIXTURE_ROOT, sharedFixtures } from '../support/fixtures.ts';
import { findTool, runTool, toolVersion } from '../support/oracles.ts';
import { flipBit } from '../support/patch.ts';

const version = toolVersion('sst_dump');
const same = version === '7.8.3';
if (version !== undefined && !same) console.warn(`SKIPPED: sst_dump is ${version}, not 7.8.3`);
const benches = same && findTool('db_bench') !== undefined;

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-sst-dump-7.8-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The pointer of the Env; where raw dumps go; blanks of the list of flags, which are not ours to copy. */
function normalise(text: string): string {
  return text
    .replace(/^options\.env is 0x[0-9a-f]+$/m, 'options.env is 0x0')
    .replace(/^raw dump written to file .*$/gm, 'raw dump written');
}

interface Run {
  stdout: string;
  stderr: string;
  raw: string;
}

/** Each tool works in a folder of its own, on a copy of its own: the real one writes beside its input. */
async function runBoth(
  table: string,
  flags: readonly string[],
): Promise<{ real: Run; ours: Run; status: unknown }> {
  const run = async (name: string, step: (cwd: string) => Promise<{ stdout: string; stderr: string }>) => {
    const cwd = mkdtempSync(path.join(folder, `${name}-`));
    copyFileSync(table, path.join(cwd, 'table.sst'));
    const { stdout, stderr } = await step(cwd);
    const dump = path.join(cwd, 'table_dump.txt');
    const raw = existsSync(dump) ? readFileSync(dump, 'latin1') : '';
    rmSync(cwd, { recursive: true });
    return { stdout: normalise(stdout), stderr: normalise(stderr), raw };
  };
  let status: unknown;
  const real = await run('real', async (cwd) => runTool('sst_dump', ['--file=table.sst', ...flags], { cwd }));
  const ours = await run('ours', async (cwd) => {
    const outcome = await runHere(['sst_dump', '--compat=7.8', '--file=table.sst', ...flags], { cwd });
    status = outcome.status;
    return { stdout: outcome.stdout.toString('latin1'), stderr: outcome.stderr };
  });
  return { real, ours, status };
}

const COMMANDS: readonly (readonly string[])[] = [
  ['--command=scan', '--output_hex'],
  ['--command=check', '--verify_checksum', '--show_summary'],
  ['--command=verify', '--verify_checksum'],
  ['--command=identify', '--show_properties'],
  ['--command=scan', '--output_hex', '--read_num=7', '--show_properties'],
  ['--command=raw'],
];

async function expectEqual(table: string): Promise<void> {
  for (const flags of COMMANDS) {
    const { real, ours, status } = await runBoth(table, flags);
    expect({ flags, status }).toEqual({ flags, status: 0 });
    for (const part of ['stdout', 'stderr', 'raw'] as const) {
      const [a, b] = [real[part].split('\n'), ours[part].split('\n')];
      const at = a.findIndex((line, i) => line !== b[i]);
      expect({ flags, part, at, real: a[at], ours: b[at] }).toEqual({
        flags,
        part,
        at: a.length === b.length ? -1 : a.length,
        real: undefined,
        ours: undefined,
      });
    }
  }
}

const oldTables = sharedFixtures().tables.filter(({ name }) => name.startsWith('old_'));

describe.skipIf(!same)('files of release 7.8.3', () => {
  it.each(oldTables)('$name', ({ path: table }) => expectEqual(table));

  it.skipIf(oldTables.length === 0)('plain rows', async () => {
    const { real, ours } = await runBoth(oldTables[0]!.path, ['--command=scan']);
    expect(ours).toEqual(real);
  });

  it.skipIf(oldTables.length === 0)('ranges of keys', async () => {
    const table = oldTables[0]!.path;
    for (const flags of [
      ['--from=key000100', '--to=key000200'],
      ['--from=0x6B657930', '--to=0x6B657930303031', '--input_key_hex', '--output_hex'],
      ['--prefix=key00002'],
      ['--from=zzz'],
    ]) {
      const { real, ours } = await runBoth(table, ['--command=scan', ...flags]);
      expect(ours).toEqual(real);
    }
  });

  it.skipIf(oldTables.length === 0)('the text of a damaged block; the status is not theirs', async () => {
    const table = path.join(folder, 'damaged.sst');
    writeFileSync(table, flipBit(readFileSync(oldTables[0]!.path), 1500));
    const { real, ours, status } = await runBoth(table, ['--command=verify', '--verify_checksum']);
    expect(ours).toEqual(real);
    expect(status).toBe(1);
    const check = await runBoth(table, ['--command=check', '--verify_checksum']);
    expect(check.ours.stderr).toContain(check.real.stderr);
    expect(check.ours.stdout).toBe(check.real.stdout);
  });

  it.each([
    [['--parse_internal_key=0x6162630105000000000000']],
    [['--parse_internal_key=0x6162']],
    [['--file=/no/such/place']],
  ])('%j', async (flags) => {
    const real = runTool('sst_dump', flags);
    const ours = await runHere(['sst_dump', '--compat=7.8', ...flags], { cwd: folder });
    expect(normalise(ours.stdout.toString())).toBe(normalise(real.stdout));
    expect(ours.stderr).toBe(real.stderr);
  });
});

const SHAPES: Readonly<Record<string, readonly string[]>> = {
  none: ['--compression_type=none', '--format_version=2', '--checksum_type=0'],
  snappy: ['--compression_type=snappy', '--format_version=3', '--checksum_type=1'],
  zlib: ['--compression_type=zlib', '--format_version=4', '--checksum_type=2'],
  bzip2: ['--compression_type=bzip2', '--checksum_type=3'],
  lz4: ['--compression_type=lz4', '--bloom_bits=10'],
  lz4hc: ['--compression_type=lz4hc', '--bloom_bits=10', '--use_ribbon_filter=1'],
  'zstd with a dictionary': ['--compression_type=zstd', '--compression_max_dict_bytes=4096'],
  'zstd with a trained dictionary': [
    '--compression_type=zstd',
    '--compression_max_dict_bytes=4096',
    '--compression_zstd_max_train_bytes=65536',
  ],
  'partitioned index and filters': [
    '--partition_index_and_filters=1',
    '--bloom_bits=10',
    '--metadata_block_size=256',
  ],
  'partitioned index': ['--partition_index=1', '--metadata_block_size=256'],
  'hash index': ['--use_hash_search=1', '--prefix_size=8', '--compression_type=none'],
  'first keys in the index': ['--index_with_first_key=1', '--index_shortening_mode=0'],
  'hash in data blocks': ['--use_data_block_hash_index=1', '--block_restart_interval=4'],
  'small blocks': ['--block_size=256'],
  'range tombstones': [
    '--writes_per_range_tombstone=40',
    '--range_tombstone_width=30',
    '--max_num_range_tombstones=99',
  ],
};

describe.skipIf(!benches)('files of db_bench', () => {
  it.each(Object.keys(SHAPES))('%s', async (shape) => {
    const database = mkdtempSync(path.join(folder, 'db-'));
    const last = shape === 'range tombstones' ? 'flush' : 'compact';
    runTool('db_bench', [
      `--benchmarks=fillrandom,${last}`,
      '--num=1200',
      '--value_size=60',
      '--disable_wal=1',
      '--seed=5',
      `--db=${database}`,
      ...SHAPES[shape]!,
    ]);
    const tables = readdirSync(database).filter((name) => name.endsWith('.sst'));
    expect(tables.length).toBeGreaterThan(0);
    await expectEqual(path.join(database, tables[0]!));
    rmSync(database, { recursive: true });
  });
});

describe.skipIf(!same)('recompress', () => {
  /** Bytes of codecs of another version, the file's ids in its properties, and times. */
  const masked = (text: string): string =>
    text.replace(/Size: +\d+ Blocks/g, 'Size: N Blocks').replace(/Taken: +\d+/g, 'Taken: N');
  const kept = (text: string): string[] =>
    text
      .split('\n')
      .filter(
        (line) => !/^(?:options\.env|Process|Compression: kBZip2|Compression: kLZ4HC|Unsup)/.test(line),
      );

  it.each([
    ['--compression_types=kNoCompression'],
    ['--compression_types=kZlibCompression', '--compression_level_from=1', '--compression_level_to=9'],
    ['--compression_types=kSnappyCompression', '--set_block_size=512'],
  ])('%s %s', async (...flags) => {
    const table = path.join(FIXTURE_ROOT, 'demo/basic.sst');
    const { real, ours, status } = await runBoth(table, ['--command=recompress', ...flags]);
    expect(status).toBe(0);
    expect(kept(masked(ours.stdout))).toEqual(kept(masked(real.stdout)));
    const sizes = (text: string) =>
      [...text.matchAll(/Size: +(\d+) Blocks/g)].map(([, size]) => Number(size));
    const [theirs] = sizes(real.stdout);
    expect(Math.abs(sizes(ours.stdout)[0]! - theirs!)).toBeLessThan(200);
  });
});
