import { seqnoOfComparable } from '../engine/range-del/comparable-seqno.ts';
import type { ReadPoint } from '../engine/table/read-point.ts';
import type { FoundRow } from '../engine/table/table-set.ts';
import type { Version } from '../engine/table/versions.ts';
import { withPending } from '../errors.ts';
import {
  type BlobIndex,
  decodeBlobIndex,
  decodePreferredSeqno,
  decodeWideColumns,
  PREFERRED_SEQNO_SIZE,
  type WideColumn,
} from '../format/entry-value.ts';
import { entryTypeName, ValueType } from '../format/value-type.ts';
import type { OpenLookup } from './lookup-inputs.ts';

/** A value, decoded as far as it has a structure. */
export interface ShownValue {
  readonly value?: Uint8Array;
  readonly columns?: readonly WideColumn[];
  readonly blob?: BlobIndex;
  readonly preferredSeqno?: bigint;
}

/** What a reader sees of one key. */
export type GetResult =
  | { readonly key: Uint8Array; readonly found: false }
  | ({
      readonly key: Uint8Array;
      readonly found: true;
      readonly seqno: bigint;
      readonly type: string;
      readonly file: string;
    } & ShownValue);

/** One stored version of a key, seen or not. */
export interface VersionRow extends ShownValue {
  readonly file: string;
  readonly key: Uint8Array;
  /** Empty where keys have none. */
  readonly timestamp: Uint8Array;
  readonly seqno: bigint;
  readonly type: string;
  /** Null: only a MANIFEST knows it. */
  readonly level: number | null;
  readonly blockOffset: number;
  /** Sequence numbers of the range tombstones that delete it; the newest of them. */
  readonly coveredBy: readonly bigint[];
}

/** Looks the keys up, as one batch. Throws what the tables' damage throws. */
export async function getKeys(
  { set, paths }: OpenLookup,
  keys: readonly Uint8Array[],
  point: ReadPoint,
): Promise<GetResult[]> {
  const rows = await withPending(() => set.multiGet(keys, { point }));
  return keys.map((key, i) => {
    const row = rows[i];
    return row === undefined ? { key, found: false } : foundResult(key, row, paths[row.table]!);
  });
}

/** Every version of the keys that `point` can see, newest first. */
export async function getVersions(
  { set, paths }: OpenLookup,
  keys: readonly Uint8Array[],
  point: ReadPoint,
): Promise<VersionRow[]> {
  const rows: VersionRow[] = [];
  for (const key of keys) {
    const versions = await withPending(() => set.versions(key, point));
    for (const version of versions) rows.push(versionRow(key, version, paths[version.table]!));
  }
  return rows;
}

function foundResult(key: Uint8Array, { type, value, seqno }: FoundRow, file: string): GetResult {
  return {
    key,
    found: true,
    ...shownValue(type, value),
    seqno: seqnoOfComparable(seqno),
    type: entryTypeName(type),
    file,
  };
}

function versionRow(key: Uint8Array, version: Version, file: string): VersionRow {
  const { type, value, seqno, timestamp, blockOffset, coveredBy } = version;
  return {
    file,
    key,
    timestamp,
    seqno: seqnoOfComparable(seqno),
    type: entryTypeName(type),
    ...shownValue(type, value),
    level: null,
    blockOffset,
    coveredBy: coveredBy < 0 ? [] : [seqnoOfComparable(coveredBy)],
  };
}

/** The bytes of an entry of a type, decoded. Throws CorruptionError. */
export function shownValue(type: number, value: Uint8Array): ShownValue {
  switch (type) {
    case ValueType.wideColumnEntity:
      return { columns: decodeWideColumns(value, 0, value.length) };
    case ValueType.blobIndex:
      return { blob: decodeBlobIndex(value, 0, value.length) };
    case ValueType.valuePreferredSeqno:
      return {
        value: value.subarray(0, value.length - PREFERRED_SEQNO_SIZE),
        preferredSeqno: decodePreferredSeqno(value, 0, value.length),
      };
    default:
      return { value };
  }
}
