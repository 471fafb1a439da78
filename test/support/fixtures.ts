/**
 * The fixture files and what is expected of them.
 *
 * `fixtures()` is the project's own set (test/fixtures, see its README.md). `sharedFixtures()` is a larger
 * set of whole databases that lies beside the project on some machines only.
 */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const PROJECT_ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const FIXTURE_ROOT = path.join(PROJECT_ROOT, 'test/fixtures');
const SHARED_ROOT = path.resolve(PROJECT_ROOT, '../shared/fixtures');

/** A point entry as its writer stored it. Bytes are lower-case hex, seqno is decimal. */
export interface ExpectedEntry {
  /** User key without timestamp. */
  key: string;
  seqno: string;
  /** Name of the command line's entry types. */
  type: string;
  /** Of a `blob_index` the value that was put, not the reference; of an `entity` empty. */
  value: string;
  /** Of an `entity` only. */
  columns?: { name: string; value: string }[];
  /** As stored, where keys carry one. */
  timestamp?: string;
}

/** One range tombstone in stored order: a flush writes fragments, SstFileWriter what it was given. */
export interface ExpectedTombstone {
  start: string;
  seqno: string;
  end: string;
  timestamp?: string;
}

export interface Expected {
  /** In internal order: key, timestamp descending, seqno descending. */
  entries: ExpectedEntry[];
  rangeTombstones: ExpectedTombstone[];
}

/** One line of manifest.json and the ways to its bytes. */
export interface Fixture {
  /** Below test/fixtures, with forward slashes: also the name of a test. */
  name: string;
  /** Absolute path. */
  path: string;
  /** As in "RocksDB 7.8.3". */
  writer: string;
  via: 'flush' | 'sst_file_writer' | 'ingest';
  format: 'block-based' | 'leveldb' | 'plain' | 'cuckoo';
  /** Absent for plain and cuckoo tables. */
  formatVersion?: number;
  checksum?: string;
  /** Codec that was asked for; blocks that did not shrink are stored as they are. */
  compression?: string;
  comparator: string;
  features: string[];
  note?: string;
  /** Fresh copies at each call. */
  bytes(): Uint8Array;
  /** Undefined for a file that is damaged on purpose. */
  expected?: () => Expected;
}

interface ManifestLine extends Omit<Fixture, 'name' | 'path' | 'bytes' | 'expected'> {
  path: string;
  expected?: string;
}

/** All files of test/fixtures/manifest.json, sorted by name. */
export function fixtures(): Fixture[] {
  const lines = JSON.parse(readFileSync(path.join(FIXTURE_ROOT, 'manifest.json'), 'utf8')) as ManifestLine[];
  return lines.map((line) => {
    const { path: name, expected, ...facts } = line;
    const file = path.join(FIXTURE_ROOT, name);
    const fixture: Fixture = { ...facts, name, path: file, bytes: () => new Uint8Array(readFileSync(file)) };
    if (expected !== undefined) fixture.expected = () => readExpected(path.join(FIXTURE_ROOT, expected));
    return fixture;
  });
}

/** The fixture of that name, as in `fixture('demo/basic.sst')`. */
export function fixture(name: string): Fixture {
  const found = fixtures().find((candidate) => candidate.name === name);
  if (found === undefined) throw new Error(`no fixture is named ${name}`);
  return found;
}

type EntryRow = [string, string, string, string | [string, string][], string?];
type TombstoneRow = [string, string, string, string?];

function readExpected(file: string): Expected {
  const rows = JSON.parse(readGzipText(file)) as { entries: EntryRow[]; rangeTombstones: TombstoneRow[] };
  return {
    entries: rows.entries.map(([key, seqno, type, value, timestamp]) => ({
      key,
      seqno,
      type,
      value: typeof value === 'string' ? value : '',
      ...(typeof value === 'string'
        ? {}
        : { columns: value.map(([name, bytes]) => ({ name, value: bytes })) }),
      ...(timestamp === undefined ? {} : { timestamp }),
    })),
    rangeTombstones: rows.rangeTombstones.map(([start, seqno, end, timestamp]) => ({
      start,
      seqno,
      end,
      ...(timestamp === undefined ? {} : { timestamp }),
    })),
  };
}

/** A row of a user's view: what an iterator of the real engine gives. */
export interface UserRow {
  key: string;
  value?: string;
  columns?: { name: string; value: string }[];
}

/** A whole database directory. */
export interface DatabaseFixture {
  name: string;
  /** Absolute path of the directory. Copy it before a tool that writes comes near. */
  path: string;
  /** Column families with a known user's view; without families `default` alone. */
  families: string[];
  userView(family?: string): UserRow[];
}

/** The databases of test/fixtures/db. */
export function databases(): DatabaseFixture[] {
  const expected = path.join(FIXTURE_ROOT, 'expected');
  const views = readdirSync(expected);
  return directoriesIn(path.join(FIXTURE_ROOT, 'db')).map((name) => {
    const single = `db-${name}.user.json.gz`;
    const prefix = `db-${name}.user.`;
    const families = views.includes(single)
      ? ['default']
      : views
          .filter((view) => view.startsWith(prefix))
          .map((view) => view.slice(prefix.length, -'.json.gz'.length));
    return {
      name,
      path: path.join(FIXTURE_ROOT, 'db', name),
      families,
      userView: (family = 'default') =>
        readRows(path.join(expected, views.includes(single) ? single : `${prefix}${family}.json.gz`)),
    };
  });
}

/** A table file of the shared set with the texts that the real tools print about it. */
export interface SharedTable {
  /** Below `db/`, as in `fv5/000009.sst`: also the name of a test. */
  name: string;
  path: string;
  /** `sst_dump --command=scan --output_hex`, parsed with `parseScanText`. Undefined where there is none. */
  scanText?: () => string;
  /** Its raw dump, parsed with `parseRawRangeDeletions`. */
  rawText?: () => string;
  propertiesText?: () => string;
}

