import { seqnoOfComparable } from '../engine/range-del/comparable-seqno.ts';
import type { ReadPoint } from '../engine/table/read-point.ts';
import type { FoundRow } from '../engine/table/table-set.ts';
import type { Version } from '../engine/table/versions.ts';
import { InvalidArgumentError, SstError, withPending } from '../errors.ts';
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
  /** With `error`: what stands there, if anything, could not be read. */
  | { readonly key: Uint8Array; readonly found: false; readonly error?: SstError }
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
  /** The one in the file, where a global sequence number stands for it; null where it is the same. */
  readonly storedSeqno: bigint | null;
  readonly type: string;
  /** Null: only a MANIFEST knows it. */
  readonly level: number | null;
  readonly blockOffset: number;
  /** Sequence numbers of the range tombstones that delete it; the newest of them. */
  readonly coveredBy: readonly bigint[];
}

export interface GetOptions {
  readonly point: ReadPoint;
  /** The first key that cannot be read ends the look-up: its error is thrown. */
  readonly strict: boolean;
}

/** Looks the keys up: as one batch, and where something in it cannot be read, one by one. */
export async function getKeys(
  lookup: OpenLookup,
  keys: readonly Uint8Array[],
  options: GetOptions,
): Promise<GetResult[]> {
  const { set } = lookup;
  const { point, strict } = options;
  if (set === undefined) return keys.map((key) => ({ key, found: false }));
  try {
    const rows = await withPending(() => set.multiGet(keys, { point }));
    return keys.map((key, i) => getResult(lookup, key, rows[i]));
  } catch (error) {
    if (strict || !isOfOneKey(error)) throw error;
  }
  const results: GetResult[] = [];
  for (const key of keys) {
    try {
      const row = await withPending(() => set.get(key, { point }));
      results.push(getResult(lookup, key, row));
    } catch (error) {
      if (!isOfOneKey(error)) throw error;
      results.push({ key, found: false, error });
    }
  }
  return results;
}

/** Every version of the keys that can be seen, newest first; a key whose versions cannot be read goes to `failure`. */
export async function getVersions(
  { set, paths }: OpenLookup,
  keys: readonly Uint8Array[],
  { point, strict }: GetOptions,
  failure: (error: SstError) => void,
): Promise<VersionRow[]> {
  const rows: VersionRow[] = [];
  if (set === undefined) return rows;
  for (const key of keys) {
    try {
      const versions = await withPending(() => set.versions(key, point));
      for (const version of versions) rows.push(versionRow(key, version, paths[version.table]!));
    } catch (error) {
      if (strict || !isOfOneKey(error)) throw error;
      failure(error);
    }
  }
  return rows;
}

/** Other keys may still be read: it is no bug, and nothing that the user has to give first. */
function isOfOneKey(error: unknown): error is SstError {
  return error instanceof SstError && !(error instanceof InvalidArgumentError);
}

function getResult({ paths }: OpenLookup, key: Uint8Array, row: FoundRow | undefined): GetResult {
  return row === undefined ? { key, found: false } : foundResult(key, row, paths[row.table]!);
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
  const { type, value, seqno, storedSeqno, timestamp, blockOffset, coveredBy } = version;
  return {
    file,
    key,
    timestamp,
    seqno: seqnoOfComparable(seqno),
    storedSeqno: storedSeqno === seqno ? null : seqnoOfComparable(storedSeqno),
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
