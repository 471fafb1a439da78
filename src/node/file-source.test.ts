import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { IoError } from '../errors.ts';
import { openFileSource } from './file-source.ts';
import { nodeFileSystem } from './file-system.ts';
import { wrapSystemError } from './io-error.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sstkit-files-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

function thrownBy(action: () => unknown): unknown {
  try {
    action();
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('openFileSource', () => {
  it('reads ranges', () => {
    const path = join(folder, 'ranges');
    writeFileSync(
      path,
      Uint8Array.from({ length: 100 }, (_, i) => i),
    );
    const source = openFileSource(path);
    expect(source.name).toBe(path);
    expect(source.size).toBe(100);
    const bytes = source.read(10, 3);
    expect(bytes).toEqual(Uint8Array.of(10, 11, 12));
    expect(bytes.constructor).toBe(Uint8Array);
    const target = new Uint8Array(2);
    source.readInto(98, target);
    expect(target).toEqual(Uint8Array.of(98, 99));
    expect(source.read(100, 0)).toEqual(new Uint8Array(0));
    source.close();
    source.close();
    expect(() => source.read(0, 1)).toThrow(/closed/);
  });

  it('opens an empty file', () => {
    const path = join(folder, 'empty');
    writeFileSync(path, '');
    const source = openFileSource(path);
    expect(source.size).toBe(0);
    source.close();
  });

  it('says so when the file has been cut since', () => {
    const path = join(folder, 'cut');
    writeFileSync(path, new Uint8Array(100));
    const source = openFileSource(path);
    truncateSync(path, 50);
    const error = thrownBy(() => source.read(40, 20));
    source.close();
    expect(error).toBeInstanceOf(IoError);
    expect(error).toMatchObject({ code: 'io_error', file: path });
    expect((error as Error).message).toMatch(/20 bytes at 40 .* ends after 10 of them.* has been cut since/);
  });

  it('tells a missing file and a directory apart', () => {
    const missing = join(folder, 'missing');
    expect(thrownBy(() => openFileSource(missing))).toMatchObject({
      code: 'not_found',
      file: missing,
      message: `${missing}: no such file or directory`,
    });
    expect(thrownBy(() => openFileSource(folder))).toMatchObject({ code: 'is_directory' });
  });

  it.skipIf(process.platform === 'win32')('does not wait for the writer of a pipe', () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    expect(thrownBy(() => openFileSource(path))).toMatchObject({
      code: 'io_error',
      message: `${path}: not a regular file`,
    });
  });
});

describe('wrapSystemError', () => {
  it.each([
    ['ENOENT', 'not_found'],
    ['EACCES', 'permission'],
    ['EPERM', 'permission'],
    ['EISDIR', 'is_directory'],
    ['EIO', 'io_error'],
  ])('%s is %s', (systemCode, code) => {
    const cause = Object.assign(new Error(`${systemCode}: text`), { code: systemCode });
    expect(wrapSystemError(cause, 'a/b')).toMatchObject({ code, file: 'a/b', cause });
  });
});

describe('nodeFileSystem', () => {
  it('lists a directory, sorted, with kinds', () => {
    const path = mkdtempSync(join(folder, 'list-'));
    for (const name of ['b', 'a', 'B', '000012.sst']) writeFileSync(join(path, name), '');
    mkdtempSync(join(path, 'dir-'));
    if (process.platform !== 'win32') {
      symlinkSync('a', join(path, 'link'));
      symlinkSync('nowhere', join(path, 'dangling'));
    }
    const entries = nodeFileSystem.list(path).map(({ name, kind }) => [name.replace(/^dir-.*/, 'dir'), kind]);
    const links = process.platform === 'win32' ? [] : [['dangling', 'other']];
    expect(entries.filter(([name]) => name !== 'link')).toEqual([
      ...[['000012.sst', 'file'], ['B', 'file'], ['a', 'file'], ['b', 'file'], ...links],
      ['dir', 'directory'],
    ]);
    if (process.platform !== 'win32') expect(entries).toContainEqual(['link', 'file']);
  });

  it('gives kind, size and time', () => {
    const path = join(folder, 'status');
    writeFileSync(path, new Uint8Array(12));
    const status = nodeFileSystem.status(path);
    expect(status).toMatchObject({ kind: 'file', size: 12 });
    expect(Math.abs(status.modifiedMicros / 1000 - Date.now())).toBeLessThan(60_000);
    expect(nodeFileSystem.status(folder)).toMatchObject({ kind: 'directory', size: 0 });
  });

  it('wraps the errors of the system', () => {
    const missing = join(folder, 'missing');
    expect(thrownBy(() => nodeFileSystem.list(missing))).toMatchObject({ code: 'not_found', file: missing });
    expect(thrownBy(() => nodeFileSystem.status(missing))).toMatchObject({ code: 'not_found' });
    const path = join(folder, 'no-directory');
    writeFileSync(path, '');
    expect(thrownBy(() => nodeFileSystem.list(path))).toMatchObject({ code: 'io_error' });
  });
});
