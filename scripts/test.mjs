/**
 * `npm test`: lint and format, types (all of it; then the core without Node's), then the tests. Words after
 * `npm test --` go to vitest (`npm test -- src/argv.test.ts`). Ends with one line, `N passed, N failed`.
 */

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ready } from './ready.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = (name) => path.join(root, 'node_modules', name);

const failedSteps = [];
let counts = { passed: 0, failed: 0, skipped: 0 };

try {
  ready();
} catch {
  failedSteps.push('install or build');
}
if (failedSteps.length === 0) {
  step('biome check', bin('@biomejs/biome/bin/biome'), ['check']);
  step('tsc', bin('typescript/bin/tsc'), ['-p', 'tsconfig.json', '--noEmit']);
  step('tsc of the core', bin('typescript/bin/tsc'), ['-p', 'tsconfig.core.json', '--noEmit']);
  counts = runTests(process.argv.slice(2));
}

for (const name of failedSteps) console.log(`failed: ${name}`);
// A failed step counts as one failure, so that the last line never looks better than the exit status.
const failed = counts.failed + failedSteps.length;
const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
console.log(`${counts.passed} passed, ${failed} failed${skipped}`);
process.exitCode = failed > 0 ? 1 : 0;

function step(name, script, args) {
  const { status } = spawnSync(process.execPath, [script, ...args], { cwd: root, stdio: 'inherit' });
  if (status !== 0) failedSteps.push(name);
}

function runTests(args) {
  const folder = mkdtempSync(path.join(tmpdir(), 'sstkit-test-'));
  const report = path.join(folder, 'report.json');
  try {
    const { status } = spawnSync(
      process.execPath,
      [
        bin('vitest/vitest.mjs'),
        'run',
        '--reporter=default',
        '--reporter=json',
        `--outputFile.json=${report}`,
        ...args,
      ],
      { cwd: root, stdio: 'inherit' },
    );
    if (!existsSync(report)) {
      failedSteps.push('vitest');
      return { passed: 0, failed: 0, skipped: 0 };
    }
    const result = JSON.parse(readFileSync(report, 'utf8'));
    const failed = result.numFailedTests;
    // A file that cannot be loaded has no test of its own, nor has an error outside of any test.
    if (status !== 0 && failed === 0) failedSteps.push('vitest');
    return {
      passed: result.numPassedTests,
      failed,
      skipped: result.numPendingTests + (result.numTodoTests ?? 0),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
