import type { BlobIndex } from '../../format/entry-value.ts';
import type { Comparator } from '../../operators/comparator.ts';

/** What an open table says of its keys. */
export interface ObservedTable {
  readonly comparatorName: string | undefined;
  /** Order of user keys as they are stored; undefined where it is not known here. */
  readonly order: Comparator | undefined;
  /** Bytes of timestamp that each stored user key ends in. */
  readonly timestampSize: number;
  /** Was written for ingestion: the database may count another sequence number than the stored ones. */
  readonly isExternal: boolean;
}

/** Sees what a table holds while it is checked, to compare it with what others say of it. */
export interface TableObserver {
  /** Before any key. Not called where the table cannot be opened. */
  opened(table: ObservedTable): void;
  /**
   * Internal keys of point entries, at least the first and the last of each block that could be read.
   * `key[0, length)` is valid during the call.
   */
  point(key: Uint8Array, length: number): void;
  /** A reference to a value elsewhere, in the entry with the internal key `key[0, length)`; of an entity each column's. */
  blob(key: Uint8Array, length: number, blob: BlobIndex): void;
  /** A range tombstone: internal key of its start, and end user key `data[endStart, endEnd)`. */
  tombstone(key: Uint8Array, length: number, data: Uint8Array, endStart: number, endEnd: number): void;
  /** Stored sequence numbers of all entries and tombstones that were read; not called for none. */
  seqnos(smallest: number, largest: number): void;
}
