import type { Environment, FileSource } from '../engine/environment.ts';
import { CorruptionError, IoError, SstError, UnsupportedError } from '../errors.ts';
import { detectFileKind, type FileKindResult } from '../format/file-kind.ts';

/** One file that a command was pointed at. */
export interface InputFile {
  /** As reports name it: the PATH as given, or that of the directory, `/`, and the name below it. */
  readonly path: string;
  /** False when it was found in a directory: it may then be of a kind that the command passes over. */
  readonly named: boolean;
}

/** What became of the PATHs of a command line. */
export interface Inputs {
  readonly files: readonly InputFile[];
  /** PATHs and directories that could not be read. */
  readonly failures: readonly IoError[];
  /** PATHs that hold a `CURRENT`. */
  readonly databases: readonly string[];
}

/** Names that a directory walk never passes over, whatever they hold. */
const TABLE_FAMILY_NAME = /\.(sst|ldb|log|blob)$|^MANIFEST-/;

export function isTableFamilyName(path: string): boolean {
  return TABLE_FAMILY_NAME.test(path.slice(path.lastIndexOf('/') + 1));
}

/** Walks the PATHs: a file stands for itself, a directory for its files in sorted order. */
export function expandInputs(
  environment: Pick<Environment, 'files'>,
  paths: readonly string[],
  options: { recursive?: boolean } = {},
): Inputs {
  const files: InputFile[] = [];
  const failures: IoError[] = [];
  const databases: string[] = [];
  const walk = (directory: string): void => {
    const entries = environment.files.list(directory);
    if (entries.some(({ name }) => name === 'CURRENT')) databases.push(directory);
    for (const { name, kind } of entries) {
      const path = `${directory.replace(/\/$/, '')}/${name}`;
      if (kind === 'directory') {
        if (options.recursive) attempt(() => walk(path), failures);
      } else if (kind === 'file') {
        files.push({ path, named: false });
      }
    }
  };
  for (const path of paths) {
    attempt(() => {
      if (environment.files.status(path).kind === 'directory') walk(path);
      else files.push({ path, named: true });
    }, failures);
  }
  return { files, failures, databases };
}

/** An open input and what it is. */
export interface OpenInput {
  readonly file: InputFile;
  readonly source: FileSource;
  readonly kind: FileKindResult;
}

/**
 * Opens each file in turn, tells its kind by its content, hands it to `use`, and closes it. What cannot be
 * opened goes to `failed`; `gone` says that it vanished between the listing and the opening.
 */
export async function forEachInput(
  environment: Environment,
  files: readonly InputFile[],
  use: (input: OpenInput) => Promise<boolean>,
  failed: (file: InputFile, error: SstError, gone: boolean) => void,
): Promise<void> {
  for (const file of files) {
    let source: FileSource | undefined;
    try {
      source = environment.files.open(file.path);
      const kind = detectFileKind(source, environment.hashes, file.path);
      if (!(await use({ file, source, kind }))) return;
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      failed(file, withFile(error, file.path), !file.named && error.code === 'not_found');
    } finally {
      source?.close();
    }
  }
}

/** What a part that knows no files has thrown, with the file's name. */
function withFile(error: SstError, path: string): SstError {
  const places = error instanceof CorruptionError || error instanceof UnsupportedError;
  return places && error.file === undefined ? error.at({ file: path }) : error;
}

function attempt(step: () => void, failures: IoError[]): void {
  try {
    step();
  } catch (error) {
    if (!(error instanceof IoError)) throw error;
    failures.push(error);
  }
}
