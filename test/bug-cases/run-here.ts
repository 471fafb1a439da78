/** Runs a command line in this process: one of its own takes a hundred times as long. */

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { main } from '../../src/cli.ts';

export interface Outcome {
  /** Exit status. */
  status: unknown;
  stdout: Buffer;
  stderr: string;
}

const STDOUT = 1;

/** The same as `runCli`, without a process. Not for two at a time: it changes the working directory. */
export async function runHere(argv: readonly string[], options: { cwd: string }): Promise<Outcome> {
  const stdout: Buffer[] = [];
  let stderr = '';
  const before = process.cwd();
  const { write } = process.stderr;
  const { writeSync } = fs;
  process.stderr.write = (text: string | Uint8Array): boolean => {
    stderr += text;
    return true;
  };
  // Standard output is written with this one call, to this descriptor (src/render/sink.ts).
  fs.writeSync = ((fd: number, bytes: Uint8Array, offset: number, length: number): number => {
    if (fd !== STDOUT) return writeSync(fd, bytes, offset, length);
    stdout.push(Buffer.from(bytes.slice(offset, offset + length)));
    return length;
  }) as typeof writeSync;
  syncBuiltinESMExports();
  process.chdir(options.cwd);
  try {
    await main(argv);
    return { status: process.exitCode, stdout: Buffer.concat(stdout), stderr };
  } finally {
    process.chdir(before);
    process.exitCode = undefined;
    process.stderr.write = write;
    fs.writeSync = writeSync;
    syncBuiltinESMExports();
  }
}
