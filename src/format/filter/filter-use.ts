import { type PrefixExtractor, prefixExtractorByName } from '../../operators/prefix-extractor.ts';
import type { TableProperties } from '../properties.ts';

/** How a table's filter may be asked. */
export interface FilterUse {
  /** By whole keys. */
  readonly wholeKeys: boolean;
  /** By prefixes that this makes. */
  readonly prefixExtractor: PrefixExtractor | undefined;
}

/**
 * What a table's properties say of its filter. `configured` are extractors of the application, and the one that a
 * user has set: where the file's is RocksDB's own it is known by its name alone.
 */
export function filterUse(
  properties: TableProperties | undefined,
  configured: readonly PrefixExtractor[] = [],
): FilterUse {
  const named = prefixExtractorByName(properties?.get('rocksdb.prefix.extractor.name'), configured);
  const hasPrefixes = properties?.get('rocksdb.block.based.table.prefix.filtering') !== false;
  return {
    wholeKeys: properties?.get('rocksdb.block.based.table.whole.key.filtering') !== false,
    prefixExtractor: hasPrefixes && named.status === 'known' ? named.extractor : undefined,
  };
}

/**
 * The end of what a filter is to be asked for the user key `key[start, end)`, without timestamp, in a lookup of that
 * key: `end`, the end of its prefix, or -1 where the filter has no say.
 */
export function filterProbeEnd(use: FilterUse, key: Uint8Array, start: number, end: number): number {
  if (use.wholeKeys) return end;
  const { prefixExtractor } = use;
  if (prefixExtractor === undefined || !prefixExtractor.inDomain(key, start, end)) return -1;
  return prefixExtractor.prefixEnd(key, start, end);
}
