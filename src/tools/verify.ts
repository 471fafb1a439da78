import type { ByteSource } from '../bytes/source.ts';
import type { Environment } from '../engine/environment.ts';
import { CorruptionError, IoError, type SstError, UnsupportedError } from '../errors.ts';
import type { FileKind } from '../format/file-kind.ts';
import { type Finding, findingOf } from './finding.ts';
import { expandInputs, forEachInput, type InputFile, type OpenInput } from './input.ts';
import { isSmallFile, readSmallFile, type SmallFile } from './small-file.ts';
import { judgeTableInput } from './table-inputs.ts';
import { verifyBlob } from './verify/blob-check.ts';
import { DatabaseCheck } from './verify/database-check.ts';
import { verifyManifest } from './verify/manifest-check.ts';
import type { FileReport, FileStatus, VerifyEnvironment, VerifyOptions } from './verify/verify-options.ts';
import { verifyTable } from './verify/verify-table.ts';
import { verifyWal } from './verify/wal-check.ts';

export type { FileReport, FileStatus, VerifyEnvironment, VerifyOptions } from './verify/verify-options.ts';

export interface VerifyRequest extends VerifyOptions {
  readonly paths: readonly string[];
  readonly recursive: boolean;
}

export interface VerifyEvents {
  /** A file is done. */
  report(report: FileReport): void;
  /** A file of another kind, found in a directory. */
  skipped(path: string, kind: FileKind): void;
  /** Bytes of all files done, and in all. */
  progress(doneBytes: number, totalBytes: number): void;
}

export interface VerifySummary {
  files: number;
  ok: number;
  damaged: number;
  unreadable: number;
  unsupported: number;
  bytes: number;
  blocks: number;
  entries: number;
}

/** Names that stand for a table, whatever the file holds. */
const TABLE_NAME = /\.(sst|ldb)$/;
const WAL_NAME = /\.log$/;
const BLOB_NAME = /\.blob$/;

/**
 * Checks every table and blob file that the PATHs lead to, each by itself, and WALs and MANIFESTs that are named. Tables in the
 * directory of a database are also compared with its MANIFEST, which gets a report of its own; of its WALs those are
 * checked that the MANIFEST says are live. What is wrong with a file stands in its report; thrown are bugs only.
 */
export async function verifyPaths(
  environment: VerifyEnvironment,
  request: VerifyRequest,
  events: VerifyEvents,
): Promise<VerifySummary> {
  const run = new VerifyRun(environment, request, events);
  for (const path of request.paths) {
    if (run.stopped) break;
    await run.path(path);
  }
  return run.summary;
}

class VerifyRun {
  readonly summary: VerifySummary = {
    files: 0,
    ok: 0,
    damaged: 0,
    unreadable: 0,
    unsupported: 0,
    bytes: 0,
    blocks: 0,
    entries: 0,
  };
  stopped = false;
  private doneBytes = 0;
  private readonly totalBytes: number;
  /** Of the PATH at hand, by directory; undefined until its first file comes. */
  private databases = new Map<string, DatabaseCheck | undefined>();

  constructor(
    private readonly environment: VerifyEnvironment,
    private readonly request: VerifyRequest,
    private readonly events: VerifyEvents,
  ) {
    const { files } = expandInputs(environment, request.paths, request);
    this.totalBytes = files.reduce((sum, { path }) => sum + sizeOf(environment, path), 0);
  }

