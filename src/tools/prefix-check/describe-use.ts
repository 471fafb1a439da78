import type { FilterLayout } from '../../format/filter/filter-block.ts';
import { findFilterBlock } from '../../format/filter/filter-block.ts';
import type { MetaindexEntry } from '../../format/metaindex.ts';
import type { TableReader } from '../../format/table-reader.ts';
import type { ExtractorMatch } from '../../operators/extractor-check.ts';
import { prefixExtractorByName } from '../../operators/prefix-extractor.ts';
import { filterEntryOf } from '../dump/open-subject.ts';

/** What lookups may ask a file's filter, and why not. */
export interface FilterUsability {
  /** There is a filter, under whatever name. */
  present: boolean;
  metaindexName: string | null;
  layout: FilterLayout | null;
  /** What is in it. */
  wholeKey: boolean;
  prefix: boolean;
  usableForPrefix: boolean;
  usableForWholeKey: boolean;
  /** Why it is not usable for prefixes, or not at all; null where it is usable for both that are in it. */
  reason: string | null;
}

/** Names that an early 7.0 wrote, and no other release looks for. */
const EARLY_7_0 = /^(?:full|partitioned)filter\.(?:bloomfilter|ribbonfilter)$/;

export function describeFilterUse(
  table: TableReader,
  match: ExtractorMatch,
  givenName: string | null,
): FilterUsability {
  const { metaindex, properties } = table;
  const found = findFilterBlock(metaindex ?? []);
  const entry = found?.entry ?? filterEntryOf(metaindex);
  const stored = properties?.get('rocksdb.prefix.extractor.name');
  const hasExtractor = prefixExtractorByName(stored).status !== 'none';
  const present = entry !== undefined;
  const wholeKey = present && properties?.get('rocksdb.block.based.table.whole.key.filtering') !== false;
  const prefixes =
    present && hasExtractor && properties?.get('rocksdb.block.based.table.prefix.filtering') !== false;
  const unread = unreadReason(entry, found?.layout);
  const mismatch = matchReason(match, stored, givenName);
  const notInIt = prefixes ? null : 'the filter has whole keys alone, no prefixes';
  return {
    present,
    metaindexName: entry?.name ?? null,
    layout: found?.layout ?? null,
    wholeKey,
    prefix: prefixes,
    usableForPrefix: unread === null && prefixes && mismatch === null,
    usableForWholeKey: unread === null && wholeKey,
    reason: unread ?? mismatch ?? notInIt,
  };
}

function unreadReason(entry: MetaindexEntry | undefined, layout: FilterLayout | undefined): string | null {
  if (entry === undefined) return 'the file has no filter';
  if (layout === 'per_block') return 'it is one filter a block, which RocksDB has not read since 7.0';
  if (layout !== undefined) return null;
  return EARLY_7_0.test(entry.name)
    ? `it is stored as ${entry.name}, the name of an early RocksDB 7.0: other releases do not look for it`
    : `it is stored as ${entry.name}, a name of the application's own: nobody else knows what is in it`;
}

/** Why the extractor that is given does not fit; null where it does. */
export function matchReason(
  match: ExtractorMatch,
  stored: string | undefined,
  givenName: string | null,
): string | null {
  switch (match) {
    case 'identity':
    case 'name':
      return null;
    case 'none_stored':
      return 'the file was written without a prefix extractor: nothing in it is made of prefixes';
    case 'none_given':
      return `the file has prefixes of ${stored}, and lookups have no prefix extractor`;
    case 'incompatible':
      return prefixExtractorByName(stored).status === 'incomplete'
        ? `the file says ${stored} without its length: whether that is ${givenName} cannot be known`
        : `the file has prefixes of ${stored}, lookups would ask for those of ${givenName}`;
  }
}
