/**
 * Question: how much do our ZSTD dictionaries save, beside those that RocksDB has zstd train, on the same table?
 * Data: five tables of some 20 MB: JSON records, log lines, words, values half random, and db_bench's; `--command=recompress` of
 * sst_dump and of its drop-in, blocks of 4 KiB, level 3, dictionaries of 16 KiB trained on 1.6 MB.
 * Unit: bytes of the compressed table; the saving is what the dictionary takes off the size without one.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { markdownTable, verdict } from './report.mjs';
import { realTool, sstkit } from './tools.mjs';

export const QUESTION =
  'ZSTD dictionaries: our saving, beside that of the dictionaries that RocksDB trains. Goal: 90 percent of it.';

const GOAL = 0.9;
const ENTRIES = 150_000;
const DICTIONARY = ['--compression_max_dict_bytes=16384', '--compression_zstd_max_train_bytes=1638400'];
const LEVEL = [
  '--command=recompress',
  '--set_block_size=4096',
  '--compression_types=kZSTD',
  '--compression_level_from=3',
  '--compression_level_to=3',
];

export function run({ data, say }) {
  const real = realTool('sst_dump');
  if (real === undefined) throw new Error('sst_dump is not on PATH: it is the other side');
  const rows = [];
  const tables = Object.entries(SHAPES).map(([label, makeValue]) => [
    label,
    writeTable(data.folder, label.replaceAll(' ', '-'), makeValue),
  ]);
  tables.push(["db_bench's", data.table({ entries: ENTRIES, compression: 'none' }).file]);
  for (const [label, file] of tables) {
    const size = (program, ...flags) => recompressedSize(program, [`--file=${file}`, ...LEVEL, ...flags]);
    const ours = sstkit('sst_dump');
    const theirs = { without: size([real]), with: size([real], ...DICTIONARY) };
    const mine = { without: size(ours), with: size(ours, ...DICTIONARY) };
    const share = saving(mine) / saving(theirs);
    const count = (bytes) => bytes.toLocaleString('en');
    rows.push([
      label,
      count(theirs.without),
      `${count(theirs.with)} (${percent(theirs)})`,
      count(mine.without),
      `${count(mine.with)} (${percent(mine)})`,
      (mine.with / theirs.with).toFixed(3),
      share.toFixed(2),
      verdict(share >= GOAL),
    ]);
    if (!data.keep) rmSync(file);
  }
  const heads = [
    'table, bytes',
    'RocksDB without',
    'with',
    'sstkit without',
    'with',
    'size',
    'saving',
    `${GOAL}`,
  ];
  say(`${markdownTable(heads, rows)}\n`);
}

const saving = (sizes) => sizes.without - sizes.with;
const percent = (sizes) => `-${((100 * saving(sizes)) / sizes.without).toFixed(1)} %`;

/** Behind the one level asked for: "Cx size: 1234", "Size: 1234" in older releases. */
function recompressedSize([program, ...words], args) {
  const { stdout, stderr, status } = spawnSync(program, [...words, ...args], { encoding: 'utf8' });
  const size = /level: 3\s+(?:Cx s|S)ize:\s*(\d+)/.exec(stdout)?.[1];
  if (status !== 0 || size === undefined)
    throw new Error(`${program} ${args.join(' ')}: ${stderr || stdout}`);
  return Number(size);
}

function writeTable(folder, name, makeValue) {
  const file = path.join(folder, `dictionary-${name}.sst`);
  if (existsSync(file)) return file;
  const draw = drawer(1);
  const lines = [];
  for (let i = 0; i < ENTRIES; i++) {
    const key = Buffer.from(String(i).padStart(16, '0')).toString('hex');
    const value = Buffer.from(makeValue(draw, i)).toString('hex');
    lines.push(`{"key":"${key}","seqno":"${i + 1}","type":"put","value":"${value}"}\n`);
  }
  const input = `${file}.ndjson`;
  writeFileSync(input, lines.join(''));
  const [program, ...words] = sstkit('write', '--in', input, '--out', file, '--compression=none');
  const { status, stderr } = spawnSync(program, [...words, '--format-version=5'], { encoding: 'utf8' });
  rmSync(input);
  if (status !== 0) throw new Error(`sstkit write: ${stderr}`);
  return file;
}

/** A whole number from 0 to, exclusive, `bound`. */
function drawer(seed) {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const WORDS = (
  'account active amount balance batch block buffer cache change client cluster column commit compact config count ' +
  'create current data date delete device disk email empty entry error event expire failed field file filter flush ' +
  'format group handle hash header index input insert invoice item journal key level limit list log memory merge ' +
  'message method name network node number object offset open option order output owner page parent path payment ' +
  'point port prefix price process product query queue range read record region request result retry role row sample ' +
  'schema search segment server session shard size snapshot source state status store stream table tag target task ' +
  'tenant thread time token total trace type update user value version volume worker write zone'
).split(' ');
const word = (draw) => WORDS[Math.floor(WORDS.length * (draw(1000) / 1000) ** 2)];

const SHAPES = {
  'JSON records': (draw, i) =>
    JSON.stringify({
      id: i,
      customerName: `${word(draw)} ${word(draw)}`,
      status: ['active', 'suspended', 'closed', 'pending'][draw(4)],
      createdAt: new Date(1.7e12 + draw(1e9) * 1000).toISOString(),
      balance: draw(1e7) / 100,
      tags: [word(draw), word(draw)],
      address: {
        street: `${draw(999)} ${word(draw)} street`,
        city: word(draw),
        zip: String(10000 + draw(89999)),
      },
    }),
  'log lines': (draw) =>
    `2026-11-${10 + draw(20)}T${10 + draw(14)}:${10 + draw(50)}:${10 + draw(50)}Z ${['INFO', 'WARN', 'ERROR'][draw(3)]} ` +
    `[${word(draw)}-${draw(16)}] ${word(draw)}.${word(draw)}: ${word(draw)} ${word(draw)} took ${draw(5000)} ms, ` +
    `request_id=${draw(2 ** 32).toString(16)}`,
  words: (draw) => Array.from({ length: 12 + draw(12) }, () => word(draw)).join(' '),
  'half of it random': (draw) => {
    let half = '';
    while (half.length < 50) half += String.fromCharCode(32 + draw(95));
    return half + half;
  },
};
