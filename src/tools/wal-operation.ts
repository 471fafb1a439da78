import { readFixed64 } from '../bytes/fixed.ts';
import { SstError } from '../errors.ts';
import {
  type BlobIndex,
  decodeBlobIndex,
  decodeWideColumns,
  type WideColumn,
} from '../format/entry-value.ts';
import { type BatchOperation, WRITE_TIME_SIZE } from '../format/wal/write-batch.ts';

/**
 * One operation of a write batch, decoded as far as it has a structure. All members are always there, as it is made
 * for each operation of a log: a dump with objects of many shapes took twice as long.
 */
export interface OperationView {
  /** `put` ...; `type_<n>` where the tag is not known. */
  readonly type: string;
  /** Of entries, as those below. */
  readonly columnFamily: number | undefined;
  /** Undefined where the batch does not say it. */
  readonly seqno: bigint | undefined;
  /** The user key; of a range deletion its start. */
  readonly key: Uint8Array | undefined;
  /** Of a range deletion. */
  readonly end: Uint8Array | undefined;
  /** Of the key, or of a commit. */
  readonly timestamp: Uint8Array | undefined;
  readonly value: Uint8Array | undefined;
  readonly columns: readonly WideColumn[] | undefined;
  readonly blob: BlobIndex | undefined;
  /** Of a `put_preferred_seqno`: seconds since 1970. */
  readonly writeTime: bigint | undefined;
  /** Of what is no entry: its data, or the id of its transaction. */
  readonly bytes: Uint8Array | undefined;
  /** Why a value with a structure could not be decoded; it is then in `value` as it is stored. */
  readonly fault: SstError | undefined;
}

export function operationView(operation: BatchOperation): OperationView {
  const { type, isEntry, seqno, timestamp } = operation;
  if (!isEntry) return otherView(type, operation.value, timestamp);
  const { columnFamily, key } = operation;
  let value: Uint8Array | undefined = operation.value;
  let end: Uint8Array | undefined;
  let columns: WideColumn[] | undefined;
  let blob: BlobIndex | undefined;
  let writeTime: bigint | undefined;
  let fault: SstError | undefined;
  try {
    switch (type) {
      case 'delete':
      case 'single_delete':
        value = undefined;
        break;
      case 'range_delete':
        end = value;
        value = undefined;
        break;
      case 'blob_index':
        blob = decodeBlobIndex(value, 0, value.length);
        value = undefined;
        break;
      case 'entity':
        columns = decodeWideColumns(value, 0, value.length);
        value = undefined;
        break;
      case 'put_preferred_seqno': {
        const length = value.length - WRITE_TIME_SIZE;
        writeTime = readFixed64(value, length);
        value = value.subarray(0, length);
      }
    }
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    fault = error;
  }
  const bytes = undefined;
  return { type, columnFamily, seqno, key, end, timestamp, value, columns, blob, writeTime, bytes, fault };
}

/** What is no entry. */
export function otherView(type: string, bytes: Uint8Array, timestamp: Uint8Array | undefined): OperationView {
  return {
    type,
    columnFamily: undefined,
    seqno: undefined,
    key: undefined,
    end: undefined,
    timestamp,
    value: undefined,
    columns: undefined,
    blob: undefined,
    writeTime: undefined,
    bytes,
    fault: undefined,
  };
}
