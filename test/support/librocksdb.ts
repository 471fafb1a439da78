/** The C++ programs of tests that write or ask with librocksdb, beside the tests that run them. */

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findTool } from './oracles.ts';

const RELEASE = '7.8.3';
const HEADER = '/usr/include/rocksdb/version.h';

/** Whether such programs can be built here; where not, `what` is said to be skipped. */
export function canBuildGenerators(what: string): boolean {
  const version = librocksdbVersion();
  if (findTool('g++') !== undefined && version === RELEASE) return true;
  console.warn(`SKIPPED: ${what} (Debian package librocksdb-dev ${RELEASE}, found: ${version})`);
  return false;
}

/** Compiles the program whose source is `source` to the file `program`. */
export function buildGenerator(source: URL, program: string): void {
  execFileSync('g++', ['-std=c++17', '-O1', fileURLToPath(source), '-o', program, '-lrocksdb']);
}

/** The release that a program would be linked with; undefined where its headers are missing. */
function librocksdbVersion(): string | undefined {
  if (!existsSync(HEADER)) return undefined;
  const text = readFileSync(HEADER, 'utf8');
  const part = (name: string) => new RegExp(`ROCKSDB_${name} (\\d+)`).exec(text)?.[1];
  return `${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}`;
}
