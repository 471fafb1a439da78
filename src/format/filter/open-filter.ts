import { FastLocalBloomReader, LegacyBloomReader } from './bloom-readers.ts';
import { ConstantReader } from './constant-reader.ts';
import { decodeFilterMetadata, FILTER_METADATA_BYTES } from './filter-metadata.ts';
import type { FilterCounters, FilterReader } from './filter-reader.ts';
import { RibbonReader } from './ribbon-reader.ts';

/** Decodes the metadata of a filter block or partition; never throws: what is not known lets every key pass. */
export function openFilter(contents: Uint8Array, counters?: FilterCounters): FilterReader {
  if (counters !== undefined) counters.filterMetadataParses++;
  const metadata = contents.subarray(Math.max(0, contents.length - FILTER_METADATA_BYTES));
  const facts = decodeFilterMetadata(contents.length, metadata);
  switch (facts.kind) {
    case 'fast_local_bloom':
      return new FastLocalBloomReader(facts, contents);
    case 'legacy_bloom':
      return new LegacyBloomReader(facts, contents);
    case 'ribbon':
      return new RibbonReader(facts, contents);
    default:
      return new ConstantReader(facts);
  }
}
