/** kill -9 at random moments: what stands under the name of an output is whole, or nothing stands there. */

import { spawn } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { openNodeEnvironment } from '../../src/node/environment.ts';
import { verifyPaths } from '../../src/tools/verify.ts';
import { makeRamFolder } from '../support/ram-folder.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';

const RUN = fileURLToPath(new URL('../../bin/run.js', import.meta.url));
/** SSTKIT_KILLS=100 kills so often. */
const KILLS = Number(process.env.SSTKIT_KILLS ?? 4 * TEST_SCALE);
const SEED = 1;
const ROWS = 40_000;

let folder: string;
beforeAll(() => {
  folder = makeRamFolder('sstkit-kill-');
  const rows = Array.from({ length: ROWS }, (_, i) => {
    const key = Buffer.from(`key${String(i).padStart(8, '0')}`).toString('hex');
    return JSON.stringify({ key, seqno: String(i + 1), type: 'put', value: key.repeat(4) });
  });
  writeFileSync(path.join(folder, 'rows.ndjson'), `${rows.join('\n')}\n`);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs to its end, or until it is killed; the milliseconds that it took. */
function run(argv: readonly string[], killAfterMs?: number): Promise<{ ms: number; killed: boolean }> {
  return new Promise((resolve, reject) => {
    const start = performance.now();
    const child = spawn(process.execPath, [RUN, ...argv], { cwd: folder, stdio: 'ignore' });
    const timer =
      killAfterMs === undefined ? undefined : setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    child.on('error', reject);
    child.on('exit', (_, signal) => {
      clearTimeout(timer);
      resolve({ ms: performance.now() - start, killed: signal === 'SIGKILL' });
    });
  });
}

async function expectWhole(name: string, context: string): Promise<void> {
  const verdicts: string[] = [];
  await verifyPaths(
    await openNodeEnvironment(),
    {
      paths: [path.join(folder, name)],
      recursive: false,
      checksumsOnly: false,
      order: true,
      maxFindings: 10,
      strict: false,
    },
    {
      report: ({ status, findings }) => verdicts.push(status, ...findings.map(({ code }) => code)),
      skipped: () => undefined,
      progress: () => undefined,
    },
  );
  expect(verdicts, context).toEqual(['ok']);
}

it(`${KILLS} kills leave nothing under an output's name that does not verify`, async () => {
  await run(['write', '--in', 'rows.ndjson', '--out', 'in.sst']);
  const commands = [
    ['write', '--in', 'rows.ndjson', '--out', 'out-written.sst', '--force', '--compression', 'zstd'],
    ['compact', 'in.sst', '--out', 'out-one.sst', '--force', '--bottommost'],
    [
      'compact',
      'in.sst',
      '--out',
      'out-many',
      '--force',
      '--target-file-size',
      '200k',
      '--compression',
      'none',
    ],
  ];
  const wholeMs: number[] = [];
  for (const argv of commands) wholeMs.push((await run(argv)).ms);
  const random = new SeededRandom(SEED);
  let killed = 0;
  let outputs = 0;
  // A run that was over before it was to be killed is no kill: the next one of its kind is killed earlier.
  for (let round = 0; killed < KILLS && round < 20 * KILLS; round++) {
    const at = round % commands.length;
    // Every other time there is an older output to replace.
    if (random.chance(0.5)) {
      for (const name of readdirSync(folder)) {
        if (name.startsWith('out-')) rmSync(path.join(folder, name), { recursive: true });
      }
    }
    const result = await run(commands[at]!, random.below(Math.ceil(1.1 * wholeMs[at]!)));
    if (result.killed) killed++;
    else wholeMs[at] = Math.min(wholeMs[at]!, result.ms);
    for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
      if (!/^out-.*\.sst$/.test(name)) continue;
      outputs++;
      await expectWhole(name, `seed ${SEED}, round ${round}: ${commands[at]![0]}, ${name}`);
    }
  }
  expect(killed).toBe(KILLS);
  if (process.env.SSTKIT_KILLS !== undefined) console.warn(`${killed} killed, ${outputs} outputs verified`);
});
