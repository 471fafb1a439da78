import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs';
import { InvalidArgumentError } from '../errors.ts';
import { FdSink } from '../render/sink.ts';
import { wrapSystemError } from './io-error.ts';

/** An output that appears under its name only when it is complete. */
export interface OutputFile {
  readonly sink: FdSink;
  /** Flushes, syncs, and gives the file its name. */
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
  const sink = new FdSink(fd, path);
  let open = true;
  return {
    sink,
    commit() {
      sink.flush();
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

/** The output that `--out` names, or standard output, which needs neither commit nor discard. */
export function openOutput(path: string | undefined, force: boolean, stdout: FdSink): OutputFile {
  if (path !== undefined && path !== '-') return openOutputFile(path, force);
  return { sink: stdout, commit: () => undefined, discard: () => undefined };
}
