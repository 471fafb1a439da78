/** `dump` and `verify` of CURRENT, IDENTITY and OPTIONS files. */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runHere } from '../bug-cases/run-here.ts';
import { dumpHere } from '../support/dump-here.ts';
import { databases, sharedFixtures } from '../support/fixtures.ts';
import { testFolders } from '../support/test-folders.ts';

const ALL = [...databases(), ...sharedFixtures().databases];
const SMALL = /^(CURRENT|IDENTITY|OPTIONS-\d+)$/;
const folders = testFolders('sstkit-small-');
const cwd = () => path.dirname(folders.current);
const run = (...args: string[]) => runHere(args, { cwd: cwd() });
const { json, text } = dumpHere(cwd);

function write(name: string, contents: string): string {
  const file = path.join(cwd(), name);
  writeFileSync(file, contents);
  return file;
}

describe.each(ALL)('$name', ({ path: folder }) => {
  it.each(readdirSync(folder).filter((name) => SMALL.test(name)))('%s', async (name) => {
    const file = path.join(folder, name);
    const contents = readFileSync(file, 'utf8');
    const { status, document } = await json(file);
    expect(status).toBe(0);
    expect(document).toMatchObject({ path: file, size: contents.length, findings: [] });
    if (name === 'CURRENT') expect(document).toMatchObject({ kind: 'current', manifest: contents.trimEnd() });
    else if (name === 'IDENTITY')
      expect(document).toMatchObject({ kind: 'identity', identity: contents.trimEnd() });
    else {
      const options = document.sections.flatMap((section: { options: object }) =>
        Object.keys(section.options),
      );
      expect(options).toHaveLength(contents.match(/^\s*[^#[\s][^=]*=/gm)!.length);
      expect(document.sections[0]).toMatchObject({ type: 'Version', name: '' });
    }
    const verified = await run('verify', file, '--json');
    expect(verified.status).toBe(0);
    const { files } = JSON.parse(verified.stdout.toString());
    expect(files).toMatchObject([{ kind: document.kind, status: 'ok', findings: [] }]);
  });
});

it('as text, and as rows', async () => {
  const file = write('OPTIONS-000007', '[Version]\n  a=1\n[DBOptions]\n[CFOptions "default"]\n  b=x\\#y\n');
  expect((await text(file)).stdout.toString()).toBe(
    `${file}: OPTIONS file, 59 bytes\n\nVersion\n  a  1\n\nDBOptions\n\nCFOptions "default"\n  b  x#y\n`,
  );
  const { stdout } = await text(file, '--format', 'ndjson');
  expect(JSON.parse(stdout.toString())).toMatchObject({ kind: 'options', sections: { length: 3 } });
  expect((await text(file, '--blocks')).status).toBe(4);
});

it('damaged ones', async () => {
  for (const [name, contents, code] of [
    ['CURRENT', 'MANIFEST-000005', 'current_file'],
    ['OPTIONS-000008', '# This is a RocksDB option file.\n[Version]\n  rocksdb_version=7\n', 'options_file'],
    ['OPTIONS-000009', '[Version]\n[DBOptions]\nwhat is this\n[CFOptions "default"]\n', 'options_file'],
  ] as const) {
    const file = write(name, contents);
    const { status, document } = await json(file);
    expect({ name, status, code: document.findings[0]?.code }).toEqual({ name, status: 1, code });
    expect((await run('verify', file)).status).toBe(1);
  }
});
