/**
 * Compiles assembly/ to WebAssembly and writes it as base64 to src/kernels/kernels.generated.ts. Does nothing when
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
const OPTIONS = [
  '-O3',
  '--noAssert',
  '--runtime=stub',
  '--use=abort=',
  '--enable=simd',
  `--initialMemory=${PAGES}`,
  `--maximumMemory=${PAGES}`,
];

const head = `// Made by scripts/build-kernels.mjs from assembly/, ${sourceHash()}`;
if (!existsSync(generated) || !readFileSync(generated, 'utf8').startsWith(head)) await build();

/** Over the sources, the options and the compiler's version. */
function sourceHash() {
  const { version } = JSON.parse(
    readFileSync(path.join(root, 'node_modules/assemblyscript/package.json'), 'utf8'),
  );
  const hash = createHash('sha256').update(JSON.stringify([version, OPTIONS]));
  for (const name of readdirSync(folder).sort()) {
    hash.update(`\0${name}\0`).update(readFileSync(path.join(folder, name)));
  }
  return hash.digest('hex');
}

async function build() {
  // The compiler takes 2 s to load: only when it is needed.
  const { main } = await import('assemblyscript/asc');
  const out = mkdtempSync(path.join(tmpdir(), 'sstkit-kernels-'));
  try {
    const file = path.join(out, 'kernels.wasm');
    const args = ['assembly/index.ts', '--baseDir', root, '--outFile', file, ...OPTIONS];
    const { error, stderr } = await main(args);
    if (error) throw new Error(`assembly/ does not compile:\n${stderr.toString()}`, { cause: error });
    const wasm = readFileSync(file);
    write(wasm);
    process.stderr.write(`sstkit: compiled the kernels (${wasm.length} bytes)\n`);
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
}

/** A reader beside us sees the old file or the new one, never a part. */
function write(wasm) {
  const temporary = `${generated}.${process.pid}.tmp`;
  writeFileSync(temporary, `${head}\n\nexport const KERNELS_WASM =\n  '${wasm.toString('base64')}';\n`);
  renameSync(temporary, generated);
}
