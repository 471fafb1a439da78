/** Databases for tests: directories whose MANIFEST is written here, and what verify says of them. */

import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ByteWriter } from '../../src/bytes/byte-writer.ts';
import { memorySource } from '../../src/bytes/source.ts';
import { LogWriter } from '../../src/format/log/log-writer.ts';
import { decodeCurrent, encodeCurrent } from '../../src/format/manifest/current-file.ts';
import { encodeVersionEdit } from '../../src/format/manifest/encode-version-edit.ts';
import { readManifest } from '../../src/format/manifest/manifest-reader.ts';
import { EditTag, type NewFile, type VersionEdit } from '../../src/format/manifest/version-edit.ts';
import { twinHashFunctions } from '../../src/hash/hash-functions.ts';
import { type FileReport, type VerifyOptions, verifyPaths } from '../../src/tools/verify.ts';
import { testEnvironment } from './scan.ts';

export type Edit = Partial<VersionEdit>;

/** The bytes of a MANIFEST with these edits. */
export function manifestOf(edits: readonly Edit[]): Uint8Array {
  const out = new ByteWriter();
  const log = new LogWriter(out, twinHashFunctions());
  for (const edit of edits) log.add(encodeVersionEdit({ columnFamily: 0, ...edit }));
  return out.copy();
}

export function manifestPath(folder: string): string {
  const { name } = decodeCurrent(new Uint8Array(readFileSync(path.join(folder, 'CURRENT'))));
  return path.join(folder, name);
}

/** Throws for a MANIFEST in which anything is wrong. */
export function readEdits(folder: string): VersionEdit[] {
  const edits: VersionEdit[] = [];
  const bytes = new Uint8Array(readFileSync(manifestPath(folder)));
  readManifest(memorySource(bytes), twinHashFunctions(), {
    edit: (edit) => edits.push(edit),
    fault: (error) => {
      throw error;
    },
  });
  return edits;
}

/** Copies a database to `folder`, which is made, with its edits changed. */
export function copyDatabase(
  from: string,
  folder: string,
  change: (edits: VersionEdit[]) => readonly Edit[] = (edits) => edits,
): void {
  cpSync(from, folder, { recursive: true });
  writeFileSync(manifestPath(folder), manifestOf(change(readEdits(folder))));
}

/** The edits with each new file changed. */
export function withFiles(edits: readonly VersionEdit[], change: (file: NewFile) => NewFile): VersionEdit[] {
  return edits.map((edit) =>
    edit.newFiles === undefined ? edit : { ...edit, newFiles: edit.newFiles.map(change) },
  );
}

/** What the MANIFEST says of a table by hand, but for its size. */
export interface TableInDatabase extends Partial<NewFile> {
  readonly bytes: Uint8Array;
  readonly level: number;
  readonly number: number;
  readonly smallest: Uint8Array;
  readonly largest: Uint8Array;
}

/** Makes a database of one column family out of tables. */
export function writeDatabase(
  folder: string,
  tables: readonly TableInDatabase[],
  comparator = 'leveldb.BytewiseComparator',
): void {
  mkdirSync(folder, { recursive: true });
  const newFiles = tables.map(({ bytes, ...file }): NewFile => {
    writeFileSync(path.join(folder, `${String(file.number).padStart(6, '0')}.sst`), bytes);
    return {
      tag: EditTag.newFile4,
      size: bytes.length,
      smallestSeqno: 0n,
      largestSeqno: 100n,
      oldestAncestorTime: 1,
      fileCreationTime: 1,
      ...file,
    };
  });
  writeFileSync(
    path.join(folder, 'MANIFEST-000005'),
    manifestOf([{ comparator }, { logNumber: 6, nextFileNumber: 100, lastSequence: 1000n, newFiles }]),
  );
  writeFileSync(path.join(folder, 'CURRENT'), encodeCurrent(5));
}

/** Reports by the file's name. */
export async function verifyFolder(
  folder: string,
  options: VerifyOptions = {},
): Promise<Map<string, FileReport>> {
  const reports = new Map<string, FileReport>();
  await verifyPaths(
    await testEnvironment(),
    { paths: [folder], recursive: false, ...options },
    {
      report: (report) => reports.set(path.basename(report.path), report),
      skipped: () => undefined,
      progress: () => undefined,
    },
  );
  return reports;
}

/** Findings of all files as `name: severity code`; notes that a table gets by itself are left out. */
export async function findingsIn(folder: string, options: VerifyOptions = {}): Promise<string[]> {
  const reports = await verifyFolder(folder, options);
  return [...reports].flatMap(([name, { kind, findings }]) =>
    findings
      .filter(({ severity, code }) => kind !== 'sst' || severity !== 'note' || code === 'obsolete_file')
      .map(({ severity, code }) => `${name}: ${severity} ${code}`),
  );
}
