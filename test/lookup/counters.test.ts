/** What is not done: the promises of look-ups that only counters can show. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { CountingSource, memorySource } from '../../src/bytes/source.ts';
import { toHex, utf8Bytes } from '../../src/bytes/text.ts';
import { BlockCache, CacheFullError } from '../../src/engine/cache/block-cache.ts';
import { Statistics, Ticker } from '../../src/engine/statistics/statistics.ts';
import type { DecodedBlock } from '../../src/engine/table/block-store.ts';
import { ExtractorMatch } from '../../src/engine/table/extractor-match.ts';
import { LookupTable, type LookupTableOptions } from '../../src/engine/table/lookup-table.ts';
import { TableSet } from '../../src/engine/table/table-set.ts';
import { TableProperties } from '../../src/format/properties.ts';
import type { TableOptions } from '../../src/format/table-builder/table-options.ts';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import { cappedPrefix, fixedPrefix, type PrefixExtractor } from '../../src/operators/prefix-extractor.ts';
import { sharedFixtures } from '../support/fixtures.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { makeTable, openMade } from './made-tables.ts';

let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
  await environment.codecs.load('zstd');
});

const keyOf = (i: number): string => `key${String(i).padStart(8, '0')}`;

function expectedOf(count: number) {
  const random = new SeededRandom(3);
  const entries = Array.from({ length: count }, (_, i) => ({
    key: toHex(utf8Bytes(keyOf(i))),
    seqno: String(i + 1),
    type: 'put',
    value: toHex(utf8Bytes(`value ${i} of the table, ${random.below(100)}, and some words that repeat`)),
  }));
  return { entries, rangeTombstones: [] };
}

const DICTIONARY: TableOptions = {
  indexType: 'two_level',
  partitionFilters: true,
  metadataBlockSize: 300,
  compression: 'zstd',
  compressionOptions: { maxDictBytes: 4096, zstdMaxTrainBytes: 40_000 },
  filterPolicy: { name: 'bloomfilter', bitsPerKey: 10, bloomBeforeLevel: 0 },
  prefixExtractor: fixedPrefix(6),
};

const NOTHING_KEPT = (): LookupTableOptions => ({
  blockCache: new BlockCache<DecodedBlock>({ capacityBytes: 1000 }),
  cacheIndexAndFilterBlocks: true,
  pinTopLevelIndex: false,
  statistics: new Statistics(),
});

/** Each get finds its key; the promises of the published changes hold. */
function expectCounters(
  tables: readonly LookupTable[],
  keys: readonly Uint8Array[],
  gets: number,
): Statistics {
  const set = new TableSet(tables);
  const { statistics } = set;
  const random = new SeededRandom(11);
  const extractors = [fixedPrefix(6), fixedPrefix(6), cappedPrefix(6)];
  for (let i = 0; i < gets; i++) {
    const found = set.get(random.pick(keys), { prefixExtractor: extractors[i % 3]! });
    if (found === undefined) expect.fail(`get ${i} found nothing`);
  }
  const { data, ...others } = statistics.uncompressionDictFetches;
  expect(others).toEqual({});
  expect(data).toBeGreaterThan(0);
  const { filter = 0, filter_partition = 0 } = statistics.blockLoads;
  expect(statistics.filterMetadataParses).toBe(filter + filter_partition);
  expect(statistics.extractorNameComparisons).toBeLessThanOrEqual(3 * tables.length);
  return statistics;
}

describe('with nothing pinned and a cache that keeps nothing', () => {
  const GETS = 2_000 * TEST_SCALE;

  it(`${GETS} gets in a table with dictionary and partitions, seed 11`, async () => {
    const expected = expectedOf(3000);
    const bytes = await makeTable(environment, DICTIONARY, expected);
    const source = new CountingSource(memorySource(bytes, 'made'));
    const table = LookupTable.open(source, environment, NOTHING_KEPT());
    const keys = expected.entries.map((_, i) => utf8Bytes(keyOf(i)));
    const statistics = expectCounters([table], keys, GETS);
    expect(statistics.get('rocksdb.block.cache.index.hit')).toBe(0);
    // Index and partition, filter index and partition, dictionary, data block.
    expect(source.reads).toBeLessThanOrEqual(6 * GETS + 20);
    expect(statistics.uncompressionDictFetches.data).toBe(statistics.get('rocksdb.block.cache.data.miss'));
  });

  const name = 'dict_zstd_partindex';
  const database = sharedFixtures().databases.find((each) => each.name === name);
  it.skipIf(database === undefined)(`${GETS} gets in ${name}, seed 11`, () => {
    const folder = database!.path;
    const options = NOTHING_KEPT();
    const tables = readdirSync(folder)
      .filter((file) => file.endsWith('.sst') && existsSync(path.join(folder, file)))
      .map((file) => {
        const bytes = new Uint8Array(readFileSync(path.join(folder, file)));
        return LookupTable.open(memorySource(bytes, file), environment, options);
      });
    const keys: Uint8Array[] = [];
    const iterator = new TableSet(tables).newIterator();
    for (iterator.seekToFirst(); iterator.valid; iterator.next())
      keys.push(iterator.key.slice(0, iterator.keyLength));
    options.statistics!.reset();
    expectCounters(tables, keys, GETS);
  });
});

