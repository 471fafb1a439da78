import {
  BLOCK_FILTER_PREFIX,
  FULL_FILTER_PREFIX,
  type MetaindexEntry,
  PARTITIONED_FILTER_PREFIX,
} from '../metaindex.ts';
import { BUILTIN_FILTER_NAME } from './filter-policy.ts';

/**
 * How a table's filter is laid out: one filter for all keys; a top-level index over partitions; or `per_block`, one
 * small filter for every 2 KiB of file, which RocksDB wrote before 7.0 and reads no more (LevelDB still does).
 */
export type FilterLayout = 'full' | 'partitioned' | 'per_block';

export interface FilterBlock {
  readonly layout: FilterLayout;
  readonly entry: MetaindexEntry;
}

const LAYOUTS: readonly (readonly [string, FilterLayout])[] = [
  [FULL_FILTER_PREFIX, 'full'],
  [PARTITIONED_FILTER_PREFIX, 'partitioned'],
  [BLOCK_FILTER_PREFIX, 'per_block'],
];

/**
 * The filter that a reader with RocksDB's built-in policies looks for, in its order; undefined where there is none.
 * Filters of other names are the application's own, and a `per_block` one is recognised, not used.
 * Source: RocksDB table/block_based/block_based_table_reader.cc, PrefetchIndexAndFilterBlocks.
 */
export function findFilterBlock(metaindex: readonly MetaindexEntry[]): FilterBlock | undefined {
  for (const [prefix, layout] of LAYOUTS) {
    const entry = metaindex.find(({ name }) => name === prefix + BUILTIN_FILTER_NAME);
    if (entry !== undefined) return { layout, entry };
  }
  return undefined;
}
