import { toHex } from '../../bytes/text.ts';
import { SstError } from '../../errors.ts';
import { indexTypeName } from '../../format/index/index-block-iterator.ts';
import {
  decodeSeqnoTimeMap,
  type PropertyValue,
  propertyJsonName,
  UNKNOWN_UINT64,
} from '../../format/properties.ts';
import type { DumpSubject } from './open-subject.ts';

/** A value as JSON holds it. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

export interface PropertyRow {
  /** RocksDB's name without `rocksdb.`, and in JSON documents. */
  readonly name: string;
  readonly jsonName: string;
  /** null: the file says that it does not know. */
  readonly value: Json;
  /** What the number stands for. */
  readonly note?: string;
}

/** The properties of a table, decoded. */
export interface PropertyView {
  /** RocksDB's own, in stored order. */
  readonly known: readonly PropertyRow[];
  /** What collectors of the application wrote, and what a newer release may write. */
  readonly user: readonly (readonly [name: string, value: Uint8Array])[];
  /** Those of RocksDB's whose values do not decode. */
  readonly malformed: readonly (readonly [name: string, value: Uint8Array])[];
  /** Undefined: they are there. */
  readonly missing: 'absent' | 'unreadable' | undefined;
}

/** Sequence numbers are decimal strings in JSON wherever they stand. */
const SEQNOS: ReadonlySet<string> = new Set([
  'rocksdb.key.largest.seqno',
  'rocksdb.key.smallest.seqno',
  'rocksdb.external_sst_file.global_seqno',
]);

/** Stored as a byte, 0 or 1. */
const BYTE_FLAGS: ReadonlySet<string> = new Set([
  'rocksdb.cuckoo.file.islastlevel',
  'rocksdb.cuckoo.hash.identityfirst',
  'rocksdb.cuckoo.hash.usemodule',
]);

/** Seconds since 1970. */
const TIMES: ReadonlySet<string> = new Set([
  'rocksdb.creation.time',
  'rocksdb.oldest.key.time',
  'rocksdb.newest.key.time',
  'rocksdb.file.creation.time',
]);

const INDEX_TYPE = 'rocksdb.block.based.table.index.type';
const SEQNO_TIME_MAP = 'rocksdb.seqno.time.map';
/** The last second that a Date holds. */
const LAST_SECOND = 8.64e12;

export function describeProperties({ properties, metaindex }: DumpSubject): PropertyView {
  if (properties === undefined) {
    const isAbsent = metaindex?.every(({ type }) => type !== 'properties') === true;
    return { known: [], user: [], malformed: [], missing: isAbsent ? 'absent' : 'unreadable' };
  }
  const known: PropertyRow[] = [];
  for (const [name, value] of properties.known()) {
    const note = noteOf(name, value);
    known.push({
      name: name.replace(/^rocksdb\./, ''),
      jsonName: propertyJsonName(name),
      value: jsonOf(name, value),
      ...(note === undefined ? {} : { note }),
    });
  }
  const malformed = properties.malformed.map(
    (name) => [name, properties.raw.get(name) ?? new Uint8Array(0)] as const,
  );
  return { known, user: properties.userCollected(), malformed, missing: undefined };
}

function jsonOf(name: string, value: PropertyValue): Json {
  if (value === UNKNOWN_UINT64) return null;
  if (SEQNOS.has(name)) return String(value);
  if (typeof value === 'bigint')
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value);
  if (!(value instanceof Uint8Array)) return value;
  if (BYTE_FLAGS.has(name)) return value[0] === 1;
  return name === SEQNO_TIME_MAP ? seqnoTimeMap(value) : toHex(value);
}

function seqnoTimeMap(bytes: Uint8Array): Json {
  try {
    return decodeSeqnoTimeMap(bytes).map(([seqno, time]) => ({ seqno: String(seqno), time }));
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return toHex(bytes);
  }
}

function noteOf(name: string, value: PropertyValue): string | undefined {
  if (typeof value !== 'number') return undefined;
  if (name === INDEX_TYPE) return indexTypeName(value);
  if (!TIMES.has(name) || value === 0 || value > LAST_SECOND) return undefined;
  return `${new Date(1000 * value).toISOString().replace('T', ' ').slice(0, 19)} UTC`;
}