describe('published change 1: the dictionary is fetched for data blocks alone', () => {
  it('a hook for benches brings the old behaviour back', async () => {
    const bytes = await makeTable(environment, DICTIONARY, expectedOf(2000));
    const statistics = new Statistics();
    const options = { ...NOTHING_KEPT(), statistics };
    const table = LookupTable.openWithHooks(memorySource(bytes, 'made'), environment, options, {
      fetchesDictionary: () => true,
    });
    const set = new TableSet([table]);
    for (let i = 0; i < 100; i++) expect(set.get(utf8Bytes(keyOf(i)))).toBeDefined();
    expect(statistics.uncompressionDictFetches.index_partition).toBeGreaterThan(0);
    expect(statistics.uncompressionDictFetches.data).toBeGreaterThan(0);
  });

  it('from the cache, where it is not pinned; beside it, where nothing goes through the cache', async () => {
    const bytes = await makeTable(environment, DICTIONARY, expectedOf(2000));
    const cached = new Statistics();
    const blockCache = new BlockCache<DecodedBlock>({ capacityBytes: 30_000 });
    const through = openMade(environment, bytes, 'a', {
      blockCache,
      cacheIndexAndFilterBlocks: true,
      statistics: cached,
    });
    const beside = new Statistics();
    const held = openMade(environment, bytes, 'b', { blockCache, statistics: beside });
    for (let i = 0; i < 500; i++) {
      for (const table of [through, held])
        expect(new TableSet([table]).get(utf8Bytes(keyOf(4 * i)))).toBeDefined();
    }
    expect(cached.get('rocksdb.block.cache.compression.dict.hit')).toBeGreaterThan(10);
    expect(beside.get('rocksdb.block.cache.compression.dict.hit')).toBe(0);
    expect(beside.get('rocksdb.block.cache.compression.dict.miss')).toBe(0);
  });
});

describe('published change 2: the extractor that is known to match', () => {
  const propertiesWith = (name: string): TableProperties =>
    new TableProperties(new Map([['rocksdb.prefix.extractor.name', utf8Bytes(name)]]));
  const match = (name: string, given?: PrefixExtractor, custom: PrefixExtractor[] = []) => {
    const statistics = new Statistics();
    return { statistics, match: new ExtractorMatch(propertiesWith(name), given, custom, statistics) };
  };

  it('is known by itself, another instance by its name once', () => {
    const given = fixedPrefix(8);
    const { match: table, statistics } = match('rocksdb.FixedPrefix.8', given);
    expect(table.own).toBe(given);
    expect(statistics.extractorNameComparisons).toBe(1);
    const equal = fixedPrefix(8);
    const wrong = fixedPrefix(7);
    for (let i = 0; i < 1000; i++) {
      expect(table.accepts(given)).toBe(true);
      expect(table.accepts(equal)).toBe(true);
      expect(table.accepts(wrong)).toBe(false);
    }
    expect(statistics.extractorNameComparisons).toBe(3);
  });

  it('two instances in turns are compared once each', () => {
    const { match: table, statistics } = match('rocksdb.CappedPrefix.3');
    const both = [cappedPrefix(3), cappedPrefix(3)];
    for (let i = 0; i < 100; i++) expect(table.accepts(both[i % 2]!)).toBe(true);
    expect(statistics.extractorNameComparisons).toBe(2);
  });

  it.each(['rocksdb.FixedPrefix', 'rocksdb.CappedPrefix', 'nullptr', ''])('"%s" never matches', (name) => {
    const lengthless: PrefixExtractor = { ...fixedPrefix(3), name };
    const { match: table, statistics } = match(name, lengthless);
    expect(table.own).toBeUndefined();
    expect(table.accepts(lengthless)).toBe(false);
    expect(table.accepts(fixedPrefix(3))).toBe(false);
    expect(statistics.extractorNameComparisons).toBe(0);
  });

  it("an application's own is found by its name, and is not taken to keep keys together", () => {
    const own: PrefixExtractor = { ...fixedPrefix(3), name: 'my.extractor' };
    const { match: table } = match('my.extractor', own);
    expect(table.own).toBe(own);
    expect(table.isContiguous).toBe(false);
    expect(match('my.extractor').match.own).toBeUndefined();
    expect(match('my.extractor', undefined, [own]).match.own).toBe(own);
  });

  it('PF-15: look-ups compare no names', async () => {
    const given = fixedPrefix(6);
    const bytes = await makeTable(
      environment,
      { ...DICTIONARY, wholeKeyFiltering: false, prefixExtractor: given },
      expectedOf(1000),
    );
    const table = openMade(environment, bytes, 'pf15', { prefixExtractor: given });
    const set = new TableSet([table], { prefixExtractor: given });
    const iterator = set.newIterator({ prefixSameAsStart: true });
    for (let i = 0; i < 1000; i++) {
      set.get(utf8Bytes(keyOf(i)));
      iterator.seek(utf8Bytes(keyOf(i)));
    }
    expect(table.statistics.extractorNameComparisons).toBe(1);
    expect(table.statistics.tickers[Ticker.bloomPrefixChecked]).toBeGreaterThan(1000);
  });
});

