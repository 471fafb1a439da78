import { describe, expect, test } from 'vitest';
import { u64ToHex } from '../bytes/u64.ts';
import { createCrc32c } from '../hash/crc32c.ts';
import { twinKeyHash } from '../hash/key-hash.ts';
import { xxh3 } from '../hash/xxh3.ts';
import { xxph3 } from '../hash/xxph3.ts';
import { openKernels } from './open-kernels.ts';

const SCALE = Number(process.env.SSTKIT_TEST_SCALE ?? 1);
const SEED = 20_240_607;

const kernels = await openKernels();
const crc32c = createCrc32c();

/** Numbers from 0 to 2^32 - 1 that are the same in each run (xorshift32). */
function createRandom(seed: number): () => number {
  let x = seed | 0;
  return () => {
    x ^= x << 13;
    x ^= x >>> 17;
    x ^= x << 5;
    return x >>> 0;
  };
}

function randomBytes(length: number, seed: number): Uint8Array {
  const random = createRandom(seed);
  return Uint8Array.from({ length }, () => random() >>> 24);
}

function expectAllEqual(bytes: Uint8Array, start: number, end: number): void {
  const where = `seed ${SEED}, bytes ${start} to ${end}`;
  const crc = kernels.crc32c(bytes, start, end);
  if (crc !== crc32c(bytes, start, end)) expect(crc, `crc32c, ${where}`).toBe(crc32c(bytes, start, end));
  const released = { lo: kernels.xxh3(bytes, start, end), hi: kernels.high() };
  const releasedTwin = u64ToHex(xxh3(bytes, start, end));
  if (u64ToHex(released) !== releasedTwin) expect(u64ToHex(released), `xxh3, ${where}`).toBe(releasedTwin);
  const preview = { lo: kernels.xxph3(bytes, start, end), hi: kernels.high() };
  const previewTwin = u64ToHex(xxph3(bytes, start, end));
  if (u64ToHex(preview) !== previewTwin) expect(u64ToHex(preview), `xxph3, ${where}`).toBe(previewTwin);
}

test('all lengths from 0 to 2100, unaligned', () => {
  const bytes = randomBytes(2200, SEED);
  for (let length = 0; length <= 2100; length++) {
    const start = length % 61;
    expectAllEqual(bytes, start, start + length);
  }
});

test('lengths around the slices of long inputs, up to 1 MiB', () => {
  const bytes = randomBytes((1 << 20) + 100, SEED + 1);
  const random = createRandom(SEED + 2);
  const lengths = [
    (1 << 20) - 1,
    1 << 20,
    (1 << 20) + 1,
    ...[-65, -64, -1, 0, 1, 2, 63, 64, 65, 1023, 1024, 1025, 1088].map((n) => (1 << 17) + n),
    ...[-1, 0, 1, 240, 1024].map((n) => (1 << 18) + n),
    ...Array.from({ length: Math.round(4 * SCALE) }, () => random() % (1 << 20)),
  ];
  for (const length of lengths) {
    const start = random() % 97;
    expectAllEqual(bytes, start, Math.min(start + length, bytes.length));
  }
});

test('crc32c continues', () => {
  const bytes = randomBytes(300_000, SEED + 3);
  const first = kernels.crc32c(bytes, 0, 12_345);
  expect(kernels.crc32c(bytes, 12_345, bytes.length, first)).toBe(crc32c(bytes, 0, bytes.length));
});

test('an input that is all of a small array, after a longer one', () => {
  expectAllEqual(randomBytes(500, SEED + 4), 0, 500);
  for (let length = 0; length < 80; length++) expectAllEqual(randomBytes(length, SEED + 5), 0, length);
});

test('a range outside of the bytes is refused', () => {
  const bytes = new Uint8Array(10);
  expect(() => kernels.crc32c(bytes, 0, 11)).toThrow(RangeError);
  expect(() => kernels.xxh3(bytes, 5, 300)).toThrow(RangeError);
  expect(() => kernels.xxph3(bytes, 6, 5)).toThrow(RangeError);
});

describe('batches', () => {
  function expectBatch(lengths: readonly number[]): void {
    const offsets = new Uint32Array(lengths.length + 1);
    offsets[0] = 5;
    lengths.forEach((length, i) => {
      offsets[i + 1] = offsets[i]! + length;
    });
    const bytes = randomBytes(offsets[lengths.length]! + 3, SEED + 6);
    const out = new Uint32Array(2 * lengths.length);
    const expected = new Uint32Array(2 * lengths.length);
    kernels.xxph3Batch(bytes, offsets, lengths.length, out);
    twinKeyHash().xxph3Batch(bytes, offsets, lengths.length, expected);
    expect(Buffer.compare(Buffer.from(out.buffer), Buffer.from(expected.buffer))).toBe(0);
  }

  test('no key, one, every length', () => {
    expectBatch([]);
    expectBatch([0]);
    expectBatch(Array.from({ length: 400 }, (_, i) => i));
  });

  test('more keys than a batch holds', () => {
    expectBatch(Array.from({ length: 10_000 }, (_, i) => i % 33));
  });

  test('keys longer than the input, between short ones', () => {
    expectBatch([16, 200_000, 3, 131_072, 131_073, 24, 100_000, 100_000, 1]);
  });
});

test('twin: high() belongs to the last hash', () => {
  const keyHash = twinKeyHash();
  const bytes = randomBytes(40, SEED + 7);
  const lo = keyHash.xxph3(bytes, 2, 33);
  expect(u64ToHex({ lo, hi: keyHash.high() })).toBe(u64ToHex(xxph3(bytes, 2, 33)));
});
