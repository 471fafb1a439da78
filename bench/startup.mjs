/**
 * Question: what does a run cost before it does anything?
 * Data: the demo table that the package carries (a few KB).
 * Warm-up: one run of each command; then four times `rounds` runs in turns.
 * Unit: milliseconds of wall clock and processor (the latter has a resolution of 10 ms a run, so it is the mean).
 */

import { fileURLToPath } from 'node:url';
import { inTurns, medianOf } from './measure.mjs';
import { markdownTable, mb, ms } from './report.mjs';
import { hasCommand, sstkit } from './tools.mjs';

export const QUESTION =
  'Start-up: `sstkit --version` is what the other tables subtract; `scan` and the drop-in on a table of a few KB.';

const RUNS_A_ROUND = 4;
const demo = fileURLToPath(new URL('../test/fixtures/demo/basic.sst', import.meta.url));

export async function run(context) {
  const commands = [
    { label: 'node -e 0', command: [process.execPath, '-e', '0'] },
    { label: '`sstkit --version`', command: sstkit('--version') },
    { label: '`sstkit version` (loads the CLI)', command: sstkit('version') },
    { label: '`sstkit scan demo`', command: sstkit('scan', demo) },
  ];
  const check = [`--file=${demo}`, '--command=check'];
  if (hasCommand('dump')) commands.push({ label: '`sstkit dump demo`', command: sstkit('dump', demo) });
  if (hasCommand('sst_dump')) {
    commands.push({ label: '`sstkit sst_dump` check demo', command: sstkit('sst_dump', ...check) });
  }
  if (context.sstDump !== undefined) {
    commands.push({ label: 'sst_dump --version', command: [context.sstDump, '--version'] });
    commands.push({ label: 'sst_dump check demo', command: [context.sstDump, ...check] });
  }
  const runs = await inTurns(commands, RUNS_A_ROUND * context.rounds);
  const rows = commands.map(({ label }, i) => {
    const cpuMs = runs[i].reduce((sum, each) => sum + each.cpuMs, 0) / runs[i].length;
    return [label, ms(medianOf(runs[i], 'wallMs')), ms(cpuMs), mb(medianOf(runs[i], 'rssMb'))];
  });
  context.say(markdownTable(['command', 'wall ms', 'CPU ms', 'peak MB'], rows));
}
