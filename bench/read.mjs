/**
 * Question: how fast are look-ups, and what are the published changes worth that they rest on?
 * Data: 1,000,000 entries in the shape of db_bench's `fillseq` (keys of 16 bytes, values of 100 that halve), written by
 * `sstkit write`: ZSTD with a dictionary of 16 KiB, index in partitions; beside it one with a prefix filter.
 * Warm-up: all rows are read once for their keys. Unit: operations a second of one process, medians of its runs.
 */

import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync } from 'node:fs';
import path from 'node:path';
import { median } from './measure.mjs';
import { markdownTable } from './report.mjs';
import { sstkit } from './tools.mjs';

export const QUESTION =
  'Look-ups: readrandom, readseq and the others; the dictionary fetched for data blocks alone or for every block; ' +
  'the prefix extractor compared by identity or by name.';

const ENTRIES = 1_000_000;

export async function run(context) {
  const rows = await writeRows(context);
  const table = writeTable(context, rows, 'dict-partitions', [
    '--compression=zstd',
    '--dict-bytes=16384',
    '--compression-zstd-max-train-bytes=1638400',
    '--index-type=two_level',
  ]);
  speeds(context, table);
  dictionary(context, table);
}

function speeds({ say, rounds }, table) {
  const rows = [];
  for (const zstd of ['auto', 'wasm']) {
    const { results, statistics } = json([
      table,
      `--benchmarks=readrandom[-X${rounds}-W1],multireadrandom[-X${rounds}-W1],seekrandom[-X${rounds}-W1],readseq[-X${rounds}-W1]`,
      '--reads=200000',
      '--seek-nexts=10',
      `--zstd=${zstd}`,
    ]);
    for (const { name, runs } of results) {
      const ops = runs.map(({ operations, seconds }) => operations / seconds);
      rows.push([`${name}, zstd ${zstd}`, Math.round(median(ops)).toLocaleString('en')]);
    }
    rows.push([
      `blocks decompressed, zstd ${zstd}`,
      statistics.tickers['rocksdb.number.block.decompressed'].toLocaleString('en'),
    ]);
  }
  say(`${markdownTable(['1,000,000 entries, cache 32 MiB', 'ops/s (median)'], rows)}\n`);
}

/** Published change 1: index partitions and the dictionary go through a cache that is too small for them. */
function dictionary({ say, rounds }, table) {
  const rows = [];
  for (const cache of ['0', '64k', '32MiB']) {
    const { comparison } = json([
      table,
      '--compare-dict-fetch',
      '--reads=20000',
      `--rounds=${Math.max(10, rounds)}`,
      '--cache-index-and-filter-blocks',
      `--cache-size=${cache}`,
    ]);
    const ratios = comparison.dataOnly.map((ops, i) => ops / comparison.everyBlock[i]);
    rows.push([
      cache,
      Math.round(median(comparison.everyBlock)).toLocaleString('en'),
      Math.round(median(comparison.dataOnly)).toLocaleString('en'),
      median(ratios).toFixed(3),
      String(comparison.fetches.everyBlock.index_partition ?? 0),
      String(comparison.fetches.dataOnly.index_partition ?? 0),
    ]);
  }
  const heads = [
    'cache',
    'every block, ops/s',
    'data blocks, ops/s',
    'times faster',
    'fetches for partitions before',
    'now',
  ];
  say(`${markdownTable(heads, rows)}\n`);
}

/** Key i is its number in eight bytes, then zeros as db_bench pads it; the second half of a value repeats its first. */
async function writeRows({ data }) {
  const file = path.join(data.folder, 'read-rows.ndjson');
  if (existsSync(file)) return file;
  const out = createWriteStream(file);
  let state = 1;
  const draw = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state;
  };
  for (let i = 0; i < ENTRIES; i++) {
    const key = i.toString(16).padStart(16, '0') + '30'.repeat(8);
    let half = '';
    while (half.length < 100) half += draw().toString(16).padStart(8, '0');
    half = half.slice(0, 100);
    if (!out.write(`{"key":"${key}","seqno":"${i + 1}","type":"put","value":"${half}${half}"}\n`))
      await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
  return file;
}

function writeTable({ data }, rows, name, options) {
  const file = path.join(data.folder, `read-${name}.sst`);
  if (existsSync(file)) return file;
  runCommand(['write', '--in', rows, '--out', file, ...options]);
  return file;
}

function json(args) {
  return JSON.parse(runCommand(['bench-read', ...args, '--json']));
}

function runCommand(args) {
  const [program, ...words] = sstkit(...args);
  const { status, stdout, stderr } = spawnSync(program, words, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) throw new Error(`sstkit ${args.join(' ')}: ${stderr}`);
  return stdout;
}
