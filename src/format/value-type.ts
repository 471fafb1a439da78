/**
 * The type byte of an internal key, and of a write batch record.
 * Source: RocksDB db/dbformat.h, enum ValueType. Numbers are on disk and never change.
 */
export const ValueType = {
  deletion: 0x00,
  value: 0x01,
  merge: 0x02,
  logData: 0x03,
  columnFamilyDeletion: 0x04,
  columnFamilyValue: 0x05,
  columnFamilyMerge: 0x06,
  singleDeletion: 0x07,
  columnFamilySingleDeletion: 0x08,
  beginPrepareXid: 0x09,
  endPrepareXid: 0x0a,
  commitXid: 0x0b,
  rollbackXid: 0x0c,
  noop: 0x0d,
  columnFamilyRangeDeletion: 0x0e,
  rangeDeletion: 0x0f,
  columnFamilyBlobIndex: 0x10,
  blobIndex: 0x11,
  beginPersistedPrepareXid: 0x12,
  beginUnprepareXid: 0x13,
  deletionWithTimestamp: 0x14,
  commitXidAndTimestamp: 0x15,
  wideColumnEntity: 0x16,
  columnFamilyWideColumnEntity: 0x17,
  valuePreferredSeqno: 0x18,
  columnFamilyValuePreferredSeqno: 0x19,
  /** Larger than every stored type; in memory only, as a bound. */
  maxValid: 0x1a,
} as const;

/** Names of the types that an SST stores, as every command prints them. */
const ENTRY_TYPE_NAMES: ReadonlyMap<number, string> = new Map([
  [ValueType.deletion, 'delete'],
  [ValueType.value, 'put'],
  [ValueType.merge, 'merge'],
  [ValueType.singleDeletion, 'single_delete'],
  [ValueType.rangeDeletion, 'range_delete'],
  [ValueType.blobIndex, 'blob_index'],
  [ValueType.deletionWithTimestamp, 'delete_with_timestamp'],
  [ValueType.wideColumnEntity, 'entity'],
  [ValueType.valuePreferredSeqno, 'put_preferred_seqno'],
]);

/** All names of `entryTypeName` that have no number in them. */
export const ENTRY_TYPES: readonly string[] = [...ENTRY_TYPE_NAMES.values()];

/** `put`, `delete` ...; a number that no release writes into an SST is `type_<n>`. */
export function entryTypeName(type: number): string {
  return ENTRY_TYPE_NAMES.get(type) ?? `type_${type}`;
}

/** By type byte: asked of every entry that is read or written. */
const IS_POINT_TYPE = Uint8Array.from({ length: 256 }, (_, type) =>
  type !== ValueType.rangeDeletion && ENTRY_TYPE_NAMES.has(type) ? 1 : 0,
);

/** Whether a data block may hold the type: point entries only. */
export function isPointType(type: number): boolean {
  return IS_POINT_TYPE[type] === 1;
}

/** The deletions that `deleted.keys` counts beside the range tombstones. */
export function isPointDeletion(type: number): boolean {
  return (
    type === ValueType.deletion ||
    type === ValueType.singleDeletion ||
    type === ValueType.deletionWithTimestamp
  );
}

/** Whether the value means something only within the database that it comes from: such entries are not ingested. */
export function isBoundToDatabase(type: number): boolean {
  return type === ValueType.blobIndex || type === ValueType.valuePreferredSeqno;
}
