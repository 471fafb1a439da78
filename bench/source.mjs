/**
 * Imports modules of src/ as they stand, for benches of what dist/ does not export. They are bundled; packages stay
 * outside, so the bundle lies where they are found, and only while it is being read.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** All exports of the modules (paths below src/) as one namespace. */
export async function importSources(...modules) {
  const result = await build({
    stdin: {
      contents: modules.map((module) => `export * from './src/${module}';`).join('\n'),
      resolveDir: root,
    },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  const folder = path.join(root, 'node_modules/.cache/sstkit-bench');
  const file = path.join(folder, `${process.pid}-${Date.now()}.mjs`);
  mkdirSync(folder, { recursive: true });
  try {
    writeFileSync(file, result.outputFiles[0].contents);
    return await import(pathToFileURL(file));
  } finally {
    rmSync(file, { force: true });
  }
}
