/**
 * Question: how fast are look-ups, and what are the published changes worth that they rest on?
 * Data: db_bench's `fillseq` of 1,000,000 entries (keys of 16 bytes, values of 100 that halve), and entries of that
 * shape written by `sstkit write`: ZSTD with a dictionary of 16 KiB, index in partitions; one with a prefix filter.
 * Warm-up: all rows are read once for their keys. Unit: operations a second of one process; ours, with either decoder
 * of ZSTD, and db_bench in turns, medians over `rounds`.
 */

import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { median } from './measure.mjs';
import { markdownTable, verdict } from './report.mjs';
import { realTool, sstkit } from './tools.mjs';

export const QUESTION =
  'Look-ups: readrandom, readseq and the others; the dictionary fetched for data blocks alone or for every block; ' +
  'the prefix extractor compared by identity or by name.';

const ENTRIES = 1_000_000;
const CACHE_BYTES = 32 * 1024 * 1024;

export async function run(context) {
  speeds(context, makeDatabase(context));
  const rows = await writeRows(context);
  const table = writeTable(context, rows, 'dict-partitions', [
    '--compression=zstd',
    '--dict-bytes=16384',
    '--compression-zstd-max-train-bytes=1638400',
    '--index-type=two_level',
  ]);
  memory(context, table);
  dictionary(context, table);
  const prefixes = writeTable(context, rows, 'prefixes', [
    '--compression=none',
    '--filter=bloom:10',
    '--prefix-extractor=fixed:8',
    '--whole-key-filtering=false',
  ]);
  extractor(context, prefixes);
}

/** Gets at random behind a pass of the same, and all rows in a row from a cold cache. */
function speeds({ say, rounds }, { db, tables }) {
  const rows = [];
  for (const [benchmark, reads, goals] of [
    ['readrandom', 100_000, { auto: 70_000, wasm: 25_000 }],
    ['readseq', ENTRIES, { auto: 2_000_000, wasm: 1_000_000 }],
  ]) {
    const warm = benchmark === 'readrandom';
    const samples = { theirs: [], auto: [], wasm: [] };
    for (let round = 0; round < rounds; round++) {
      samples.theirs.push(dbBench(db, `${benchmark}${warm ? '[X1-W1]' : ''}`, reads));
      for (const zstd of ['auto', 'wasm']) {
        const { results } = json([
          ...tables,
          `--benchmarks=${benchmark}${warm ? '[-X1-W1]' : ''}`,
          `--reads=${reads}`,
          `--cache-size=${CACHE_BYTES}`,
          `--zstd=${zstd}`,
        ]);
        const { operations, seconds } = results[0].runs.at(-1);
        samples[zstd].push(operations / seconds);
      }
    }
    const [theirs, auto, wasm] = Object.values(samples).map(median);
    rows.push([
      benchmark,
      perSecond(theirs),
      `${perSecond(auto)} (${(auto / theirs).toFixed(2)})`,
      `${perSecond(goals.auto)}: ${verdict(auto >= goals.auto)}`,
      `${perSecond(wasm)} (${(wasm / theirs).toFixed(2)})`,
      `${perSecond(goals.wasm)}: ${verdict(wasm >= goals.wasm)}`,
    ]);
  }
  const [auto, wasm] = ['auto', 'wasm'].map(decoderOf);
  const heads = ['ops/s (of db_bench)', 'db_bench', `sstkit, ${auto}`, 'goal', `sstkit, ${wasm}`, 'goal'];
  say(`1,000,000 entries in ${tables.length} table, cache of 32 MiB\n\n${markdownTable(heads, rows)}\n`);
}

const perSecond = (rate) => Math.round(rate).toLocaleString('en');

/** What `--zstd` stands for on this machine. */
function decoderOf(zstd) {
  if (zstd === 'wasm') return '@bokuweb/zstd-wasm';
  return runCommand(['version', '--verbose']).includes('zstd-napi') ? 'zstd-napi' : 'no zstd-napi here';
}

