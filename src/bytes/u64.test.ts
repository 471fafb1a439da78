import { expect, test } from 'vitest';
import {
  addU64,
  bswap32,
  bswapU64,
  foldU64,
  MUL_HIGH_SMALL_MAX,
  mul32,
  mulHighSmall,
  mulU64,
  mulWide,
  readU64,
  rotlU64,
  shlU64,
  shrU64,
  subU64,
  type U64,
  u64FromBigInt,
  u64FromNumber,
  u64ToBigInt,
  u64ToHex,
  xorU64,
} from './u64.ts';

/** Values at which carries and signs go wrong, then words without a pattern. */
const WORDS: bigint[] = [
  0n,
  1n,
  0x7fffffffn,
  0x80000000n,
  0xffffffffn,
  0x100000000n,
  0x1ffffffffn,
  0x7fffffffffffffffn,
  0x8000000000000000n,
  0xffffffff00000000n,
  0xffffffffffffffffn,
];
for (let i = 1n; i <= 40n; i++) WORDS.push(BigInt.asUintN(64, (i * 0x9e3779b97f4a7c15n) ** 3n));

const MASK = (1n << 64n) - 1n;

function expectWord(actual: U64, expected: bigint): void {
  expect(u64ToHex(actual)).toBe(BigInt.asUintN(64, expected).toString(16).padStart(16, '0'));
}

test('two words', () => {
  for (const a of WORDS) {
    for (const b of WORDS) {
      const [x, y] = [u64FromBigInt(a), u64FromBigInt(b)];
      expectWord(addU64(x, y), a + b);
      expectWord(subU64(x, y), a - b);
      expectWord(xorU64(x, y), a ^ b);
      expectWord(mulU64(x, y), a * b);
      expectWord(foldU64(x, y), ((a * b) >> 64n) ^ (a * b));
      const { high, low } = mulWide(x, y);
      expectWord(high, (a * b) >> 64n);
      expectWord(low, a * b);
      expectWord(mul32(x.lo, y.hi), (a & 0xffffffffn) * (b >> 32n));
    }
  }
});

test('shifts and rotations by every count', () => {
  for (const a of WORDS) {
    const x = u64FromBigInt(a);
    for (let count = 1; count < 64; count++) {
      const n = BigInt(count);
      expectWord(shlU64(x, count), a << n);
      expectWord(shrU64(x, count), a >> n);
      if (count !== 32) expectWord(rotlU64(x, count), ((a << n) & MASK) | (a >> (64n - n)));
    }
  }
});

test('bytes and numbers', () => {
  const bytes = Uint8Array.of(0xaa, 1, 2, 3, 4, 5, 6, 7, 0xf8);
  expect(u64ToHex(readU64(bytes, 1))).toBe('f807060504030201');
  expect(u64ToHex(bswapU64(readU64(bytes, 1)))).toBe('01020304050607f8');
  expect(bswap32(0x010203f4)).toBe(0xf4030201);
  for (const value of [0, 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 53 - 1]) {
    expect(u64ToBigInt(u64FromNumber(value))).toBe(BigInt(value));
  }
});

test('the high half of a product with a small factor', () => {
  const edges = [0, 1, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xfffeffff, 0xffffffff];
  for (const a of [...edges, ...Array.from({ length: 500 }, (_, i) => Math.imul(i + 1, 0x9e3779b1) >>> 0)]) {
    for (const b of [0, 1, 5, 196, 16_727, MUL_HIGH_SMALL_MAX - 1, MUL_HIGH_SMALL_MAX]) {
      expect(mulHighSmall(a, b)).toBe(Number((BigInt(a) * BigInt(b)) >> 32n));
    }
  }
});
