import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import { openRowWriter } from '../../src/render/rows.ts';
import { MemorySink } from '../../src/render/sink.ts';
import type { Finding } from '../../src/tools/finding.ts';
import type { ScanOptions } from '../../src/tools/scan.ts';
import { scanInputs } from '../../src/tools/scan-inputs.ts';

/** One row of `scan --format ndjson`. */
export interface JsonRow {
  file: string;
  key?: string;
  start?: string;
  end?: string;
  timestamp?: string;
  seqno: string;
  type: string;
  value?: string;
  columns?: { name: string; value: string; blob?: object }[];
  blob?: Record<string, string | number>;
  preferredSeqno?: string;
  storedSeqno?: string;
}

export interface ScannedFile {
  rows: JsonRow[];
  findings: Finding[];
  failures: Error[];
  damaged: boolean;
}

let opened: Promise<NodeEnvironment> | undefined;

/** One environment for all tests of a file. */
export function testEnvironment(): Promise<NodeEnvironment> {
  opened ??= openNodeEnvironment();
  return opened;
}

/** Scans as the command does, in this process, and parses what it would print. */
export async function scanRows(
  paths: readonly string[],
  scan: ScanOptions = {},
  environment?: NodeEnvironment,
): Promise<ScannedFile> {
  const sink = new MemorySink(64 * 1024);
  const findings: Finding[] = [];
  const failures: Error[] = [];
  let finish = (): void => undefined;
  const outcome = await scanInputs(
    environment ?? (await testEnvironment()),
    { paths, recursive: false, databaseFiles: true, columnFamily: undefined, scan },
    {
      finding: (_, finding) => findings.push(finding),
      failure: (error) => failures.push(error),
      gone: () => undefined,
      skipped: () => undefined,
      progress: () => undefined,
    },
    (plan) => {
      const writer = openRowWriter(sink, plan, {
        format: 'ndjson',
        bytes: undefined,
        withValues: true,
        count: false,
        digest: undefined,
      });
      finish = () => writer.finish();
      return writer;
    },
  );
  finish();
  const rows = sink
    .toString()
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonRow);
  return { rows, findings, failures, damaged: outcome.damaged };
}
