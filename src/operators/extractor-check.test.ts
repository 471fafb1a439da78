import { describe, expect, test } from 'vitest';
import { ExtractorCheck } from './extractor-check.ts';
import { cappedPrefix, fixedPrefix, noopPrefix } from './prefix-extractor.ts';

const counters = () => ({ extractorNameComparisons: 0 });

describe('ExtractorCheck', () => {
  test('the instance that the file was opened with is known without its name', () => {
    const own = fixedPrefix(8);
    const counted = counters();
    const check = new ExtractorCheck('rocksdb.FixedPrefix.8', own, counted);
    for (let i = 0; i < 1000; i++) expect(check.match(own)).toBe('identity');
    expect(counted.extractorNameComparisons).toBe(1);
  });

  test('another instance is compared once, whether it fits or not', () => {
    const counted = counters();
    const check = new ExtractorCheck('{id=rocksdb.FixedPrefix;length=8}', fixedPrefix(8), counted);
    const equal = fixedPrefix(8);
    for (let i = 0; i < 1000; i++) expect(check.match(equal)).toBe('name');
    expect(counted.extractorNameComparisons).toBe(2);
    const other = fixedPrefix(7);
    for (let i = 0; i < 1000; i++) expect(check.match(other)).toBe('incompatible');
    expect(counted.extractorNameComparisons).toBe(3);
  });

  test('opened with one that does not fit: a right one is told by its name', () => {
    const wrong = fixedPrefix(4);
    const check = new ExtractorCheck('rocksdb.FixedPrefix.8', wrong);
    expect(check.match(wrong)).toBe('incompatible');
    expect(check.match(fixedPrefix(8))).toBe('name');
    expect(check.match(cappedPrefix(8))).toBe('incompatible');
  });

  test.each(['rocksdb.FixedPrefix', 'rocksdb.CappedPrefix', 'fixed', 'capped'])(
    'stored as %s, without its length, it fits none',
    (stored) => {
      const check = new ExtractorCheck(stored, fixedPrefix(8));
      for (const given of [fixedPrefix(8), cappedPrefix(8), { ...noopPrefix, name: stored }]) {
        expect(check.match(given)).toBe('incompatible');
      }
    },
  );

  test('none', () => {
    for (const stored of [undefined, 'nullptr', '']) {
      const check = new ExtractorCheck(stored, undefined);
      expect(check.match(undefined)).toBe('none_stored');
      expect(check.match(noopPrefix)).toBe('none_stored');
    }
    expect(new ExtractorCheck('rocksdb.Noop', undefined).match(undefined)).toBe('none_given');
  });
});
