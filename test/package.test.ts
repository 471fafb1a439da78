import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from './support/cli.ts';

const at = (...parts: string[]): string => path.join(PROJECT_ROOT, ...parts);
const readJson = (file: string) => JSON.parse(readFileSync(at(file), 'utf8'));

describe('npm pack', () => {
  // The scripts would build again while other tests run the program.
  const output = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const report = JSON.parse(output);
  // npm 11 gives a list, npm 12 an object by name.
  const pack = Array.isArray(report) ? report[0] : Object.values(report)[0];
  const packed: string[] = pack.files.map((file: { path: string }) => file.path);

  it('holds what the program needs', () => {
    for (const file of [
      'package.json',
      'LICENSE',
      'CHANGELOG.md',
      'bin/run.js',
      'dist/cli.js',
      'dist/sst_dump.js',
      'dist/THIRD_PARTY_LICENSES.txt',
      'oclif.manifest.json',
    ]) {
      expect(packed).toContain(file);
    }
  });

  it.each(['schema', 'docs', 'test/fixtures/demo'])('holds all of %s', (folder) => {
    if (!existsSync(at(folder))) return;
    const files = readdirSync(at(folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(PROJECT_ROOT, path.join(entry.parentPath, entry.name)));
    expect(packed).toEqual(expect.arrayContaining(files));
  });

  it('holds nothing else', () => {
    const expected =
      /^(bin\/|dist\/|schema\/|docs\/|test\/fixtures\/demo\/|(package|oclif\.manifest)\.json$|README\.md$|LICENSE$|CHANGELOG\.md$)/;
    expect(packed.filter((file) => !expected.test(file))).toEqual([]);
  });
});

describe('package.json', () => {
  const manifest = readJson('package.json');

  it('pins every dependency', () => {
    for (const version of Object.values({ ...manifest.dependencies, ...manifest.devDependencies })) {
      expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    }
  });

  it('lets oclif load the file that bin/run.js loads', () => {
    expect(manifest.oclif.commands.target).toBe('./dist/cli.js');
    expect(readFileSync(at('bin/run.js'), 'utf8')).toContain("'../dist/cli.js'");
  });

  it('has a lock that names no host', () => {
    const lock = readJson('package-lock.json');
    const resolved = Object.values<{ resolved?: string }>(lock.packages).filter((entry) => entry.resolved);
    expect(resolved).toEqual([]);
    expect(lock.version).toBe(manifest.version);
  });
});
