/**
 * Question: how fast does `verify --checksums-only` read a large table?
 * Data: db_bench's uncompressed tables of 1.2 GB (10,000,000 entries, values of 100 bytes), with xxh3 (RocksDB's
 * default) and crc32c checksums.
 * Warm-up: one run of each command, so that the file is in memory; then `rounds` runs in turns.
 * Unit: gigabytes (1e9 bytes) of file a second after start-up (`sstkit --version`), and milliseconds.
 * For comparison: `sst_dump --command=verify` of both, and our whole `verify`.
 */

import { inTurns, median, medianOf } from './measure.mjs';
import { markdownTable, mb, ms, times, verdict } from './report.mjs';
import { hasCommand, sstkit } from './tools.mjs';

export const QUESTION =
  'Checksums of every block: `verify --checksums-only`. Target: at least 1 GB/s after start-up on a file of 1 GB.';

const GIGABYTES_PER_SECOND_MIN = 1;
const ENTRIES = 10_000_000;

export async function run(context) {
  const rows = [];
  for (const [name, checksum] of [
    ['xxh3', 4],
    ['crc32c', 1],
  ]) {
    const table = context.data.table({ compression: 'none', checksum, entries: ENTRIES });
    rows.push(...(await tableRows(context, name, table)));
    context.data.drop(table);
  }
  context.say(
    markdownTable(
      ['checksum, command', 'wall ms', 'CPU ms', 'peak MB', 'start-up ms', 'GB/s', 'target'],
      rows,
    ),
  );
}

async function tableRows(context, name, { file, bytes }) {
  const commands = [];
  const add = (label, command, startUp, target) => commands.push({ label, command, startUp, target });
  const ourStart = sstkit('--version');
  if (hasCommand('verify')) {
    const target = GIGABYTES_PER_SECOND_MIN;
    add('`verify --checksums-only`', sstkit('verify', '--checksums-only', file), ourStart, target);
    add('`verify`', sstkit('verify', file), ourStart);
  } else {
    context.say('This build has no `verify`.\n');
  }
  const args = [`--file=${file}`, '--command=verify'];
  if (hasCommand('sst_dump')) add('`sst_dump --command=verify`', sstkit('sst_dump', ...args), ourStart);
  if (context.sstDump !== undefined) {
    add('sst_dump --command=verify', [context.sstDump, ...args], [context.sstDump, '--version']);
  }
  const startUps = commands.map(({ startUp }) => ({ command: startUp }));
  const runs = await inTurns([...commands, ...startUps], context.rounds);
  return commands.map(({ label, target }, i) => {
    const own = runs[i];
    const start = runs[commands.length + i];
    const rate = median(own.map((each, round) => bytes / 1e6 / (each.wallMs - start[round].wallMs)));
    return [
      `${name}, ${label}`,
      ms(medianOf(own, 'wallMs')),
      ms(medianOf(own, 'cpuMs')),
      mb(medianOf(own, 'rssMb')),
      ms(medianOf(start, 'wallMs')),
      times(rate),
      target === undefined ? '' : `${target}: ${verdict(rate >= target)}`,
    ];
  });
}
