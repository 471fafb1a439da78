import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { writeFixed32 } from '../bytes/fixed.ts';
import { CountingSource, memorySource } from '../bytes/source.ts';
import { utf8Bytes } from '../bytes/text.ts';
import { maskCrc32c } from '../hash/crc32c.ts';
import { twinHashFunctions } from '../hash/hash-functions.ts';
import { detectFileKind, type FileKind } from './file-kind.ts';
import { baseName, parseFileName } from './file-name.ts';

const hashes = twinHashFunctions();
const fixtures = fileURLToPath(new URL('../../test/fixtures/', import.meta.url));
const shared = fileURLToPath(new URL('../../../shared/fixtures/db/', import.meta.url));

const detect = (bytes: Uint8Array, name?: string) => detectFileKind(memorySource(bytes), hashes, name);
const kindOf = (bytes: Uint8Array, name?: string): FileKind => detect(bytes, name).kind;
const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));
const concat = (...parts: Uint8Array[]): Uint8Array => new Uint8Array(Buffer.concat(parts));

function noise(length: number): Uint8Array {
  let state = 12345;
  return Uint8Array.from({ length }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 8;
  });
}

function record(type: number, payload: Uint8Array, logNumber?: number): Uint8Array {
  const header = new Uint8Array(logNumber === undefined ? 7 : 11);
  header[4] = payload.length;
  header[5] = payload.length >>> 8;
  header[6] = type;
  if (logNumber !== undefined) writeFixed32(header, 7, logNumber);
  const bytes = concat(header, payload);
  writeFixed32(bytes, 0, maskCrc32c(hashes.crc32c(bytes, 6, bytes.length)));
  return bytes;
}

/** Put "key" => "value" with sequence number 1. */
const BATCH = hex('0100000000000000 01000000 01 03 6b6579 05 76616c7565');
/** Comparator, log number, next file number, last sequence. */
const EDIT = concat(hex('01 1a'), utf8Bytes('leveldb.BytewiseComparator'), hex('02 04 03 0a 04 00'));

const EXPECTED: Readonly<Record<string, FileKind>> = {
  table: 'sst',
  wal: 'wal',
  manifest: 'manifest',
  blob: 'blob',
  options: 'options',
  current: 'current',
  identity: 'identity',
  info_log: 'info_log',
};

describe.skipIf(!existsSync(shared))('whole DB directories, without their names', () => {
  for (const db of existsSync(shared) ? readdirSync(shared, { withFileTypes: true }) : []) {
    if (!db.isDirectory()) continue;
    test(db.name, () => {
      for (const file of readdirSync(path.join(shared, db.name))) {
        const bytes = readFileSync(path.join(shared, db.name, file));
        const expected = bytes.length === 0 ? 'empty' : EXPECTED[parseFileName(file)?.type ?? ''];
        expect(kindOf(bytes), file).toBe(expected);
        expect(kindOf(bytes, 'x/000001.blob'), file).toBe(expected);
      }
    });
  }
});

test('table files of each format', () => {
  const formats = new Set<string>();
  const files = readdirSync(fixtures, { recursive: true, encoding: 'utf8' }).map((file) =>
    path.join(fixtures, file),
  );
  for (const file of files.filter(
    (name) => /\.(sst|ldb)$/.test(name) && !/damage|corrupt|trunc/.test(name),
  )) {
    const { kind, detail } = detect(readFileSync(file));
    expect(kind, file).toBe('sst');
    formats.add(detail.tableFormat!);
  }
  expect([...formats].sort()).toEqual(['block-based', 'cuckoo', 'leveldb', 'plain']);
});

test('one small read tells a table', () => {
  const source = new CountingSource(memorySource(readFileSync(path.join(fixtures, 'demo/basic.sst'))));
  expect(detectFileKind(source, hashes).kind).toBe('sst');
  expect(source.reads).toBe(1);
  expect(source.bytesRead).toBeLessThan(100);
});

test('an empty file', () => {
  expect(detect(new Uint8Array(0), '000012.sst')).toEqual({ kind: 'empty', detail: {} });
});

