import { SstError } from '../../errors.ts';
import type { ParsedBlock } from '../../format/block/parsed-block.ts';
import type { SeekTarget } from '../../format/block/seek-target.ts';
import type { BlockHandle } from '../../format/block-handle.ts';
import { findFilterBlock } from '../../format/filter/filter-block.ts';
import type { FilterReader } from '../../format/filter/filter-reader.ts';
import { IndexCursor } from '../../format/index/index-cursor.ts';
import type { TableReader } from '../../format/table-reader.ts';
import type { KeyHash } from '../../hash/key-hash.ts';
import type { BlockStore } from './block-store.ts';

/** What of a filter is kept by its table, and where. */
export interface FilterKeeping {
  /** Of a full filter the filter, of a partitioned one the index over its partitions. */
  readonly top: boolean;
  readonly partitions: boolean;
  /** In the cache, where it counts, or beside it. */
  readonly inCache: boolean;
}

/**
 * The filter of one table, as a look-up asks it. A filter that cannot be read denies nothing: `problem` says why.
 *
 * Which partition knows a key is told by the index over them, as for a data block: the first whose border is not
 * before the key, else the last. Its neighbour before it is asked, too, where a search goes backwards: tables from
 * before RocksDB 9.6 do not always add the last prefix of a partition to the one behind it.
 */
export class TableFilter {
  problem: SstError | undefined;
  private readonly heldFilter: FilterReader | undefined;
  private readonly heldIndex: ParsedBlock | undefined;
  private readonly heldPartitions: ReadonlyMap<number, FilterReader> | undefined;
  private readonly partitions: IndexCursor | undefined;

  private constructor(
    private readonly handle: BlockHandle,
    isPartitioned: boolean,
    table: TableReader,
    private readonly store: BlockStore,
    private readonly hash: KeyHash,
    keeping: FilterKeeping,
  ) {
    if (isPartitioned) this.partitions = new IndexCursor({ ...table.index!, firstKeys: false });
    try {
      if (!isPartitioned) {
        if (keeping.top) this.heldFilter = store.keepFilter('filter', handle, keeping.inCache);
        return;
      }
      if (keeping.top || keeping.partitions) this.heldIndex = store.keepFilterIndex(handle, keeping.inCache);
      if (keeping.partitions) this.heldPartitions = this.keepPartitions(keeping.inCache);
    } catch (error) {
      this.deny(error);
    }
  }

  /** The filter of a table; undefined where it has none that is read here. */
  static open(
    table: TableReader,
    store: BlockStore,
    hash: KeyHash,
    keeping: FilterKeeping,
  ): TableFilter | undefined {
    const found = table.metaindex === undefined ? undefined : findFilterBlock(table.metaindex);
    if (found === undefined || found.layout === 'per_block' || table.index === undefined) return undefined;
    return new TableFilter(found.entry, found.layout === 'partitioned', table, store, hash, keeping);
  }

  /** Whether one reader answers for all keys: then many are asked at once. */
  get isFull(): boolean {
    return this.partitions === undefined;
  }

  /** The full filter; undefined where it cannot be read. */
  full(): FilterReader | undefined {
    if (this.problem !== undefined) return undefined;
    if (this.heldFilter !== undefined) return this.heldFilter;
    try {
      return this.store.filter('filter', this.handle.offset, this.handle.size);
    } catch (error) {
      return this.deny(error);
    }
  }

  /**
   * Whether the table may have the key or prefix that are the first `end` bytes of the target's user key. False is
   * certain for point entries, and says nothing of range tombstones.
   */
  mayContain(target: SeekTarget, end: number): boolean {
    const reader = this.isFull ? this.full() : this.partitionOf(target);
    return reader === undefined || reader.mayContain(this.hash, target.key, 0, end);
  }

  /** The same for a search backwards from the target, by prefix. */
  mayContainBefore(target: SeekTarget, end: number): boolean {
    if (this.mayContain(target, end)) return true;
    if (this.isFull || !this.partitions!.previous()) return false;
    const reader = this.partition();
    return reader === undefined || reader.mayContain(this.hash, target.key, 0, end);
  }

  private partitionOf(target: SeekTarget): FilterReader | undefined {
    if (this.problem !== undefined) return undefined;
    const { partitions, handle } = this;
    try {
      partitions!.load(this.heldIndex ?? this.store.filterIndex(handle.offset, handle.size));
      if (!partitions!.seek(target) && !partitions!.seekToLast()) return undefined;
    } catch (error) {
      return this.deny(error);
    }
    return this.partition();
  }

  private partition(): FilterReader | undefined {
    const { offset, size } = this.partitions!;
    const held = this.heldPartitions?.get(offset);
    if (held !== undefined) return held;
    try {
      return this.store.filter('filter_partition', offset, size);
    } catch (error) {
      return this.deny(error);
    }
  }

  private keepPartitions(inCache: boolean): Map<number, FilterReader> {
    const kept = new Map<number, FilterReader>();
    const partitions = this.partitions!;
    partitions.load(this.heldIndex!);
    while (partitions.next()) {
      kept.set(partitions.offset, this.store.keepFilter('filter_partition', partitions, inCache));
    }
    return kept;
  }

  /** A damaged filter is not asked again. A signal of the source, or a bug, passes through. */
  private deny(error: unknown): undefined {
    if (!(error instanceof SstError) || error.code === 'cache_full') throw error;
    // What has no place yet is about the index over the partitions.
    this.problem = this.store.placed(error, 'filter_index', this.handle.offset) as SstError;
    return undefined;
  }
}
