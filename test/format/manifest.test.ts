/**
 * MANIFESTs of real databases against what RocksDB's ldb says of them: recorded texts of 11.9, and where it is
 * installed Debian's 7.8.3, which also reads what is written here.
 */

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../src/bytes/byte-writer.ts';
import { memorySource } from '../../src/bytes/source.ts';
import { toHex } from '../../src/bytes/text.ts';
import type { SstError } from '../../src/errors.ts';
import { seqnoText, TRAILER_SIZE, trailerType } from '../../src/format/internal-key.ts';
import { LogReader } from '../../src/format/log/log-reader.ts';
import { LogWriter } from '../../src/format/log/log-writer.ts';
import { decodeCurrent } from '../../src/format/manifest/current-file.ts';
import { decodeVersionEdit } from '../../src/format/manifest/decode-version-edit.ts';
import { encodeVersionEdit } from '../../src/format/manifest/encode-version-edit.ts';
import { type ReadManifest, readManifest } from '../../src/format/manifest/manifest-reader.ts';
import { levelsOf } from '../../src/format/manifest/manifest-state.ts';
import { EditTag, type NewFile, type VersionEdit } from '../../src/format/manifest/version-edit.ts';
import { twinHashFunctions } from '../../src/hash/hash-functions.ts';
import { databases, readGzipText, sharedFixtures } from '../support/fixtures.ts';
import { findTool, runTool } from '../support/oracles.ts';

const hashes = twinHashFunctions();

interface Database {
  name: string;
  manifest: string;
  bytes: Uint8Array;
  expectedPath: string;
}

const ALL: Database[] = [
  ...databases().map((database) => ({ ...database, expectedPath: '' })),
  ...sharedFixtures().databases,
].map(({ name, path: folder, expectedPath }) => {
  const { name: manifest } = decodeCurrent(new Uint8Array(readFileSync(path.join(folder, 'CURRENT'))));
  const file = path.join(folder, manifest);
  return { name, manifest: file, bytes: new Uint8Array(readFileSync(file)), expectedPath };
});

function readAll(bytes: Uint8Array): ReadManifest & { edits: VersionEdit[] } {
  const edits: VersionEdit[] = [];
  const result = readManifest(memorySource(bytes), hashes, {
    edit: (edit) => edits.push(edit),
    fault: (error: SstError) => {
      throw error;
    },
  });
  return { ...result, edits };
}

const boundText = (key: Uint8Array): string => {
  const user = toHex(key.subarray(0, key.length - TRAILER_SIZE)).toUpperCase();
  return `'${user}' seq:${seqnoText(key, key.length)}, type:${trailerType(key, key.length)}`;
};

/** LevelDB's files have no sequence numbers: RocksDB shows none as the largest and 0. */
const liveText = (file: NewFile): string =>
  `${file.number}:${file.size}[${file.smallestSeqno ?? 2n ** 56n - 1n} .. ${file.largestSeqno ?? 0n}]` +
  `[${boundText(file.smallest)} .. ${boundText(file.largest)}]`;

/** The lines of `ldb manifest_dump --verbose --hex` about edits, as far as 7.8 and 11.9 agree on them. */
function editLines(edit: VersionEdit): string[] {
  const lines: string[] = [];
  const line = (name: string, value: unknown): void => {
    if (value !== undefined) lines.push(`${name}: ${value}`);
  };
  line('DB ID', edit.dbId);
  line('Comparator', edit.comparator);
  line('LogNumber', edit.logNumber);
  line('PrevLogNumber', edit.previousLogNumber);
  line('NextFileNumber', edit.nextFileNumber);
  line('MinLogNumberToKeep', edit.minLogNumberToKeep);
  line('LastSeq', edit.lastSequence);
  for (const { level, number } of edit.deletedFiles ?? []) line('DeleteFile', `${level} ${number}`);
  for (const file of edit.newFiles ?? []) {
    const blob = file.oldestBlobFile === undefined ? '' : ` blob_file:${file.oldestBlobFile}`;
    // Where a file tells no times, as LevelDB's, the tool says 0.
    const times = ` oldest_ancester_time:${file.oldestAncestorTime ?? 0} file_creation_time:${file.fileCreationTime ?? 0}`;
    line(
      'AddFile',
      `${file.level} ${file.number} ${file.size} ${boundText(file.smallest)} .. ${boundText(file.largest)}${blob}${times}`,
    );
  }
  for (const { number, blobCount, blobBytes } of edit.blobFileAdditions ?? []) {
    line(
      'BlobFileAddition',
      `blob_file_number: ${number} total_blob_count: ${blobCount} total_blob_bytes: ${blobBytes}`,
    );
  }
  line('ColumnFamily', edit.columnFamily);
  line('ColumnFamilyAdd', edit.columnFamilyAdd);
  return lines;
}