  async path(path: string): Promise<void> {
    const { environment, request } = this;
    const inputs = expandInputs(environment, [path], request);
    for (const failure of inputs.failures) this.fail(failure.file, failure);
    const before = this.summary.files;
    this.databases = new Map(inputs.databases.map((directory) => [directory.replace(/\/$/, ''), undefined]));
    await forEachInput(
      environment,
      inputs.files,
      async (input) => {
        await this.input(input);
        this.doneBytes += input.source.size;
        return !this.stopped;
      },
      (file, error, gone) => {
        if (gone) this.gone(file);
        else this.fail(file.path, error);
      },
    );
    // Those to whose MANIFEST the walk did not come.
    for (const database of this.databases.values()) if (database !== undefined) this.finish(database);
    // A database without a table is whole; a directory without one was most likely not the one that was meant.
    const empty = this.summary.files === before && !this.stopped && inputs.failures.length === 0;
    if (empty && inputs.databases.length === 0) {
      this.fail(path, new IoError('no_table', path, 'no table file in this directory'));
    }
  }

  private async input(input: OpenInput): Promise<void> {
    const { file, source, kind } = input;
    const { environment, request } = this;
    const database = this.databaseOf(file);
    if (database?.manifestPath === file.path) {
      // Table files come before it in the order of names.
      this.finish(database);
      return;
    }
    if (database?.currentPath === file.path && database.currentReport !== undefined) {
      this.report(database.currentReport);
      return;
    }
    if (file.named && kind.kind === 'manifest') {
      this.report(verifyManifest(environment, { path: file.path, source }, request));
      return;
    }
    if (file.named && isSmallFile(kind.kind)) {
      this.report(smallFileReport(file.path, kind.kind, source));
      return;
    }
    if ((file.named && kind.kind === 'wal') || this.isLiveWal(input, database)) {
      await this.wal(input, database);
      return;
    }
    if (isBlobFile(input)) {
      await this.blob(input, database);
      return;
    }
    const verdict = judgeTableInput(input);
    if (verdict.use === 'table') {
      const standing = database?.standingOf(file.path);
      const check = standing?.is === 'live' ? standing.check : undefined;
      let report = await verifyTable(
        environment,
        { path: file.path, source, kind },
        { ...request, observer: check },
        this.advanced(source),
      );
      if (check !== undefined) {
        database!.take(check.bounds, source);
        for (const finding of check.blobs.finish()) report = withFinding(report, finding);
      }
      this.report(standing?.is === 'obsolete' ? withFinding(report, standing.note) : report);
      return;
    }
    // A log that has just been begun is empty, and whole.
    const isNewLog = !file.named && kind.kind === 'empty' && WAL_NAME.test(file.path);
    if (isNewLog) database?.wals?.takeEmpty(file.path);
    if (verdict.use === 'error' && !isNewLog) {
      this.fail(file.path, verdict.error, kind.kind, source.size);
    } else if (TABLE_NAME.test(file.path)) {
      const reason = `the name says a table, the content is that of another kind (${kind.kind})`;
      this.fail(file.path, new UnsupportedError('file kind', kind.kind, reason), kind.kind, source.size);
    } else {
      this.events.skipped(file.path, kind.kind);
    }
  }

  /** Also one in which no record can be recognised; in a database without a MANIFEST each that can. */
  private isLiveWal({ file, kind }: OpenInput, database: DatabaseCheck | undefined): boolean {
    if (database === undefined || !WAL_NAME.test(file.path)) return false;
    if (database.wals === undefined) return kind.kind === 'wal';
    const isLog = kind.kind === 'wal' || kind.kind === 'unknown' || kind.kind === 'manifest';
    return isLog && database.wals.standingOf(file.path)?.is === 'live';
  }

  private async wal({ file, source }: OpenInput, database: DatabaseCheck | undefined): Promise<void> {
    const { environment, request } = this;
    const { path } = file;
    const standing = database?.wals?.standingOf(path);
    const checked = await verifyWal(
      environment,
      { path, source },
      request,
      standing?.is === 'live' ? standing.context : {},
      this.advanced(source),
    );
    const finding = standing?.is === 'live' ? database!.wals!.take(path, checked) : undefined;
    this.report(finding === undefined ? checked.report : withFinding(checked.report, finding));
  }

