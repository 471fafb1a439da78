import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { InvalidArgumentError, IoError } from '../errors.ts';
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
 * `force` is not set, or is no file at all, IoError when it cannot be written.
 */
export function openOutputFile(path: string, force: boolean): OutputFile {
  const name = finalName(path, force);
  const temporary = `${name}.${process.pid}.tmp`;
  let fd: number;
  try {
    fd = openSync(temporary, 'wx');
  } catch (error) {
    throw wrapSystemError(error, path);
  }
  let open = true;
  let named = false;
  return {
    fd,
    commit() {
      try {
        fsyncSync(fd);
        open = false;
        closeSync(fd);
        renameSync(temporary, name);
        named = true;
      } catch (error) {
        throw wrapSystemError(error, path);
      }
    },
    discard() {
      if (open) closeSync(fd);
      open = false;
      if (!named) rmSync(temporary, { force: true });
      named = true;
    },
  };
}

/** Where the file will be: renaming onto it would put a file in place of a device or a link. */
function finalName(path: string, force: boolean): string {
  if (path === '') throw new InvalidArgumentError('out', path, 'the output has no name');
  if (!existsSync(path)) return path;
  if (!force) throw new InvalidArgumentError('out', path, `${path} exists already: --force replaces it`);
  let name: string;
  try {
    name = realpathSync(path);
  } catch {
    // Open, and without a name in a folder: a pipe as /dev/stdout.
    throw noFile(path);
  }
  const status = statSync(name);
  if (status.isDirectory()) throw new IoError('is_directory', path, 'is a directory');
  if (!status.isFile()) throw noFile(path);
  return name;
}

function noFile(path: string): InvalidArgumentError {
  return new InvalidArgumentError('out', path, `${path} is no file: a device or a pipe cannot be replaced`);
}
