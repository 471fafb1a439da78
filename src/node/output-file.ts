import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { InvalidArgumentError } from '../errors.ts';
import { wrapSystemError } from './io-error.ts';

/** An output that appears under its name only when it is complete. */
export interface OutputFile {
  readonly fd: number;
  /** Syncs, and gives the file its name. What is buffered elsewhere has been written before. */
  commit(): void;
  /** Removes what was written. Safe after `commit`, which it does not undo. */
  discard(): void;
}

/**
 * Opens `path` for writing, under a temporary name beside it. Throws InvalidArgumentError when it exists and
 * `force` is not set, IoError when it cannot be written.
 */
export function openOutputFile(path: string, force: boolean): OutputFile {
  if (!force && existsSync(path)) {
    throw new InvalidArgumentError('out', path, `${path} exists already: --force replaces it`);
  }
  const temporary = `${path}.${process.pid}.tmp`;
  let fd: number;
  try {
    fd = openSync(temporary, 'wx');
  } catch (error) {
    throw wrapSystemError(error, path);
  }
  let open = true;
  return {
    fd,
    commit() {
      try {
        fsyncSync(fd);
        closeSync(fd);
        open = false;
        renameSync(temporary, path);
      } catch (error) {
        throw wrapSystemError(error, path);
      }
    },
    discard() {
      if (!open) return;
      open = false;
      closeSync(fd);
      rmSync(temporary, { force: true });
    },
  };
}
