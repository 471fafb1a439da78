import { describe, expect, test } from 'vitest';
import { UnsupportedError } from '../errors.ts';
import { bufferChecksum, computeBlockChecksum, contextModifier, storedChecksum } from './block-checksum.ts';
import { twinHashFunctions } from './hash-functions.ts';

const hashes = twinHashFunctions();

test('a block inside a larger buffer', () => {
  const block = Uint8Array.from({ length: 301 }, (_, i) => (i * 29) & 0xff);
  const larger = new Uint8Array(400).fill(0x55);
  larger.set(block, 33);
  for (let type = 0; type <= 4; type++) {
    const alone = computeBlockChecksum(hashes, type, block, 0, 300);
    expect(computeBlockChecksum(hashes, type, larger, 33, 333)).toBe(alone);
    expect(bufferChecksum(hashes, type, larger, 33, 334)).toBe(alone);
  }
});

test('the compression type counts, in every type but 0', () => {
  const block = Uint8Array.of(1, 2, 3, 0);
  const other = Uint8Array.of(1, 2, 3, 7);
  expect(computeBlockChecksum(hashes, 0, block, 0, 3)).toBe(0);
  for (let type = 1; type <= 4; type++) {
    expect(computeBlockChecksum(hashes, type, block, 0, 3)).not.toBe(
      computeBlockChecksum(hashes, type, other, 0, 3),
    );
  }
});

test('no bytes at all', () => {
  const none = new Uint8Array(0);
  expect([0, 1, 2, 3, 4].map((type) => bufferChecksum(hashes, type, none, 0, 0))).toEqual([
    0, 0xa282ead8, 0x02cc5d05, 0x51d8e999, 0,
  ]);
});

test('an unknown checksum type, a type byte outside of the buffer', () => {
  const bytes = new Uint8Array(8);
  expect(() => computeBlockChecksum(hashes, 5, bytes, 0, 7)).toThrow(UnsupportedError);
  expect(() => computeBlockChecksum(hashes, 1, bytes, 0, 8)).toThrow(RangeError);
});

describe('context', () => {
  test('modifier', () => {
    expect(contextModifier(0, 4096)).toBe(0);
    expect(contextModifier(0x2a3b4c5d, 0)).toBe(0x2a3b4c5d);
    expect(contextModifier(0x2a3b4c5d, 4096)).toBe(0x2a3b5c5d);
    // The halves of the offset are added, without a carry out of 32 bits.
    expect(contextModifier(1, 3 * 2 ** 32 + 5)).toBe(1 ^ 8);
    expect(contextModifier(1, 2 * 2 ** 32 + 0xffffffff)).toBe(1 ^ 1);
  });

  test('sum wraps', () => {
    expect(storedChecksum(0xffffffff, 2)).toBe(1);
  });
});
