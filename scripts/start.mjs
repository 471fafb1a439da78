/** `npm start`: dumps the demo table. `npm start -- verify FILE`: runs that command. */

import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { ready } from './ready.mjs';

const run = fileURLToPath(new URL('../bin/run.js', import.meta.url));
const demo = fileURLToPath(new URL('../test/fixtures/demo/basic.sst', import.meta.url));

try {
  ready();
  const args = process.argv.slice(2);
  // PATHs are meant from where npm was called, not from the package's folder.
  const cwd = process.env.INIT_CWD ?? process.cwd();
  const { status } = spawnSync(process.execPath, [run, ...(args.length > 0 ? args : ['dump', demo])], {
    cwd,
    stdio: 'inherit',
  });
  process.exitCode = status ?? 130;
} catch {
  process.exitCode = 1;
}
