/**
 * The drop-in sst_dump as a program of its own. It needs nothing of oclif, whose loading would take a third of a short
 * run: bin/run.js starts it without src/cli.ts.
 */

import { readFileSync } from 'node:fs';
import { sstDump } from './compat/sst-dump/program.ts';
import { ProcessHost } from './process-host.ts';

/** Runs a command line (without node, script and the command's name) and sets `process.exitCode`. */
export async function main(argv: readonly string[]): Promise<void> {
  const host = new ProcessHost();
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  await host.execute(
    () => sstDump(argv, host, version),
    () => ({ command: 'sst_dump', argv }),
  );
}
