import { expect, it } from 'vitest';
import { BlockTicker, Statistics, TICKER_NAMES, Ticker } from './statistics.ts';

it('places of tickers are those of their names', () => {
  expect(TICKER_NAMES[Ticker.blockCacheBytesWrite]).toBe('rocksdb.block.cache.bytes.write');
  expect(TICKER_NAMES[Ticker.bloomUseful]).toBe('rocksdb.bloom.filter.useful');
  expect(TICKER_NAMES[Ticker.keysRead]).toBe('rocksdb.number.keys.read');
  expect(TICKER_NAMES[Ticker.prevsFound]).toBe('rocksdb.number.db.prev.found');
  expect(TICKER_NAMES[Ticker.fileOpens]).toBe('rocksdb.no.file.opens');
  for (const [kind, first] of Object.entries(BlockTicker)) {
    const name = kind === 'compressionDict' ? 'compression.dict' : kind;
    const part = ['miss', 'hit', 'add', 'bytes.insert'].map((what) => `rocksdb.block.cache.${name}.${what}`);
    expect(TICKER_NAMES.slice(first, first + 4)).toEqual(part);
  }
});

it('counts, and forgets', () => {
  const statistics = new Statistics();
  statistics.count(Ticker.keysRead);
  statistics.count(Ticker.bytesRead, 10);
  statistics.countDictFetch('data');
  statistics.countDictFetch('data');
  expect(statistics.get('rocksdb.number.keys.read')).toBe(1);
  expect(statistics.toJSON()).toMatchObject({ 'rocksdb.bytes.read': 10 });
  expect(statistics.uncompressionDictFetches).toEqual({ data: 2 });
  statistics.reset();
  expect(statistics.get('rocksdb.bytes.read')).toBe(0);
  expect(statistics.uncompressionDictFetches).toEqual({});
});
