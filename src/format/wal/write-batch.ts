import { ValueType } from '../value-type.ts';

/**
 * Write batches: what each record of a WAL holds.
 *
 *   sequence number of the first operation (fixed64), count (fixed32), records
 *   record: tag (1), [column family (varint32), by the tag], fields
 *
 * A field is length-prefixed: key, value, end key, or bytes that mean nothing here. Each counted record takes the next
 * sequence number. What stands between begin_prepare and end_prepare takes its numbers when its commit is written,
 * in a batch behind; batches of begin_persisted_prepare and begin_unprepare take one for each sub-batch.
 * Tags without a column family mean 0. LevelDB knows the tags 0 and 1.
 * Source: RocksDB db/write_batch.cc; LevelDB db/write_batch.cc.
 */
export const BATCH_HEADER_SIZE = 12;

/** Of a sequence number. */
export const MAX_SEQNO = 2n ** 56n - 1n;

/** The last bytes of the value of a `put_preferred_seqno`: fixed64, seconds since 1970. A table has a sequence number there. */
export const WRITE_TIME_SIZE = 8;

export type BatchOperationType =
  | 'put'
  | 'delete'
  | 'single_delete'
  | 'merge'
  | 'range_delete'
  | 'blob_index'
  | 'entity'
  | 'put_preferred_seqno'
  | 'log_data'
  | 'noop'
  | 'begin_prepare'
  | 'begin_persisted_prepare'
  | 'begin_unprepare'
  | 'end_prepare'
  | 'commit'
  | 'rollback';

/** Where the fields of a record go: `timestamp` is that of a commit. */
export type BatchField = 'key' | 'value' | 'end' | 'bytes' | 'timestamp';

export interface BatchLayout {
  readonly type: BatchOperationType;
  /** A column family id stands in front of the fields. */
  readonly hasFamily: boolean;
  readonly fields: readonly BatchField[];
  /** An entry, which the header's count is about. */
  readonly isCounted: boolean;
}

/** Tags of entries, without and with a column family. */
const ENTRY_TAGS: readonly (readonly [BatchOperationType, number, number, readonly BatchField[]])[] = [
  ['put', ValueType.value, ValueType.columnFamilyValue, ['key', 'value']],
  ['delete', ValueType.deletion, ValueType.columnFamilyDeletion, ['key']],
  ['single_delete', ValueType.singleDeletion, ValueType.columnFamilySingleDeletion, ['key']],
  ['merge', ValueType.merge, ValueType.columnFamilyMerge, ['key', 'value']],
  ['range_delete', ValueType.rangeDeletion, ValueType.columnFamilyRangeDeletion, ['key', 'end']],
  ['blob_index', ValueType.blobIndex, ValueType.columnFamilyBlobIndex, ['key', 'value']],
  ['entity', ValueType.wideColumnEntity, ValueType.columnFamilyWideColumnEntity, ['key', 'value']],
  [
    'put_preferred_seqno',
    ValueType.valuePreferredSeqno,
    ValueType.columnFamilyValuePreferredSeqno,
    ['key', 'value'],
  ],
];

const OTHER_TAGS: readonly (readonly [BatchOperationType, number, readonly BatchField[]])[] = [
  ['log_data', ValueType.logData, ['bytes']],
  ['noop', ValueType.noop, []],
  ['begin_prepare', ValueType.beginPrepareXid, []],
  ['begin_persisted_prepare', ValueType.beginPersistedPrepareXid, []],
  ['begin_unprepare', ValueType.beginUnprepareXid, []],
  ['end_prepare', ValueType.endPrepareXid, ['bytes']],
  ['commit', ValueType.commitXid, ['bytes']],
  ['commit', ValueType.commitXidAndTimestamp, ['timestamp', 'bytes']],
  ['rollback', ValueType.rollbackXid, ['bytes']],
];

/** Every tag that there is. */
export const BATCH_LAYOUTS: ReadonlyMap<number, BatchLayout> = new Map([
  ...ENTRY_TAGS.flatMap(([type, plain, withFamily, fields]): [number, BatchLayout][] => [
    [plain, { type, hasFamily: false, fields, isCounted: true }],
    [withFamily, { type, hasFamily: true, fields, isCounted: true }],
  ]),
  ...OTHER_TAGS.map(([type, tag, fields]): [number, BatchLayout] => [
    tag,
    { type, hasFamily: false, fields, isCounted: false },
  ]),
]);

/** One record of a batch. Bytes are views of the batch. */
export interface BatchOperation {
  readonly tag: number;
  readonly type: BatchOperationType;
  /** Of its tag in the batch. */
  readonly pos: number;
  /** An entry: it has a column family and a key, and the header counts it. */
  readonly isEntry: boolean;
  readonly columnFamily: number;
  /** Undefined where the batch does not say it: of what is no entry, or is only prepared. */
  readonly seqno: bigint | undefined;
  /** Of an entry, without its timestamp; the start of a range deletion. Empty elsewhere. */
  readonly key: Uint8Array;
  /** As stored: of the key where its column family has one, or of a commit. */
  readonly timestamp: Uint8Array | undefined;
  /**
   * The value of an entry, for a `put_preferred_seqno` with its write time; the end key of a range deletion, without
   * its timestamp; the bytes of `log_data`; the transaction's id of `end_prepare`, `commit`, `rollback`.
   */
  readonly value: Uint8Array;
}

/** Sizes of the timestamps that keys end in, by column family; those without are not in it. */
export type TimestampSizes = ReadonlyMap<number, number>;
