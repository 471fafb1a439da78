import { TRAILER_SIZE } from '../internal-key.ts';
import { type AddedKeys, createAddedKeys, type FilterContent, KeptBytes } from './added-keys.ts';
import type { FilterBuilder } from './filter-builder.ts';

export interface PartitionedFilterOptions extends FilterContent {
  /** Bytes of a partition, metadata included: `filterPartitionBytes`. */
  readonly partitionBytes: number;
  /** Partitions end where they are full (property `decoupled.partitioned.filters` = "1"). Default false. */
  readonly decoupled?: boolean;
  /** Bytes of timestamp that the comparator's keys end in: the border keys of decoupled partitions get zeros. */
  readonly timestampSize?: number;
}

/** One partition, with the key of its entry in the top-level index. */
export interface FilterPartition {
  /** Internal key; an index of user keys takes the user key of it. */
  readonly key: Uint8Array;
  /** The partition block's contents; empty when nothing was added between two cuts. */
  readonly contents: Uint8Array;
}

/** How large a partition may get: below the target, because a cut has to wait for the end of a data block. */
export function filterPartitionBytes(metadataBlockSize: number, blockSizeDeviation: number): number {
  return Math.max(1, Math.ceil((metadataBlockSize * (100 - blockSizeDeviation)) / 100));
}

/**
 * Builds the filter partitions of a table from its point entries, in key order. The table builder writes them one
 * behind the other, then a top-level index over them, encoded like the table's index.
 *
 * Coupled, the two-level index cuts. Before each key, behind the index entry of a block that ended:
 *
 *   if (filter.isFull) ask the index for a cut
 *   if (the index was cut since it was asked last) filter.cut(key of the last index entry, key)
 *   filter.addKey(key)
 *
 * and one more cut behind the last index entry. A full partition asks at the key at which it is cut too, so that
 * the index cuts again behind the next data block: RocksDB's files are so. The index cuts before the entry of the
 * block that ended, the filter behind its keys: a filter partition ends one data block behind the index partition.
 * Source: RocksDB table/block_based/partitioned_filter_block.cc.
 */
export class PartitionedFilterBuilder {
  readonly kind = 'partitioned';
  readonly decoupled: boolean;
  private readonly filter: FilterBuilder;
  private readonly keys: AddedKeys;
  private readonly timestampSize: number;
  private readonly oldRules: boolean;
  private readonly keysPerPartition: number;
  private readonly keepsLastKey: boolean;
  private readonly lastKey = new KeptBytes();
  private readonly partitions: FilterPartition[] = [];
  private finishedEntries = 0;

  constructor(filter: FilterBuilder, options: PartitionedFilterOptions) {
    this.decoupled = options.decoupled ?? false;
    this.filter = filter;
    this.keys = createAddedKeys(filter, options);
    this.timestampSize = options.timestampSize ?? 0;
    this.oldRules = options.rules === 'before_9_6';
    const keys = keysOfPartition(filter, options.partitionBytes);
    // The prefix of the next key comes in after the threshold was looked at.
    const makesRoom = options.prefixExtractor !== undefined && !this.oldRules && keys > 1;
    this.keysPerPartition = makesRoom ? keys - 1 : keys;
    this.keepsLastKey = this.decoupled || options.prefixExtractor !== undefined;
  }

  /** The user key `bytes[start, end)`, without timestamp, of the next point entry. */
  addKey(bytes: Uint8Array, start: number, end: number): void {
    if (this.decoupled && this.isFull) this.cut(this.borderKey(), bytes, start, end);
    this.keys.add(bytes, start, end);
    if (this.keepsLastKey) this.lastKey.set(bytes, start, end);
  }

  /** The partition under construction has as many keys as it should. */
  get isFull(): boolean {
    return this.keys.isFull(this.keysPerPartition);
  }

  /**
   * Closes the partition; `key` is the internal key of its entry. The key to come is `bytes[start, end)`; none
   * follows where `bytes` is undefined. Called by the table builder of coupled partitions only.
   */
  cut(key: Uint8Array, bytes: Uint8Array | undefined, start: number, end: number): void {
    if (bytes !== undefined) this.keys.beforeCut(bytes, start, end);
    else if (this.filter.entries === 0 && !this.oldRules) return;
    this.finishedEntries += this.filter.entries;
    this.partitions.push({ key: key.slice(), contents: this.filter.finish() });
    if (bytes !== undefined) this.keys.afterCut(this.lastKey.bytes, 0, this.lastKey.length);
  }

  /** Property `rocksdb.num.filter_entries`. */
  get entries(): number {
    return this.finishedEntries + this.filter.entries;
  }

  /** All partitions. None when nothing was added: then neither blocks nor metaindex entry are written. */
  finish(): readonly FilterPartition[] {
    if (this.filter.entries > 0) {
      if (!this.decoupled) throw new Error('the last filter partition was not cut');
      this.cut(this.borderKey(), undefined, 0, 0);
    }
    return this.oldRules && this.finishedEntries === 0 ? [] : this.partitions;
  }

  /** Decoupled: the last key with sequence number 0, type 0 and the smallest timestamp, behind all its versions. */
  private borderKey(): Uint8Array {
    const { bytes, length } = this.lastKey;
    const key = new Uint8Array(length + this.timestampSize + TRAILER_SIZE);
    key.set(bytes.subarray(0, length));
    return key;
  }
}

/** At least one: sizes below the smallest filter are raised until something fits. */
function keysOfPartition(filter: FilterBuilder, partitionBytes: number): number {
  let entries = filter.entriesFor(partitionBytes);
  for (let size = Math.max(partitionBytes + 4, 16); entries < 1; size += Math.floor(size / 4)) {
    if (size > 100_000) return partitionBytes;
    entries = filter.entriesFor(size);
  }
  return entries;
}
