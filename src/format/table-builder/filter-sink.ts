/**
 * What the table builder needs of whoever builds filters. Keys are user keys without their timestamps, in order,
 * one for each point entry; range tombstones are not told.
 */

/** One filter for the whole table. FullFilterBuilder (src/format/filter) is one. */
export interface FullFilterSink {
  readonly kind: 'full';
  addKey(bytes: Uint8Array, start: number, end: number): void;
  /** Hashes in the filter: property `rocksdb.num.filter_entries`. */
  readonly entries: number;
  /** The block's contents; undefined when there is nothing to write. Called once. */
  finish(): Uint8Array | undefined;
}

/** One block of a partitioned filter, and the internal key up to which it answers. */
export interface FilterPartition {
  readonly key: Uint8Array;
  readonly contents: Uint8Array;
}

/**
 * A filter in partitions (PartitionedFilterBuilder). Coupled to the index (`decoupled` false) it says that it has taken enough (`isFull`), the
 * index is cut at its next entry, and then `cut` closes the partition. Decoupled it cuts itself, before it takes the
 * key that it is given.
 */
export interface PartitionedFilterSink {
  readonly kind: 'partitioned';
  readonly decoupled: boolean;
  addKey(bytes: Uint8Array, start: number, end: number): void;
  readonly entries: number;
  /** The partition under construction has as many keys as it should. */
  readonly isFull: boolean;
  /**
   * Closes the partition with `separator` (internal key). The key to come is `bytes[start, end)`; none follows
   * where `bytes` is undefined.
   */
  cut(separator: Uint8Array, bytes: Uint8Array | undefined, start: number, end: number): void;
  /** All partitions in order. Called once. */
  finish(): readonly FilterPartition[];
}

/**
 * LevelDB's filter: one block with a filter for every 2 KiB of the file. `startBlock` is told the offset of each
 * data block before its keys.
 */
export interface LevelDbFilterSink {
  readonly kind: 'leveldb';
  addKey(bytes: Uint8Array, start: number, end: number): void;
  startBlock(offset: number): void;
  readonly entries: number;
  /** The block's contents; there is one also for a table without keys. */
  finish(): Uint8Array;
}

export type FilterSink = FullFilterSink | PartitionedFilterSink | LevelDbFilterSink;