/** The same lines out of the tool's text, in its order; what comes behind a line's known part is cut off. */
function toolLines(text: string): string[] {
  const known =
    /^ {2}((?:DB ID|Comparator|LogNumber|PrevLogNumber|NextFileNumber|MinLogNumberToKeep|LastSeq|DeleteFile|AddFile|BlobFileAddition|ColumnFamily|ColumnFamilyAdd): .*)$/gm;
  return [...text.matchAll(known)].map(([, line]) =>
    line!.replace(/(file_creation_time:\d+) .*$/, '$1').replace(/(total_blob_bytes: \d+) .*$/, '$1'),
  );
}

/** Family, level and file of each live file line. */
function toolLive(text: string): string[] {
  const lines: string[] = [];
  let family = '';
  let level = '';
  for (const line of text.split('\n')) {
    family = /^-+ Column family "(.*)" {2}\(ID \d+\) -+$/.exec(line)?.[1] ?? family;
    level = /^--- level (\d+) ---/.exec(line)?.[1] ?? level;
    const file = /^ (\d+:\d+\[\d+ \.\. \d+\])(\['.*' seq:\d+, type:\d+\])/.exec(line);
    if (file !== null) lines.push(`${family} ${level} ${file[1]}${file[2]}`);
  }
  return lines;
}

function liveLines({ state }: ReadManifest): string[] {
  return [...state.columnFamilies.values()].flatMap((family) =>
    levelsOf(family).flatMap(({ level, files }) =>
      // Above level 0 the tool's order is that of keys; these families have the bytewise one.
      (level === 0 ? files : [...files].sort((a, b) => (toHex(a.smallest) < toHex(b.smallest) ? -1 : 1))).map(
        (file) => `${family.name} ${level} ${liveText(file)}`,
      ),
    ),
  );
}

