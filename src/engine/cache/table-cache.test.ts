import { expect, it } from 'vitest';
import { TableCache } from './table-cache.ts';

function counting(capacity: number) {
  const events: string[] = [];
  const open = (identity: string) => {
    events.push(`open ${identity}`);
    return { identity, close: () => events.push(`close ${identity}`) };
  };
  return { events, cache: new TableCache(open, capacity) };
}

it('keeps what was used last, and closes the rest', () => {
  const { events, cache } = counting(2);
  for (const identity of ['a', 'b', 'a', 'c', 'a', 'b']) {
    expect(cache.acquire(identity).identity).toBe(identity);
    cache.release(identity);
  }
  expect(events).toEqual(['open a', 'open b', 'open c', 'close b', 'open b', 'close c']);
  expect([cache.hits, cache.misses]).toEqual([2, 4]);
});

it('never closes what is held', () => {
  const { events, cache } = counting(1);
  const held = ['a', 'b', 'c'].map((identity) => cache.acquire(identity));
  expect(cache.count).toBe(3);
  cache.clear();
  expect(events).toEqual(['open a', 'open b', 'open c']);
  for (const { identity } of held) cache.release(identity);
  expect(cache.count).toBe(1);
  cache.clear();
  expect(events.filter((event) => event.startsWith('close'))).toHaveLength(3);
  expect(() => cache.release('a')).toThrow();
});