describe('logs', () => {
  it.each<[string, FileKind, Uint8Array]>([
    ['a write batch', 'wal', record(1, BATCH)],
    ['an empty write batch', 'wal', record(1, hex('0100000000000000 00000000'))],
    ['a recyclable record', 'wal', record(5, BATCH, 17)],
    ['a compressed log', 'wal', record(9, hex('07000000'))],
    ['timestamp sizes', 'wal', record(10, hex('01000000 0800'))],
    ['the predecessor', 'wal', record(130, new Uint8Array(24))],
    ['the beginning of a batch', 'wal', record(2, BATCH.subarray(0, 15))],
    ['a version edit', 'manifest', record(1, EDIT)],
    ['the DB id first', 'manifest', record(1, concat(hex('8140 03'), utf8Bytes('abc'), EDIT))],
    ['an empty version edit first', 'manifest', concat(record(1, new Uint8Array(0)), record(1, EDIT))],
    [
      'a new file',
      'manifest',
      record(1, concat(hex('67 00 07 8008 09 61 0100000000000000 09 62 0100000000000000 01 02 05 01 00 01'))),
    ],
    ['the beginning of an edit', 'manifest', record(2, EDIT.subarray(0, 20))],
  ])('%s', (_, kind, bytes) => {
    expect(detect(bytes)).toEqual({ kind, detail: {} });
    expect(kindOf(bytes, kind === 'wal' ? 'MANIFEST-000001' : '000001.log')).toBe(kind);
  });

  it('reads past a damaged record and a damaged block', () => {
    const damaged = record(1, BATCH);
    damaged[20]! ^= 1;
    expect(kindOf(concat(damaged, record(1, BATCH)))).toBe('wal');
    expect(kindOf(concat(noise(32768), record(1, EDIT)))).toBe('manifest');
  });

  it('takes the name where the payload tells nothing', () => {
    const empty = record(1, new Uint8Array(0));
    expect(kindOf(empty, 'db/MANIFEST-000005')).toBe('manifest');
    expect(kindOf(empty, 'db/000005.log')).toBe('wal');
    expect(detect(empty)).toMatchObject({ kind: 'wal', detail: { note: expect.any(String) } });
  });

  it('tells a single record that is damaged or cut off by its shape', () => {
    const damaged = record(1, BATCH);
    damaged[23]! ^= 1;
    for (const bytes of [damaged, record(1, BATCH).subarray(0, 24)]) {
      expect(detect(bytes)).toMatchObject({
        kind: 'wal',
        detail: { note: expect.stringContaining('checksum') },
      });
    }
    expect(kindOf(record(1, EDIT).subarray(0, 30))).toBe('manifest');
    expect(kindOf(record(5, BATCH, 3).subarray(0, 13), '000003.log')).toBe('wal');
  });

  it('knows reserved space by its name only', () => {
    expect(kindOf(new Uint8Array(5000), '000003.log')).toBe('wal');
    expect(detect(new Uint8Array(5000))).toMatchObject({
      kind: 'unknown',
      detail: { note: expect.stringContaining('zeros') },
    });
    expect(kindOf(new Uint8Array(5000), '000003.sst')).toBe('unknown');
  });
});

describe('blob files', () => {
  const header = concat(hex('378f2400 01000000'), new Uint8Array(22));

  it('are told by their header', () => {
    expect(detect(header)).toEqual({ kind: 'blob', detail: {} });
    expect(detect(concat(hex('378f2400 09000000'), new Uint8Array(22))).detail.note).toBe(
      'blob file version 9',
    );
  });

  it('are told by their footer where the header is damaged', () => {
    const footer = concat(hex('378f2400'), new Uint8Array(28));
    writeFixed32(footer, 28, maskCrc32c(hashes.crc32c(footer, 0, 28)));
    expect(kindOf(concat(hex('ff'), header, footer))).toBe('blob');
    footer[5] = 1;
    expect(kindOf(concat(hex('ff'), header, footer))).toBe('unknown');
  });
});

describe('small text files', () => {
  it.each<[string, FileKind]>([
    ['MANIFEST-000005\n', 'current'],
    ['MANIFEST-000005', 'current'],
    ['75da56d6-5e1c-445b-a9c0-7fd03e2393e3', 'identity'],
    ['# This is a RocksDB option file.\n\n[Version]\n  rocksdb_version=11.9.0\n', 'options'],
    ['[DBOptions]\n', 'options'],
    ['2026/11/30-20:44:21.987561 23235 RocksDB version: 11.9.0\n', 'info_log'],
    ['2024/01/31-10:11:12.123456 7f1c2d3e4f Recovering log #3\n', 'info_log'],
    ['hello, grüezi\n', 'text'],
    ['MANIFEST-five\n', 'text'],
  ])('%j', (text, kind) => {
    expect(kindOf(utf8Bytes(text))).toBe(kind);
    expect(kindOf(utf8Bytes(text), 'db/000012.sst')).toBe(kind);
  });

  it('says that CURRENT lacks its line feed', () => {
    expect(detect(utf8Bytes('MANIFEST-000005')).detail.note).toMatch('line feed');
  });

  it('takes any short text named IDENTITY for one', () => {
    expect(kindOf(utf8Bytes('my-database'), 'db/IDENTITY')).toBe('identity');
  });

  it.each([
    ['<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>', 'xml'],
    ['<!DOCTYPE html><html></html>', 'html'],
    ['{"error":"not found"}', 'json'],
    ['version https://git-lfs.github.com/spec/v1\noid sha256:00\n', 'a Git LFS pointer'],
  ])('guesses what a text is: %s', (text, guess) => {
    expect(detect(utf8Bytes(text), '000012.sst')).toMatchObject({ kind: 'text', detail: { guess } });
  });

  it('accepts a character that the window cuts', () => {
    expect(kindOf(utf8Bytes(`x${'ü'.repeat(40000)}`))).toBe('text');
  });
});

