import { describe, expect, it } from 'vitest';
import { SeededRandom, TEST_SCALE } from '../../../test/support/random.ts';
import { BlockCache, CacheFullError, CacheRole } from './block-cache.ts';

const OVERHEAD = 200;
/** Room for so many entries of 100 bytes. */
const roomFor = (entries: number): number => entries * (100 + OVERHEAD);

function filled(cache: BlockCache<string>, from: number, to: number): void {
  for (let i = from; i < to; i++) cache.insert(0, i, `v${i}`, 100, CacheRole.data);
}

describe.each(['lru', 's3fifo'] as const)('%s', (policy) => {
  it('holds to its capacity, whatever comes', () => {
    const cache = new BlockCache<string>({ capacityBytes: 100_000, policy });
    const random = new SeededRandom(1);
    const model = new Map<string, string>();
    for (let i = 0; i < 20_000 * TEST_SCALE; i++) {
      const file = random.below(3);
      const offset = random.below(2000) * 2 ** random.below(40);
      const key = `${file}/${offset}`;
      const found = cache.get(file, offset);
      if (found !== undefined) expect(found).toBe(model.get(key));
      if (random.chance(0.7)) {
        model.set(key, `${key}#${i}`);
        cache.insert(file, offset, `${key}#${i}`, random.below(3000), random.below(4));
        expect(cache.get(file, offset)).toBe(`${key}#${i}`);
      }
      expect(cache.usedBytes).toBeLessThanOrEqual(100_000);
    }
    expect(cache.count).toBeGreaterThan(20);
    const sum = (['data', 'index', 'filter', 'compressionDict'] as const).map((role) => cache.bytesOf(role));
    expect(sum.reduce((a, b) => a + b)).toBe(cache.usedBytes);
  });

  it('keeps what is pinned, and counts it', () => {
    const cache = new BlockCache<string>({ capacityBytes: roomFor(10), policy });
    cache.pin(7, 0, 'index', 100, CacheRole.index);
    cache.pin(7, 0, 'index', 100, CacheRole.index);
    filled(cache, 0, 50);
    expect(cache.get(7, 0)).toBe('index');
    expect(cache.pinnedBytes).toBe(roomFor(1));
    expect(cache.count).toBe(10);
    cache.unpin(7, 0);
    filled(cache, 50, 100);
    expect(cache.has(7, 0)).toBe(true);
    cache.unpin(7, 0);
    filled(cache, 100, 150);
    expect(cache.has(7, 0)).toBe(false);
    expect(cache.pinnedBytes).toBe(0);
  });

  it('refuses a block for which pins leave no room', () => {
    const cache = new BlockCache<string>({ capacityBytes: roomFor(3), policy });
    for (let i = 0; i < 3; i++) cache.pin(1, i, 'p', 100, CacheRole.filter);
    expect(cache.insert(0, 0, 'v', 100, CacheRole.data)).toBe(false);
    expect(cache.refusals).toBe(1);
    expect(cache.insert(0, 0, 'v', roomFor(4), CacheRole.data)).toBe(false);
  });

  it('strict: a pin is refused; otherwise the cache grows, and shrinks again', () => {
    const strict = new BlockCache<string>({ capacityBytes: roomFor(2), policy, strictCapacity: true });
    strict.pin(1, 0, 'p', 100, CacheRole.filter);
    strict.pin(1, 1, 'p', 100, CacheRole.filter);
    expect(() => strict.pin(1, 2, 'p', 100, CacheRole.filter)).toThrow(CacheFullError);
    expect(strict.usedBytes).toBe(roomFor(2));
    const loose = new BlockCache<string>({ capacityBytes: roomFor(2), policy });
    for (let i = 0; i < 5; i++) loose.pin(1, i, 'p', 100, CacheRole.filter);
    expect(loose.usedBytes).toBe(roomFor(5));
    for (let i = 0; i < 5; i++) loose.unpin(1, i);
    expect(loose.usedBytes).toBe(roomFor(2));
  });

  it('forgets a file', () => {
    const cache = new BlockCache<string>({ capacityBytes: roomFor(100), policy });
    const [a, b] = [cache.fileNumber('a'), cache.fileNumber('b')];
    for (let i = 0; i < 10; i++) {
      cache.insert(a, i, 'a', 100, CacheRole.data);
      cache.insert(b, i, 'b', 100, CacheRole.data);
    }
    expect(cache.fileNumber('a')).toBe(a);
    cache.forgetFile('a');
    expect(cache.count).toBe(10);
    expect(cache.get(b, 3)).toBe('b');
    expect(cache.fileNumber('a')).not.toBe(a);
  });
});

it('a capacity of 0 keeps nothing', () => {
  const cache = new BlockCache<string>({ capacityBytes: 0 });
  expect(cache.insert(0, 0, 'v', 1, CacheRole.data)).toBe(false);
  expect(cache.count).toBe(0);
});

it('a scan takes everything from lru, and a tenth from s3fifo', () => {
  const left = (['lru', 's3fifo'] as const).map((policy) => {
    const cache = new BlockCache<string>({ capacityBytes: roomFor(100), policy });
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 50; i++) if (cache.get(0, i) === undefined) filled(cache, i, i + 1);
    }
    filled(cache, 1000, 3000);
    let kept = 0;
    for (let i = 0; i < 50; i++) if (cache.has(0, i)) kept++;
    return kept;
  });
  expect(left[0]).toBe(0);
  expect(left[1]).toBe(50);
});
