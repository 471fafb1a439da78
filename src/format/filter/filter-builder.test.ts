import { describe, expect, test } from 'vitest';
import { stream, TEST_SCALE } from '../../../test/support/random.ts';
import { utf8Bytes } from '../../bytes/text.ts';
import { twinKeyHash } from '../../hash/key-hash.ts';
import { openKernels } from '../../kernels/open-kernels.ts';
import { FastLocalBloomBuilder } from './bloom-builder.ts';
import { effectiveBitsPerKey, fastLocalBloomBytes, millibitsPerKey, wholeBitsPerKey } from './bloom-math.ts';
import type { FilterBuilder } from './filter-builder.ts';
import { HashCollector } from './hash-collector.ts';
import { LegacyBloomBuilder } from './legacy-bloom-builder.ts';
import { openFilter } from './open-filter.ts';
import { RibbonBuilder, ribbonOneIn } from './ribbon-builder.ts';
import { ribbonBytes, ribbonSlots } from './ribbon-math.ts';
import { solveRibbon } from './ribbon-solve.ts';

const kernels = await openKernels();

test('bits a key', () => {
  expect([0.4, 0.5, 0.99, 7.5, 99.9, 100, 1000].map(effectiveBitsPerKey)).toEqual([
    0, 1, 1, 7.5, 99.9, 100, 100,
  ]);
  expect([0.4, 1, 9.999, 14.3, 2.0004].map(millibitsPerKey)).toEqual([0, 1000, 9999, 14300, 2000]);
  expect([1000, 7499, 7500, 10499].map(wholeBitsPerKey)).toEqual([1, 7, 8, 10]);
  expect(fastLocalBloomBytes(1e9, 100_000)).toBe(0xffffffc0);
});

/** Half a hash: linear ones have equations that depend on each other. */
function mixed(i: number): number {
  let h = Math.imul(i + 1, 0x9e3779b1);
  h = Math.imul(h ^ (h >>> 15), 0x85ebca77);
  return (h ^ (h >>> 13)) >>> 0;
}

describe('what counts as repeated', () => {
  /** RocksDB's rule by the text of keys, which stand for their hashes. */
  function expectedOf(calls: readonly (readonly [prefix: string | undefined, key: string])[]): string[] {
    const added: string[] = [];
    let lastPrefix: string | undefined;
    for (const [prefix, key] of calls) {
      const last = added.at(-1);
      if (prefix === undefined) {
        if (key !== last) added.push(key);
        continue;
      }
      const before = lastPrefix;
      if (prefix !== before && prefix !== key && prefix !== last) added.push(prefix);
      lastPrefix = prefix;
      if (key !== last && key !== before) added.push(key);
    }
    return added;
  }

  function callsOf(seed: number): [string | undefined, string][] {
    const next = stream(seed);
    return Array.from({ length: 1 + next(1500) }, () => {
      // Now and then keys that are long, or longer than a batch has room for.
      const filling = next(200) === 0 ? 'x'.repeat(next(70_000)) : 'x'.repeat(next(3) * 60);
      const key = 'abc'.slice(next(3)) + filling + 'ab'.slice(next(3));
      return next(3) === 0 ? [undefined, key] : [key.slice(0, next(key.length + 1)), key];
    });
  }

  test.each(Array.from({ length: 10 * TEST_SCALE }, (_, i) => i + 1))('seed %i', (seed) => {
    const calls = callsOf(seed);
    const expected = expectedOf(calls);
    const collector = new HashCollector(kernels);
    const legacy = new LegacyBloomBuilder(10);
    for (const [prefix, key] of calls) {
      const bytes = utf8Bytes(`<${key}>`);
      const end = bytes.length - 1;
      if (prefix === undefined) {
        collector.addKey(bytes, 1, end);
        legacy.addKey(bytes, 1, end);
      } else {
        collector.addKeyAndPrefix(bytes, 1, 1 + prefix.length, end);
        legacy.addKeyAndPrefix(bytes, 1, 1 + prefix.length, end);
      }
    }
    expect(collector.hasEntries(expected.length)).toBe(true);
    expect(collector.hasEntries(expected.length + 1)).toBe(false);
    expect(collector.entries).toBe(expected.length);
    expect(legacy.entries).toBe(expected.length);
    const hash = twinKeyHash();
    for (const [i, text] of expected.entries()) {
      const bytes = utf8Bytes(text);
      const lo = hash.xxph3(bytes, 0, bytes.length);
      expect([collector.hashes[2 * i], collector.hashes[2 * i + 1]]).toEqual([lo, hash.high()]);
    }
  });
});

