import { describe, expect, test } from 'vitest';
import { stream, TEST_SCALE } from '../../../test/support/random.ts';
import { twinKeyHash } from '../../hash/key-hash.ts';
import { BLOOM_HASH_SEED, legacyHash32 } from '../../hash/legacy-hash.ts';
import { openKernels } from '../../kernels/open-kernels.ts';
import { legacyBloomLine } from './bloom-bits.ts';
import { openFilter } from './open-filter.ts';
import { RibbonHasher } from './ribbon-hasher.ts';

const kernels = await openKernels();
const twin = twinKeyHash();
const KEYS = 400;
const SEEDS = Array.from({ length: 12 * TEST_SCALE }, (_, i) => 88_001 + i);

/** A filter somewhere in a larger array, whose bits are set by chance: three of four, or nearly all. */
function randomFilter(next: (below: number) => number, dataBytes: number, metadata: number[]): Uint8Array {
  const start = next(9);
  const all = new Uint8Array(start + dataBytes + 5 + next(9));
  const dense = next(2) === 0;
  for (let i = 0; i < all.length; i++) {
    all[i] = next(256) | next(256) | (dense ? 0xff ^ (1 << next(30)) : 0);
  }
  all.set(metadata, start + dataBytes);
  return all.subarray(start, start + dataBytes + 5);
}

/** Asks for random keys, by the key with kernels and twin, by its hash, and for all at once. */
function expectAnswers(
  next: (below: number) => number,
  contents: Uint8Array,
  oracle: (lo: number, hi: number) => boolean,
): void {
  const reader = openFilter(contents);
  const bytes = Uint8Array.from({ length: 60 * KEYS }, () => next(256));
  const offsets = new Uint32Array(KEYS + 1);
  for (let i = 0; i < KEYS; i++) offsets[i + 1] = offsets[i]! + next(60);
  const expected = new Uint8Array(KEYS);
  const single = [kernels, twin].map((hash) => {
    const out = new Uint8Array(KEYS);
    for (let i = 0; i < KEYS; i++) {
      out[i] = reader.mayContain(hash, bytes, offsets[i]!, offsets[i + 1]!) ? 1 : 0;
    }
    return out;
  });
  for (let i = 0; i < KEYS; i++) {
    const [start, end] = [offsets[i]!, offsets[i + 1]!];
    const isLegacy = reader.hash === 'bloom_hash';
    const lo = isLegacy ? legacyHash32(bytes, start, end, BLOOM_HASH_SEED) : twin.xxph3(bytes, start, end);
    const hi = twin.high();
    expected[i] = oracle(lo, hi) ? 1 : 0;
    expect(reader.mayContainHash(lo, hi)).toBe(expected[i] === 1);
  }
  expect(single).toEqual([expected, expected]);
  const many = new Uint8Array(KEYS);
  const found = reader.mayContainMany(kernels, bytes, offsets, KEYS, many);
  expect(many).toEqual(expected);
  expect(found).toBe(expected.reduce((sum, may) => sum + may, 0));
}

const bitAt = (bytes: Uint8Array, bit: number): boolean => ((bytes[bit >>> 3]! >>> (bit & 7)) & 1) === 1;

describe.each(SEEDS)('answers are those of a bit-by-bit reading, seed %i', (seed) => {
  test('fast local Bloom', () => {
    const next = stream(seed);
    const probes = 1 + next(30);
    const contents = randomFilter(next, 64 * (1 + next(40)) + next(64), [0xff, 0, probes, 0, 0]);
    const lines = BigInt((contents.length - 5) >>> 6);
    expectAnswers(next, contents, (lo, hi) => {
      const base = 512 * Number((BigInt(lo) * lines) >> 32n);
      let x = hi;
      for (let i = 0; i < probes; i++) {
        if (!bitAt(contents, base + (x >>> 23))) return false;
        x = Math.imul(x, 0x9e3779b9);
      }
      return true;
    });
  });

  test('legacy Bloom', () => {
    const next = stream(seed);
    const probes = 1 + next(30);
    const lines = 1 + next(50);
    const lineBytes = 2 ** next(9);
    const metadata = [probes, lines, 0, 0, 0];
    const contents = randomFilter(next, lines * lineBytes, metadata);
    expectAnswers(next, contents, (hash) => {
      const base = 8 * lineBytes * (hash % lines);
      const delta = ((hash >>> 17) | (hash << 15)) >>> 0;
      let h = hash;
      for (let i = 0; i < probes; i++) {
        if (!bitAt(contents, base + (h % (8 * lineBytes)))) return false;
        h = (h + delta) >>> 0;
      }
      return true;
    });
  });

  test('Ribbon', () => {
    const next = stream(seed);
    const blocks = 2 + next(6);
    const hashSeed = next(256);
    // From no column in some blocks to all of them.
    const dataBytes = next(3) === 0 ? next(16 * blocks) : next(16 * blocks * (1 + next(34)));
    const contents = randomFilter(next, 1 + dataBytes, [0xfe, hashSeed, blocks, 0, 0]);
    const segments = Math.floor((contents.length - 5) / 16);
    const columns = Math.min(32, Math.ceil(segments / blocks));
    const short = columns === 32 && segments > 32 * blocks ? 0 : columns * blocks - segments;
    const hasher = new RibbonHasher(hashSeed, 128 * blocks);
    const segmentAt = (index: number): bigint => {
      let value = 0n;
      for (let i = 15; i >= 0; i--) value = (value << 8n) | BigInt(contents[16 * index + i]!);
      return value;
    };
    const isOdd = (value: bigint): boolean => value.toString(2).replaceAll('0', '').length % 2 === 1;
    expectAnswers(next, contents, (lo, hi) => {
      hasher.hash(lo, hi);
      const words = [hasher.row3, hasher.row2, hasher.row1, hasher.row0];
      const row = words.reduce((sum, word) => (sum << 32n) | BigInt(word >>> 0), 0n);
      const block = Math.floor(hasher.start / 128);
      const offset = BigInt(hasher.start % 128);
      const here = columns - (block < short ? 1 : 0);
      const segment = block * columns - Math.min(block, short);
      for (let i = 0; i < here; i++) {
        let chosen = segmentAt(segment + i) & ((row << offset) & (2n ** 128n - 1n));
        if (offset > 0n) chosen ^= segmentAt(segment + here + i) & (row >> (128n - offset));
        if (isOdd(chosen) !== (((hasher.result >>> i) & 1) === 1)) return false;
      }
      return true;
    });
  });
});

test('the line of a hash is its remainder', () => {
  const next = stream(11);
  for (let i = 0; i < 20_000; i++) {
    const lines = 1 + next(i % 2 === 0 ? 2 ** 21 : 2 ** 32 - 1);
    const hash = i % 3 === 0 ? next(2 ** 32) : (lines * next(Math.floor(2 ** 32 / lines)) - next(2)) >>> 0;
    if (legacyBloomLine(hash, lines) !== hash % lines) expect([hash, lines]).toBe('as %');
  }
});
