import { toHex } from '../../bytes/text.ts';
import type { DirectoryEntry, Environment, FileSource } from '../../engine/environment.ts';
import { IoError, SstError } from '../../errors.ts';
import { BLOB_FOOTER_SIZE, BLOB_HEADER_SIZE } from '../../format/blob/blob-file.ts';
import { baseName, formatFileName, parseFileName } from '../../format/file-name.ts';
import { decodeCurrent } from '../../format/manifest/current-file.ts';
import { type ReadManifest, readManifest } from '../../format/manifest/manifest-reader.ts';
import type { LiveBlobFile, ManifestColumnFamily } from '../../format/manifest/manifest-state.ts';
import type { NewFile } from '../../format/manifest/version-edit.ts';
import { type Finding, findingOf } from '../finding.ts';
import { missingLineFeed } from '../small-file.ts';
import { BlobReferences } from './blob-references.ts';
import { BoundsCheck } from './bounds-check.ts';
import { DatabaseWals } from './database-wals.ts';
import { FILE_CHECKSUM_CRC32C, fileChecksumCrc32c } from './file-checksum.ts';
import { FindingLog } from './finding-log.ts';
import { LiveTableCheck } from './live-table.ts';
import { checkManifest, fileText, manifestReport } from './manifest-check.ts';
import type { FileReport, VerifyOptions } from './verify-options.ts';

/** A live table file and the column family that it belongs to. */
interface LiveTable {
  readonly family: ManifestColumnFamily;
  readonly file: NewFile;
}

/** A file that the MANIFEST lists, as messages name it. */
interface MissingFile {
  readonly name: string;
  readonly number: number;
  readonly type: 'table' | 'blob' | 'wal';
}

/** What a database knows of a table file that was found in its directory. */
export type TableStanding =
  | { readonly is: 'live'; readonly check: LiveTableCheck }
  /** No column family has it. */
  | { readonly is: 'obsolete'; readonly note: Finding }
  /** The database cannot tell: it has no MANIFEST, or not every edit could be read. */
  | { readonly is: 'unknown' };

const UNKNOWN: TableStanding = { is: 'unknown' };
const OBSOLETE: Finding = {
  code: 'obsolete_file',
  severity: 'note',
  message: 'the MANIFEST does not list the file: no reader of the database looks at it',
};
/** Longer is no name of a MANIFEST. */
const MAX_CURRENT_BYTES = 256;
const MAX_READ_ATTEMPTS = 3;

/**
 * A directory with a CURRENT: reads CURRENT and the MANIFEST that it names when it is opened, compares each table
 * file with what the MANIFEST says while the walk over the directory comes to it, and looks for those that did not
 * come when it is finished. Findings about CURRENT and MANIFEST are kept for reports of their own.
 */
export class DatabaseCheck {
  /** Wrong with CURRENT; undefined where nothing is. */
  readonly currentReport: FileReport | undefined;
  readonly currentPath: string;
  /** Undefined where CURRENT names none, or the one that it names cannot be read. */
  readonly manifestPath: string | undefined;
  isFinished = false;
  /** What the MANIFEST says of logs; undefined without a MANIFEST. */
  wals: DatabaseWals | undefined;

  /** Of the MANIFEST. */
  private log: FindingLog;
  private manifest: ReadManifest | undefined;
  private manifestBytes = 0;
  private live: ReadonlyMap<number, LiveTable> = new Map();
  private readonly seen = new Set<number>();
  /** Checksum functions that are not known here. */
  private readonly unknownChecksums = new Set<string>();

  private constructor(
    private readonly environment: Environment,
    /** Without a slash at its end. */
    private readonly directory: string,
    private readonly options: VerifyOptions,
  ) {
    this.log = new FindingLog(options);
    this.currentPath = `${directory}/CURRENT`;
    let current: Finding | undefined;
    try {
      const { name, finding } = this.readCurrent();
      current = finding;
      this.manifestPath = `${directory}/${name}`;
      this.readManifest(this.manifestPath);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      this.manifestPath = undefined;
      current ??= findingOf(error);
      if (error.code === 'not_found') {
        current.code = 'current_file';
        current.message = `it names a MANIFEST that is not there: ${error.message}`;
      }
    }
    if (current !== undefined) this.currentReport = this.reportOfCurrent(current);
  }

