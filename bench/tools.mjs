/** The programs that are measured. */

import { accessSync, constants, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** A RocksDB tool's path; undefined when PATH has none. */
export function realTool(name) {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(folder, name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // Not in this folder.
    }
  }
  return undefined;
}

/** The command line of `sstkit ...args`, as npm's link would run it. */
export function sstkit(...args) {
  return [process.execPath, path.join(root, 'bin/run.js'), ...args];
}

/** Whether this build has the command. */
export function hasCommand(name) {
  const manifest = JSON.parse(readFileSync(path.join(root, 'oclif.manifest.json'), 'utf8'));
  return Object.hasOwn(manifest.commands, name);
}
