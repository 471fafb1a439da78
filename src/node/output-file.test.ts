import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { openOutputFile } from './output-file.ts';

const root = mkdtempSync(join(tmpdir(), 'sstkit-output-'));
afterAll(() => rmSync(root, { recursive: true }));
let folder = '';
let count = 0;
beforeEach(() => {
  folder = join(root, String(count++));
  mkdirSync(folder);
});

describe('an output', () => {
  it('has its name when it is committed, and keeps it when it is discarded afterwards', () => {
    const path = join(folder, 'a.sst');
    const file = openOutputFile(path, false);
    writeSync(file.fd, 'whole');
    expect(readdirSync(folder)).not.toContain('a.sst');
    file.commit();
    file.discard();
    expect(readdirSync(folder)).toEqual(['a.sst']);
    expect(readFileSync(path, 'utf8')).toBe('whole');
  });

  it('leaves nothing behind when it cannot have its name', () => {
    const path = join(folder, 'a.sst');
    const file = openOutputFile(path, false);
    mkdirSync(path);
    expect(() => file.commit()).toThrow(/a\.sst/);
    file.discard();
    expect(readdirSync(folder)).toEqual(['a.sst']);
  });

  it('replaces what a link leads to, and not the link', () => {
    writeFileSync(join(folder, 'old.sst'), 'old');
    symlinkSync('old.sst', join(folder, 'link.sst'));
    expect(() => openOutputFile(join(folder, 'link.sst'), false)).toThrow(/exists already/);
    const file = openOutputFile(join(folder, 'link.sst'), true);
    writeSync(file.fd, 'new');
    file.commit();
    expect(readFileSync(join(folder, 'old.sst'), 'utf8')).toBe('new');
  });

  it.each([
    ['a directory', (): string => folder, /is a directory/],
    ['a device', (): string => '/dev/null', /is no file/],
    ['no name', (): string => '', /no name/],
  ])('does not replace %s', (_, path, message) => {
    expect(() => openOutputFile(path(), true)).toThrow(message);
    expect(readdirSync(folder)).toEqual([]);
  });
});
