/**
 * Compiles the two modules of assembly/ to WebAssembly and writes them as base64 to src/kernels/kernels.generated.ts. Does nothing when
 * the sources are those of the file that is there. Says one line on stderr when it compiles.
 */

import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = path.join(root, 'assembly');
const generated = path.join(root, 'src/kernels/kernels.generated.ts');

/** The memory is fixed: assembly/memory.ts lays out these pages of 64 KiB. */
const PAGES = 13;
const OPTIONS = ['-O3', '--noAssert', '--runtime=stub', '--use=abort=', '--enable=simd'];
const MODULES = [
  { name: 'KERNELS_WASM', entry: 'index', options: [`--initialMemory=${PAGES}`, `--maximumMemory=${PAGES}`] },
  // The memory comes from the caller: two pages and what the filter needs.
  { name: 'FILTERS_WASM', entry: 'filters', options: ['--importMemory', '--initialMemory=2'] },
];

const head = `// Made by scripts/build-kernels.mjs from assembly/, ${sourceHash()}`;
if (!existsSync(generated) || !readFileSync(generated, 'utf8').startsWith(head)) await build();

/** Over the sources, the options and the compiler's version. */
function sourceHash() {
  const { version } = JSON.parse(
    readFileSync(path.join(root, 'node_modules/assemblyscript/package.json'), 'utf8'),
  );
  const hash = createHash('sha256').update(JSON.stringify([version, OPTIONS, MODULES]));
  for (const name of readdirSync(folder).sort()) {
    hash.update(`\0${name}\0`).update(readFileSync(path.join(folder, name)));
  }
  return hash.digest('hex');
}

async function build() {
  // The compiler takes 2 s to load: only when it is needed.
  const { main } = await import('assemblyscript/asc');
  const out = mkdtempSync(path.join(tmpdir(), 'sstkit-kernels-'));
  const modules = [];
  try {
    for (const { name, entry, options } of MODULES) {
      const file = path.join(out, `${entry}.wasm`);
      const args = [`assembly/${entry}.ts`, '--baseDir', root, '--outFile', file, ...OPTIONS, ...options];
      const { error, stderr } = await main(args);
      if (error) throw new Error(`assembly/ does not compile:\n${stderr.toString()}`, { cause: error });
      modules.push({ name, wasm: readFileSync(file) });
    }
    write(modules);
    const sizes = modules.map(({ wasm }) => wasm.length).join(' and ');
    process.stderr.write(`sstkit: compiled the kernels (${sizes} bytes)\n`);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** A reader beside us sees the old file or the new one, never a part. */
function write(modules) {
  const temporary = `${generated}.${process.pid}.tmp`;
  const texts = modules.map(
    ({ name, wasm }) => `\nexport const ${name} =\n  '${wasm.toString('base64')}';\n`,
  );
  writeFileSync(temporary, `${head}\n${texts.join('')}`);
  renameSync(temporary, generated);
}
