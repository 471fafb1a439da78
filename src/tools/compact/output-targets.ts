import { existsSync, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { OutputTarget } from '../../engine/compaction/compaction-outputs.ts';
import { InvalidArgumentError } from '../../errors.ts';
import { wrapSystemError } from '../../node/io-error.ts';
import { type OutputFile, openOutputFile } from '../../node/output-file.ts';
import { SstFileSink } from '../../node/sst-file-sink.ts';

/** Each holds a file open until all are committed together. */
const MAX_OUTPUTS = 900;

export interface OutputTargets {
  open(number: number): OutputTarget;
  /** Tables from before that stay beside the outputs, or under their name where there are none. */
  leftFromBefore(outputs: readonly string[]): string[];
  /** Removes all that was not committed. */
  discard(): void;
}

/**
 * Where a compaction's outputs go: the file `out`, or the directory `out` (one that exists, one that ends in a
 * slash, or where there may be `many` outputs). Throws InvalidArgumentError for a database's directory, whose tables
 * have such names, too, and for outputs that exist already, unless `force` is set.
 */
export function openTargets(out: string, { force, many }: { force: boolean; many: boolean }): OutputTargets {
  const exists = existsSync(out);
  const isDirectory = exists ? statSync(out).isDirectory() : many || out.endsWith('/');
  if (many && !isDirectory) {
    throw new InvalidArgumentError(
      'out',
      out,
      `${out} is a file: --target-file-size needs a directory as --out`,
    );
  }
  if (!isDirectory && exists && !force) {
    throw new InvalidArgumentError('out', out, `${out} exists already: --force replaces it`);
  }
  if (isDirectory && existsSync(join(out, 'CURRENT'))) {
    throw new InvalidArgumentError('out', out, `${out} is a DB directory: outputs go elsewhere`);
  }
  const tables = isDirectory && exists ? readdirSync(out).filter((name) => name.endsWith('.sst')) : [];
  if (!force) {
    const [table] = tables;
    if (table !== undefined) {
      throw new InvalidArgumentError(
        'out',
        out,
        `${join(out, table)} exists already: --force replaces what is there`,
      );
    }
  }
  const opened: OutputFile[] = [];
  let madeDirectory = false;
  return {
    open(number) {
      if (number >= MAX_OUTPUTS) {
        throw new InvalidArgumentError(
          'target-file-size',
          String(number),
          `more than ${MAX_OUTPUTS} outputs: --target-file-size is too small`,
        );
      }
      if (isDirectory && !existsSync(out)) {
        makeDirectory(out);
        madeDirectory = true;
      }
      const path = isDirectory ? join(out, `${String(number + 1).padStart(6, '0')}.sst`) : out;
      const file = openOutputFile(path, force);
      opened.push(file);
      const sink = new SstFileSink(file.fd, path);
      return {
        path,
        sink,
        finish: () => sink.flush(),
        commit: () => file.commit(),
        discard: () => file.discard(),
      };
    },
    leftFromBefore(outputs) {
      const before = isDirectory ? tables.sort().map((name) => join(out, name)) : exists ? [out] : [];
      return before.filter((path) => !outputs.includes(path));
    },
    discard() {
      for (const file of opened) file.discard();
      if (madeDirectory && existsSync(out) && readdirSync(out).length === 0) rmdirSync(out);
      madeDirectory = false;
    },
  };
}

function makeDirectory(path: string): void {
  try {
    mkdirSync(path, { recursive: true });
  } catch (error) {
    throw wrapSystemError(error, path);
  }
}
