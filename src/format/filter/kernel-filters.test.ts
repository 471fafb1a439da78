import { describe, expect, test } from 'vitest';
import { stream, TEST_SCALE } from '../../../test/support/random.ts';
import { twinKeyHash } from '../../hash/key-hash.ts';
import { FilterKernel } from '../../kernels/filter-kernel.ts';
import { openKernels } from '../../kernels/open-kernels.ts';
import type { FilterHashes } from './filter-hashes.ts';
import { HashCollector } from './hash-collector.ts';
import { KernelHashCollector } from './kernel-hash-collector.ts';
import { LegacyBloomBuilder } from './legacy-bloom-builder.ts';
import { RibbonHasher } from './ribbon-hasher.ts';
import { RIBBON_ROW_BITS, ribbonSlots } from './ribbon-math.ts';

const kernels = await openKernels();
const SEEDS = Array.from({ length: 12 * TEST_SCALE }, (_, i) => 77_001 + i);

/** Numbers below a bound, the same in each run (xorshift32). */
function randomBytes(next: (below: number) => number, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => next(256));
}

type Add = Pick<FilterHashes, 'addKey' | 'addKeyAndPrefix' | 'addHash'>;

/** The same keys for both, of any length and array, with prefixes and repetitions where `mixed`. */
function addBoth(seed: number, count: number, mixed: boolean, sides: readonly Add[]): void {
  const next = stream(seed);
  const arrays = [0, 1, 2].map(() => randomBytes(next, 40_000));
  let array = arrays[0]!;
  let start = 0;
  let end = 0;
  for (let i = 0; i < count; i++) {
    if (!mixed || next(4) > 0) {
      array = mixed ? arrays[next(3)]! : array;
      const length = mixed && next(300) === 0 ? next(35_000) : next(mixed ? 120 : 40);
      start = next(array.length - length);
      end = start + length;
    }
    const prefixEnd = start + next(end - start + 1);
    const kind = mixed ? next(10) : 9;
    const [lo, hi] = [next(2 ** 32), next(2 ** 32)];
    for (const side of sides) {
      if (kind < 4) side.addKeyAndPrefix(array, start, prefixEnd, end);
      else if (kind === 4) side.addHash(lo, hi);
      else side.addKey(array, start, end);
    }
  }
}

function pair(): [KernelHashCollector, HashCollector] {
  return [new KernelHashCollector(kernels, kernels.filterKernel), new HashCollector(twinKeyHash())];
}

function expectSameHashes(kernel: FilterHashes, twin: FilterHashes): void {
  const { entries } = twin;
  // Before anything else: to know how many there are is to hash those that wait.
  expect(kernel.hasEntries(entries)).toBe(true);
  expect(kernel.entries).toBe(entries);
  expect(kernel.hasEntries(entries + 1)).toBe(false);
  expect(kernel.firstHigh).toBe(twin.firstHigh);
  expect(kernel.hashes.subarray(0, 2 * entries)).toEqual(twin.hashes.subarray(0, 2 * entries));
}

/** A kernel with so many bytes for each memory. */
function limited(bytesMax: number): FilterKernel {
  return new FilterKernel((pages) => {
    if (pages * 65_536 > bytesMax) throw new RangeError('no');
    return kernels.filterKernel.openModule(pages);
  });
}

test.each(['kernel', 'twin'])('a pair that two batches share counts as two: %s', (name) => {
  const [kernel, twin] = pair();
  const collector = name === 'kernel' ? kernel : twin;
  const keys = Uint8Array.from({ length: 8192 }, (_, i) => (i * 7) ^ (i >> 8));
  for (let added = 0; added < 1100; added++) {
    collector.reset();
    for (let i = 0; i < added; i++) collector.addKey(keys, 4 * i, 4 * i + 8);
    collector.addKeyAndPrefix(keys, 8000, 8003, 8009);
    expect([added, collector.hasEntries(added + 2)]).toEqual([added, true]);
  }
});

