/**
 * Question: what do filters cost, beside RocksDB's filter_bench (its path in FILTER_BENCH=), and what does the parsed
 * reader save that the cache keeps with a filter block?
 * Data: the filters and keys of filter_bench, which `bench-filter` makes alike: 200 MiB of filters with 10 bits a key.
 * Warm-up: building the filters, and one round of --compare that is not counted.
 * Unit: nanoseconds a key or query, without the hash ("net"); the two benches in turns, medians over `rounds`.
 */

import { spawnSync } from 'node:child_process';
import { median } from './measure.mjs';
import { markdownTable, verdict } from './report.mjs';
import { sstkit } from './tools.mjs';

export const QUESTION =
  'Filters: building and asking them, a cached reader against one that is parsed each time. Goals: single net at most ' +
  '40 ns, random at most 1.2 times and build at most 1.5 times as long as RocksDB; block reader at most 1.35 times the ' +
  'bits reader.';

const IMPLS = ['legacy Bloom', 'fast local Bloom', 'Ribbon'];
const LABELS = ['Build avg ns/key', 'Single filter net ns/op', 'Random filter net ns/op'];
const GOALS = {
  'Build avg ns/key': (ours, theirs) => theirs && ours <= 1.5 * theirs,
  'Single filter net ns/op': (ours) => ours <= 40,
  'Random filter net ns/op': (ours, theirs) => theirs && ours <= 1.2 * theirs,
};
const BLOCK_RATIO_MAX = 1.35;
const COMPARED = ['--working-mem-size-mb', '1', '--m-queries', '11', '--rounds', '11'];

export async function run(context) {
  const theirs = process.env.FILTER_BENCH;
  if (theirs === undefined) {
    context.say(
      "**FILTER_BENCH is not set: RocksDB's own bench is not measured, our figures stand alone**\n",
    );
  }
  for (const [impl, label] of IMPLS.entries()) compareImpl(context, impl, label, theirs);
  cachedReader(context);
}

function compareImpl({ say, rounds }, impl, label, theirs) {
  const args = ['-quick', `-impl=${impl}`, '-m_queries=35'];
  const ours = [];
  const real = [];
  for (let round = 0; round < rounds; round++) {
    ours.push(lines(sstkit('bench-filter', ...args)));
    if (theirs !== undefined) real.push(lines([theirs, ...args]));
  }
  const rows = LABELS.map((name) => {
    const mine = median(ours.map((each) => each.get(name)));
    const other = theirs && median(real.map((each) => each.get(name)));
    const met = GOALS[name](mine, other);
    const goal = met === undefined ? '' : verdict(met);
    return [name, ns(mine), ...(theirs ? [ns(other), (mine / other).toFixed(2)] : []), goal];
  });
  say(`${markdownTable([label, 'sstkit', ...(theirs ? ['RocksDB', 'times as long'] : []), 'goal'], rows)}\n`);
}

/** The published change: a cached filter block keeps its reader. */
function cachedReader({ say }) {
  const rows = IMPLS.flatMap((label, impl) => {
    const [file, ...args] = sstkit(
      'bench-filter',
      '--compare',
      '--impl',
      String(impl),
      ...COMPARED,
      '--json',
    );
    const { comparison } = JSON.parse(runText(file, args));
    return comparison.modes.flatMap(({ mode, ways }) =>
      ways.map(({ way, netNs, netRatio, grossNs, grossRatio, filterMetadataParses }) => [
        `${label}, ${mode}, ${way}`,
        ns(netNs),
        netRatio.toFixed(2),
        ns(grossNs),
        grossRatio.toFixed(2),
        String(filterMetadataParses),
        way === 'block' ? `${BLOCK_RATIO_MAX}: ${verdict(netRatio <= BLOCK_RATIO_MAX)}` : '',
      ]),
    );
  });
  say(
    markdownTable(['filter, mode, reader', 'net ns', 'ratio', 'gross ns', 'ratio', 'parses', 'goal'], rows),
  );
}

/** The result lines with a number, by their label. */
function lines([file, ...args]) {
  const values = new Map();
  for (const line of runText(file, args).split('\n')) {
    const match = /^\s*(.+?): (-?[\d.e+-]+)$/.exec(line);
    if (match !== null) values.set(match[1], Number(match[2]));
  }
  return values;
}

function runText(file, args) {
  const { status, stdout, stderr } = spawnSync(file, args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`${file} ${args.join(' ')}: ended with ${status}\n${stderr}`);
  return stdout;
}

const ns = (value) => value.toFixed(1);