const withoutKeys = (line: string): string => line.replace(/\['.*$/, '');

function compareWith(text: string, bytes: Uint8Array): void {
  const manifest = readAll(bytes);
  const lines = toolLines(text);
  const ours = manifest.edits.flatMap(editLines);
  if (!/Error in processing/.test(text)) {
    expect(ours).toEqual(lines);
    expect(liveLines(manifest)).toEqual(toolLive(text));
    // The tool counts the next file number up when it opens the file.
    expect(/last_sequence (\d+) /.exec(text)?.[1]).toBe(String(manifest.state.lastSequence));
  } else {
    // The tool gives up at a comparator that it was not told to expect.
    expect(lines.length).toBeGreaterThan(1);
    expect(ours.slice(0, lines.length)).toEqual(lines);
  }
}

describe.each(ALL)('$name', ({ bytes }) => {
  it('is whole, and its edits are written as they were', () => {
    const manifest = readAll(bytes);
    expect(manifest).toMatchObject({ lostCount: 0, end: { state: 'clean', offset: bytes.length } });
    const out = new ByteWriter();
    const log = new LogWriter(out, hashes);
    for (const edit of manifest.edits) log.add(encodeVersionEdit(edit));
    expect(toHex(out.view())).toBe(toHex(bytes));
  });
});

const recorded = (name: string): Database[] =>
  ALL.filter(({ expectedPath }) => expectedPath !== '' && existsSync(path.join(expectedPath, name)));

it.each(recorded('manifest.txt.gz'))('$name: says what ldb 11.9 says', ({ bytes, expectedPath }) => {
  compareWith(readGzipText(path.join(expectedPath, 'manifest.txt.gz')), bytes);
});

it.each(recorded('ldb.manifest_json.txt.gz'))(
  '$name: the live files of ldb 11.9, given the comparator',
  (database) => {
    const tool = readGzipText(path.join(database.expectedPath, 'ldb.manifest_json.txt.gz'));
    const manifest = readAll(database.bytes);
    expect(liveLines(manifest).map(withoutKeys)).toEqual(toolLive(tool).map(withoutKeys));
    const edits = [...tool.matchAll(/^\{"EditNumber".*$/gm)];
    expect(manifest.edits.length).toBe(edits.length);
  },
);

describe.skipIf(findTool('ldb') === undefined)('ldb 7.8.3', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sstkit-manifest-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each(ALL.filter(({ name }) => /^(old_|leveldb)/.test(name)))(
    'says the same of $name',
    ({ manifest, bytes }) => {
      const { status, stdout, stderr } = runTool('ldb', [
        'manifest_dump',
        `--path=${manifest}`,
        '--verbose',
        '--hex',
      ]);
      expect(status).toBe(0);
      compareWith(stdout + stderr, bytes);
    },
  );

  it('reads edits that were written here, over several blocks', () => {
    const bound = (text: string): Uint8Array =>
      Uint8Array.from([...Buffer.from(text), 1, 7, 0, 0, 0, 0, 0, 0]);
    const files = Array.from({ length: 2000 }, (_, i) => ({
      tag: EditTag.newFile4,
      level: 1 + (i % 5),
      number: 100 + i,
      size: 1000 + i,
      smallest: bound(`key${String(i).padStart(6, '0')}`),
      largest: bound(`key${String(i).padStart(6, '0')}z`),
      smallestSeqno: 7n,
      largestSeqno: 7n,
      oldestAncestorTime: 5,
      fileCreationTime: 6,
      unknown: [{ tag: 40, bytes: Uint8Array.of(1) }],
    }));
    const out = new ByteWriter();
    const log = new LogWriter(out, hashes);
    const edits: VersionEdit[] = [
      { columnFamily: 0, comparator: 'leveldb.BytewiseComparator' },
      {
        columnFamily: 0,
        logNumber: 4,
        nextFileNumber: 5000,
        lastSequence: 2n ** 40n,
        unknown: [{ tag: 8291, bytes: bound('?') }],
      },
      { columnFamily: 0, newFiles: files },
      ...files
        .slice(0, 500)
        .map(({ level, number }) => ({ columnFamily: 0, deletedFiles: [{ level, number }] })),
    ];
    for (const edit of edits) log.add(encodeVersionEdit(edit));
    const file = path.join(folder, 'MANIFEST-000005');
    writeFileSync(file, out.view());
    const { status, stdout } = runTool('ldb', ['manifest_dump', `--path=${file}`, '--verbose', '--hex']);
    expect(status).toBe(0);
    compareWith(stdout, out.copy());
    expect(toolLive(stdout)).toHaveLength(1500);
  });
});

it('logs of the same databases are whole', () => {
  for (const { manifest } of ALL) {
    const folder = path.dirname(manifest);
    for (const name of readdirSync(folder).filter((each) => each.endsWith('.log'))) {
      const bytes = new Uint8Array(readFileSync(path.join(folder, name)));
      const reader = new LogReader(memorySource(bytes, name), hashes, (error) => {
        throw error;
      });
      while (reader.next() !== undefined);
      expect(reader.end).toEqual({ state: 'clean', offset: bytes.length });
    }
  }
});

it('an edit of each fixture decodes alone', () => {
  for (const { bytes } of ALL) {
    const [first] = readAll(bytes).edits;
    expect(decodeVersionEdit(encodeVersionEdit(first!))).toEqual(first);
  }
});
