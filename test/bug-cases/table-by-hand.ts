/**
 * Small tables written byte by byte, for states that no writer of today makes. Independent of the code under test
 * but for its checksums: every entry is a restart point, nothing is shared, index keys are internal keys.
 */

import type { FileSource } from '../../src/engine/environment.ts';
import { IoError } from '../../src/errors.ts';
import { computeBlockChecksum } from '../../src/hash/block-checksum.ts';
import { twinHashFunctions } from '../../src/hash/hash-functions.ts';
import { ChecksumType } from '../../src/hash/registry.ts';
import type { NodeEnvironment } from '../../src/node/environment.ts';
import type { ScanOptions } from '../../src/tools/scan.ts';
import { type ScannedFile, scanRows, testEnvironment } from '../support/scan.ts';

/** Text as UTF-8, numbers as single bytes. */
export type Bytes = string | Uint8Array | readonly number[];

export function bytesOf(...parts: readonly Bytes[]): Uint8Array {
  const joined = Buffer.concat(
    parts.map((part) => (part instanceof Uint8Array ? part : Buffer.from(part as string))),
  );
  return new Uint8Array(joined.buffer, joined.byteOffset, joined.length);
}

export function hexOf(bytes: Bytes): string {
  return Buffer.from(bytesOf(bytes)).toString('hex');
}

