import type { Environment } from '../../engine/environment.ts';
import { IoError, type SstError } from '../../errors.ts';
import { expandInputs, forEachInput, type InputFile, type OpenInput } from '../input.ts';
import { isSmallFile } from '../small-file.ts';
import { judgeTableInput } from '../table-inputs.ts';

export interface DumpInputEvents {
  /** A file that cannot be dumped. */
  failure(path: string, error: SstError): void;
  gone(path: string): void;
  skipped(paths: readonly string[]): void;
}

/** Which files a dump is about. */
export interface DumpPlan {
  readonly files: readonly InputFile[];
  /** One PATH, which is a file: its document stands alone. */
  readonly single: boolean;
  readonly failures: readonly IoError[];
  /** A PATH is a database: one without a table is whole. */
  readonly hasDatabase: boolean;
  /** Other files of a database that are named are dumped as well. */
  readonly otherFiles: boolean;
}

export function planDump(
  environment: Environment,
  paths: readonly string[],
  options: { recursive: boolean; otherFiles: boolean },
): DumpPlan {
  const { files, failures, databases } = expandInputs(environment, paths, options);
  const hasDatabase = databases.length > 0;
  return {
    files,
    failures,
    hasDatabase,
    otherFiles: options.otherFiles,
    single: paths.length === 1 && files.length === 1 && files[0]!.named,
  };
}

/**
 * Hands each table file, and each other file that is named, of the plan to `use`, in turn; false ends it. Throws IoError when
 * there is none in a directory that is no database.
 */
export async function forEachTable(
  environment: Environment,
  plan: DumpPlan,
  paths: readonly string[],
  use: (input: OpenInput) => Promise<boolean>,
  events: DumpInputEvents,
): Promise<void> {
  const skipped: string[] = [];
  let seen = plan.failures.length;
  for (const error of plan.failures) events.failure(error.file, error);
  await forEachInput(
    environment,
    plan.files,
    async (input) => {
      if (plan.otherFiles && input.file.named && isOtherFile(input)) {
        seen++;
        return use(input);
      }
      const verdict = judgeTableInput(input);
      // A WAL to which nothing has been written yet is an empty file.
      const isEmptyLog = !input.file.named && input.kind.kind === 'empty' && input.file.path.endsWith('.log');
      if (verdict.use === 'skip' || isEmptyLog) {
        skipped.push(input.file.path);
        return true;
      }
      seen++;
      if (verdict.use === 'error') throw verdict.error;
      return use(input);
    },
    (file, error, gone) => {
      seen++;
      if (gone) events.gone(file.path);
      else events.failure(file.path, error);
    },
  );
  if (skipped.length > 0) events.skipped(skipped);
  if (seen === 0 && !plan.hasDatabase)
    throw new IoError('no_table', paths[0]!, 'no table file in this directory');
}

function isOtherFile({ kind: { kind } }: OpenInput): boolean {
  return kind === 'manifest' || kind === 'wal' || kind === 'blob' || isSmallFile(kind);
}
