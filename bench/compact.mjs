/**
 * Question: how long does `compact` take beside `ldb compact`, how much memory, and how fast does `write` take rows in?
 * Data: db_bench fillrandom, 2,000,000 puts (keys of 16 bytes, values of 100) over as many keys into 18 overlapping files
 * of level 0, auto-compaction off; uncompressed and ZSTD. For `write`, 1,000,000 rows of ndjson with values of 100 bytes.
 * For filters, 1,000,000 keys of 16 bytes in this process.
 * Warm-up: one run of each command; then `rounds` runs in turns. `ldb` compacts a fresh copy of the DB each time, which
 * is made before the clock starts. Both write one file, with all that the bottommost level leaves out.
 * Unit: milliseconds of wall clock of the whole process, MB (1e6 bytes) of resident memory at its peak; rows a second;
 * nanoseconds a key.
 */

import { execFileSync } from 'node:child_process';
import { closeSync, cpSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { median, medianOf, pairwise, runProcess, timeCalls } from './measure.mjs';
import { markdownTable, mb, ms, spread, times, verdict } from './report.mjs';
import { importSources } from './source.mjs';
import { hasCommand, realTool, sstkit } from './tools.mjs';

export const QUESTION =
  'Writing: `compact` against `ldb compact`, `write` from ndjson, Bloom filters. Targets: at most 2 times the wall time ' +
  'of ldb for the whole process, memory under 300 MB; 300,000 rows a second; 60 ns a key.';

const TIMES_AS_LONG_MAX = 2;
const MEMORY_MB_MAX = 300;
const ROWS_PER_SECOND_MIN = 300_000;
const NANOS_PER_KEY_MAX = 60;

const PUTS = 2_000_000;
const ROWS = 1_000_000;
const KEY_BYTES = 16;

export async function run(context) {
  if (!hasCommand('compact')) {
    context.say('This build has no `compact`.');
    return;
  }
  await compareCompactions(context);
  await measureWrite(context);
  await measureFilters(context);
}

async function compareCompactions(context) {
  const [bench, ldb] = [realTool('db_bench'), realTool('ldb')];
  if (bench === undefined) throw new Error('db_bench is not on PATH: it makes the data');
  const rows = [];
  for (const compression of ['none', 'zstd']) {
    const db = makeDatabase(context, bench, compression);
    const copy = path.join(context.data.folder, 'ldb-copy');
    const out = path.join(context.data.folder, 'compacted.sst');
    const tables = readdirSync(db).filter((name) => name.endsWith('.sst'));
    const inputs = tables.map((name) => path.join(db, name));
    const ours = sstkit('compact', ...inputs, '--out', out, '--force', '--bottommost');
    const theirs = ldb && [
      ldb,
      'compact',
      `--db=${copy}`,
      `--compression_type=${compression === 'none' ? 'no' : compression}`,
    ];
    const runs = { ours: [], theirs: [] };
    for (let round = -1; round < context.rounds; round++) {
      const own = await runProcess(ours);
      if (round >= 0) runs.ours.push(own);
      if (theirs === undefined) continue;
      rmSync(copy, { recursive: true, force: true });
      cpSync(db, copy, { recursive: true });
      const other = await runProcess(theirs);
      if (round >= 0) runs.theirs.push(other);
    }
    const ratio = (field) => pairwise(runs.ours, runs.theirs, (a, b) => a[field] / b[field]);
    const wall = theirs && ratio('wallMs');
    const peakMb = Math.max(...runs.ours.map((each) => each.rssMb));
    rows.push([
      `${compression}, ${tables.length} files`,
      theirs ? ms(medianOf(runs.theirs, 'wallMs')) : 'n/a',
      ms(medianOf(runs.ours, 'wallMs')),
      wall ? spread(wall) : '',
      theirs ? times(ratio('cpuMs').median) : '',
      wall ? `${TIMES_AS_LONG_MAX}: ${verdict(wall.median <= TIMES_AS_LONG_MAX)}` : '',
      mb(peakMb),
      `${MEMORY_MB_MAX}: ${verdict(peakMb < MEMORY_MB_MAX)}`,
    ]);
    for (const name of [db, copy]) rmSync(name, { recursive: true, force: true });
    rmSync(out, { force: true });
  }
  context.say(
    markdownTable(
      ['compact', 'ldb ms', 'ours ms', 'times as long', 'CPU', 'target', 'peak MB', 'target'],
      rows,
    ),
  );
}

/** A DB whose level 0 holds all that was put. */
function makeDatabase(context, bench, compression) {
  const db = path.join(context.data.folder, `fillrandom-${compression}`);
  rmSync(db, { recursive: true, force: true });
  mkdirSync(db, { recursive: true });
  const args = [
    '--benchmarks=fillrandom',
    `--num=${PUTS}`,
    `--db=${db}`,
    `--compression_type=${compression}`,
    '--disable_auto_compactions=1',
    '--disable_wal=1',
    '--write_buffer_size=16777216',
    '--level0_slowdown_writes_trigger=1000',
    '--level0_stop_writes_trigger=1000',
    '--max_write_buffer_number=4',
    '--seed=1',
  ];
  execFileSync(bench, args, { stdio: 'ignore' });
  return db;
}

async function measureWrite(context) {
  const input = path.join(context.data.folder, 'rows.ndjson');
  const out = path.join(context.data.folder, 'written.sst');
  writeRows(input);
  const rows = [];
  for (const compression of ['lz4', 'none', 'zstd']) {
    const command = sstkit('write', '--in', input, '--out', out, '--force', '--compression', compression);
    const runs = [];
    for (let round = -1; round < context.rounds; round++) {
      const each = await runProcess(command);
      if (round >= 0) runs.push(each);
    }
    const rate = median(runs.map(({ wallMs }) => (1000 * ROWS) / wallMs));
    const isDefault = compression === 'lz4';
    rows.push([
      isDefault ? `${compression} (the default)` : compression,
      ms(medianOf(runs, 'wallMs')),
      ms(medianOf(runs, 'cpuMs')),
      mb(Math.max(...runs.map((each) => each.rssMb))),
      Math.round(rate).toLocaleString('en'),
      isDefault ? `${ROWS_PER_SECOND_MIN.toLocaleString('en')}: ${verdict(rate >= ROWS_PER_SECOND_MIN)}` : '',
    ]);
  }
  for (const name of [input, out]) rmSync(name);
  context.say(
    `\n${markdownTable(['write', 'wall ms', 'CPU ms', 'peak MB', 'rows a second', 'target'], rows)}`,
  );
}

/** Keys in order; half of each value shrinks. */
function writeRows(file) {
  const fd = openSync(file, 'w');
  let state = 1;
  const half = Buffer.alloc(50);
  for (let from = 0; from < ROWS; from += 10_000) {
    let text = '';
    for (let i = from; i < from + 10_000; i++) {
      for (let j = 0; j < half.length; j++) {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        half[j] = state >>> 24;
      }
      const hex = half.toString('hex');
      const key = Buffer.from(String(i).padStart(16, '0')).toString('hex');
      text += `{"key":"${key}","seqno":"${i + 1}","type":"put","value":"${hex}${hex}"}\n`;
    }
    writeSync(fd, text);
  }
  closeSync(fd);
}

async function measureFilters(context) {
  const { createFilterBuilder, FullFilterBuilder, openKernels, parseFilterPolicy } = await importSources(
    'format/filter/create-filter-builder.ts',
    'format/filter/filter-policy.ts',
    'format/filter/full-filter-builder.ts',
    'kernels/open-kernels.ts',
  );
  const kernels = await openKernels();
  const keys = new Uint8Array(ROWS * KEY_BYTES);
  for (let i = 0; i < ROWS; i++) keys.set(Buffer.from(String(i).padStart(KEY_BYTES, '0')), i * KEY_BYTES);
  const rows = [];
  for (const name of ['bloom:10', 'ribbon:10']) {
    const policy = parseFilterPolicy(name);
    const work = () => {
      const content = { wholeKeys: true, prefixExtractor: undefined, rules: 'current' };
      const filter = new FullFilterBuilder(
        createFilterBuilder(policy, { formatVersion: 7 }, kernels),
        content,
      );
      for (let i = 0; i < keys.length; i += KEY_BYTES) filter.addKey(keys, i, i + KEY_BYTES);
      filter.finish();
    };
    const nanos = (1e6 * (await timeCalls(work, { warmupMs: 500, roundMs: 500 }))) / ROWS;
    const isBloom = name.startsWith('bloom');
    const target = isBloom ? `${NANOS_PER_KEY_MAX}: ${verdict(nanos <= NANOS_PER_KEY_MAX)}` : '';
    rows.push([name, nanos.toFixed(1), target]);
  }
  context.say(`\n${markdownTable(['filter', 'ns a key', 'target'], rows)}`);
}
