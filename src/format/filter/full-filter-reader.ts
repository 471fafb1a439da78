import type { KeyHash } from '../../hash/key-hash.ts';
import type { FilterCounters, FilterReader } from './filter-reader.ts';
import { type FilterUse, filterProbeEnd } from './filter-use.ts';
import { openFilter } from './open-filter.ts';

/**
 * A full filter as lookups see it: its block as it stands in a cache, and what the table says of its contents. What
 * is cached is the parsed reader with its bytes; its metadata is decoded once, here, and not again by lookups.
 */
export class FullFilterReader {
  private readonly reader: FilterReader;

  constructor(
    contents: Uint8Array,
    private readonly use: FilterUse,
    counters?: FilterCounters,
  ) {
    this.reader = openFilter(contents, counters);
  }

  /** Whether the user key `key[start, end)`, without timestamp, may be in the table. */
  keyMayMatch(hash: KeyHash, key: Uint8Array, start: number, end: number): boolean {
    const probeEnd = filterProbeEnd(this.use, key, start, end);
    return probeEnd < 0 || this.reader.mayContain(hash, key, start, probeEnd);
  }
}