describe('published change 4: a cached filter is its reader', () => {
  it('metadata are decoded once a load, however often it is asked', async () => {
    const bytes = await makeTable(environment, { ...DICTIONARY, partitionFilters: false }, expectedOf(2000));
    const statistics = new Statistics();
    const table = openMade(environment, bytes, 'f', {
      blockCache: new BlockCache<DecodedBlock>({ capacityBytes: 1e6 }),
      cacheIndexAndFilterBlocks: true,
      statistics,
    });
    const set = new TableSet([table]);
    for (let i = 0; i < 5000; i++) set.get(utf8Bytes(keyOf(i)));
    expect(statistics.filterMetadataParses).toBe(1);
    expect(statistics.get('rocksdb.bloom.filter.useful')).toBeGreaterThan(2900);
    expect(statistics.get('rocksdb.bloom.filter.full.true.positive')).toBe(2000);
  });
});

describe('pins', () => {
  it('stay in the cache until the table is closed', async () => {
    const bytes = await makeTable(environment, DICTIONARY, expectedOf(2000));
    const blockCache = new BlockCache<DecodedBlock>({ capacityBytes: 1e6 });
    const options = {
      blockCache,
      cacheIndexAndFilterBlocks: true,
      pinFilter: true,
      pinDictionary: true,
      pinPartitions: true,
    };
    const table = openMade(environment, bytes, 'p', options);
    expect(blockCache.pinnedBytes).toBe(blockCache.usedBytes);
    for (const role of ['index', 'filter', 'compressionDict'] as const)
      expect(blockCache.bytesOf(role)).toBeGreaterThan(0);
    const before = table.statistics.get('rocksdb.block.cache.index.miss');
    new TableSet([table]).get(utf8Bytes(keyOf(5)));
    expect(table.statistics.get('rocksdb.block.cache.index.miss')).toBe(before);
    table.close();
    expect(blockCache.pinnedBytes).toBe(0);
  });

  it('a strict cache refuses the table whose pins do not fit, and gives back those that did', async () => {
    const bytes = await makeTable(environment, DICTIONARY, expectedOf(2000));
    const blockCache = new BlockCache<DecodedBlock>({ capacityBytes: 4000, strictCapacity: true });
    expect(() =>
      openMade(environment, bytes, 's', {
        blockCache,
        cacheIndexAndFilterBlocks: true,
        pinDictionary: true,
        pinPartitions: true,
      }),
    ).toThrow(CacheFullError);
    expect(blockCache.pinnedBytes).toBe(0);
    expect(blockCache.usedBytes).toBeLessThanOrEqual(4000);
  });
});

it('multiGet reads a block of neighbours once, and asks a full filter once a batch', async () => {
  const bytes = await makeTable(environment, { ...DICTIONARY, partitionFilters: false }, expectedOf(2000));
  const source = new CountingSource(memorySource(bytes, 'm'));
  const table = LookupTable.open(source, environment, {});
  const set = new TableSet([table]);
  const keys = Array.from({ length: 30 }, (_, i) => utf8Bytes(keyOf(1000 + i)));
  set.get(keys[0]!);
  source.reads = 0;
  const found = set.multiGet(keys.toReversed());
  expect(found.every((row) => row !== undefined)).toBe(true);
  expect(source.reads).toBeLessThanOrEqual(6);
  source.reads = 0;
  for (const key of keys) set.get(key);
  expect(source.reads).toBeGreaterThanOrEqual(60);
});

it('memory stays bounded: gets through a cache of 8 MB', async () => {
  const bytes = await makeTable(environment, DICTIONARY, expectedOf(20_000));
  const blockCache = new BlockCache<DecodedBlock>({ capacityBytes: 8e6 / 16, strictCapacity: true });
  const table = openMade(environment, bytes, 'big', { blockCache, cacheIndexAndFilterBlocks: true });
  const set = new TableSet([table]);
  const random = new SeededRandom(4);
  for (let i = 0; i < 4_000 * TEST_SCALE; i++) {
    set.get(utf8Bytes(keyOf(random.below(20_000))));
    expect(blockCache.usedBytes <= blockCache.capacityBytes).toBe(true);
  }
  expect(blockCache.evictions).toBeGreaterThan(100);
});
