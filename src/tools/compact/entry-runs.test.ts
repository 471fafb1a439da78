import { describe, expect, it } from 'vitest';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import { bytewiseComparator } from '../../operators/comparator.ts';
import { heaviestChain, RunCutter } from './entry-runs.ts';

/** Blocks of keys; what stays of them. */
function whatStays(blocks: readonly string[][]): string[] {
  const cutter = new RunCutter(bytewiseComparator);
  for (const block of blocks) {
    for (const key of block) {
      const bytes = new Uint8Array([...new TextEncoder().encode(key), ...new Uint8Array(TRAILER_SIZE)]);
      cutter.add(bytes, bytes.length);
    }
    cutter.cut();
  }
  const keys = blocks.flat();
  const stays = heaviestChain(cutter.runs, bytewiseComparator);
  expect(cutter.runs.at(-1)?.end ?? 0).toBe(keys.length);
  return cutter.runs.flatMap(({ start, end }, run) => (stays[run] ? keys.slice(start, end) : []));
}

describe('of entries that do not ascend', () => {
  const cases: [string, string[][], string][] = [
    ['in order all stay', [['a', 'b'], ['c', 'd'], ['e']], 'abcde'],
    ['nothing stays of nothing', [], ''],
    [
      'one far too large is left out',
      [
        ['a', 'b', 'z'],
        ['c', 'd'],
        ['e', 'f', 'g', 'h'],
      ],
      'abcdefgh',
    ],
    ['one far too small is left out', [['c', 'd', 'e'], ['a', 'f', 'g'], ['h']], 'cdefgh'],
    ['one that comes too early is left out', [['a', 'd', 'b', 'c'], ['e']], 'abce'],
    ['an older block between others is left out', [['a', 'b', 'c'], ['b'], ['d', 'e']], 'abcde'],
    [
      'a key that comes twice stays once',
      [
        ['a', 'b'],
        ['b', 'c'],
      ],
      'abc',
    ],
    [
      'of two that overlap both ends stay',
      [
        ['a', 'b', 'd'],
        ['c', 'e', 'f'],
      ],
      'abcef',
    ],
  ];
  it.each(cases)('%s', (_, blocks, stays) => {
    expect(whatStays(blocks).join('')).toBe(stays);
  });

  it('as many stay as can', () => {
    // The longest ascending part of "6 2 8 4 9 1 5 7 3" has four of them.
    expect(whatStays([...'628491573'].map((key) => [key]))).toHaveLength(4);
  });
});