describe('the kernel does as its twin', () => {
  test.each(SEEDS)('keys and prefixes, seed %i', (seed) => {
    const [kernel, twin] = pair();
    for (const round of [0, 1]) {
      addBoth(seed + 1000 * round, 1 + stream(seed)(3000), true, [kernel, twin]);
      expectSameHashes(kernel, twin);
      kernel.reset();
      twin.reset();
    }
    expectSameHashes(kernel, twin);
  });

  test.each(SEEDS)('filters, seed %i', (seed) => {
    const next = stream(seed);
    const [kernel, twin] = pair();
    addBoth(seed, 1 + next(4000), false, [kernel, twin]);
    const { entries } = twin;
    for (const probes of [1, 6, 24, 30]) {
      const dataBytes = 64 * (1 + next(Math.ceil(entries / 40)));
      expect(kernel.fillBloom(dataBytes, probes), `probes ${probes}`).toEqual(
        twin.fillBloom(dataBytes, probes),
      );
    }
    const slots = ribbonSlots(entries);
    for (const columns of [1, 2, 4, 5, 7, 8, 20, 32]) {
      const dataBytes = 16 * (columns * (slots / RIBBON_ROW_BITS) - next(slots / RIBBON_ROW_BITS));
      const filter = twin.solveRibbon(slots, dataBytes);
      expect(kernel.solveRibbon(slots, dataBytes), `columns ${columns}`).toEqual(filter);
    }
  });

  test('a filter that no cache holds, in a memory that is made larger', () => {
    const [, twin] = pair();
    const kernel = new KernelHashCollector(kernels, limited(6 * 1024 * 1024));
    const legacy = [new LegacyBloomBuilder(10, kernels), new LegacyBloomBuilder(10)];
    const next = stream(5);
    for (let i = 0; i < 120_000; i++) {
      const [lo, hi] = [next(2 ** 32), next(2 ** 32)];
      for (const side of [kernel, twin, ...legacy]) side.addHash(lo, hi);
    }
    expectSameHashes(kernel, twin);
    const dataBytes = 64 * 9000;
    expect(Buffer.compare(kernel.fillBloom(dataBytes, 6), twin.fillBloom(dataBytes, 6))).toBe(0);
    const [first, second] = legacy.map((builder) => builder.finish());
    expect(Buffer.compare(first!, second!)).toBe(0);
  });

  test('filters one after the other and side by side share memories, and nothing else', () => {
    let opened = 0;
    const kernel = new FilterKernel((pages) => {
      opened++;
      return kernels.filterKernel.openModule(pages);
    });
    const hash = { ...twinKeyHash(), filterKernel: kernel };
    for (let round = 0; round < 6; round++) {
      const sides = [0, 1].map(() => new KernelHashCollector(kernels, kernel));
      const twins = [0, 1].map(() => new HashCollector(twinKeyHash()));
      const legacy = [new LegacyBloomBuilder(10, hash), new LegacyBloomBuilder(10)];
      addBoth(round, 500 * (round + 1), true, [sides[0]!, twins[0]!, ...legacy]);
      addBoth(round + 100, 300, true, [sides[1]!, twins[1]!]);
      for (const i of [1, 0]) {
        expectSameHashes(sides[i]!, twins[i]!);
        expect(sides[i]!.fillBloom(64 * 500, 6)).toEqual(twins[i]!.fillBloom(64 * 500, 6));
        sides[i]!.reset();
        expect(sides[i]!.entries).toBe(0);
      }
      expect(legacy[0]!.finish()).toEqual(legacy[1]!.finish());
    }
    expect(opened).toBeLessThanOrEqual(2 + 5);
    const before = opened;
    for (let i = 0; i < 20; i++) {
      const side = new KernelHashCollector(kernels, kernel);
      side.addHash(i, i);
      side.reset();
    }
    expect(opened).toBe(before);
  });

  test('equations that contradict each other', () => {
    const [kernel, twin] = pair();
    addBoth(9, 1000, false, [kernel, twin]);
    expect(twin.solveRibbon(256, 112)).toBeUndefined();
    expect(kernel.solveRibbon(256, 112)).toBeUndefined();
  });

  test.each(SEEDS)('legacy Bloom, seed %i', (seed) => {
    const next = stream(seed);
    for (const bits of [1, 10, 100]) {
      const sides = [new LegacyBloomBuilder(bits, kernels), new LegacyBloomBuilder(bits)];
      addBoth(seed, 1 + next(3000), true, sides);
      expect(sides[0]!.entries).toBe(sides[1]!.entries);
      expect(sides[0]!.finish()).toEqual(sides[1]!.finish());
    }
  });

  test('the equation of a key in a Ribbon filter, all lengths to 300', () => {
    const next = stream(3);
    const bytes = randomBytes(next, 400);
    const hash = twinKeyHash();
    for (let length = 0; length <= 300; length++) {
      const start = next(100);
      const hasher = new RibbonHasher(next(256), RIBBON_ROW_BITS * (2 + next(2 ** 24 - 2)));
      const lo = hash.xxph3(bytes, start, start + length);
      hasher.hash(lo, hash.high());
      const { rawSeed, starts, row0, row1, row2, row3, result } = hasher;
      const equation = kernels.ribbonEquation(bytes, start, start + length, rawSeed, starts);
      expect([...equation], `length ${length}`).toEqual([hasher.start | 0, result, row0, row1, row2, row3]);
    }
    expect(() => kernels.ribbonEquation(bytes, 390, 410, 0, 1)).toThrow(RangeError);
  });
});

describe('memory that is not to be had', () => {
  test('the twin makes the filter', () => {
    const [, twin] = pair();
    const kernel = new KernelHashCollector(kernels, limited(512 * 1024));
    addBoth(4, 8000, false, [kernel, twin]);
    const dataBytes = 64 * 8000;
    expect(Buffer.compare(kernel.fillBloom(dataBytes, 6), twin.fillBloom(dataBytes, 6))).toBe(0);
    const slots = ribbonSlots(twin.entries);
    const segments = 16 * 32 * (slots / RIBBON_ROW_BITS);
    const solved = [kernel, twin].map((side) => side.solveRibbon(slots, segments)!);
    expect(Buffer.compare(solved[0]!, solved[1]!)).toBe(0);
  });

  test('a legacy filter, too', () => {
    const hash = { ...twinKeyHash(), filterKernel: limited(0) };
    const sides = [new LegacyBloomBuilder(10, hash), new LegacyBloomBuilder(10)];
    addBoth(6, 1000, false, sides);
    expect(sides[0]!.finish()).toEqual(sides[1]!.finish());
  });

  test('no memory at all is a RangeError', () => {
    const kernel = new KernelHashCollector(kernels, limited(0));
    expect(() => kernel.addHash(1, 2)).toThrow(RangeError);
    expect(new KernelHashCollector(kernels, limited(0)).entries).toBe(0);
  });
});
