/**
 * Makes a checkout ready to run: installs when package-lock.json has changed since the last installation, builds
 * when a source has changed since the last build. Says nothing unless it does something, and then on stderr.
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isBuilt } from './source-hash.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Throws when npm or the build fails; they have said why. */
export function ready() {
  const installed = path.join(root, 'node_modules/.sstkit-lock');
  const lock = createHash('sha256')
    .update(readFileSync(path.join(root, 'package-lock.json')))
    .digest('hex');
  if (!existsSync(installed) || readFileSync(installed, 'utf8').trim() !== lock) {
    say('installing packages (npm ci)');
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    run(npm, ['ci', '--no-audit', '--no-fund'], { shell: process.platform === 'win32' });
    writeFileSync(installed, lock);
  }
  if (!isBuilt(root)) {
    say('building dist/');
    run(process.execPath, ['scripts/build.mjs', '--fast']);
  }
}

function say(text) {
  process.stderr.write(`sstkit: ${text}\n`);
}

function run(command, args, options = {}) {
  execFileSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], ...options });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    ready();
  } catch {
    process.exitCode = 1;
  }
}
