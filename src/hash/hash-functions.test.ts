import { expect, test } from 'vitest';
import xxhash from 'xxhash-wasm';
import { openKernels } from '../kernels/open-kernels.ts';
import { kernelHashFunctions, twinHashFunctions } from './hash-functions.ts';

const twins = twinHashFunctions();
const fast = kernelHashFunctions(await openKernels(), await xxhash());

test('both answer alike, inside a buffer and for all of it', () => {
  const bytes = Uint8Array.from({ length: 5000 }, (_, i) => Math.imul(i, 2654435761) >>> 24);
  const ranges = [
    [0, 0],
    [7, 7],
    [3, 12],
    [1, 270],
    [13, 4109],
    [0, 5000],
  ] as const;
  for (const name of ['crc32c', 'xxh32', 'xxh64Low', 'xxh3Low'] as const) {
    for (const [start, end] of ranges) {
      expect(fast[name](bytes, start, end), `${name} ${start} ${end}`).toBe(twins[name](bytes, start, end));
    }
  }
});

test('names of the implementations', () => {
  expect(fast.implementations).toEqual({
    crc32c: 'sstkit kernel (WebAssembly)',
    xxh32: 'xxhash-wasm',
    xxh64: 'xxhash-wasm',
    xxh3: 'sstkit kernel (WebAssembly)',
  });
  expect(Object.keys(twins.implementations)).toEqual(Object.keys(fast.implementations));
});