export function varint(value: number | bigint): number[] {
  const bytes: number[] = [];
  let rest = BigInt(value);
  while (rest >= 128n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}

export function fixed32(value: number): number[] {
  return [value & 255, (value >>> 8) & 255, (value >>> 16) & 255, value >>> 24];
}

export function fixed64(value: bigint): number[] {
  return Array.from({ length: 8 }, (_, i) => Number((value >> BigInt(8 * i)) & 255n));
}

export const TYPE = {
  delete: 0x00,
  put: 0x01,
  merge: 0x02,
  rangeDelete: 0x0f,
  blobIndex: 0x11,
  entity: 0x16,
} as const;

export interface Entry {
  key: Bytes;
  seqno: number;
  /** Default: put. */
  type?: number;
  value?: Bytes;
}

export function internalKey(key: Bytes, seqno: number, type: number): Uint8Array {
  return bytesOf(key, fixed64((BigInt(seqno) << 8n) | BigInt(type)));
}

/** An uncompressed block of keys and values; `tail` stands between the restarts and their number. */
export function block(
  pairs: readonly (readonly [key: Bytes, value: Bytes])[],
  tail: Bytes = [],
  flags = 0,
): Uint8Array {
  const entries: Uint8Array[] = [];
  const restarts: number[] = [];
  let offset = 0;
  for (const [key, value] of pairs) {
    const [k, v] = [bytesOf(key), bytesOf(value)];
    const entry = bytesOf(varint(0), varint(k.length), varint(v.length), k, v);
    restarts.push(offset);
    entries.push(entry);
    offset += entry.length;
  }
  if (restarts.length === 0) restarts.push(0);
  const count = fixed32((restarts.length | flags) >>> 0);
  return bytesOf(...entries, ...restarts.map(fixed32), tail, count);
}

export function dataBlock(entries: readonly Entry[]): Uint8Array {
  return block(
    entries.map(
      ({ key, seqno, type = TYPE.put, value = '' }) => [internalKey(key, seqno, type), value] as const,
    ),
  );
}

export interface Handle {
  offset: number;
  size: number;
}

export interface DataBlock {
  /** Uncompressed contents, or with `compressionType` the stored payload. */
  payload: Uint8Array;
  compressionType?: number;
  /** Internal key for the index. */
  lastKey: Uint8Array;
}

export function blockOf(entries: readonly Entry[]): DataBlock {
  const last = entries[entries.length - 1]!;
  return { payload: dataBlock(entries), lastKey: internalKey(last.key, last.seqno, last.type ?? TYPE.put) };
}

export interface TableByHand {
  data: readonly DataBlock[];
  /** Stored in this order. */
  tombstones?: readonly { start: Bytes; end: Bytes; seqno: number }[];
  /** Other meta blocks by their names in the metaindex. */
  meta?: Readonly<Record<string, Uint8Array>>;
  /** On top of the comparator; null for a table of LevelDB's, which has none. */
  properties?: Readonly<Record<string, Bytes>> | null;
  /** What the index says in place of a block's own handle, by its ordinal. */
  handles?: Readonly<Record<number, { offset: number | bigint; size: number | bigint }>>;
  /** Default: that of format_version 5. */
  formatVersion?: number;
}

export interface WrittenTable {
  bytes: Uint8Array;
  data: Handle[];
  meta: Record<string, Handle>;
}

/** CRC-32C checksums; a LevelDB footer where `properties` is null. */
export function writeTable(table: TableByHand): WrittenTable {
  const hashes = twinHashFunctions();
  const parts: Uint8Array[] = [];
  let offset = 0;
  const append = (payload: Uint8Array, compressionType = 0): Handle => {
    const sealed = bytesOf(payload, [compressionType, 0, 0, 0, 0]);
    const checksum = computeBlockChecksum(hashes, ChecksumType.crc32c, sealed, 0, payload.length);
    sealed.set(fixed32(checksum), payload.length + 1);
    parts.push(sealed);
    const handle = { offset, size: payload.length };
    offset += sealed.length;
    return handle;
  };
  const isLevelDb = table.properties === null;
  const data = table.data.map(({ payload, compressionType }) => append(payload, compressionType));
  const meta: Record<string, Handle> = {};
  for (const [name, payload] of Object.entries(table.meta ?? {})) meta[name] = append(payload);
  if (table.tombstones !== undefined) {
    meta['rocksdb.range_del'] = append(
      block(
        table.tombstones.map(({ start, end, seqno }) => [internalKey(start, seqno, TYPE.rangeDelete), end]),
      ),
    );
  }
  if (!isLevelDb) {
    const properties: Record<string, Bytes> = {
      'rocksdb.comparator': 'leveldb.BytewiseComparator',
      ...table.properties,
    };
    meta['rocksdb.properties'] = append(block(sorted(properties)));
  }
  const index = append(
    block(
      table.data.map(({ lastKey }, i) => {
        const handle = table.handles?.[i] ?? data[i]!;
        return [lastKey, bytesOf(varint(handle.offset), varint(handle.size))];
      }),
    ),
  );
  const metaindex = append(
    block(
      sorted(
        Object.fromEntries(
          Object.entries(meta).map(([name, handle]) => [
            name,
            bytesOf(varint(handle.offset), varint(handle.size)),
          ]),
        ),
      ),
    ),
  );
  parts.push(footer(metaindex, index, isLevelDb ? 0 : (table.formatVersion ?? 5)));
  return { bytes: bytesOf(...parts), data, meta };
}

function sorted(pairs: Readonly<Record<string, Bytes>>): [string, Bytes][] {
  return Object.entries(pairs).sort(([a], [b]) => (a < b ? -1 : 1));
}

function footer(metaindex: Handle, index: Handle, formatVersion: number): Uint8Array {
  const handles = bytesOf(
    ...[metaindex, index].flatMap(({ offset, size }) => [varint(offset), varint(size)]),
  );
  const padded = bytesOf(handles, new Uint8Array(40 - handles.length));
  if (formatVersion === 0) return bytesOf(padded, fixed64(0xdb4775248b80fb57n));
  return bytesOf([ChecksumType.crc32c], padded, fixed32(formatVersion), fixed64(0x88e241b785f4cff7n));
}

/** Scans files that exist in memory alone. */
export async function scanBytes(
  files: Uint8Array | Readonly<Record<string, Uint8Array>>,
  options: ScanOptions = {},
): Promise<ScannedFile> {
  const named = files instanceof Uint8Array ? { 'table.sst': files } : files;
  return scanRows(Object.keys(named), options, await memoryEnvironment(named));
}

export async function memoryEnvironment(
  files: Readonly<Record<string, Uint8Array>>,
): Promise<NodeEnvironment> {
  const find = (path: string): Uint8Array => {
    const bytes = files[path];
    if (bytes === undefined) throw new IoError('not_found', path, 'no such file or directory');
    return bytes;
  };
  return {
    ...(await testEnvironment()),
    files: {
      open(path): FileSource {
        const bytes = find(path);
        return {
          name: path,
          size: bytes.length,
          read: (offset, length) => bytes.subarray(offset, offset + length),
          readInto: (offset, target) => target.set(bytes.subarray(offset, offset + target.length)),
          close: () => undefined,
        };
      },
      list: () => Object.keys(files).map((name) => ({ name, kind: 'file' })),
      status: (path) => ({ kind: 'file', size: find(path).length, modifiedMicros: 0 }),
    },
  };
}
