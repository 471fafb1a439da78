import { CorruptionError, UnsupportedError } from '../../errors.ts';
import { ParsedBlock } from '../../format/block/parsed-block.ts';
import type { BlockHandle } from '../../format/block-handle.ts';
import type { BlockReader } from '../../format/block-reader.ts';
import type { BlockType } from '../../format/block-type.ts';
import type { FilterReader } from '../../format/filter/filter-reader.ts';
import { openFilter } from '../../format/filter/open-filter.ts';
import type { TableReader } from '../../format/table-reader.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import { type BlockCache, CacheRole } from '../cache/block-cache.ts';
import { BlockTicker, type Statistics, Ticker } from '../statistics/statistics.ts';

/** A block as its readers use it: decoded once, when it is read, and kept like that. */
export type DecodedBlock = ParsedBlock | FilterReader | Uint8Array;

/**
 * For benches and tests alone, which show what a rule is worth by breaking it: not part of the library's options.
 */
export interface LookupHooks {
  /** Which blocks have the compression dictionary fetched before they are decompressed. */
  readonly fetchesDictionary?: (blockType: BlockType) => boolean;
  /** Whether an extractor is the one of the table, in place of `ExtractorMatch.accepts`. */
  readonly acceptsExtractor?: (extractor: PrefixExtractor, storedName: string) => boolean;
}

/** A kind of block: how it is decoded, which charges and counters it has. */
interface BlockKind<T extends DecodedBlock> {
  readonly role: number;
  /** The first of its four tickers. */
  readonly ticker: number;
  readonly decode: (contents: Uint8Array, statistics: Statistics) => T;
}

const DATA: BlockKind<ParsedBlock> = {
  role: CacheRole.data,
  ticker: BlockTicker.data,
  decode: (contents) => new ParsedBlock(contents),
};
const INDEX: BlockKind<ParsedBlock> = { ...DATA, role: CacheRole.index, ticker: BlockTicker.index };
/** A filter is its reader with its bytes: its metadata are decoded when it is loaded, not when it is asked. */
const FILTER: BlockKind<FilterReader> = {
  role: CacheRole.filter,
  ticker: BlockTicker.filter,
  decode: openFilter,
};
/** The index over the partitions of a filter counts as a filter, and is a block like those of an index. */
const FILTER_INDEX: BlockKind<ParsedBlock> = { ...DATA, role: CacheRole.filter, ticker: BlockTicker.filter };
const DICTIONARY: BlockKind<Uint8Array> = {
  role: CacheRole.compressionDict,
  ticker: BlockTicker.compressionDict,
  decode: (contents) => contents,
};

/**
 * The blocks of one table, through the block cache where there is one. Synchronous: what is not here is read at
 * once, or the source's signal (`Pending`) passes through, and the look-up is run again.
 */
export class BlockStore {
  private readonly reader: BlockReader;
  private readonly hasDictionary: boolean;
  /** Held outside of the cache, or pinned in it; otherwise it goes through the cache each time. */
  private heldDictionary: Uint8Array | undefined;
  private readonly pinned: number[] = [];
  /** Whether the last block that was read was compressed. */
  private expectsCompressed = false;

  constructor(
    private readonly table: TableReader,
    private readonly dictionaryHandle: BlockHandle | undefined,
    private readonly cache: BlockCache<DecodedBlock> | undefined,
    /** The cache's number of this file. */
    private readonly file: number,
    private readonly statistics: Statistics,
    private readonly hooks: LookupHooks,
  ) {
    this.reader = table.blocks;
    this.hasDictionary = dictionaryHandle !== undefined;
  }

  data(offset: number, size: number): ParsedBlock {
    return this.fetch(DATA, 'data', offset, size);
  }

  index(type: 'index' | 'index_partition', offset: number, size: number): ParsedBlock {
    return this.fetch(INDEX, type, offset, size);
  }

  filter(type: 'filter' | 'filter_partition', offset: number, size: number): FilterReader {
    return this.fetch(FILTER, type, offset, size);
  }

  filterIndex(offset: number, size: number): ParsedBlock {
    return this.fetch(FILTER_INDEX, 'filter_index', offset, size);
  }

  /** The same, read now and kept: in the cache where `inCache`, else beside it. Throws CacheFullError. */
  keepIndex(type: 'index' | 'index_partition', { offset, size }: BlockHandle, inCache: boolean): ParsedBlock {
    return this.keep(INDEX, type, offset, size, inCache);
  }

  keepFilter(
    type: 'filter' | 'filter_partition',
    { offset, size }: BlockHandle,
    inCache: boolean,
  ): FilterReader {
    return this.keep(FILTER, type, offset, size, inCache);
  }

