/**
 * Builds dist/: the WebAssembly kernels, then one bundle an entry point, then oclif.manifest.json, then the
 * declarations (left out with --fast: running and testing do not need them).
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { rememberSources, sourceHash } from './source-hash.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);
const fast = process.argv.includes('--fast');
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));

/** Bundled: reading their many small files took longer than running them. */
const BUNDLED = ['@oclif/core', 'chalk'];

const external = [
  ...Object.keys(manifest.dependencies),
  ...Object.keys(manifest.peerDependencies ?? {}),
].filter((name) => !BUNDLED.includes(name));

/** The runtime's own modules are `require`d by bundled CommonJS packages. */
const REQUIRE_BANNER = [
  "import { createRequire as sstkitCreateRequire } from 'node:module';",
  "import { fileURLToPath as sstkitFileURLToPath } from 'node:url';",
  'const require = sstkitCreateRequire(import.meta.url);',
  'const __filename = sstkitFileURLToPath(import.meta.url);',
  "const __dirname = sstkitFileURLToPath(new URL('.', import.meta.url));",
].join('\n');

// Taken first: what changes during the build counts as not built.
const hash = sourceHash(root);
mkdirSync('dist', { recursive: true });
if (existsSync('scripts/build-kernels.mjs')) run('scripts/build-kernels.mjs');
await bundleCommandLine();
await bundleLibrary();
await writeCommandManifest();
if (!fast) writeDeclarations();
rememberSources(root, hash);

/**
 * dist/cli.js: one file, which is parsed at each start; dist/sst_dump.js: the drop-in by itself, without oclif. A run
 * loads one of them. White space goes, names stay for stack traces.
 */
async function bundleCommandLine() {
  const inputs = [];
  for (const name of ['cli', 'sst_dump']) {
    const result = await build({
      entryPoints: [`src/${name}.ts`],
      outfile: `dist/${name}.js`,
      bundle: true,
      write: false,
      metafile: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      external: [...external, 'typescript', 'ts-node', 'tsx'],
      banner: { js: REQUIRE_BANNER },
      minifyWhitespace: true,
      minifySyntax: true,
      legalComments: 'none',
      logLevel: 'warning',
    });
    for (const file of result.outputFiles) writeAtomically(file.path, file.contents);
    inputs.push(...Object.keys(result.metafile.inputs));
  }
  writeLicences(inputs);
}

/**
 * dist/index.js, the pure part, and dist/node.js, the edge. What both need is in files that they share: an error
 * that the one throws is of the class that the other exports.
 */
async function bundleLibrary() {
  for (const name of readdirSync('dist')) if (/^shared-.*\.js$/.test(name)) rmSync(`dist/${name}`);
  const result = await build({
    entryPoints: { index: 'src/index.ts', node: 'src/node/index.ts' },
    outdir: 'dist',
    chunkNames: 'shared-[hash]',
    bundle: true,
    splitting: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    packages: 'external',
    logLevel: 'warning',
  });
  for (const file of result.outputFiles) writeAtomically(file.path, file.contents);
}

/** A reader beside us sees the old file or the new one, never a part. */
function writeAtomically(file, contents) {
  const temporary = `${file}.${process.pid}.tmp`;
  writeFileSync(temporary, contents);
  renameSync(temporary, file);
}

/** Names and licence texts of the packages that have gone into the command line. */
function writeLicences(inputs) {
  const folders = new Set();
  for (const input of inputs) {
    const match = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (match !== null) folders.add(match[1]);
  }
  const parts = [...folders].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'));
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|copying|notice)/i.test(file));
    const texts = files.map((file) => readFileSync(path.join(folder, file), 'utf8').trim());
    return [`${name} ${version} (${license ?? 'licence in its package'})`, ...texts].join('\n\n');
  });
  const head = 'dist/cli.js and dist/sst_dump.js contain code of the following packages.';
  writeAtomically('dist/THIRD_PARTY_LICENSES.txt', `${[head, ...parts].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`);
}

/** oclif.manifest.json: what help lists, without loading the commands. */
async function writeCommandManifest() {
  const { Plugin } = await import('@oclif/core');
  process.env.NODE_ENV = 'production';
  const plugin = new Plugin({
    root,
    ignoreManifest: true,
    errorOnManifestCreate: true,
    respectNoCacheDefault: true,
  });
  await plugin.load();
  writeAtomically('oclif.manifest.json', `${JSON.stringify(plugin.manifest, null, 2)}\n`);
}

function writeDeclarations() {
  rmSync('dist/types', { recursive: true, force: true });
  run('node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json');
}

/** A step in a process of its own; it has said itself what went wrong. */
function run(script, ...args) {
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: ['ignore', 2, 2] });
  if (status !== 0) process.exit(1);
}
