import type { BlockType } from '../../format/block-type.ts';
import type { FilterCounters } from '../../format/filter/filter-reader.ts';

/**
 * What is counted, by RocksDB's ticker names. Of a kind of block that is cached there are four, one behind the
 * other: see `BlockTicker`. Source of the names: RocksDB monitoring/statistics.cc.
 */
export const TICKER_NAMES = [
  'rocksdb.block.cache.miss',
  'rocksdb.block.cache.hit',
  'rocksdb.block.cache.add',
  'rocksdb.block.cache.add.failures',
  'rocksdb.block.cache.index.miss',
  'rocksdb.block.cache.index.hit',
  'rocksdb.block.cache.index.add',
  'rocksdb.block.cache.index.bytes.insert',
  'rocksdb.block.cache.filter.miss',
  'rocksdb.block.cache.filter.hit',
  'rocksdb.block.cache.filter.add',
  'rocksdb.block.cache.filter.bytes.insert',
  'rocksdb.block.cache.data.miss',
  'rocksdb.block.cache.data.hit',
  'rocksdb.block.cache.data.add',
  'rocksdb.block.cache.data.bytes.insert',
  'rocksdb.block.cache.compression.dict.miss',
  'rocksdb.block.cache.compression.dict.hit',
  'rocksdb.block.cache.compression.dict.add',
  'rocksdb.block.cache.compression.dict.bytes.insert',
  'rocksdb.block.cache.bytes.write',
  'rocksdb.bloom.filter.useful',
  'rocksdb.bloom.filter.full.positive',
  'rocksdb.bloom.filter.full.true.positive',
  'rocksdb.bloom.filter.prefix.checked',
  'rocksdb.bloom.filter.prefix.useful',
  'rocksdb.bloom.filter.prefix.true.positive',
  'rocksdb.number.keys.read',
  'rocksdb.bytes.read',
  'rocksdb.number.multiget.get',
  'rocksdb.number.multiget.keys.read',
  'rocksdb.number.multiget.keys.found',
  'rocksdb.number.multiget.bytes.read',
  'rocksdb.number.db.seek',
  'rocksdb.number.db.seek.found',
  'rocksdb.number.db.next',
  'rocksdb.number.db.next.found',
  'rocksdb.number.db.prev',
  'rocksdb.number.db.prev.found',
  'rocksdb.number.block.decompressed',
  'rocksdb.bytes.decompressed.from',
  'rocksdb.bytes.decompressed.to',
  'rocksdb.no.file.opens',
] as const;

export type TickerName = (typeof TICKER_NAMES)[number];

/** Places of tickers in `Statistics.tickers`. */
export const Ticker = {
  blockCacheMiss: 0,
  blockCacheHit: 1,
  blockCacheAdd: 2,
  blockCacheAddFailures: 3,
  blockCacheBytesWrite: 20,
  bloomUseful: 21,
  bloomFullPositive: 22,
  bloomFullTruePositive: 23,
  bloomPrefixChecked: 24,
  bloomPrefixUseful: 25,
  bloomPrefixTruePositive: 26,
  keysRead: 27,
  bytesRead: 28,
  multiGets: 29,
  multiGetKeysRead: 30,
  multiGetKeysFound: 31,
  multiGetBytesRead: 32,
  seeks: 33,
  seeksFound: 34,
  nexts: 35,
  nextsFound: 36,
  prevs: 37,
  prevsFound: 38,
  blocksDecompressed: 39,
  bytesDecompressedFrom: 40,
  bytesDecompressedTo: 41,
  fileOpens: 42,
} as const;

/** The first of the four tickers of each kind of block; then come hit, add and bytes inserted. */
export const BlockTicker = { index: 4, filter: 8, data: 12, compressionDict: 16 } as const;

/** Counters of one database, or of one bench; handed in, never global. */
export class Statistics implements FilterCounters {
  readonly tickers = new Float64Array(TICKER_NAMES.length);
  /** Filters whose metadata were decoded: as many as were loaded, where a cached filter is its reader. */
  filterMetadataParses = 0;
  /** Fetches of the compression dictionary, by the type of the block that was being read. */
  readonly uncompressionDictFetches: Partial<Record<BlockType, number>> = {};
  /** Blocks that were read from their file, by type. */
  readonly blockLoads: Partial<Record<BlockType, number>> = {};
  /** How often the names of two prefix extractors were compared: once a table, and once a further instance. */
  extractorNameComparisons = 0;

  count(ticker: number, by = 1): void {
    this.tickers[ticker]! += by;
  }

  get(name: TickerName): number {
    return this.tickers[TICKER_NAMES.indexOf(name)]!;
  }

  countDictFetch(blockType: BlockType): void {
    this.uncompressionDictFetches[blockType] = (this.uncompressionDictFetches[blockType] ?? 0) + 1;
  }

  countLoad(blockType: BlockType): void {
    this.blockLoads[blockType] = (this.blockLoads[blockType] ?? 0) + 1;
  }

  reset(): void {
    this.tickers.fill(0);
    this.filterMetadataParses = 0;
    for (const byType of [this.uncompressionDictFetches, this.blockLoads]) {
      for (const type of Object.keys(byType)) delete byType[type as BlockType];
    }
    this.extractorNameComparisons = 0;
  }

  /** All tickers by name. */
  toJSON(): Record<string, number> {
    return Object.fromEntries(TICKER_NAMES.map((name, i) => [name, this.tickers[i]!]));
  }
}
