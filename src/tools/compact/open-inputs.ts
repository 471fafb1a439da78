import type { Environment, FileSource } from '../../engine/environment.ts';
import { InvalidArgumentError, IoError, SstError } from '../../errors.ts';
import { detectFileKind } from '../../format/file-kind.ts';
import { expandInputs, type OpenInput } from '../input.ts';
import type { OpenOptions } from '../open-any-table.ts';
import { judgeTableInput } from '../table-inputs.ts';
import type { Hole } from './holes.ts';

/** A file that could not be read at all. */
const WHOLE_FILE = {
  offset: 0,
  size: null,
  after: null,
  before: null,
  entries: null,
  lostTombstones: true,
} as const;

interface Request {
  readonly paths: readonly string[];
  readonly recursive: boolean;
  readonly columnFamily: string | undefined;
  readonly open: OpenOptions;
  readonly salvage: boolean;
}

interface Events {
  failure(error: SstError): void;
  warning(text: string): void;
  skipped(paths: readonly string[]): void;
}

/**
 * Opens all tables that the PATHs lead to; they stay open until `close`. Throws SstError when one cannot be read
 * (with `salvage` it goes to `failure`, and the others go on), when none is left, or when they belong to several
 * column families and none was chosen.
 */
export async function openInputs<T extends { readonly path: string; readonly columnFamily: string }>(
  environment: Environment,
  request: Request,
  events: Events,
  open: (environment: Environment, input: OpenInput, options: OpenOptions) => Promise<T>,
): Promise<{ inputs: T[]; holes: Hole[]; close(): void }> {
  const { files, failures, databases } = expandInputs(environment, request.paths, request);
  const [database] = databases;
  if (database !== undefined) {
    throw new InvalidArgumentError(
      'path',
      database,
      `${database} is a DB directory: compact takes its table files by name; a DB in place (--db) is not supported`,
    );
  }
  const sources: FileSource[] = [];
  const close = (): void => {
    for (const source of sources) source.close();
  };
  const skipped: string[] = [];
  const inputs: T[] = [];
  const holes: Hole[] = [];
  const failed = (path: string, error: SstError): void => {
    if (!request.salvage) throw error;
    events.failure(error);
    events.warning(
      `${path}: nothing of it could be read: what it had overwritten or deleted may be visible again`,
    );
    holes.push({ ...WHOLE_FILE, path, code: error.code });
  };
  try {
    for (const failure of failures) failed(failure.file, failure);
    const seen = new Set<string>();
    for (const file of files) {
      if (seen.has(file.path)) continue;
      seen.add(file.path);
      try {
        const source = environment.files.open(file.path);
        sources.push(source);
        const kind = detectFileKind(source, environment.hashes, file.path);
        const verdict = judgeTableInput({ file, source, kind });
        if (verdict.use === 'error') throw verdict.error;
        if (verdict.use === 'skip') {
          skipped.push(file.path);
          source.close();
          continue;
        }
        inputs.push(await open(environment, { file, source, kind }, request.open));
      } catch (error) {
        if (!(error instanceof SstError)) throw error;
        failed(file.path, error);
      }
    }
    if (skipped.length > 0) events.skipped(skipped);
    return { inputs: ofOneFamily(inputs, request), holes, close };
  } catch (error) {
    close();
    throw error;
  }
}

function ofOneFamily<T extends { readonly path: string; readonly columnFamily: string }>(
  inputs: readonly T[],
  { columnFamily, paths }: Request,
): T[] {
  if (inputs.length === 0) {
    throw new IoError('no_table', paths[0]!, 'no table file that could be read');
  }
  const families = [...new Set(inputs.map((input) => input.columnFamily))];
  if (columnFamily === undefined) {
    if (families.length === 1) return [...inputs];
    throw new InvalidArgumentError(
      'cf',
      families.join(','),
      `the files belong to several column families (${families.join(', ')}): choose one with --cf`,
    );
  }
  const chosen = inputs.filter((input) => input.columnFamily === columnFamily);
  if (chosen.length > 0) return chosen;
  throw new InvalidArgumentError(
    'cf',
    columnFamily,
    `no file of column family ${columnFamily}: there are ${families.join(', ')}`,
  );
}
