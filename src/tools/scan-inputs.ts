import type { Environment } from '../engine/environment.ts';
import { InvalidArgumentError, IoError, type SstError } from '../errors.ts';
import { columnFamilyOf, DEFAULT_COLUMN_FAMILY } from './column-families.ts';
import type { Finding } from './finding.ts';
import { expandInputs, forEachInput, type InputFile } from './input.ts';
import { type RowOutput, type ScanOptions, scanTable } from './scan.ts';
import { judgeTableInput } from './table-inputs.ts';

export interface ScanRequest {
  readonly paths: readonly string[];
  readonly recursive: boolean;
  /** A DB directory is read file by file; otherwise it is refused. */
  readonly databaseFiles: boolean;
  /** Only tables of this column family. */
  readonly columnFamily: string | undefined;
  readonly scan: ScanOptions;
}

/** The tables that will be scanned, known before the first row. */
export interface ScanPlan {
  readonly files: readonly InputFile[];
  /** Column family by path. */
  readonly families: ReadonlyMap<string, string>;
}

export interface ScanEvents {
  finding(path: string, finding: Finding): void;
  failure(error: SstError): void;
  gone(path: string): void;
  skipped(paths: readonly string[]): void;
  /** Bytes of all files done, and in all. */
  progress(doneBytes: number, totalBytes: number): void;
}

export interface ScanOutcome {
  rows: number;
  /** Files of which something could be read. */
  tables: number;
  damaged: boolean;
  unsupported: boolean;
}

/** Scans every table that the PATHs lead to into the output that `open` makes for them. */
export async function scanInputs(
  environment: Environment,
  request: ScanRequest,
  events: ScanEvents,
  open: (plan: ScanPlan) => RowOutput,
): Promise<ScanOutcome> {
  const plan = await planScan(environment, request, events);
  const output = open(plan);
  const outcome: ScanOutcome = { rows: 0, tables: 0, damaged: false, unsupported: false };
  const totalBytes = plan.totalBytes;
  let doneBytes = 0;
  await forEachInput(
    environment,
    plan.files,
    async (input) => {
      const { limit } = request.scan;
      const options = limit === undefined ? request.scan : { ...request.scan, limit: limit - outcome.rows };
      const result = await scanTable(environment, input, options, output, {
        finding: (finding) => events.finding(input.file.path, finding),
        advanced: (offset) => events.progress(doneBytes + offset, totalBytes),
      });
      doneBytes += input.source.size;
      outcome.rows += result.rows;
      outcome.tables++;
      outcome.damaged ||= result.damaged;
      outcome.unsupported ||= result.unsupported;
      return limit === undefined || outcome.rows < limit;
    },
    (file, error, gone) => (gone ? events.gone(file.path) : events.failure(error)),
  );
  return outcome;
}

/** Looks at each file once: what it is, and which family its table belongs to. */
async function planScan(
  environment: Environment,
  request: ScanRequest,
  events: ScanEvents,
): Promise<ScanPlan & { totalBytes: number }> {
  const inputs = expandInputs(environment, request.paths, { recursive: request.recursive });
  for (const failure of inputs.failures) events.failure(failure);
  const [database] = inputs.databases;
  if (database !== undefined && !request.databaseFiles) {
    throw new InvalidArgumentError(
      'view',
      database,
      `${database} is a DB directory: its view as a whole is not there yet, --view files reads its tables one by one`,
    );
  }
  const files: InputFile[] = [];
  const skipped: string[] = [];
  const families = new Map<string, string>();
  const otherFamilies = new Set<string>();
  let totalBytes = 0;
  let refused = 0;
  const alone = inputs.files.length === 1 && request.columnFamily === undefined;
  await forEachInput(
    environment,
    inputs.files,
    async (input) => {
      const verdict = judgeTableInput(input);
      if (verdict.use === 'error') {
        refused++;
        events.failure(verdict.error);
      } else if (verdict.use === 'skip') {
        skipped.push(input.file.path);
      } else {
        const family = alone ? DEFAULT_COLUMN_FAMILY : await columnFamilyOf(environment, input);
        if (request.columnFamily !== undefined && family !== request.columnFamily) {
          otherFamilies.add(family);
          return true;
        }
        families.set(input.file.path, family);
        files.push(input.file);
        totalBytes += input.source.size;
      }
      return true;
    },
    (file, error, gone) => {
      refused++;
      if (gone) events.gone(file.path);
      else events.failure(error);
    },
  );
  if (skipped.length > 0) events.skipped(skipped);
  if (files.length === 0 && refused === 0 && inputs.failures.length === 0) {
    if (otherFamilies.size > 0) throw noSuchFamily(request.columnFamily!, otherFamilies);
    // A database without a table is whole; a directory without one was most likely not the one that was meant.
    if (database === undefined)
      throw new IoError('no_table', request.paths[0]!, 'no table file in this directory');
  }
  return { files, families, totalBytes };
}

function noSuchFamily(wanted: string, others: ReadonlySet<string>): InvalidArgumentError {
  return new InvalidArgumentError(
    'cf',
    wanted,
    `no table of column family ${wanted}: there are ${[...others].sort().join(', ')}`,
  );
}
