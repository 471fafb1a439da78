import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

const RAM_DISK = '/dev/shm';

/** A new folder, in memory where the system has such: engines sync each file that they write. */
export function makeRamFolder(prefix: string): string {
  return mkdtempSync(path.join(existsSync(RAM_DISK) ? RAM_DISK : tmpdir(), prefix));
}
