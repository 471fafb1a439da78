/** Where a command's document goes: standard output, or the file that `--out` names. */

import { openOutputFile } from './node/output-file.ts';
import { FdSink } from './render/sink.ts';

export interface Output {
  readonly sink: FdSink;
  /** Writes what is left, and gives the file its name. */
  commit(): void;
  /** Removes a file that was not committed. */
  discard(): void;
}

/** Throws InvalidArgumentError for a file that exists, unless `force` is set; IoError when it cannot be written. */
export function openOutput(path: string | undefined, force: boolean, stdout: FdSink): Output {
  if (path === undefined || path === '-') {
    return { sink: stdout, commit: () => undefined, discard: () => undefined };
  }
  const file = openOutputFile(path, force);
  const sink = new FdSink(file.fd, path);
  return {
    sink,
    commit() {
      sink.flush();
      file.commit();
    },
    discard: () => file.discard(),
  };
}