  /** Never throws for what is wrong with the files. */
  static open(environment: Environment, directory: string, options: VerifyOptions): DatabaseCheck {
    return new DatabaseCheck(environment, directory, options);
  }

  /** What the MANIFEST says of the table file at `path`; asked once for each file that is there. */
  standingOf(path: string): TableStanding {
    const number = tableNumber(path);
    const { manifest } = this;
    if (number === undefined || manifest === undefined) return UNKNOWN;
    const table = this.live.get(number);
    if (table !== undefined) {
      this.seen.add(number);
      const bounds = new BoundsCheck(table.file, fileText(table.family, table.file));
      const blobs = new BlobReferences(this.environment, this.directory);
      return { is: 'live', check: new LiveTableCheck(bounds, blobs) };
    }
    return manifest.lostCount > 0 ? UNKNOWN : { is: 'obsolete', note: OBSOLETE };
  }

  /** A note where the MANIFEST lists no such blob file. */
  obsoleteBlobFile(path: string): Finding | undefined {
    const parsed = parseFileName(baseName(path));
    const { manifest } = this;
    if (parsed?.type !== 'blob' || manifest === undefined || manifest.lostCount > 0) return undefined;
    const families = [...manifest.state.columnFamilies.values()];
    return families.some(({ blobFiles }) => blobFiles.has(parsed.number)) ? undefined : OBSOLETE;
  }

  /** Takes what the check of a live table has found out. */
  take(bounds: BoundsCheck, source: FileSource): void {
    const { log } = this;
    const { file } = bounds;
    const { family } = this.live.get(file.number)!;
    const name = fileText(family, file);
    if (source.size !== file.size) this.addSize(name, file.size, source.size);
    for (const finding of bounds.findings) log.add(finding);
    const { comparatorName } = bounds;
    const { comparator } = family;
    if (comparator !== undefined && comparatorName !== undefined && this.options.comparator === undefined) {
      if (comparatorName !== comparator) {
        const message = `${name}: its comparator is ${comparatorName}, that of the column family is ${comparator}`;
        log.add({ code: 'manifest_comparator', severity: 'damage', message });
      }
    }
    this.checkFileChecksum(name, file, source);
  }

  /** After the last table file: what is missing, and the report about the MANIFEST. */
  finish(): FileReport | undefined {
    this.isFinished = true;
    const { manifest, manifestPath, log } = this;
    if (manifest === undefined || manifestPath === undefined) return undefined;
    if (!log.stopped) this.lookForMissing(manifest);
    for (const name of this.unknownChecksums) {
      const message = `checksums of whole files by ${name} were not compared: the function is not known here`;
      log.add({ code: 'checksum_not_compared', severity: 'note', message });
    }
    return manifestReport(manifestPath, this.manifestBytes, manifest, log);
  }

  private readCurrent(): { name: string; finding: Finding | undefined } {
    const source = this.environment.files.open(this.currentPath);
    try {
      const { name, hasLineFeed } = decodeCurrent(source.read(0, Math.min(source.size, MAX_CURRENT_BYTES)));
      return { name, finding: hasLineFeed ? undefined : missingLineFeed(name) };
    } finally {
      source.close();
    }
  }

  /** Once more where a running database was just writing a record: the file has grown since. */
  private readManifest(path: string): void {
    for (let attempt = 1; ; attempt++) {
      const source = this.environment.files.open(path);
      try {
        const log = new FindingLog(this.options);
        const manifest = checkManifest(this.environment, source, this.options, log);
        const isCut = manifest.end.state === 'incomplete_tail' && attempt < MAX_READ_ATTEMPTS;
        if (isCut && this.environment.files.status(path).size > source.size) continue;
        this.log = log;
        this.manifest = manifest;
        this.manifestBytes = source.size;
        this.live = liveTables(manifest);
        this.wals = new DatabaseWals(manifest);
        return;
      } finally {
        source.close();
      }
    }
  }

