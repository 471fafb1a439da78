import { ByteWriter } from '../../bytes/byte-writer.ts';
import { writeFixed32, writeFixed64 } from '../../bytes/fixed.ts';
import { ValueType } from '../value-type.ts';
import { BATCH_HEADER_SIZE, BATCH_LAYOUTS } from './write-batch.ts';

/**
 * Appends operations to a write batch, byte for byte as RocksDB does: column family 0 has the tags without one.
 * Keys come with their timestamps, where their column family has any. One writer makes many batches, with `reset`.
 */
export class WriteBatchWriter {
  /** Operations that the header counts. */
  count = 0;
  private readonly out = new ByteWriter();

  constructor() {
    this.reset();
  }

  reset(): void {
    this.count = 0;
    this.out.truncate(0);
    this.out.append(new Uint8Array(BATCH_HEADER_SIZE));
  }

  put(key: Uint8Array, value: Uint8Array, columnFamily = 0): void {
    this.entry(ValueType.value, ValueType.columnFamilyValue, columnFamily, key, value);
  }

  delete(key: Uint8Array, columnFamily = 0): void {
    this.entry(ValueType.deletion, ValueType.columnFamilyDeletion, columnFamily, key);
  }

  singleDelete(key: Uint8Array, columnFamily = 0): void {
    this.entry(ValueType.singleDeletion, ValueType.columnFamilySingleDeletion, columnFamily, key);
  }

  merge(key: Uint8Array, operand: Uint8Array, columnFamily = 0): void {
    this.entry(ValueType.merge, ValueType.columnFamilyMerge, columnFamily, key, operand);
  }

  deleteRange(start: Uint8Array, end: Uint8Array, columnFamily = 0): void {
    this.entry(ValueType.rangeDeletion, ValueType.columnFamilyRangeDeletion, columnFamily, start, end);
  }

  /** `value`: as encodeBlobIndex makes it. */
  blobIndex(key: Uint8Array, value: Uint8Array, columnFamily = 0): void {
    this.entry(ValueType.blobIndex, ValueType.columnFamilyBlobIndex, columnFamily, key, value);
  }

  /** `value`: as encodeWideColumns makes it. */
  entity(key: Uint8Array, value: Uint8Array, columnFamily = 0): void {
    this.entry(ValueType.wideColumnEntity, ValueType.columnFamilyWideColumnEntity, columnFamily, key, value);
  }

  /** `writeTime`: seconds since 1970. */
  timedPut(key: Uint8Array, value: Uint8Array, writeTime: bigint, columnFamily = 0): void {
    const packed = new ByteWriter(value.length + 8);
    packed.append(value);
    packed.fixed64(writeTime);
    const { valuePreferredSeqno, columnFamilyValuePreferredSeqno } = ValueType;
    this.entry(valuePreferredSeqno, columnFamilyValuePreferredSeqno, columnFamily, key, packed.view());
  }

  logData(bytes: Uint8Array): void {
    this.mark(ValueType.logData, bytes);
  }

  noop(): void {
    this.mark(ValueType.noop);
  }

  /** `persisted`: the operations are also written to memtables before the commit; `unprepared`: and before all are known. */
  beginPrepare(kind: 'plain' | 'persisted' | 'unprepared' = 'plain'): void {
    const { beginPrepareXid, beginPersistedPrepareXid, beginUnprepareXid } = ValueType;
    const tags = {
      plain: beginPrepareXid,
      persisted: beginPersistedPrepareXid,
      unprepared: beginUnprepareXid,
    };
    this.mark(tags[kind]);
  }

  endPrepare(xid: Uint8Array): void {
    this.mark(ValueType.endPrepareXid, xid);
  }

  commit(xid: Uint8Array, timestamp?: Uint8Array): void {
    if (timestamp === undefined) this.mark(ValueType.commitXid, xid);
    else this.mark(ValueType.commitXidAndTimestamp, timestamp, xid);
  }

  rollback(xid: Uint8Array): void {
    this.mark(ValueType.rollbackXid, xid);
  }

  /** The batch with `seqno` for its first operation, as a view: valid until the next call. */
  finish(seqno: bigint): Uint8Array {
    const bytes = this.out.view();
    writeFixed64(bytes, 0, seqno);
    writeFixed32(bytes, 8, this.count);
    return bytes;
  }

  private entry(plain: number, withFamily: number, columnFamily: number, ...fields: Uint8Array[]): void {
    const { out } = this;
    out.byte(columnFamily === 0 ? plain : withFamily);
    if (columnFamily !== 0) out.varint(columnFamily);
    for (const field of fields) out.lengthPrefixed(field);
    this.count++;
  }

  private mark(tag: number, ...fields: Uint8Array[]): void {
    if (fields.length !== BATCH_LAYOUTS.get(tag)!.fields.length) throw new Error(`fields of tag ${tag}`);
    this.out.byte(tag);
    for (const field of fields) this.out.lengthPrefixed(field);
  }
}
