/**
 * A table as a real engine opens it. No engine of npm can ingest a file, so a database is put around it: the engine
 * makes an empty one, and a MANIFEST of our own with one record puts the table into its level 0.
 */

import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ByteWriter } from '../../src/bytes/byte-writer.ts';
import { utf8Bytes } from '../../src/bytes/text.ts';
import type { CompressionName } from '../../src/codec/registry.ts';
import { createCrc32c, maskCrc32c } from '../../src/hash/crc32c.ts';
import { loadOracle } from './oracles.ts';

/** What the MANIFEST says of the table. Keys are internal. */
export interface TableFacts {
  bytes: Uint8Array;
  smallest: Uint8Array;
  largest: Uint8Array;
  smallestSeqno: number;
  largestSeqno: number;
}

export interface OpenDatabase {
  /** Undefined: not found. Throws what the engine throws. */
  get(key: Uint8Array): Uint8Array | undefined;
  /** All rows, where the engine can iterate. */
  rows?(): Promise<[Uint8Array, Uint8Array][]>;
  close(): Promise<void>;
}

export interface Engine {
  name: string;
  /** By the codecs that it was built with. */
  reads(formatVersion: number, compression: CompressionName | undefined): boolean;
  /** What it needs to merge with; undefined: it has no operator. */
  mergeOperator: 'StringAppendOperator' | undefined;
  open(folder: string): Promise<OpenDatabase>;
}

/** RocksDB 11.8.1; undefined, said aloud, where the package is missing. */
export function rocksdb11(): Engine | undefined {
  const binding = loadOracle('@harperfast/rocksdb-js-linux-x64-glibc') as
    | { Database: new () => HarperDatabase }
    | undefined;
  if (binding === undefined) return undefined;
  return {
    name: 'RocksDB 11.8.1',
    reads: () => true,
    mergeOperator: undefined,
    open: async (folder) => {
      const db = new binding.Database();
      db.open(folder, { name: 'default', compression: 'none' });
      return { get: (key) => db.getSync(key, 0), close: async () => db.close() };
    },
  };
}

interface HarperDatabase {
  open(folder: string, options: object): void;
  getSync(key: Uint8Array, flags: number): Uint8Array | undefined;
  close(): void;
}

/** RocksDB 9.7.4; `filterPolicy` as RocksDB's option string: without it filters are not asked. */
export function rocksdb9(filterPolicy?: string): Engine | undefined {
  const binding = loadOracle('@nxtedition/rocksdb') as
    | { RocksLevel: new (folder: string, options: object) => RocksLevel }
    | undefined;
  if (binding === undefined) return undefined;
  return {
    name: 'RocksDB 9.7.4',
    reads: (formatVersion, compression = 'none') =>
      formatVersion <= 6 && (compression === 'none' || compression === 'zstd'),
    mergeOperator: 'StringAppendOperator',
    open: async (folder) => {
      const bytes = { keyEncoding: 'buffer', valueEncoding: 'buffer' };
      const db = new binding.RocksLevel(folder, bytes);
      await db.open({ compression: false, mergeOperator: 'stringappend', filterPolicy });
      return {
        get: (key) => db._getManySync([Buffer.from(key)], bytes)[0],
        rows: async () => {
          const rows: [Uint8Array, Uint8Array][] = [];
          for await (const row of db.iterator()) rows.push(row);
          return rows;
        },
        close: () => db.close(),
      };
    },
  };
}

interface RocksLevel {
  open(options: object): Promise<void>;
  _getManySync(keys: Uint8Array[], options: object): (Uint8Array | undefined)[];
  iterator(): AsyncIterable<[Uint8Array, Uint8Array]>;
  close(): Promise<void>;
}

/** Opens the table in a database of its own below `root`; the one before is gone then. */
export async function openAsDatabase(engine: Engine, root: string, facts: TableFacts): Promise<OpenDatabase> {
  const empty = path.join(root, `${engine.name} empty`);
  if (!existsSync(empty)) await (await engine.open(empty)).close();
  const folder = path.join(root, engine.name);
  rmSync(folder, { recursive: true, force: true });
  cpSync(empty, folder, { recursive: true, filter: (name) => !/\.(log|sst)$|\/LOG|\/LOCK$/.test(name) });
  writeFileSync(path.join(folder, `${String(FILE_NUMBER).padStart(6, '0')}.sst`), facts.bytes);
  const manifest = readFileSync(path.join(folder, 'CURRENT'), 'utf8').trim();
  writeFileSync(path.join(folder, manifest), logRecord(versionEdit(facts)));
  return engine.open(folder);
}

/** Above all numbers that an empty database has used. */
const FILE_NUMBER = 1000;

/** Tags of RocksDB db/version_edit.h. */
const Tag = { comparator: 1, logNumber: 2, nextFileNumber: 3, lastSequence: 4, newFile2: 100 } as const;

function versionEdit({ bytes, smallest, largest, smallestSeqno, largestSeqno }: TableFacts): Uint8Array {
  const out = new ByteWriter();
  out.varint(Tag.comparator);
  out.lengthPrefixed(utf8Bytes('leveldb.BytewiseComparator'));
  out.varint(Tag.logNumber);
  out.varint(FILE_NUMBER + 1);
  out.varint(Tag.nextFileNumber);
  out.varint(FILE_NUMBER + 2);
  out.varint(Tag.lastSequence);
  out.varint(largestSeqno);
  out.varint(Tag.newFile2);
  out.varint(0);
  out.varint(FILE_NUMBER);
  out.varint(bytes.length);
  out.lengthPrefixed(smallest);
  out.lengthPrefixed(largest);
  out.varint(smallestSeqno);
  out.varint(largestSeqno);
  return out.copy();
}

const FULL_RECORD = 1;

/** One record that fits into the first log block: masked crc32c of type and payload, length, type, payload. */
function logRecord(payload: Uint8Array): Uint8Array {
  const typed = new Uint8Array(payload.length + 1);
  typed[0] = FULL_RECORD;
  typed.set(payload, 1);
  const out = new ByteWriter();
  out.fixed32(maskCrc32c(createCrc32c()(typed, 0, typed.length)));
  out.fixed16(payload.length);
  out.append(typed);
  return out.copy();
}
