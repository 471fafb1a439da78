import { compareBytes } from '../../bytes/compare.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import type { FilterBuilder } from './filter-builder.ts';

/** What a table's filter is made of: whole keys, prefixes, or both. */
export interface FilterContent {
  readonly wholeKeys: boolean;
  readonly prefixExtractor?: PrefixExtractor | undefined;
  /**
   * Which release's rules say what is added twice: since 9.6 (the default), or those before it. They decide the
   * bytes of filters that have both keys and prefixes, or partitions.
   */
  readonly rules?: 'current' | 'before_9_6';
}

/**
 * What is added to a filter for each point entry, in key order: the user key `bytes[start, end)`, without
 * timestamp. Range tombstones add nothing.
 */
export interface AddedKeys {
  add(bytes: Uint8Array, start: number, end: number): void;
  /** Whether a partition for `count` keys is full, as this release counts them. */
  isFull(count: number): boolean;
  /** Before a partition is cut: a search for a prefix may land in it that only its successor has. */
  beforeCut(next: Uint8Array, start: number, end: number): void;
  /** After it, with the last key of the partition: a search backwards may land in its successor. */
  afterCut(last: Uint8Array, start: number, end: number): void;
}

export function createAddedKeys(filter: FilterBuilder, content: FilterContent): AddedKeys {
  return content.rules === 'before_9_6'
    ? new OldAddedKeys(filter, content)
    : new CurrentAddedKeys(filter, content);
}

/** Source: RocksDB since 9.6, table/block_based/full_filter_block.cc, partitioned_filter_block.cc. */
class CurrentAddedKeys implements AddedKeys {
  private readonly filter: FilterBuilder;
  private readonly wholeKeys: boolean;
  private readonly extractor: PrefixExtractor | undefined;

  constructor(filter: FilterBuilder, content: FilterContent) {
    this.filter = filter;
    this.wholeKeys = content.wholeKeys;
    this.extractor = content.prefixExtractor;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const { extractor, filter, wholeKeys } = this;
    if (extractor === undefined || !extractor.inDomain(bytes, start, end)) {
      if (wholeKeys) filter.addKey(bytes, start, end);
      return;
    }
    const prefixEnd = extractor.prefixEnd(bytes, start, end);
    if (wholeKeys) filter.addKeyAndPrefix(bytes, start, prefixEnd, end);
    else filter.addKey(bytes, start, prefixEnd);
  }

  isFull(count: number): boolean {
    return this.filter.hasEntries(count);
  }

  beforeCut(next: Uint8Array, start: number, end: number): void {
    const { extractor, filter } = this;
    if (extractor === undefined || !extractor.inDomain(next, start, end)) return;
    const prefixEnd = extractor.prefixEnd(next, start, end);
    if (this.wholeKeys) filter.addKeyAndPrefix(next, start, prefixEnd, prefixEnd);
    else filter.addKey(next, start, prefixEnd);
  }

  afterCut(last: Uint8Array, start: number, end: number): void {
    const { extractor } = this;
    if (extractor === undefined || !extractor.inDomain(last, start, end)) return;
    this.filter.addKey(last, start, extractor.prefixEnd(last, start, end));
  }
}

/**
 * Keys first, then prefixes, and repetitions told by the bytes. A filter of prefixes alone gets the empty prefix
 * too, behind the first key: these releases add the "last prefix" of a partition before, and never set it.
 * Source: RocksDB 7.8.3, table/block_based/full_filter_block.cc, partitioned_filter_block.cc.
 */
class OldAddedKeys implements AddedKeys {
  private readonly filter: FilterBuilder;
  private readonly wholeKeys: boolean;
  private readonly extractor: PrefixExtractor | undefined;
  private readonly lastKey = new KeptBytes();
  private readonly lastPrefix = new KeptBytes();
  private hasKey = false;
  private hasPrefix = false;
  private lastWasInDomain = false;
  private added = 0;

  constructor(filter: FilterBuilder, content: FilterContent) {
    this.filter = filter;
    this.wholeKeys = content.wholeKeys;
    this.extractor = content.prefixExtractor;
  }

  add(bytes: Uint8Array, start: number, end: number): void {
    const { extractor, lastKey, lastPrefix } = this;
    if (!this.hasPrefix && this.lastWasInDomain) {
      this.addOne(lastPrefix.bytes, 0, lastPrefix.length);
      this.hasPrefix = true;
    }
    const inDomain = extractor?.inDomain(bytes, start, end) ?? false;
    if (this.wholeKeys && !inDomain) {
      this.addOne(bytes, start, end);
    } else if (this.wholeKeys && !(this.hasKey && lastKey.equals(bytes, start, end))) {
      this.addOne(bytes, start, end);
      this.hasKey = true;
      lastKey.set(bytes, start, end);
    }
    if (inDomain) this.addPrefix(bytes, start, extractor!.prefixEnd(bytes, start, end));
    this.lastWasInDomain = inDomain;
  }

  /** At the very count only: where a key adds two, it may be stepped over, and the index alone cuts. */
  isFull(count: number): boolean {
    return this.added === count;
  }

  beforeCut(next: Uint8Array, start: number, end: number): void {
    const { extractor } = this;
    if (extractor === undefined || !extractor.inDomain(next, start, end)) return;
    const prefixEnd = extractor.prefixEnd(next, start, end);
    if (!this.lastPrefix.equals(next, start, prefixEnd)) this.addOne(next, start, prefixEnd);
  }

  afterCut(): void {
    this.added = 0;
    this.hasKey = false;
    this.hasPrefix = false;
  }

  private addPrefix(bytes: Uint8Array, start: number, end: number): void {
    if (!this.wholeKeys) {
      this.addOne(bytes, start, end);
    } else if (!this.hasPrefix || !this.lastPrefix.equals(bytes, start, end)) {
      this.addOne(bytes, start, end);
      this.hasPrefix = true;
      this.lastPrefix.set(bytes, start, end);
    }
  }

  private addOne(bytes: Uint8Array, start: number, end: number): void {
    this.filter.addKey(bytes, start, end);
    this.added++;
  }
}

/** A copy of the last bytes in a buffer that grows. */
export class KeptBytes {
  bytes = new Uint8Array(64);
  length = 0;

  set(bytes: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length > this.bytes.length) this.bytes = new Uint8Array(2 * length);
    if (length <= 40) for (let i = 0; i < length; i++) this.bytes[i] = bytes[start + i]!;
    else this.bytes.set(bytes.subarray(start, end));
    this.length = length;
  }

  equals(bytes: Uint8Array, start: number, end: number): boolean {
    return this.length === end - start && compareBytes(this.bytes, 0, this.length, bytes, start, end) === 0;
  }
}
