import { SstError } from '../../errors.ts';
import type { BlockHandle } from '../../format/block-handle.ts';
import { FILTER_METADATA_BYTES } from '../../format/filter/filter-metadata.ts';
import type { MetaindexEntry } from '../../format/metaindex.ts';
import { BLOCK_FILTER_PREFIX } from '../../format/metaindex.ts';
import type { BlockOrder } from './block-order.ts';
import { type FilterParameters, isFilterNameRead, recogniseFilter } from './filter-kind.ts';
import { type DumpSubject, filterEntryOf, isPartitionedFilter } from './open-subject.ts';

export interface FilterSummary extends FilterParameters {
  readonly metaindexName: string;
  /** Whether a reader looks for a filter of this name; otherwise nothing ever asks it. */
  readonly isRead: boolean;
  /** 0: one filter for the whole file. */
  readonly partitions: number;
  /** Bytes of the filter, or of all partitions, without trailers and without the index over them. */
  readonly bytes: number;
  /** Property `rocksdb.num.filter_entries`: keys and prefixes that were added. */
  readonly entries: number | undefined;
  readonly bitsPerKey: number | undefined;
  readonly wholeKeys: boolean;
  /** Name of the extractor whose prefixes were added. */
  readonly prefixExtractor: string | undefined;
}

/** The filter of a block-based table; null where it has none. */
export function describeFilter(subject: DumpSubject): FilterSummary | null {
  const { table, properties, order } = subject;
  const entry = filterEntryOf(subject.metaindex);
  if (table === undefined || entry === undefined) return null;
  const handles = isPartitionedFilter(entry) ? blocksOf(order, 'filter_partition') : [entry];
  const parameters = parametersOf(subject, entry, handles);
  const bytes = handles.reduce((sum, { size }) => sum + size, 0);
  const entries = properties?.count('rocksdb.num.filter_entries');
  const metadataBytes = parameters.kind === 'block_based' ? 0 : FILTER_METADATA_BYTES * handles.length;
  const prefixExtractor = properties?.get('rocksdb.prefix.extractor.name');
  const hasPrefixes = prefixExtractor !== undefined && prefixExtractor !== 'nullptr';
  const usesPrefixes = properties?.get('rocksdb.block.based.table.prefix.filtering') !== false;
  return {
    ...parameters,
    metaindexName: entry.name,
    isRead: isFilterNameRead(entry.name, table.family === 'leveldb'),
    partitions: isPartitionedFilter(entry) ? handles.length : 0,
    bytes,
    entries,
    bitsPerKey: entries === undefined || entries === 0 ? undefined : (8 * (bytes - metadataBytes)) / entries,
    wholeKeys: properties?.get('rocksdb.block.based.table.whole.key.filtering') !== false,
    prefixExtractor: hasPrefixes && usesPrefixes ? prefixExtractor : undefined,
  };
}

function parametersOf(
  subject: DumpSubject,
  entry: MetaindexEntry,
  handles: readonly BlockHandle[],
): FilterParameters {
  if (entry.name.startsWith(BLOCK_FILTER_PREFIX)) return { kind: 'block_based' };
  let all: FilterParameters | undefined;
  for (const handle of handles) {
    const one = readParameters(subject, handle);
    // A partition to which nothing was added says nothing of the others.
    if (all === undefined || all.kind === 'always_false') all = one;
    else if (one.kind !== all.kind && one.kind !== 'always_false') return { kind: 'mixed' };
  }
  if (all === undefined) return { kind: isPartitionedFilter(entry) ? 'always_false' : 'unreadable' };
  if (handles.length === 1) return all;
  // Sizes and seeds are those of one partition.
  return all.probes === undefined ? { kind: all.kind } : { kind: all.kind, probes: all.probes };
}

/** The last bytes of the block alone: whether its checksum holds is seen elsewhere. */
function readParameters({ source }: DumpSubject, { offset, size }: BlockHandle): FilterParameters {
  if (offset + size > source.size) return { kind: 'unreadable' };
  const length = Math.min(size, FILTER_METADATA_BYTES);
  try {
    return recogniseFilter(size, source.read(offset + size - length, length));
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return { kind: 'unreadable' };
  }
}

function blocksOf(order: BlockOrder, type: 'filter_partition'): BlockHandle[] {
  const handles: BlockHandle[] = [];
  for (let i = 0; i < order.count; i++) if (order.typeAt(i) === type) handles.push(order.at(i));
  return handles;
}
