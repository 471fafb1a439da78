/**
 * Question: what do range tombstones cost, beside RocksDB's range_del_aggregator_bench (its path in RDAB=)?
 * Data: tombstones drawn by each bench itself, by the same rules: uniform starts, one width, 8-byte big-endian keys.
 * Both put them in key order before the clock starts, RocksDB's by way of a VectorIterator; `--input drawn` of ours
 * leaves them as drawn, and times the sorting.
 * Warm-up: inside `bench-range-del`, untimed runs (it says how many); RocksDB's needs none.
 * Memory: both give that of a list back before the next ones are made, RocksDB's to malloc, ours to a pool.
 * Unit: microseconds a call, means of one process; the two benches in turns, medians over `rounds`, ratios pair by pair
 * (in brackets the least).
 */

import { spawnSync } from 'node:child_process';
import { median } from './measure.mjs';
import { markdownTable } from './report.mjs';
import { sstkit } from './tools.mjs';

export const QUESTION =
  'Range tombstones: fragmenting, AddTombstones, ShouldDelete; the set of sequence numbers built late and early; growth.';

const SHAPES = [
  {
    label: '1,000 apart, as a compaction',
    args: [
      '--num_range_tombstones=1000',
      '--tombstone_start_upper_bound=50000000',
      '--num_runs=10000',
      '--tombstone_width_mean=200',
      '--should_deletes_per_run=100',
      '--use_compaction_range_del_aggregator=true',
    ],
  },
  {
    label: '1,000 apart, as a read',
    args: [
      '--num_range_tombstones=1000',
      '--tombstone_start_upper_bound=50000000',
      '--num_runs=10000',
      '--tombstone_width_mean=200',
      '--should_deletes_per_run=100',
    ],
  },
  { label: 'defaults (heavy overlap), 200 runs', args: ['--num_runs=200'] },
  {
    label: '100,000, width 2,000',
    args: [
      '--num_range_tombstones=100000',
      '--tombstone_start_upper_bound=100000000',
      '--num_runs=20',
      '--tombstone_width_mean=2000',
    ],
  },
];

const LABELS = ['Fragment Tombstones', 'AddTombstones', 'ShouldDelete (first)', 'ShouldDelete (rest)'];

export async function run(context) {
  const theirs = process.env.RDAB;
  if (theirs === undefined) {
    context.say("**RDAB is not set: RocksDB's own bench is not measured, our figures stand alone**\n");
  }
  for (const { label, args } of SHAPES) compareShape(context, label, args, theirs);
  asDrawn(context);
  lateAgainstEarly(context);
  otherKeys(context);
  growth(context);
}

function compareShape({ say, rounds }, label, args, theirs) {
  const ours = [];
  const real = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(lines(sstkit('bench-range-del', ...args)));
    if (theirs !== undefined) real.push(lines([theirs, ...args]));
  }
  const rows = LABELS.filter((name) => ours[0].has(name)).map((name) => {
    const mine = median(ours.map((each) => each.get(name)));
    if (theirs === undefined) return [name, us(mine)];
    const ratios = real.map((each, i) => each.get(name) / ours[i].get(name));
    const ratio = `${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)})`;
    return [name, us(mine), us(median(real.map((each) => each.get(name)))), ratio];
  });
  const heads = [label, 'sstkit us', ...(theirs === undefined ? [] : ['RocksDB us', 'times faster'])];
  say(`${markdownTable(heads, rows)}\n`);
}

/** What sorting adds, which neither bench times above. */
function asDrawn({ say }) {
  const rows = SHAPES.map(({ label, args }) => {
    const [inOrder, drawn] = ['key', 'drawn'].map((input) => json([...args, `--input=${input}`]).results);
    const [a, b] = [inOrder.fragmentTombstonesUs, drawn.fragmentTombstonesUs];
    return [label, us(a), us(b), (b / a).toFixed(2)];
  });
  say(`${markdownTable(['fragment us', 'in key order', 'as drawn', 'drawn/in order'], rows)}\n`);
}

/** The published change: the set costs nothing until a compaction asks for it. */
function lateAgainstEarly({ say }) {
  for (const { label, args } of SHAPES.slice(0, 2)) {
    const { results, seqnoSetsBuilt, eager } = json([...args, '--compare']);
    const rows = Object.keys(results)
      .filter((name) => results[name] !== null)
      .map((name) => [
        name,
        us(eager.results[name]),
        us(results[name]),
        (results[name] / eager.results[name]).toFixed(3),
      ]);
    rows.push(['sets built', String(eager.seqnoSetsBuilt), String(seqnoSetsBuilt), '']);
    say(`${markdownTable([label, 'set built early', 'set built late', 'late/early'], rows)}\n`);
  }
}

function otherKeys({ say }) {
  const base = [
    '--num_range_tombstones=1000',
    '--tombstone_start_upper_bound=50000000',
    '--should_delete_upper_bound=50000000',
    '--num_runs=2000',
    '--tombstone_width_mean=200',
  ];
  const rows = [
    ['8-byte keys, bytewise', base],
    ['keys of 17 to 29 bytes, bytewise', [...base, '--keys=variable']],
    ["8-byte keys, the application's own order", [...base, '--order=custom']],
    ["keys of 17 to 29 bytes, the application's own order", [...base, '--keys=variable', '--order=custom']],
  ].map(([label, args]) => {
    const { results } = json(args);
    return [label, us(results.fragmentTombstonesUs), us(results.shouldDeleteFirstUs)];
  });
  say(`${markdownTable(['1,000 tombstones', 'fragment us', 'ShouldDelete (first) us'], rows)}\n`);
}

function growth({ say }) {
  const rows = [1e3, 1e4, 1e5, 1e6].map((count) => {
    const { results, bytesPerTombstone } = json([
      `--num_range_tombstones=${count}`,
      `--tombstone_start_upper_bound=${1000 * count}`,
      `--should_delete_upper_bound=${1000 * count}`,
      `--num_runs=${Math.max(3, 2e6 / count)}`,
      '--tombstone_width_mean=100',
      '--should_deletes_per_run=100',
    ]);
    const nanos = (results.fragmentTombstonesUs * 1000) / count;
    return [
      String(count),
      us(results.fragmentTombstonesUs),
      nanos.toFixed(1),
      us(results.shouldDeleteFirstUs),
      us(results.shouldDeleteRestUs),
      bytesPerTombstone.toFixed(0),
    ];
  });
  say(
    markdownTable(
      ['tombstones apart', 'fragment us', 'ns each', 'ShouldDelete (first) us', '(rest) us', 'bytes each'],
      rows,
    ),
  );
}

/** The result lines, by their label without the colon. */
function lines([file, ...args]) {
  const values = new Map();
  for (const line of runText(file, args).split('\n')) {
    const match = /^(.+?):\s+([\d.e+-]+) us$/.exec(line);
    if (match !== null) values.set(match[1], Number(match[2]));
  }
  return values;
}

function json(args) {
  const [file, ...words] = sstkit('bench-range-del', ...args, '--json');
  return JSON.parse(runText(file, words));
}

function runText(file, args) {
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`${file} ${args.join(' ')}: ended with ${status}\n${stderr}`);
  return stdout;
}

const us = (value) => String(Number(value.toPrecision(4)));
