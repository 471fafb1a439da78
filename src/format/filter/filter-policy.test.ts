import { describe, expect, test } from 'vitest';
import { InvalidArgumentError } from '../../errors.ts';
import { twinKeyHash } from '../../hash/key-hash.ts';
import { createFilterBuilder } from './create-filter-builder.ts';
import { filterKindOf, filterMetaindexKey, formatFilterPolicy, parseFilterPolicy } from './filter-policy.ts';

describe('spellings', () => {
  test.each([
    ['bloom:10', 'bloomfilter:10:false'],
    ['bloomfilter:10:false', 'bloomfilter:10:false'],
    ['bloomfilter:10:true', 'bloomfilter:10:false'],
    ['rocksdb.BloomFilter:9.9', 'bloomfilter:9.9:false'],
    ['bloomfilter:14.3005:false', 'bloomfilter:14.301:false'],
    ['bloom:0.7', 'bloomfilter:1:false'],
    ['bloom:200', 'bloomfilter:100:false'],
    ['ribbon:10', '{id=ribbonfilter:10:0;bloom_before_level=0;}'],
    ['ribbonfilter:10:2', '{id=ribbonfilter:10:2;bloom_before_level=2;}'],
    ['{id=ribbonfilter:12.5:0;bloom_before_level=-1;}', '{id=ribbonfilter:12.5:-1;bloom_before_level=-1;}'],
    ['rocksdb.RibbonFilter:10', '{id=ribbonfilter:10:0;bloom_before_level=0;}'],
    ['rocksdb.internal.LegacyBloomFilter:10', 'rocksdb.internal.LegacyBloomFilter:10'],
    ['rocksdb.BuiltinBloomFilter', 'rocksdb.BuiltinBloomFilter'],
    ['none', 'nullptr'],
    ['nullptr', 'nullptr'],
    ['', 'nullptr'],
  ])('%s', (text, formatted) => {
    const policy = parseFilterPolicy(text);
    expect(formatFilterPolicy(policy)).toBe(formatted);
    expect(formatFilterPolicy(parseFilterPolicy(formatted))).toBe(formatted);
  });

  test.each([
    'bloom',
    'bloomfilter',
    'bloom:',
    'bloom:-1',
    'bloom:ten',
    'bloom:10:1',
    'ribbon:10:false',
    'toString:10',
    'cuckoo:10',
    '{id=ribbon:10;bloom_before_level=x}',
  ])('not %s', (text) => {
    expect(() => parseFilterPolicy(text)).toThrow(InvalidArgumentError);
  });
});

test('which filter a table gets', () => {
  const kind = (text: string, formatVersion: number, level?: number) =>
    filterKindOf(
      parseFilterPolicy(text)!,
      level === undefined ? { formatVersion } : { formatVersion, level },
    );
  expect(kind('bloom:10', 4)).toBe('legacy_bloom');
  expect(kind('bloom:10', 5)).toBe('fast_local_bloom');
  expect(kind('bloom:0.4', 5)).toBeUndefined();
  // A flush is level -1, and what does not know its level is written like the last one.
  expect(kind('ribbon:10', 5, -1)).toBe('fast_local_bloom');
  expect(kind('ribbon:10', 5, 0)).toBe('ribbon');
  expect(kind('ribbon:10:-1', 2, -1)).toBe('ribbon');
  expect(kind('ribbon:10:3', 5, 2)).toBe('fast_local_bloom');
  expect(kind('ribbon:10:3', 5)).toBe('ribbon');
  expect(kind('ribbon:10:2147483647', 5)).toBe('fast_local_bloom');
  expect(kind('rocksdb.internal.LegacyBloomFilter:10', 5)).toBe('legacy_bloom');
  expect(kind('rocksdb.BuiltinBloomFilter', 5)).toBeUndefined();
});

test('no builder where no filter is written', () => {
  const origin = { formatVersion: 5 };
  expect(createFilterBuilder(parseFilterPolicy('bloom:0')!, origin, twinKeyHash())).toBeUndefined();
  expect(createFilterBuilder(parseFilterPolicy('ribbon:8')!, origin, twinKeyHash())?.kind).toBe('ribbon');
});

test('names in the metaindex', () => {
  expect(filterMetaindexKey(false)).toBe('fullfilter.rocksdb.BuiltinBloomFilter');
  expect(filterMetaindexKey(true)).toBe('partitionedfilter.rocksdb.BuiltinBloomFilter');
});
