import { readFixed64 } from '../bytes/fixed.ts';
import { SstError } from '../errors.ts';
import {
  type BlobIndex,
  decodeBlobIndex,
  decodeWideColumns,
  type WideColumn,
} from '../format/entry-value.ts';
import { type BatchOperation, WRITE_TIME_SIZE } from '../format/wal/write-batch.ts';

/** One operation of a write batch, decoded as far as it has a structure; members are there by its type. */
export interface OperationView {
  /** `put` ...; `type_<n>` where the tag is not known. */
  readonly type: string;
  /** Of entries, as those below. */
  readonly columnFamily?: number;
  /** Decimal; undefined where the batch does not say it. */
  readonly seqno?: string | undefined;
  /** The user key; of a range deletion its start. */
  readonly key?: Uint8Array;
  /** Of a range deletion. */
  readonly end?: Uint8Array;
  /** Of the key, or of a commit. */
  readonly timestamp?: Uint8Array | undefined;
  readonly value?: Uint8Array;
  readonly columns?: readonly WideColumn[];
  readonly blob?: BlobIndex;
  /** Of a `put_preferred_seqno`: seconds since 1970. */
  readonly writeTime?: bigint;
  /** Of what is no entry: its data, or the id of its transaction. */
  readonly bytes?: Uint8Array;
  /** Why a value with a structure could not be decoded; it is then in `value` as it is stored. */
  readonly fault?: SstError;
}

export function operationView(operation: BatchOperation): OperationView {
  const { type, isEntry, columnFamily, key, timestamp, value } = operation;
  if (!isEntry) return { type, timestamp, bytes: value };
  const seqno = operation.seqno?.toString();
  const entry = { type, columnFamily, seqno, key, timestamp };
  try {
    switch (type) {
      case 'delete':
      case 'single_delete':
        return entry;
      case 'range_delete':
        return { ...entry, end: value };
      case 'blob_index':
        return { ...entry, blob: decodeBlobIndex(value, 0, value.length) };
      case 'entity':
        return { ...entry, columns: decodeWideColumns(value, 0, value.length) };
      case 'put_preferred_seqno': {
        const length = value.length - WRITE_TIME_SIZE;
        return { ...entry, value: value.subarray(0, length), writeTime: readFixed64(value, length) };
      }
      default:
        return { ...entry, value };
    }
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return { ...entry, value, fault: error };
  }
}
