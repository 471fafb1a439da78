/**
 * Question: how much memory do the commands take on a large file, and on a large value?
 * Data: db_bench's tables of 2 GiB (values of 100 bytes), uncompressed (half a million data blocks) and ZSTD
 * (values that shrink to 0.8), and of three values of 70 MB, uncompressed, Snappy and ZSTD.
 * Warm-up: none. The largest of up to three runs counts; stdout is thrown away.
 * Unit: MB (1e6 bytes) of resident memory at its peak, as GNU time reports it (the file's pages in the page cache
 * are not part of it), and seconds of wall clock.
 */

import { runProcess } from './measure.mjs';
import { markdownTable, mb, verdict } from './report.mjs';
import { hasCommand, sstkit } from './tools.mjs';

export const QUESTION =
  'Peak resident memory. Targets: under 200 MB on a table of 2 GiB; with values of 70 MB, 200 MB plus three values.';

const LIMIT_MB = 200;
const RUNS_MAX = 3;
const LARGE_TABLE_BYTES_MIN = 2 ** 31;

const LARGE_TABLES = [
  { compression: 'none', entries: 17_800_000 },
  { compression: 'zstd', entries: 27_500_000, compressionRatio: 0.8 },
];
const VALUE_BYTES = 70_000_000;
const VALUE_TABLES = ['none', 'snappy', 'zstd'].map((compression) => ({
  compression,
  entries: 3,
  valueBytes: VALUE_BYTES,
}));

export async function run(context) {
  for (const parameters of LARGE_TABLES) {
    const table = context.data.table(parameters);
    if (table.bytes < LARGE_TABLE_BYTES_MIN) throw new Error(`${table.file} has only ${table.bytes} bytes`);
    const label = `${(table.bytes / 2 ** 30).toFixed(2)} GiB ${table.compression}`;
    await measureTable(context, label, table, LIMIT_MB);
    context.data.drop(table);
  }
  for (const parameters of VALUE_TABLES) {
    const table = context.data.table(parameters);
    const label = `70 MB values ${table.compression}`;
    await measureTable(context, label, table, LIMIT_MB + (3 * VALUE_BYTES) / 1e6);
    context.data.drop(table);
  }
}

async function measureTable(context, label, { file }, limitMb) {
  const rows = [];
  const dropIn = (command, ...flags) => ['sst_dump', `--file=${file}`, `--command=${command}`, ...flags];
  const commands = [
    ['`scan`', ['scan', file]],
    ['`scan --bytes hex`', ['scan', '--bytes', 'hex', file]],
    ['`scan --format ndjson`', ['scan', '--format', 'ndjson', file]],
    ['`verify`', ['verify', file]],
    ['`verify --checksums-only`', ['verify', '--checksums-only', file]],
    ['`dump`', ['dump', file]],
    ['`sst_dump` scan hex', dropIn('scan', '--output_hex')],
    ['`sst_dump` check', dropIn('check')],
    ['`sst_dump` verify', dropIn('verify')],
  ];
  for (const [name, args] of commands) {
    if (!hasCommand(args[0])) continue;
    const runs = await repeat(sstkit(...args), Math.min(context.rounds, RUNS_MAX));
    const peakMb = Math.max(...runs.map((each) => each.rssMb));
    rows.push(row(name, runs, peakMb, `${limitMb}: ${verdict(peakMb < limitMb)}`));
  }
  if (context.sstDump !== undefined) {
    const runs = await repeat([context.sstDump, ...dropIn('scan', '--output_hex').slice(1)], 1);
    rows.push(row('sst_dump scan hex', runs, runs[0].rssMb, ''));
  }
  context.say(`${markdownTable([label, 'wall s', 'peak MB', 'target'], rows)}\n`);
}

async function repeat(command, count) {
  const runs = [];
  for (let i = 0; i < count; i++) runs.push(await runProcess(command));
  return runs;
}

function row(name, runs, peakMb, target) {
  const seconds = Math.min(...runs.map((each) => each.wallMs)) / 1000;
  return [name, seconds.toFixed(2), mb(peakMb), Number.isNaN(peakMb) ? '' : target];
}
