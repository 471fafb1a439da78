import type { LogFault } from '../../format/log/log-reader.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { FindingLog } from './finding-log.ts';
import type { FileReport } from './verify-options.ts';

/** What is wrong with a WAL, MANIFEST or blob file, with its place in the message: there are no blocks to name. */
export function logFinding(
  fault: LogFault,
  what: 'record' | 'edit' | 'header' | 'footer' = 'record',
): Finding {
  const finding = findingOf(fault);
  if (fault.offset !== undefined) finding.message = `${what} at ${fault.offset}: ${finding.message}`;
  return finding;
}

/** The report about a WAL, MANIFEST or blob file; one in which nothing was decoded and something is wrong cannot be read. */
export function logReport(
  path: string,
  kind: 'wal' | 'manifest' | 'blob',
  bytes: number,
  { decoded, entries }: { readonly decoded: number; readonly entries: number },
  log: FindingLog,
): FileReport {
  const { status } = log;
  return {
    path,
    kind,
    status: status === 'damaged' && decoded === 0 ? 'unreadable' : status,
    formatVersion: null,
    bytes,
    blocks: 0,
    entries,
    findings: log.findings,
    findingsOmitted: log.omitted,
  };
}
