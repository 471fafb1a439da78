import type { Environment } from '../engine/environment.ts';
import { IoError, type SstError, UnsupportedError } from '../errors.ts';
import type { FileKind } from '../format/file-kind.ts';
import { expandInputs, forEachInput, isTableFamilyName, type OpenInput } from './input.ts';

/** What a command that reads tables does with a file. */
export type TableVerdict =
  | { readonly use: 'table' }
  /** Of another kind, and found in a directory. */
  | { readonly use: 'skip' }
  | { readonly use: 'error'; readonly error: SstError };

const KIND_TEXTS: Readonly<Partial<Record<FileKind, string>>> = {
  wal: 'a write-ahead log',
  manifest: 'a MANIFEST',
  blob: 'a blob file',
  options: 'an OPTIONS file',
  current: 'a CURRENT file',
  identity: 'an IDENTITY file',
  info_log: 'an info log',
};

/**
 * Whether a file is to be read as a table. In a directory other kinds are passed over, except that a name of the
 * table family without recognisable content is never passed over: it may be a table that has lost its end.
 */
export function judgeTableInput({ file, source, kind }: OpenInput): TableVerdict {
  const { path } = file;
  if (kind.kind === 'sst') return { use: 'table' };
  const insist = file.named || isTableFamilyName(path);
  switch (kind.kind) {
    case 'pebble':
      return {
        use: 'error',
        error: new UnsupportedError('table format', 'pebble', "a table in a format of Pebble's own", {
          file: path,
        }),
      };
    case 'encrypted':
      return insist
        ? {
            use: 'error',
            error: new UnsupportedError('encryption', 'unknown', 'looks encrypted: noise without a footer', {
              file: path,
            }),
          }
        : { use: 'skip' };
    case 'empty':
      // A log that has just been begun has nothing in it yet.
      return insist && (file.named || !path.endsWith('.log'))
        ? { use: 'error', error: new IoError('empty', path, 'the file is empty (0 bytes)') }
        : { use: 'skip' };
    case 'text':
      return insist
        ? {
            use: 'error',
            error: new IoError('not_a_table', path, `a text file, no table (${source.size} bytes)`),
          }
        : { use: 'skip' };
    case 'unknown':
      return insist ? { use: 'table' } : { use: 'skip' };
    default:
      return file.named
        ? {
            use: 'error',
            error: new UnsupportedError(
              'file kind',
              kind.kind,
              `${KIND_TEXTS[kind.kind] ?? kind.kind}: this command reads table files`,
              { file: path },
            ),
          }
        : { use: 'skip' };
  }
}

/** Hands each table of the paths to `use`, in turn; what cannot be read as one, to `failure`. What is gone is no failure. */
export async function forEachTableInput(
  environment: Environment,
  paths: readonly string[],
  failure: (error: SstError) => void,
  use: (input: OpenInput) => Promise<void>,
): Promise<void> {
  const inputs = expandInputs(environment, paths);
  for (const error of inputs.failures) failure(error);
  await forEachInput(
    environment,
    inputs.files,
    async (input) => {
      const verdict = judgeTableInput(input);
      if (verdict.use === 'error') failure(verdict.error);
      if (verdict.use === 'table') await use(input);
      return true;
    },
    (_file, error, gone) => {
      if (!gone) failure(error);
    },
  );
}
