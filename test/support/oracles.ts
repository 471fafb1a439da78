/**
 * The other side of differential tests: the real tools, and real engines from npm. Neither is there on
 * every machine, and a test that needs one says aloud that it did not run.
 */

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const said = new Set<string>();

function sayMissing(what: string, hint: string): void {
  if (said.has(what)) return;
  said.add(what);
  console.warn(`SKIPPED: comparison with ${what}, which is not installed (${hint})`);
}

export type ToolName = 'sst_dump' | 'ldb' | 'db_bench' | 'g++' | 'zstd' | 'lz4' | 'bzip2';

/** Debian's packages of the tools. */
const PACKAGES: Record<ToolName, string> = {
  sst_dump: 'rocksdb-tools',
  ldb: 'rocksdb-tools',
  db_bench: 'rocksdb-tools',
  'g++': 'g++',
  zstd: 'zstd',
  lz4: 'lz4',
  bzip2: 'bzip2',
};

/**
 * Absolute path of a tool on PATH, or undefined, said aloud once a tool. Use it as
 * `describe.skipIf(findTool('sst_dump') === undefined)`.
 */
export function findTool(name: ToolName): string | undefined {
  for (const folder of (process.env.PATH ?? '').split(path.delimiter)) {
    const file = path.join(folder, name);
    if (folder !== '' && existsSync(file)) return file;
  }
  sayMissing(name, `Debian package ${PACKAGES[name]}`);
  return undefined;
}

export interface ToolResult {
  /** Exit status; null when a signal ended it: a failed assertion aborts. */
  status: number | null;
  /** One character a byte. */
  stdout: string;
  stderr: string;
}

/** Runs a tool in `cwd` and waits. sst_dump's raw dump writes into its working directory. */
export function runTool(name: ToolName, args: readonly string[], options: { cwd?: string } = {}): ToolResult {
  const tool = findTool(name);
  if (tool === undefined) throw new Error(`${name} is not installed`);
  const result = spawnSync(tool, args, { cwd: options.cwd, encoding: 'latin1', maxBuffer: 1 << 28 });
  if (result.error) throw result.error;
  return { status: result.status, stdout: result.stdout, stderr: result.stderr };
}

/** The packages of test/oracles/package.json. */
export type OraclePackage =
  | '@harperfast/rocksdb-js-linux-x64-glibc'
  | '@nxtedition/rocksdb'
  | 'rocksdb-native'
  | 'classic-level'
  | 'zstd-napi';

const ORACLES = fileURLToPath(new URL('../oracles/package.json', import.meta.url));

/** Loads a package of test/oracles; undefined, said aloud once a package, where it is missing or does not load. */
export function loadOracle(name: OraclePackage): unknown {
  try {
    return createRequire(ORACLES)(name);
  } catch (error) {
    sayMissing(name, `npm ci in test/oracles: ${String(error).split('\n')[0]}`);
    return undefined;
  }
}

/** The RocksDB version of a tool, as in "7.8.3"; undefined where the tool is missing. */
export function toolVersion(name: 'sst_dump' | 'ldb'): string | undefined {
  if (findTool(name) === undefined) return undefined;
  const { stdout } = runTool(name, ['--version']);
  return /RocksDB\)? (\d\S*)/.exec(stdout)?.[1];
}