  private reportOfCurrent(finding: Finding): FileReport {
    if (this.manifest === undefined) {
      const whole = this.newestWholeManifest();
      finding.message += whole === undefined ? '; no whole MANIFEST is there' : `; ${whole} is whole`;
    }
    let bytes = 0;
    try {
      bytes = this.environment.files.status(this.currentPath).size;
    } catch (error) {
      if (!(error instanceof IoError)) throw error;
    }
    return {
      path: this.currentPath,
      kind: 'current',
      status: 'damaged',
      formatVersion: null,
      bytes,
      blocks: 0,
      entries: 0,
      findings: [finding],
      findingsOmitted: 0,
    };
  }

  /** The MANIFEST of the highest number in which nothing is wrong: most likely the one that CURRENT should name. */
  private newestWholeManifest(): string | undefined {
    const { files, hashes } = this.environment;
    const numbers: { number: number; name: string }[] = [];
    for (const { name, kind } of this.list()) {
      const parsed = parseFileName(name);
      if (kind === 'file' && parsed?.type === 'manifest') numbers.push({ number: parsed.number, name });
    }
    numbers.sort((a, b) => b.number - a.number);
    for (const { name } of numbers) {
      let faults = 0;
      let source: FileSource | undefined;
      try {
        source = files.open(`${this.directory}/${name}`);
        readManifest(source, hashes, { fault: () => faults++ });
        if (faults === 0) return name;
      } catch (error) {
        if (!(error instanceof SstError)) throw error;
      } finally {
        source?.close();
      }
    }
    return undefined;
  }

  private checkFileChecksum(name: string, file: NewFile, source: FileSource): void {
    const { fileChecksum: stored, fileChecksumFunction: by } = file;
    if (stored === undefined || by === undefined || by === 'Unknown' || stored.length === 0) return;
    if (by !== FILE_CHECKSUM_CRC32C) {
      this.unknownChecksums.add(by);
      return;
    }
    const computed = toHex(fileChecksumCrc32c(source));
    if (computed === toHex(stored)) return;
    const message = `${name}: ${by} mismatch over the whole file, stored ${toHex(stored)}, computed ${computed}`;
    this.log.add({ code: 'manifest_checksum', severity: 'damage', message, stored: toHex(stored), computed });
  }

  private addSize(name: string, stored: number, computed: number): void {
    const message = `${name}: the MANIFEST says ${stored} bytes, the file has ${computed}`;
    const numbers = { stored: String(stored), computed: String(computed) };
    this.log.add({ code: 'manifest_size', severity: 'damage', message, ...numbers });
  }

  private lookForMissing(manifest: ReadManifest): void {
    const { log } = this;
    if (manifest.lostCount > 0) {
      const message = 'not every edit could be read: files that the MANIFEST lists were not looked for';
      log.add({ code: 'files_not_compared', severity: 'note', message });
      return;
    }
    let elsewhere = 0;
    const missing: MissingFile[] = [];
    for (const [number, { family, file }] of this.live) {
      if ((file.pathId ?? 0) > 0) elsewhere++;
      else if (!this.seen.has(number) && !this.isThere(number)) {
        missing.push({ name: fileText(family, file), number, type: 'table' });
      }
    }
    for (const family of manifest.state.columnFamilies.values()) {
      for (const blobFile of family.blobFiles.values()) {
        if (!this.checkBlobFile(blobFile)) {
          missing.push({ name: `blob file ${blobFile.number}`, number: blobFile.number, type: 'blob' });
        }
      }
    }
    if (elsewhere > 0) {
      const message = `${elsewhere} files lie in other paths (db_paths): they were not looked for`;
      log.add({ code: 'files_not_compared', severity: 'note', message });
    }
    this.lookForWals(missing);
    if (missing.length > 0) this.reportMissing(missing);
  }

