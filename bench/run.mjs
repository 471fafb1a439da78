/**
 * `npm run bench`: all questions; `npm run bench -- scan check`: those. Builds first what has changed.
 * The tables are Markdown, as they stand in RESULTS.md.
 */

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { ready } from '../scripts/ready.mjs';
import { openData } from './data.mjs';
import { describeMachine, loadLine } from './machine.mjs';
import { realTool } from './tools.mjs';

/** In the order in which they run; each is bench/<name>.mjs and exports `QUESTION` and `run(context)`. */
const QUESTIONS = [
  'startup',
  'scan',
  'check',
  'verify',
  'compact',
  'memory',
  'range-del',
  'filter',
  'read',
  'hash',
  'codec',
  'dictionary',
];

const USAGE = `npm run bench -- [question...] [--rounds N] [--entries N] [--keep]

  question     ${QUESTIONS.join(' ')} [default: all]
  --rounds N   measured runs of each command [default: 5]
  --entries N  entries of the files of scan and check [default: 2000000]
  --keep       leave the data in the RAM disk, for the next run with --keep
`;

const bench = path.dirname(fileURLToPath(import.meta.url));

try {
  await main();
} catch (error) {
  process.stderr.write(`bench: ${error instanceof Error ? error.message : error}\n`);
  process.exitCode = process.exitCode || 1;
}

async function main() {
  const { values, positionals } = readArguments();
  if (values.help) {
    process.stdout.write(USAGE);
    return;
  }
  const names = positionals.length > 0 ? positionals : QUESTIONS;
  for (const name of names) {
    if (!QUESTIONS.includes(name))
      throw usageError(`no question "${name}": there are ${QUESTIONS.join(', ')}`);
  }
  ready();

  const data = openData({ keep: values.keep });
  const context = {
    data,
    rounds: count('rounds', values.rounds),
    entries: count('entries', values.entries),
    sstDump: realTool('sst_dump'),
    say: (text = '') => process.stdout.write(`${text}\n`),
  };
  for (const line of describeMachine(data.folder)) context.say(`- ${line}`);
  if (context.sstDump === undefined) {
    context.say('- **sst_dump is not on PATH: nothing to compare with, our figures stand alone**');
  }
  for (const name of names) {
    const question = await import(path.join(bench, `${name}.mjs`));
    context.say(`\n## ${name}\n\n${question.QUESTION}\n`);
    context.say(`${loadLine('before')}\n`);
    try {
      await question.run(context);
    } catch (error) {
      // The other questions can still be answered.
      process.stderr.write(`bench: ${name}: ${error.message}\n`);
      process.exitCode = 1;
    }
    context.say(`\n${loadLine('after')}`);
  }
  if (values.keep) context.say(`\nData kept in ${data.folder}`);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        rounds: { type: 'string', default: '5' },
        entries: { type: 'string', default: '2000000' },
        keep: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    throw usageError(error.message);
  }
}

function count(name, text) {
  const value = Number(text);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw usageError(`--${name} ${text}: a whole number above 0 is wanted`);
}

function usageError(message) {
  process.exitCode = 2;
  return new Error(message);
}