const BUILDERS: Record<string, (bitsPerKey: number) => FilterBuilder> = {
  bloom: (bits) => new FastLocalBloomBuilder(bits, kernels),
  legacy: (bits) => new LegacyBloomBuilder(bits),
  ribbon: (bits) => new RibbonBuilder(bits, kernels),
};

describe.each(Object.entries(BUILDERS))('%s', (name, create) => {
  const key = (i: number) => utf8Bytes(`key${i}`);

  test('is empty again behind each filter', () => {
    const builder = create(10);
    expect(builder.finish()).toEqual(new Uint8Array(0));
    const filters = [0, 1].map(() => {
      for (let i = 0; i < 700; i++) builder.addKeyAndPrefix(key(i), 0, 4, key(i).length);
      expect(builder.entries).toBeGreaterThan(700);
      const filter = builder.finish();
      expect(builder.entries).toBe(0);
      return filter;
    });
    expect(filters[1]).toEqual(filters[0]);
  });

  test.each([1, 5.5, 10, 16, 30, 100])('%f bits a key: size and false positives', (bits) => {
    const builder = create(bits);
    const count = 3000;
    for (let i = 0; i < count; i++) builder.addKey(key(i), 0, key(i).length);
    const filter = builder.finish();
    const ofBloom = (count * Math.round(bits)) / 8;
    const ratio = (name === 'ribbon' ? 0.8 : 1) * ofBloom;
    if (name !== 'legacy') expect(filter.length).toBeLessThan(1.05 * ratio + 700);
    const reader = openFilter(filter);
    let passed = 0;
    for (let i = 0; i < count; i++) {
      expect(reader.mayContain(kernels, key(i), 0, key(i).length)).toBe(true);
      const other = utf8Bytes(`other${i}`);
      if (reader.mayContain(kernels, other, 0, other.length)) passed++;
    }
    const expectedRate = 1 / ribbonOneIn(bits);
    // The legacy filter loses up to half a percent; otherwise four standard deviations.
    const most = expectedRate + 4 * Math.sqrt(expectedRate / count) + (name === 'legacy' ? 0.006 : 0.001);
    expect(passed / count).toBeLessThan(most);
  });

  test('room in a partition', () => {
    for (const bits of [2, 7.5, 10, 20]) {
      const builder = create(bits);
      for (const size of [0, 5, 64, 69, 300, 1000, 4096, 40_000]) {
        const entries = builder.entriesFor(size);
        // What fits is written within the size (large Ribbon filters: nearly), and a tenth more is not.
        for (let i = 0; i < entries; i++) builder.addHash(mixed(i), mixed(~i));
        if (entries > 0) expect(builder.finish().length, `${bits} ${size}`).toBeLessThanOrEqual(1.001 * size);
        for (let i = 0; i < 1.1 * entries + 300; i++) builder.addHash(mixed(i), mixed(~i));
        expect(builder.finish().length, `${bits} ${size}`).toBeGreaterThan(
          size < 40_000 ? Math.min(size, 64) : size,
        );
      }
    }
  });
});

describe('Ribbon', () => {
  test('a filter that cannot be solved', () => {
    const next = stream(7);
    const hashes = Uint32Array.from({ length: 2000 }, () => next(2 ** 32));
    expect(solveRibbon(hashes, 1000, 256, 112)).toBeUndefined();
    expect(solveRibbon(hashes, 100, 256, 112)).toHaveLength(117);
  });

  test('small filters are Bloom filters, if those are smaller', () => {
    const kinds = [1, 30, 60, 100, 200, 400, 900].map((count) => {
      const builder = new RibbonBuilder(10, kernels);
      for (let i = 0; i < count; i++) builder.addHash(mixed(i), mixed(~i));
      return openFilter(builder.finish()).kind;
    });
    expect(new Set(kinds.slice(0, 4))).toEqual(new Set(['fast_local_bloom']));
    expect(kinds.at(-1)).toBe('ribbon');
  });

  test('rates beyond the ends', () => {
    expect(ribbonBytes(256, 1, 0)).toBe(16);
    expect(ribbonBytes(256, 2 ** 33, 0)).toBe(1024);
    expect(ribbonSlots(1)).toBe(256);
  });
});
