import type { KeyHash } from '../../hash/key-hash.ts';
import { createFilterBuilder } from '../filter/create-filter-builder.ts';
import { FullFilterBuilder } from '../filter/full-filter-builder.ts';
import { filterPartitionBytes, PartitionedFilterBuilder } from '../filter/partitioned-filter-builder.ts';
import type { FilterSink } from './filter-sink.ts';
import { LevelDbFilterBuilder } from './leveldb-filter-builder.ts';
import type { ResolvedTableOptions } from './table-options.ts';

/** The filter that the options ask for; undefined for none. */
export function openFilterSink(options: ResolvedTableOptions, keyHash: KeyHash): FilterSink | undefined {
  const { filterPolicy, writerProfile, formatVersion, level, prefixExtractor } = options;
  if (filterPolicy === undefined) return undefined;
  if (writerProfile === 'leveldb') return new LevelDbFilterBuilder(filterPolicy.bitsPerKey);
  const origin = level === undefined ? { formatVersion } : { formatVersion, level };
  const builder = createFilterBuilder(filterPolicy, origin, keyHash);
  if (builder === undefined) return undefined;
  const content = {
    wholeKeys: options.wholeKeyFiltering,
    prefixExtractor,
    rules: writerProfile === '7.8' ? 'before_9_6' : 'current',
  } as const;
  if (!options.partitionFilters) return new FullFilterBuilder(builder, content);
  return new PartitionedFilterBuilder(builder, {
    ...content,
    partitionBytes: filterPartitionBytes(options.metadataBlockSize, options.blockSizeDeviation),
    decoupled: options.decouplePartitionedFilters,
    timestampSize: options.storedComparator.timestampSize,
  });
}
