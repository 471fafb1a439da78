import { describe, expect, test } from 'vitest';
import { utf8Bytes } from '../bytes/text.ts';
import { InvalidArgumentError } from '../errors.ts';
import {
  cappedPrefix,
  fixedPrefix,
  keepsGroupsTogether,
  noopPrefix,
  type PrefixExtractor,
  parseCustomizable,
  prefixExtractorByName,
  prefixExtractorOf,
} from './prefix-extractor.ts';

/** The prefix as text; undefined outside of the domain. The key lies inside a larger buffer. */
function prefixOf(extractor: PrefixExtractor, key: string): string | undefined {
  const bytes = utf8Bytes(`<<${key}>>`);
  const end = bytes.length - 2;
  if (!extractor.inDomain(bytes, 2, end)) return undefined;
  return new TextDecoder().decode(bytes.subarray(2, extractor.prefixEnd(bytes, 2, end)));
}

test('fixed, capped and noop', () => {
  const keys = ['', 'ab', 'abc', 'abcd'];
  expect(keys.map((key) => prefixOf(fixedPrefix(3), key))).toEqual([undefined, undefined, 'abc', 'abc']);
  expect(keys.map((key) => prefixOf(cappedPrefix(3), key))).toEqual(['', 'ab', 'abc', 'abc']);
  expect(keys.map((key) => prefixOf(noopPrefix, key))).toEqual(keys);
  expect(prefixOf(fixedPrefix(0), '')).toBe('');
});

const untilSlash: PrefixExtractor = {
  name: 'example.UntilSlash',
  inDomain: (key, start, end) => key.subarray(start, end).includes(0x2f),
  prefixEnd: (key, start) => key.indexOf(0x2f, start),
};

describe('names', () => {
  test.each([
    ['rocksdb.FixedPrefix.8', 'rocksdb.FixedPrefix.8'],
    ['fixed:8', 'rocksdb.FixedPrefix.8'],
    ['{id=rocksdb.FixedPrefix.8}', 'rocksdb.FixedPrefix.8'],
    ['{id=rocksdb.FixedPrefix;length=8}', 'rocksdb.FixedPrefix.8'],
    ['{id=fixed:12;}', 'rocksdb.FixedPrefix.12'],
    ['rocksdb.CappedPrefix.0', 'rocksdb.CappedPrefix.0'],
    ['capped:3', 'rocksdb.CappedPrefix.3'],
    ['{id=capped;length=3;}', 'rocksdb.CappedPrefix.3'],
    ['rocksdb.Noop', 'rocksdb.Noop'],
    ['noop', 'rocksdb.Noop'],
    ['example.UntilSlash', 'example.UntilSlash'],
  ])('%s', (text, name) => {
    const named = prefixExtractorByName(text, [untilSlash]);
    expect(named.status === 'known' && named.extractor.name).toBe(name);
    expect(prefixExtractorOf(text, [untilSlash])?.name).toBe(name);
  });

  test('none, incomplete, unknown', () => {
    for (const text of [undefined, '', 'nullptr', 'none']) {
      expect(prefixExtractorByName(text)).toEqual({ status: 'none' });
    }
    expect(prefixExtractorOf('none')).toBeUndefined();
    const incomplete = { status: 'incomplete', name: 'rocksdb.FixedPrefix' };
    expect(prefixExtractorByName('rocksdb.FixedPrefix')).toEqual(incomplete);
    expect(prefixExtractorByName('example.UntilSlash').status).toBe('unknown');
    for (const text of ['fixed:', 'fixed:-1', 'fixed:x', 'rocksdb.FixedPrefix:8', 'fixed.8']) {
      expect(prefixExtractorByName(text).status, text).toBe('unknown');
    }
  });

  test('the user is told what is there', () => {
    expect(() => prefixExtractorOf('fixed')).toThrow('lacks its length');
    expect(() => prefixExtractorOf('first:8')).toThrow(InvalidArgumentError);
  });
});

test('objects of OPTIONS files', () => {
  expect(parseCustomizable('bloomfilter:10:false').id).toBe('bloomfilter:10:false');
  const { id, options } = parseCustomizable('{id=ribbonfilter:10:0; bloom_before_level=0;}');
  expect([id, ...options]).toEqual(['ribbonfilter:10:0', ['bloom_before_level', '0']]);
  expect(parseCustomizable('length=8')).toEqual({ id: '', options: new Map([['length', '8']]) });
});

test("what stands before some characters, also under a name of one's own", () => {
  const own = prefixExtractorOf('Example.Group=before:?/ ')!;
  const key = utf8Bytes('123:example.com/blog');
  expect(own.name).toBe('Example.Group');
  expect(own.prefixEnd(key, 0, key.length)).toBe(15);
  expect(own.prefixEnd(key, 0, 5)).toBe(5);
  expect(prefixExtractorOf('before:/')!.name).toBe('sstkit.PrefixBefore.2f');
  expect(prefixExtractorOf('My.Own=fixed:4')!.name).toBe('My.Own');
  expect(prefixExtractorOf('{id=rocksdb.FixedPrefix;length=8}')!.name).toBe('rocksdb.FixedPrefix.8');
  expect(keepsGroupsTogether(own)).toBe(false);
  expect(keepsGroupsTogether(fixedPrefix(3))).toBe(true);
});
