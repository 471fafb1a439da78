import { UnsupportedError } from '../../errors.ts';
import type { BlockHandle } from '../block-handle.ts';
import type { BlockType } from '../block-type.ts';
import { TRAILER_SIZE } from '../internal-key.ts';
import type { TableReader } from '../table-reader.ts';
import { findFilterBlock } from './filter-block.ts';
import { FilterPartitionIndex } from './filter-partition-index.ts';
import type { FilterCounters, FilterReader } from './filter-reader.ts';
import { openFilter } from './open-filter.ts';

/**
 * The filter of a table that a reader of today's releases asks: one block for all keys, or partitions. It holds
 * the index over the partitions, none of the filters: `open` reads one.
 */
export class TableFilter {
  constructor(
    private readonly table: TableReader,
    /** The full filter, or the index over the partitions. */
    readonly handle: BlockHandle,
    /** Undefined for a full filter. */
    readonly partitions: FilterPartitionIndex | undefined,
    private readonly counters: FilterCounters | undefined,
  ) {}

  /** Filters to open: one, or one a partition. */
  get count(): number {
    return this.partitions?.count ?? 1;
  }

  get blockType(): BlockType {
    return this.partitions === undefined ? 'filter' : 'filter_partition';
  }

  /** Where filter `ordinal` lies. */
  handleOf(ordinal: number): BlockHandle {
    const { partitions } = this;
    if (partitions === undefined) return this.handle;
    return { offset: partitions.offsets[ordinal]!, size: partitions.sizes[ordinal]! };
  }

  /** Which filter knows the internal key `key[start, end)`; -1 where there is none, and thus no such key. */
  find(key: Uint8Array, start: number, end: number): number {
    return this.partitions === undefined ? 0 : this.partitions.find(key, start, end);
  }

  /** The internal key at which a seek for the user key `bytes[start, end)`, or a prefix, begins: the newest. */
  seekTarget(bytes: Uint8Array, start: number, end: number): Uint8Array {
    const suffix = this.table.storedTimestampSize + TRAILER_SIZE;
    const target = new Uint8Array(end - start + suffix).fill(0xff, end - start);
    target.set(bytes.subarray(start, end));
    return target;
  }

  /** Reads a filter. Throws CorruptionError. */
  open(ordinal: number): FilterReader {
    const contents = this.table.blocks.read(this.handleOf(ordinal), this.blockType);
    return openFilter(contents, this.counters);
  }
}

/**
 * Undefined where the table has no filter that is read today. Throws CorruptionError, and UnsupportedError where
 * partitions cannot be told apart because the comparator is not known.
 */
export function openTableFilter(table: TableReader, counters?: FilterCounters): TableFilter | undefined {
  const found = findFilterBlock(table.metaindex ?? []);
  if (found === undefined || found.layout === 'per_block') return undefined;
  const { entry } = found;
  if (found.layout === 'full') return new TableFilter(table, entry, undefined, counters);
  const { index, storedComparator } = table;
  if (index === undefined || storedComparator === undefined) {
    throw new UnsupportedError(
      'partitioned filter',
      table.comparatorName ?? 'unknown',
      'which partition of the filter knows a key is told by index encoding and comparator, which are not known',
      table.blocks.place(entry.offset, 'filter_index'),
    );
  }
  const contents = table.blocks.read(entry, 'filter_index');
  const partitions = table.decoding(
    entry,
    'filter_index',
    () => new FilterPartitionIndex(contents, index, storedComparator),
  );
  return new TableFilter(table, entry, partitions, counters);
}