describe('other formats', () => {
  it.each([
    ['gzip', new Uint8Array(gzipSync('x'))],
    ['zip', concat(hex('504b0304'), new Uint8Array(30))],
    ['sqlite', concat(utf8Bytes('SQLite format 3\0'), new Uint8Array(84))],
    ['elf', concat(hex('7f454c46 02'), new Uint8Array(60))],
    ['tar', concat(utf8Bytes('file'), new Uint8Array(253), utf8Bytes('ustar'), new Uint8Array(250))],
    ['bzip2', hex('425a6839 314159265359 00112233')],
  ])('%s', (guess, bytes) => {
    expect(detect(bytes)).toMatchObject({ kind: 'unknown', detail: { guess } });
  });

  it('Pebble', () => {
    const magic = hex('f09faab3f09faab3');
    expect(detect(concat(new Uint8Array(41), hex('05000000'), magic))).toMatchObject({
      kind: 'pebble',
      detail: { formatVersion: 5 },
    });
    expect(kindOf(concat(noise(100), hex('f09faab3f09fa680')))).toBe('pebble');
  });
});

describe('encrypted files', () => {
  it.each([4096, 5000, 65536, 300_000])('%i bytes of noise', (length) => {
    expect(kindOf(noise(length), '000012.sst')).toBe('encrypted');
    expect(kindOf(noise(length), '000012.log')).toBe('encrypted');
  });

  it('cannot be told when they are small', () => {
    expect(kindOf(noise(4095))).toBe('unknown');
  });

  it('are noise from start to end, without runs of zeros', () => {
    const bytes = noise(200_000);
    expect(kindOf(concat(bytes, new Uint8Array(200)))).toBe('unknown');
    bytes.fill(0, 1000, 1010);
    expect(kindOf(bytes)).toBe('unknown');
  });

  it('are not what a compressor made', () => {
    const words = ['alpha', 'bravo', 'charlie', 'delta', 'echo', 'foxtrot'];
    const text = Array.from(noise(400_000), (byte) => words[byte % words.length]).join(' ');
    const blocks: Uint8Array[] = [];
    for (let at = 0; at < text.length; at += 4096)
      blocks.push(gzipSync(text.slice(at, at + 4096)).subarray(10));
    expect(kindOf(concat(...blocks))).toBe('unknown');
  });
});

describe('a table without its footer', () => {
  it('is not taken for an encrypted file', () => {
    const block = concat(noise(4500), hex('02'));
    const checksum = new Uint8Array(4);
    writeFixed32(checksum, 0, maskCrc32c(hashes.crc32c(block, 0, block.length)));
    expect(detect(concat(block, checksum, noise(2000)), 'a.sst').detail.note).toMatch('begins like a table');
  });

  it('is unknown, and says how it begins', () => {
    const bytes = readFileSync(path.join(fixtures, 'leveldb/none.ldb'));
    expect(detect(bytes.subarray(0, bytes.length - 20), 'a.ldb')).toMatchObject({
      kind: 'unknown',
      detail: { note: expect.stringContaining('begins like a table') },
    });
  });
});

test('never reads more than a few small ranges, and never throws', () => {
  for (const length of [1, 7, 8, 11, 31, 32, 53, 1000, 70_000, 5_000_000]) {
    for (const bytes of [noise(length), new Uint8Array(length), new Uint8Array(length).fill(1)]) {
      const source = new CountingSource(memorySource(bytes));
      detectFileKind(source, hashes, baseName('a/000001.log'));
      expect(source.bytesRead).toBeLessThanOrEqual(2 * 65536 + 64);
    }
  }
});

test('survives any changed byte', () => {
  const samples = [
    record(1, BATCH),
    record(5, BATCH, 3),
    record(1, EDIT),
    readFileSync(path.join(fixtures, 'demo/basic.sst')),
  ];
  for (const sample of samples) {
    for (let at = 0; at < Math.min(sample.length, 300); at++) {
      for (const value of [0, 1, 0x7f, 0xff]) {
        const bytes = new Uint8Array(sample);
        bytes[at] = value;
        detect(bytes);
        detect(bytes.subarray(0, at + 1));
      }
    }
  }
});
