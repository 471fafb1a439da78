/**
 * Whole processes by wall clock, processor time and peak memory. Two commands are run in turns (A B A B), so that
 * what else happens on the machine meets both; ratios are taken pair by pair. One run of each comes first and is not
 * counted: it fills the page cache and Node's compile cache.
 */

import { spawn } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** GNU time; without it (macOS has another) processor time and memory are left out. */
const TIME = '/usr/bin/time';
const TIME_FORMAT = '%U %S %M';
const hasTime = existsSync(TIME) && process.platform === 'linux';

/**
 * Runs a command line with stdout into `stdoutFile` (by default thrown away).
 * Returns `{wallMs, cpuMs, rssMb, outputBytes}`; cpuMs has a resolution of 10 ms and is NaN without GNU time.
 * Throws when the exit status is not 0.
 */
export async function runProcess(command, stdoutFile) {
  const folder = mkdtempSync(path.join(tmpdir(), 'sstkit-time-'));
  const report = path.join(folder, 'report');
  if (stdoutFile !== undefined) rmSync(stdoutFile, { force: true });
  const stdout = stdoutFile === undefined ? 'ignore' : openSync(stdoutFile, 'w');
  try {
    const [file, ...args] = hasTime ? [TIME, '-f', TIME_FORMAT, '-o', report, ...command] : command;
    const startMs = performance.now();
    const child = spawn(file, args, { stdio: ['ignore', stdout, 'pipe'] });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text) => {
      errors = `${errors}${text}`.slice(-2000);
    });
    let wallMs = 0;
    const status = await new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('exit', () => {
        wallMs = performance.now() - startMs;
      });
      child.on('close', (code, signal) => resolve(code ?? signal));
    });
    if (status !== 0) throw new Error(`${command.join(' ')}: ended with ${status}\n${errors.trim()}`);
    const usage = hasTime
      ? readFileSync(report, 'utf8').trim().split('\n').at(-1).split(' ').map(Number)
      : [];
    return {
      wallMs,
      cpuMs: hasTime ? (usage[0] + usage[1]) * 1000 : Number.NaN,
      rssMb: hasTime ? (usage[2] * 1024) / 1e6 : Number.NaN,
      outputBytes: stdoutFile === undefined ? 0 : statSync(stdoutFile).size,
    };
  } finally {
    if (stdout !== 'ignore') closeSync(stdout);
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs each command once, then `rounds` times in turns. Returns one list of runs a command. */
export async function inTurns(commands, rounds) {
  const runs = commands.map(() => []);
  for (let round = -1; round < rounds; round++) {
    for (const [i, { command, stdoutFile }] of commands.entries()) {
      const run = await runProcess(command, stdoutFile);
      if (round >= 0) runs[i].push(run);
    }
  }
  return runs;
}

export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

export const medianOf = (runs, field) => median(runs.map((run) => run[field]));

/** `{median, min, max}` of what `ratio(a, b)` gives for the pairs of two lists of runs. */
export function pairwise(runsA, runsB, ratio) {
  const ratios = runsA.map((run, i) => ratio(run, runsB[i]));
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}

/**
 * Calls `work` for `warmupMs`, then `rounds` times for about `roundMs` each; returns the median number of
 * milliseconds a call takes. For work in this process; `work` may return a promise.
 */
export async function timeCalls(work, { warmupMs = 300, roundMs = 200, rounds = 5 } = {}) {
  const warm = await repeat(work, warmupMs);
  const calls = Math.max(1, Math.round(roundMs / warm));
  const times = [];
  for (let round = 0; round < rounds; round++) {
    const startMs = performance.now();
    for (let i = 0; i < calls; i++) {
      const pending = work();
      if (pending !== undefined) await pending;
    }
    times.push((performance.now() - startMs) / calls);
  }
  return median(times);
}

async function repeat(work, durationMs) {
  const startMs = performance.now();
  let calls = 0;
  while (performance.now() - startMs < durationMs) {
    const pending = work();
    if (pending !== undefined) await pending;
    calls++;
  }
  return (performance.now() - startMs) / calls;
}
