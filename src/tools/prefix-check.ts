import { IoError, type SstError, UnsupportedError } from '../errors.ts';
import type { FileKind } from '../format/file-kind.ts';
import type { NodeEnvironment } from '../node/environment.ts';
import type { Finding } from './finding.ts';
import { expandInputs, forEachInput, type OpenInput } from './input.ts';
import { checkTablePrefixes, type PrefixReport } from './prefix-check/check-table.ts';
import { type GivenExtractor, givenByOptions, readOptions } from './prefix-check/given-extractor.ts';
import type { PrefixCheckRequest } from './prefix-check/request.ts';
import { judgeTableInput } from './table-inputs.ts';

export type { PrefixReport } from './prefix-check/check-table.ts';
export type { PrefixCheckRequest } from './prefix-check/request.ts';

export interface PrefixCheckEvents {
  report(report: PrefixReport): void;
  finding(path: string, finding: Finding): void;
  failure(error: SstError): void;
  /** A file of another kind, found in a directory. */
  skipped(path: string, kind: FileKind): void;
  note(text: string): void;
}

/** Checks for each table that the PATHs lead to whether a prefix extractor fits its filter and its keys. */
export async function checkPrefixes(
  environment: NodeEnvironment,
  request: PrefixCheckRequest,
  events: PrefixCheckEvents,
): Promise<void> {
  for (const path of request.paths) {
    const inputs = expandInputs(environment, [path], request);
    for (const failure of inputs.failures) events.failure(failure);
    // A file that is named is read by itself: its directory is asked for OPTIONS where that is the PATH.
    const options = new Map(
      inputs.databases.map((directory) => [directory, readOptions(environment, directory)]),
    );
    let tables = 0;
    await forEachInput(
      environment,
      inputs.files,
      async (input) => {
        const verdict = judgeTableInput(input);
        if (verdict.use === 'error') events.failure(verdict.error);
        else if (verdict.use === 'skip') events.skipped(input.file.path, input.kind.kind);
        if (verdict.use !== 'table') return true;
        tables++;
        refuseForeign(input);
        const directory = input.file.path.slice(0, input.file.path.lastIndexOf('/'));
        const given: GivenExtractor = {
          byFlag: request.extractor,
          byOptions: (family) => givenByOptions(options.get(directory), family, events.note),
        };
        events.report(await checkTablePrefixes(environment, input, given, request, events));
        return true;
      },
      (file, error, gone) => {
        if (gone) events.note(`${file.path} is gone`);
        else events.failure(error);
      },
    );
    if (tables === 0 && inputs.failures.length === 0 && inputs.files.every(({ named }) => !named)) {
      if (inputs.databases.length === 0)
        events.failure(new IoError('no_table', path, 'no table file in this directory'));
    }
  }
}

/** Filters and extractors are RocksDB's block-based tables'. */
function refuseForeign({ file, kind }: OpenInput): void {
  const { tableFormat } = kind.detail;
  if (tableFormat !== 'plain' && tableFormat !== 'cuckoo') return;
  throw new UnsupportedError(
    'table format',
    tableFormat,
    `a ${tableFormat} table: prefix-check knows the filters of block-based tables`,
    { file: file.path },
  );
}
