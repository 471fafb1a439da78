import { describe, expect, test } from 'vitest';
import { writeFixed32 } from '../bytes/fixed.ts';
import { InvalidArgumentError } from '../errors.ts';
import { computeBlockChecksum, storedChecksum } from '../hash/block-checksum.ts';
import { twinHashFunctions } from '../hash/hash-functions.ts';
import { defaultAllowedTypes, type FindBlockEndOptions, findBlockEnd } from './find-block-end.ts';
import { openKernels } from './open-kernels.ts';

const kernels = await openKernels();
const hashes = twinHashFunctions();

const CHECKSUM_TYPES = [1, 2, 3, 4];
const MODIFIER = 0x9a3b4c5d;

/** Bytes without a pattern, and in them at `start` a block of `length` bytes with its trailer. */
function withBlock(size: number, start: number, length: number, type: number, options: FindBlockEndOptions) {
  const bytes = Uint8Array.from({ length: size }, (_, i) => Math.imul(i + 77, 0x9e3779b1) >>> 21);
  const end = start + length;
  bytes[end] = type;
  const plain = computeBlockChecksum(hashes, options.checksumType, bytes, start, end);
  writeFixed32(bytes, end + 1, storedChecksum(plain, options.modifier ?? 0));
  return bytes;
}

describe.each(CHECKSUM_TYPES)('checksum type %i', (checksumType) => {
  test('every length from 0 to 2100: the kernel finds the end', () => {
    for (let length = 0; length <= 2100; length++) {
      const options = { checksumType, modifier: length & 1 ? MODIFIER : 0 };
      const start = length % 13;
      const bytes = withBlock(length + 200, start, length, length % 8, options);
      const found = kernels.findBlockEnd(bytes, start, bytes.length, options);
      if (found !== length) expect(found, `length ${length}`).toBe(length);
    }
  });

  test('kernel and twin agree, with and without a block in the bytes', () => {
    for (const length of [0, 1, 15, 16, 31, 32, 63, 64, 65, 239, 240, 241, 256, 319, 600]) {
      const options = { checksumType, modifier: MODIFIER };
      const bytes = withBlock(700, 3, length, 0x85, options);
      for (const [changed, expected] of [
        [options, length],
        [{ ...options, minLength: length }, length],
        [{ ...options, minLength: length + 1 }, -1],
        [{ ...options, modifier: MODIFIER + 1 }, -1],
      ] as const) {
        expect(findBlockEnd(hashes, bytes, 3, bytes.length, changed)).toBe(expected);
        expect(kernels.findBlockEnd(bytes, 3, bytes.length, changed)).toBe(expected);
      }
    }
  });

  test('any minimal length up to the block', () => {
    const options = { checksumType };
    const bytes = withBlock(1300, 0, 1200, 1, options);
    for (let minLength = 0; minLength <= 1201; minLength++) {
      const expected = minLength <= 1200 ? 1200 : -1;
      const found = kernels.findBlockEnd(bytes, 0, bytes.length, { ...options, minLength });
      if (found !== expected) expect(found, `from ${minLength}`).toBe(expected);
    }
  });

  test('blocks longer than a window', () => {
    const window = (1 << 17) - 4;
    for (const length of [
      window - 2,
      window - 1,
      window,
      window + 1,
      window + 64,
      2 * window - 65,
      300_001,
    ]) {
      const options = { checksumType, modifier: MODIFIER };
      const bytes = withBlock(length + 1000, 9, length, 7, options);
      for (const minLength of [0, window - 30, window, window + 1, length]) {
        const expected = minLength <= length ? length : -1;
        expect(kernels.findBlockEnd(bytes, 9, bytes.length, { ...options, minLength })).toBe(expected);
      }
    }
  });

  test('the trailer has to be there in full', () => {
    const options = { checksumType };
    const bytes = withBlock(120, 0, 100, 0, options);
    for (const end of [0, 4, 5, 104]) {
      expect(kernels.findBlockEnd(bytes, 0, end, options)).toBe(-1);
      expect(findBlockEnd(hashes, bytes, 0, end, options)).toBe(-1);
    }
    expect(kernels.findBlockEnd(bytes, 0, 105, options)).toBe(100);
  });

  test('only allowed type bytes end a block', () => {
    const allowedTypes = new Uint8Array(256);
    for (const [type, byDefault] of [
      [0, true],
      [7, true],
      [8, false],
      [0x3f, false],
      [0x40, true],
      [0x7f, false],
      [0x80, true],
      [0xfe, true],
      [0xff, false],
    ] as const) {
      const options = { checksumType };
      const bytes = withBlock(400, 0, 333, type, options);
      const expected = byDefault ? 333 : -1;
      expect(kernels.findBlockEnd(bytes, 0, bytes.length, options)).toBe(expected);
      expect(findBlockEnd(hashes, bytes, 0, bytes.length, options)).toBe(expected);
      allowedTypes.fill(0);
      expect(kernels.findBlockEnd(bytes, 0, bytes.length, { ...options, allowedTypes })).toBe(-1);
      allowedTypes[type] = 1;
      expect(kernels.findBlockEnd(bytes, 0, bytes.length, { ...options, allowedTypes })).toBe(333);
    }
  });
});

test('the default of allowed types', () => {
  const allowed = defaultAllowedTypes();
  expect(allowed.length).toBe(256);
  expect(allowed.reduce((sum, flag) => sum + flag)).toBe(8 + 1 + 127);
});

test('other checksum types are refused', () => {
  const bytes = new Uint8Array(20);
  for (const checksumType of [0, 5]) {
    expect(() => kernels.findBlockEnd(bytes, 0, 20, { checksumType })).toThrow(InvalidArgumentError);
    expect(() => findBlockEnd(hashes, bytes, 0, 20, { checksumType })).toThrow(InvalidArgumentError);
  }
});