function dbBench(db, benchmark, reads) {
  const out = execFileSync(
    realTool('db_bench'),
    [
      `--db=${db}`,
      '--use_existing_db=1',
      '--readonly=1',
      `--benchmarks=${benchmark}`,
      `--num=${ENTRIES}`,
      `--reads=${reads}`,
      `--cache_size=${CACHE_BYTES}`,
      '--compression_type=zstd',
    ],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const rates = [...out.matchAll(/micros\/op (\d+) ops\/sec/g)];
  if (rates.length === 0) throw new Error(`db_bench ${benchmark} printed no rate:\n${out}`);
  return Number(rates.at(-1)[1]);
}

/** One table that db_bench wrote, in its DB. */
function makeDatabase({ data }) {
  const tool = realTool('db_bench');
  if (tool === undefined)
    throw new Error('db_bench is not on PATH: it makes the data (Debian: rocksdb-tools)');
  const db = path.join(data.folder, 'read-db');
  if (!existsSync(db)) {
    const args = [
      `--db=${db}`,
      '--benchmarks=fillseq,compact',
      `--num=${ENTRIES}`,
      '--compression_type=zstd',
      '--compression_max_dict_bytes=16384',
      '--compression_zstd_max_train_bytes=1638400',
      '--partition_index=1',
      '--disable_wal=1',
      `--write_buffer_size=${2 ** 30}`,
      '--target_file_size_base=1000000000',
      '--seed=1',
    ];
    execFileSync(tool, args, { stdio: 'ignore' });
  }
  const names = readdirSync(db).filter((name) => name.endsWith('.sst'));
  return { db, tables: names.map((name) => path.join(db, name)) };
}

/** Line 7 of the promises: what is resident after a million gets through 8 MB, keys to draw from included. */
function memory({ say }, table) {
  const { cache, results } = json([
    table,
    '--benchmarks=readrandom',
    '--reads=1000000',
    '--cache-size=8MiB',
    '--strict-capacity-limit',
    '--cache-index-and-filter-blocks',
  ]);
  const { found } = results[0].runs[0];
  say(
    `1,000,000 gets, strict cache of 8 MiB: ${found} found, ${cache.usedBytes} bytes in the cache at the end\n`,
  );
}

/** Published change 1: many short rounds in turns, so that what else runs on the machine meets both ways alike. */
function dictionary({ say, rounds }, table) {
  const rows = [];
  for (const [label, ...flags] of [
    ['nothing kept', '--cache-size=0', '--no-pin-top-level-index'],
    ['top of the index pinned', '--cache-size=0'],
    ['the same, and a cache of 128 KiB', '--cache-size=128k'],
  ]) {
    const { comparison } = json([
      table,
      '--compare-dict-fetch',
      '--reads=300',
      `--rounds=${Math.max(60, 12 * rounds)}`,
      '--cache-index-and-filter-blocks',
      ...flags,
    ]);
    const ratios = comparison.dataOnly.map((ops, i) => ops / comparison.everyBlock[i]);
    rows.push([
      label,
      Math.round(median(comparison.everyBlock)).toLocaleString('en'),
      Math.round(median(comparison.dataOnly)).toLocaleString('en'),
      median(ratios).toFixed(3),
      String(comparison.fetches.everyBlock.index_partition ?? 0),
      String(comparison.fetches.dataOnly.index_partition ?? 0),
    ]);
  }
  const heads = ['index and dictionary through the cache', 'every block', 'data blocks', 'times faster'];
  say(`${markdownTable([...heads, 'fetches for partitions before', 'now'], rows)}\n`);
}

/** Published change 2. */
function extractor({ say, rounds }, table) {
  const { extractors } = json([
    table,
    '--compare-extractor',
    '--prefix-extractor=fixed:8',
    '--reads=20000',
    `--rounds=${Math.max(20, 4 * rounds)}`,
  ]);
  const { rates, nameComparisons } = extractors;
  const rows = Object.keys(rates).map((kind) => [
    kind.replaceAll('_', ' '),
    Math.round(median(rates[kind])).toLocaleString('en'),
    median(rates[kind].map((rate, i) => rates.same_instance[i] / rate)).toFixed(3),
    kind === 'names_each_time' ? 'each time' : String(nameComparisons[kind]),
  ]);
  say(`${markdownTable(['gets of missing prefixes', 'ops/s', 'times slower', 'names compared'], rows)}\n`);
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
