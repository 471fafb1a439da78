/** Runs the built program as a user does. */

import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url));
const RUN = fileURLToPath(new URL('../../bin/run.js', import.meta.url));

export interface CliOptions {
  /** Default: the project's root. */
  cwd?: string;
  /** What stands on standard input; default: nothing. */
  stdin?: string | Uint8Array;
  /** On top of this process's environment; undefined takes a variable away. */
  env?: Record<string, string | undefined>;
}

export interface CliResult {
  /** Exit status; null when a signal ended it. */
  status: number | null;
  stdout: Buffer;
  stderr: string;
}

export function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [RUN, ...args], {
      cwd: options.cwd ?? PROJECT_ROOT,
      // vitest sets FORCE_COLOR and DEBUG may be set by hand: neither belongs into a test's output.
      env: { ...process.env, FORCE_COLOR: undefined, DEBUG: undefined, ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on('data', (bytes: Buffer) => stdout.push(bytes));
    child.stderr.on('data', (bytes: Buffer) => stderr.push(bytes));
    child.on('error', reject);
    child.on('close', (status) => {
      resolve({ status, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString('utf8') });
    });
    // A program that does not read its input may be gone before all of it is written.
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.stdin);
  });
}