  /** Tracked logs. Where not one log lies in the directory, they have one of their own (wal_dir), or are lost. */
  private lookForWals(missing: MissingFile[]): void {
    const tracked = this.wals!.compareTracked((name) => this.sizeOf(name));
    for (const { name, stored, computed } of tracked.short) this.addSize(name, stored, computed);
    if (tracked.missing.length === 0) return;
    const names = this.list();
    if (names.some(({ name }) => parseFileName(name)?.type === 'wal')) {
      for (const { number } of tracked.missing) missing.push({ name: `log ${number}`, number, type: 'wal' });
      return;
    }
    const numbers = tracked.missing.map(({ number }) => number).join(', ');
    const message = `logs ${numbers} are not here: they lie in a directory of their own (wal_dir), or are lost`;
    this.log.add({ code: 'files_not_compared', severity: 'note', message });
  }

  /** A running database removes files: what a newer state of the MANIFEST no longer lists is gone, not missing. */
  private reportMissing(missing: readonly MissingFile[]): void {
    const now = this.readAgain();
    for (const { name, number, type } of missing) {
      const listed = now === undefined || now[type].has(number);
      if (listed) {
        const file = formatFileName(type, number);
        const message = `${name}: the MANIFEST lists it, and there is no ${file}`;
        this.log.add({ code: 'manifest_missing', severity: 'damage', message });
      } else {
        const message = `${name}: it was removed by the database meanwhile`;
        this.log.add({ code: 'gone', severity: 'note', message });
      }
    }
  }

  private readAgain(): Readonly<Record<MissingFile['type'], ReadonlySet<number>>> | undefined {
    const { files, hashes } = this.environment;
    let source: FileSource | undefined;
    try {
      source = files.open(this.manifestPath!);
      const { state } = readManifest(source, hashes, { fault: () => undefined });
      const families = [...state.columnFamilies.values()];
      return {
        table: new Set(families.flatMap((family) => [...family.files.keys()])),
        wal: new Set(state.wals.keys()),
        blob: new Set(families.flatMap((family) => [...family.blobFiles.keys()])),
      };
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      return undefined;
    } finally {
      source?.close();
    }
  }

  /** False: it is not there. One that holds nothing but garbage may have been removed. */
  private checkBlobFile({ number, blobCount, blobBytes, garbageCount }: LiveBlobFile): boolean {
    const size = this.sizeOf(formatFileName('blob', number));
    if (size === undefined) return garbageCount >= blobCount;
    const wanted = blobBytes + BLOB_HEADER_SIZE + BLOB_FOOTER_SIZE;
    if (size >= 0 && size !== wanted) this.addSize(`blob file ${number}`, wanted, size);
    return true;
  }

  /** Under either name; LevelDB's releases changed from the one to the other. */
  private isThere(number: number): boolean {
    const name = formatFileName('table', number);
    return this.sizeOf(name) !== undefined || this.sizeOf(name.replace(/\.sst$/, '.ldb')) !== undefined;
  }

  private list(): readonly DirectoryEntry[] {
    return this.environment.files.list(this.directory === '' ? '/' : this.directory);
  }

  /** Undefined: there is no such file. -1: it is there and cannot be looked at. */
  private sizeOf(name: string): number | undefined {
    try {
      return this.environment.files.status(`${this.directory}/${name}`).size;
    } catch (error) {
      if (!(error instanceof IoError)) throw error;
      return error.code === 'not_found' ? undefined : -1;
    }
  }
}

function tableNumber(path: string): number | undefined {
  const parsed = parseFileName(baseName(path));
  return parsed?.type === 'table' ? parsed.number : undefined;
}

function liveTables({ state }: ReadManifest): Map<number, LiveTable> {
  const live = new Map<number, LiveTable>();
  for (const family of state.columnFamilies.values()) {
    for (const file of family.files.values()) live.set(file.number, { family, file });
  }
  return live;
}
