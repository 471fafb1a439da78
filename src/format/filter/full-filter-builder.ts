import { type AddedKeys, createAddedKeys, type FilterContent } from './added-keys.ts';
import type { FilterBuilder } from './filter-builder.ts';

/** Builds the one filter of a table from its point entries, in key order. */
export class FullFilterBuilder {
  readonly kind = 'full';
  private readonly filter: FilterBuilder;
  private readonly keys: AddedKeys;

  constructor(filter: FilterBuilder, content: FilterContent) {
    this.filter = filter;
    this.keys = createAddedKeys(filter, content);
  }

  /** The user key `bytes[start, end)`, without timestamp, of the next point entry. */
  addKey(bytes: Uint8Array, start: number, end: number): void {
    this.keys.add(bytes, start, end);
  }

  /** Property `rocksdb.num.filter_entries`. */
  get entries(): number {
    return this.filter.entries;
  }

  /** The block's contents. Undefined when nothing was added: then neither block nor metaindex entry is written. */
  finish(): Uint8Array | undefined {
    return this.filter.entries === 0 ? undefined : this.filter.finish();
  }
}