  keepFilterIndex({ offset, size }: BlockHandle, inCache: boolean): ParsedBlock {
    return this.keep(FILTER_INDEX, 'filter_index', offset, size, inCache);
  }

  keepDictionary(inCache: boolean): void {
    if (this.dictionaryHandle === undefined) return;
    const { offset, size } = this.dictionaryHandle;
    this.heldDictionary = this.keep(DICTIONARY, 'compression_dict', offset, size, inCache);
  }

  /** Gives the pins back. */
  close(): void {
    for (const offset of this.pinned) this.cache?.unpin(this.file, offset);
    this.pinned.length = 0;
  }

  /** An error of a decoder with the place of the block that it read; what is none of theirs, as it is. */
  placed(error: unknown, type: BlockType, offset: number): unknown {
    if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) return error;
    return error.offset === undefined ? error.at(this.reader.place(offset, type)) : error;
  }

  private decode<T extends DecodedBlock>(
    kind: BlockKind<T>,
    type: BlockType,
    offset: number,
    contents: Uint8Array,
  ): T {
    try {
      return kind.decode(contents, this.statistics);
    } catch (error) {
      throw this.placed(error, type, offset);
    }
  }

  private fetch<T extends DecodedBlock>(
    kind: BlockKind<T>,
    type: BlockType,
    offset: number,
    size: number,
  ): T {
    const { cache, statistics } = this;
    const cached = cache?.get(this.file, offset);
    if (cached !== undefined) {
      statistics.tickers[Ticker.blockCacheHit]!++;
      statistics.tickers[kind.ticker + 1]!++;
      return cached as T;
    }
    const contents = this.read(type, offset, size);
    const block = this.decode(kind, type, offset, contents);
    if (cache === undefined) return block;
    // A read that had to wait for its bytes is counted once, when they are here.
    statistics.tickers[Ticker.blockCacheMiss]!++;
    statistics.tickers[kind.ticker]!++;
    if (cache.insert(this.file, offset, block, contents.length, kind.role)) {
      statistics.tickers[Ticker.blockCacheAdd]!++;
      statistics.tickers[Ticker.blockCacheBytesWrite]! += contents.length;
      statistics.tickers[kind.ticker + 2]!++;
      statistics.tickers[kind.ticker + 3]! += contents.length;
    } else {
      statistics.tickers[Ticker.blockCacheAddFailures]!++;
    }
    return block;
  }

  private keep<T extends DecodedBlock>(
    kind: BlockKind<T>,
    type: BlockType,
    offset: number,
    size: number,
    inCache: boolean,
  ): T {
    const contents = this.read(type, offset, size);
    const block = this.decode(kind, type, offset, contents);
    if (inCache && this.cache !== undefined) {
      this.cache.pin(this.file, offset, block, contents.length, kind.role);
      this.pinned.push(offset);
    }
    return block;
  }

  /**
   * Reads and decompresses. Only data blocks are compressed with the dictionary, so only they fetch it, and of them
   * only those that are compressed.
   */
  private read(type: BlockType, offset: number, size: number): Uint8Array {
    const { reader, statistics } = this;
    const handle = { offset, size };
    // Stored bytes are kept only where they are the contents, and blocks are mostly like the one before. The dictionary
    // is read while a data block waits for it in that buffer.
    const isTransient = this.expectsCompressed && type !== 'compression_dict';
    const stored = isTransient ? reader.readTransient(handle, type) : reader.readStored(handle, type);
    const fault = reader.checksumFault(stored, handle, type);
    if (fault !== undefined) throw fault;
    statistics.countLoad(type);
    let dictionary: Uint8Array | undefined;
    if (this.hasDictionary) {
      const fetches = this.hooks.fetchesDictionary;
      const wanted = fetches === undefined ? type === 'data' : fetches(type);
      if (wanted && stored.compressionType !== 0) dictionary = this.fetchDictionary(type);
      if (type !== 'data') dictionary = undefined;
    }
    const contents = reader.contents(stored, handle, type, dictionary);
    this.expectsCompressed = stored.compressionType !== 0;
    if (this.expectsCompressed) {
      statistics.tickers[Ticker.blocksDecompressed]!++;
      statistics.tickers[Ticker.bytesDecompressedFrom]! += size;
      statistics.tickers[Ticker.bytesDecompressedTo]! += contents.length;
      return contents;
    }
    return isTransient ? contents.slice() : contents;
  }

  private fetchDictionary(blockType: BlockType): Uint8Array {
    this.statistics.countDictFetch(blockType);
    if (this.heldDictionary !== undefined) return this.heldDictionary;
    const { offset, size } = this.dictionaryHandle!;
    const dictionary = this.fetch(DICTIONARY, 'compression_dict', offset, size);
    if (dictionary.length === 0) this.table.readDictionary();
    return dictionary;
  }
}