  private async blob({ file, source }: OpenInput, database: DatabaseCheck | undefined): Promise<void> {
    const { environment, request } = this;
    const named = { path: file.path, source };
    const report = await verifyBlob(environment, named, request, this.advanced(source));
    const note = database?.obsoleteBlobFile(file.path);
    this.report(note === undefined ? report : withFinding(report, note));
  }

  /** Tells how far the file at hand has been read. */
  private advanced(source: { readonly size: number }): (offset: number) => void {
    const { events, doneBytes, totalBytes } = this;
    return (offset) => events.progress(doneBytes + Math.min(offset, source.size), totalBytes);
  }

  /** The database in whose directory a file was found. */
  private databaseOf({ path, named }: InputFile): DatabaseCheck | undefined {
    const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')));
    if (named || !this.databases.has(directory)) return undefined;
    let database = this.databases.get(directory);
    if (database === undefined) {
      database = DatabaseCheck.open(this.environment, directory, this.request);
      this.databases.set(directory, database);
    }
    return database;
  }

  private finish(database: DatabaseCheck): void {
    if (database.isFinished || this.stopped) return;
    const report = database.finish();
    if (report !== undefined) this.report(report);
  }

  private gone({ path }: InputFile): void {
    const message = 'the file was listed in its directory and is gone: it was removed meanwhile';
    this.report({
      ...BLANK_REPORT,
      path,
      status: 'ok',
      findings: [{ code: 'gone', severity: 'note', message }],
    });
  }

  private fail(path: string, error: SstError, kind: FileKind = 'unknown', bytes = 0): void {
    const status: FileStatus = error instanceof UnsupportedError ? 'unsupported' : 'unreadable';
    this.report({ ...BLANK_REPORT, path, kind, bytes, status, findings: [failureFinding(path, error)] });
  }

  private report(report: FileReport): void {
    const { summary } = this;
    summary.files++;
    summary[report.status]++;
    summary.bytes += report.bytes;
    summary.blocks += report.blocks;
    summary.entries += report.entries;
    this.events.report(report);
    if (this.request.strict && report.status !== 'ok') this.stopped = true;
  }
}

/** One that is damage makes a report about a whole file one about a damaged file. */
function withFinding(report: FileReport, finding: Finding): FileReport {
  const isWhole = report.status === 'ok' || report.status === 'unsupported';
  const status = finding.severity === 'damage' && isWhole ? 'damaged' : report.status;
  return { ...report, status, findings: [...report.findings, finding] };
}

const BLANK_REPORT: Omit<FileReport, 'path' | 'status' | 'findings'> = {
  kind: 'unknown',
  formatVersion: null,
  bytes: 0,
  blocks: 0,
  entries: 0,
  findingsOmitted: 0,
};

/** Also one in which neither header nor footer can be recognised. */
function isBlobFile({ file, kind }: OpenInput): boolean {
  return kind.kind === 'blob' || (kind.kind === 'unknown' && BLOB_NAME.test(file.path));
}

function smallFileReport(path: string, kind: SmallFile['kind'], source: ByteSource): FileReport {
  const { findings } = readSmallFile(kind, source);
  const status = findings.some(({ severity }) => severity === 'damage') ? 'damaged' : 'ok';
  return { ...BLANK_REPORT, path, kind, status, bytes: source.size, findings };
}

/** The report names the file already: its path is taken off the message. */
function failureFinding(path: string, error: SstError): Finding {
  const finding = findingOf(error);
  const prefix = `${path}: `;
  if (finding.message.startsWith(prefix)) finding.message = finding.message.slice(prefix.length);
  // What cannot be read at all cannot be vouched for.
  if (!(error instanceof UnsupportedError) && !(error instanceof CorruptionError))
    finding.severity = 'damage';
  return finding;
}

/** For progress only: whatever is wrong is said when the file's turn comes. */
function sizeOf(environment: Environment, path: string): number {
  try {
    return environment.files.status(path).size;
  } catch (error) {
    if (error instanceof IoError) return 0;
    throw error;
  }
}
