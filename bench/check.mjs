/**
 * Question: how long does `sst_dump --command=check` (read every entry, print nothing) take beside the installed one?
 * Data: db_bench's tables of 2,000,000 entries (keys of 16 bytes, values of 100), ZSTD, Snappy and uncompressed.
 * Warm-up: one run of each command; then `rounds` runs in turns: theirs, ours, and the start-up of both.
 * Unit: milliseconds of wall clock and processor. "Times as long" is our time less our start-up (`sstkit --version`)
 * over theirs, pair by pair; beside it the same with sst_dump's own start-up (`sst_dump --version`) taken off too.
 */

import { inTurns, medianOf, pairwise } from './measure.mjs';
import { markdownTable, mb, ms, spread, times, verdict } from './report.mjs';
import { hasCommand, sstkit } from './tools.mjs';

export const QUESTION =
  'Reading every entry: `sst_dump --command=check` against the real one. Targets, after start-up: at most 1.5 times ' +
  'as long on ZSTD, 3 times on Snappy and uncompressed.';

const TIMES_AS_LONG_MAX = { zstd: 1.5, snappy: 3, none: 3 };

export async function run(context) {
  if (!hasCommand('sst_dump')) {
    context.say('This build has no `sst_dump`.');
    return;
  }
  const rows = [];
  for (const [compression, target] of Object.entries(TIMES_AS_LONG_MAX)) {
    const table = context.data.table({ compression, entries: context.entries });
    rows.push(await checkRow(context, table, target, []));
    rows.push(await checkRow(context, table, undefined, ['--verify_checksum']));
  }
  context.say(
    markdownTable(
      [
        'file',
        'sst_dump ms',
        'ours ms',
        'start-up ms',
        'peak MB',
        'times as long',
        'both start-ups off',
        'CPU',
        'target',
      ],
      rows,
    ),
  );
}

async function checkRow(context, table, target, flags) {
  const args = [`--file=${table.file}`, '--command=check', ...flags];
  const commands = [{ command: sstkit('sst_dump', ...args) }, { command: sstkit('--version') }];
  if (context.sstDump !== undefined) {
    commands.push({ command: [context.sstDump, ...args] }, { command: [context.sstDump, '--version'] });
  }
  const [ours, start, theirs, theirStart] = await inTurns(commands, context.rounds);
  const afterStart = (field) => ours.map((each, i) => ({ value: each[field] - start[i][field] }));
  const ratio = (field) => pairwise(afterStart(field), theirs, (a, b) => a.value / b[field]);
  const wall = theirs && ratio('wallMs');
  const strict =
    theirs &&
    pairwise(
      afterStart('wallMs'),
      theirs.map((each, i) => each.wallMs - theirStart[i].wallMs),
      (a, b) => a.value / b,
    );
  return [
    [table.compression, ...flags].join(' '),
    theirs ? ms(medianOf(theirs, 'wallMs')) : 'n/a',
    ms(medianOf(ours, 'wallMs')),
    theirStart
      ? `${ms(medianOf(start, 'wallMs'))} / ${ms(medianOf(theirStart, 'wallMs'))}`
      : ms(medianOf(start, 'wallMs')),
    mb(medianOf(ours, 'rssMb')),
    wall ? spread(wall) : '',
    strict ? times(strict.median) : '',
    wall ? times(ratio('cpuMs').median) : '',
    wall && target ? `${target}: ${verdict(wall.median <= target)}` : '',
  ];
}