export interface SharedDatabase extends DatabaseFixture {
  tables: SharedTable[];
  /** Absolute path of the folder with its expected texts; empty when there is none. */
  expectedPath: string;
}

export interface SharedFixtures {
  present: boolean;
  /** Absolute path of the folder that holds `db` and `expected`. */
  root: string;
  databases: SharedDatabase[];
  /** All tables: those of the databases and the loose ones. */
  tables: SharedTable[];
}

let absenceSaid = false;

/** The databases of ../shared/fixtures; empty lists where that folder is missing, said aloud once. */
export function sharedFixtures(): SharedFixtures {
  const databaseRoot = path.join(SHARED_ROOT, 'db');
  if (!existsSync(databaseRoot)) {
    if (!absenceSaid)
      console.warn('SKIPPED: tests over the larger set of real databases (../shared/fixtures is missing)');
    absenceSaid = true;
    return { present: false, root: SHARED_ROOT, databases: [], tables: [] };
  }
  const found = directoriesIn(databaseRoot).map(sharedDatabase);
  const loose = readdirSync(databaseRoot)
    .filter(isTableName)
    .sort()
    .map((name) => sharedTable('', name));
  return {
    present: true,
    root: SHARED_ROOT,
    databases: found,
    tables: [...found.flatMap((database) => database.tables), ...loose],
  };
}

function sharedDatabase(name: string): SharedDatabase {
  const directory = path.join(SHARED_ROOT, 'db', name);
  const expected = path.join(SHARED_ROOT, 'expected', name);
  const texts = existsSync(expected) ? readdirSync(expected) : [];
  const families = texts.flatMap((text) => {
    if (text === 'user.ndjson.gz') return ['default'];
    const match = /^user\.(.+)\.ndjson\.gz$/.exec(text);
    return match ? [match[1]!] : [];
  });
  return {
    name,
    path: directory,
    expectedPath: texts.length > 0 ? expected : '',
    families,
    userView: (family = 'default') =>
      readRows(path.join(expected, family === 'default' ? 'user.ndjson.gz' : `user.${family}.ndjson.gz`)),
    tables: readdirSync(directory)
      .filter(isTableName)
      .sort()
      .map((file) => sharedTable(name, file)),
  };
}

function sharedTable(database: string, file: string): SharedTable {
  const text = (kind: string) => {
    const expected = path.join(SHARED_ROOT, 'expected', database, `${file}.${kind}.txt.gz`);
    return existsSync(expected) ? () => readGzipText(expected) : undefined;
  };
  const table: SharedTable = {
    name: database === '' ? file : `${database}/${file}`,
    path: path.join(SHARED_ROOT, 'db', database, file),
  };
  const scanText = text('scan');
  const rawText = text('raw');
  const propertiesText = text('properties');
  if (scanText) table.scanText = scanText;
  if (rawText) table.rawText = rawText;
  if (propertiesText) table.propertiesText = propertiesText;
  return table;
}

function isTableName(name: string): boolean {
  return name.endsWith('.sst') || name.endsWith('.ldb');
}

function directoriesIn(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
}

function readRows(file: string): UserRow[] {
  return readGzipText(file)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as UserRow);
}

/** The text of a gzip file, one character a byte: tool output holds bytes that are no UTF-8. */
export function readGzipText(file: string): string {
  return gunzipSync(readFileSync(file)).toString('latin1');
}

/** A row of sst_dump's scan. Bytes are lower-case hex. */
export interface ScanRow {
  /** User key without timestamp. */
  key: string;
  /** Where keys carry one, or would if it were stored (then 0). */
  timestamp?: bigint;
  seqno: string;
  /** Value type as a number. */
  type: number;
  /** What stands behind the arrow, as printed: upper-case hex, or the columns of an entity. */
  text: string;
}

/** The rows of `sst_dump --command=scan --output_hex`: `'HEX[|timestamp:N]' seq:N, type:T => HEX`. */
export function parseScanText(text: string): ScanRow[] {
  const line = /^'([0-9A-F]*)(?:\|timestamp:(\d+))?' seq:(\d+), type:(\d+) => (.*)$/gm;
  return [...text.matchAll(line)].map((match) => ({
    key: match[1]!.toLowerCase(),
    ...(match[2] === undefined ? {} : { timestamp: BigInt(match[2]) }),
    seqno: match[3]!,
    type: Number(match[4]),
    text: match[5]!,
  }));
}

/** A range tombstone of a raw dump. Bytes are lower-case hex. */
export interface RawRangeDeletion {
  start: string;
  end: string;
  /** Null in texts of RocksDB 7.8 and older, which print the keys alone. */
  seqno: string | null;
}

/**
 * The range deletions of sst_dump's raw dump, in its order. The tool prints fragments, also of a file
 * that holds its tombstones as they were given. Lines: `HEX start  seq: N  type: 15 : end`, or `HEX start: end`.
 */
export function parseRawRangeDeletions(text: string): RawRangeDeletion[] {
  const begin = /^Range deletions:\n/m.exec(text);
  if (begin === null) return [];
  const section = text.slice(begin.index + begin[0].length).split(/^Data Block/m)[0]!;
  const line = /^ {2}HEX {4}([0-9A-F]*)(?: {2}seq: (\d+) {2}type: \d+ )?: ([0-9A-F]*) *$/gm;
  return [...section.matchAll(line)].map((match) => ({
    start: match[1]!.toLowerCase(),
    end: match[3]!.toLowerCase(),
    seqno: match[2] ?? null,
  }));
}
