import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll } from 'vitest';

export interface TestFolders {
  /** Names a folder that nobody has used; it is not made yet. */
  fresh(): string;
  /** The last one. */
  readonly current: string;
}

/** Folders for the tests of a file, below one that is removed behind the last of them. */
export function testFolders(prefix: string): TestFolders {
  let root: string;
  let count = 0;
  beforeAll(() => {
    root = mkdtempSync(path.join(tmpdir(), prefix));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  return {
    fresh: () => path.join(root, String(++count)),
    get current() {
      return path.join(root, String(count));
    },
  };
}
