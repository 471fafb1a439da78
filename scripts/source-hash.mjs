/** Tells whether dist/ was made from the sources as they are now. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const REMEMBERED = 'dist/.source-hash';
const PRODUCTS = ['dist/cli.js', 'dist/sst_dump.js', 'oclif.manifest.json'];

export function isBuilt(root) {
  if (PRODUCTS.some((file) => !existsSync(path.join(root, file)))) return false;
  const remembered = path.join(root, REMEMBERED);
  return existsSync(remembered) && readFileSync(remembered, 'utf8') === sourceHash(root);
}

export function rememberSources(root, hash) {
  writeFileSync(path.join(root, REMEMBERED), hash);
}

/** SHA-256 over the names and bytes of everything that the build reads. */
export function sourceHash(root) {
  const hash = createHash('sha256');
  for (const file of sourceFiles(root)) {
    hash.update(`${file}\0`);
    hash.update(readFileSync(path.join(root, file)));
    hash.update('\0');
  }
  return hash.digest('hex');
}

function sourceFiles(root) {
  const files = ['package.json'];
  for (const name of readdirSync(root)) {
    if (/^tsconfig.*\.json$/.test(name)) files.push(name);
  }
  for (const name of readdirSync(path.join(root, 'scripts'))) {
    if (/^(build.*|source-hash)\.mjs$/.test(name)) files.push(`scripts/${name}`);
  }
  for (const folder of ['src', 'assembly']) {
    if (!existsSync(path.join(root, folder))) continue;
    for (const entry of readdirSync(path.join(root, folder), { recursive: true, withFileTypes: true })) {
      const file = path.relative(root, path.join(entry.parentPath ?? entry.path, entry.name));
      if (entry.isFile() && !/(\.test|\.generated)\.ts$/.test(file))
        files.push(file.split(path.sep).join('/'));
    }
  }
  return files.sort();
}
