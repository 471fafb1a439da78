import { readFixed32 } from '../bytes/fixed.ts';
import {
  addU64,
  bswap32,
  bswapU64,
  foldU64,
  mulU64,
  mulWide,
  readU64,
  rotlU64,
  shlU64,
  shrU64,
  subU64,
  type U64,
  u64,
  u64FromNumber,
  xorU64,
} from '../bytes/u64.ts';
import {
  avalanche,
  hashMiddle,
  longLanes,
  MERGE_SECRET,
  MIDDLE_LENGTH_MAX,
  mergeLanes,
  mix16,
  P32_2,
  P64_1,
  P64_2,
  P64_4,
  SECRET,
  secretWord,
  seededSecret,
  ZERO,
} from './xxh3-parts.ts';
import { avalancheXxh64 } from './xxh64.ts';

const AVALANCHE_FACTOR: U64 = { hi: 0x16566791, lo: 0x9e3779f9 };
const SHORT_FACTOR: U64 = { hi: 0x9fb21c65, lo: 0x1e98df25 };

/** Where the high word of XXH3-128 merges its lanes, and where its last step finds the secret. */
const MERGE_SECRET_HIGH = 117;
const LAST_STEP_SECRET = 103;

export interface Hash128 {
  low: U64;
  high: U64;
}

/**
 * XXH3-64 of `bytes[start, end)`, seed 0: checksum type 4. An empty input gives 2d06800538d394c2 here;
 * the checksum of an empty buffer is defined apart (block-checksum.ts).
 * Source: xxHash xxhash.h, XXH3_64bits.
 */
export function xxh3(bytes: Uint8Array, start: number, end: number): U64 {
  const length = end - start;
  if (length <= 16) return hashShort(bytes, start, end);
  if (length <= MIDDLE_LENGTH_MAX) return hashMiddle(bytes, start, end, ZERO, AVALANCHE_FACTOR);
  const lanes = longLanes(bytes, start, end, SECRET, false);
  return avalanche(
    mergeLanes(lanes, mulU64(u64FromNumber(length), P64_1), SECRET, MERGE_SECRET),
    AVALANCHE_FACTOR,
  );
}

/**
 * XXH3-128 of `bytes[start, end)`: SST unique ids.
 * Source: xxHash xxhash.h, XXH3_128bits_withSeed.
 */
export function xxh3Wide(bytes: Uint8Array, start: number, end: number, seed: U64 = ZERO): Hash128 {
  const length = end - start;
  if (length <= 16) return hashShortWide(bytes, start, end, seed);
  if (length <= MIDDLE_LENGTH_MAX) return hashMiddleWide(bytes, start, end, seed);
  const secret = seed.hi === 0 && seed.lo === 0 ? SECRET : seededSecret(seed);
  const lanes = longLanes(bytes, start, end, secret, false);
  const n = u64FromNumber(length);
  const initialHigh = not(mulU64(n, P64_2));
  return {
    low: avalanche(mergeLanes(lanes, mulU64(n, P64_1), secret, MERGE_SECRET), AVALANCHE_FACTOR),
    high: avalanche(mergeLanes(lanes, initialHigh, secret, MERGE_SECRET_HIGH), AVALANCHE_FACTOR),
  };
}

function hashShort(bytes: Uint8Array, start: number, end: number): U64 {
  const length = end - start;
  if (length > 8) {
    const low = xorU64(readU64(bytes, start), secretXor(24, 32));
    const high = xorU64(readU64(bytes, end - 8), secretXor(40, 48));
    const sum = addU64(addU64({ hi: 0, lo: length }, bswapU64(low)), addU64(high, foldU64(low, high)));
    return avalanche(sum, AVALANCHE_FACTOR);
  }
  if (length >= 4) {
    const word: U64 = { hi: readFixed32(bytes, start), lo: readFixed32(bytes, end - 4) };
    let h = xorU64(word, secretXor(8, 16));
    h = xorU64(h, xorU64(rotlU64(h, 49), rotlU64(h, 24)));
    h = mulU64(h, SHORT_FACTOR);
    h = xorU64(h, addU64(shrU64(h, 35), { hi: 0, lo: length }));
    return xorShift(mulU64(h, SHORT_FACTOR), 28);
  }
  if (length > 0) {
    return avalancheXxh64(u64(0, combineUpTo3(bytes, start, end) ^ secretXor32(0, 4)));
  }
  return avalancheXxh64(secretXor(56, 64));
}

function hashShortWide(bytes: Uint8Array, start: number, end: number, seed: U64): Hash128 {
  const length = end - start;
  if (length > 8) {
    const a = readU64(bytes, start);
    const b = readU64(bytes, end - 8);
    const first = mulWide(xorU64(xorU64(a, b), subU64(secretXor(32, 40), seed)), P64_1);
    const keyed = xorU64(b, addU64(secretXor(48, 56), seed));
    const high = addU64(first.high, addU64(keyed, mulU64({ hi: 0, lo: keyed.lo }, { hi: 0, lo: P32_2 - 1 })));
    const low = xorU64(addU64(first.low, shlU64({ hi: 0, lo: length - 1 }, 54)), bswapU64(high));
    const second = mulWide(low, P64_2);
    return {
      low: avalanche(second.low, AVALANCHE_FACTOR),
      high: avalanche(addU64(second.high, mulU64(high, P64_2)), AVALANCHE_FACTOR),
    };
  }
  if (length >= 4) {
    const swappedSeed = xorU64(seed, { hi: bswap32(seed.lo), lo: 0 });
    const word: U64 = { hi: readFixed32(bytes, end - 4), lo: readFixed32(bytes, start) };
    const keyed = xorU64(word, addU64(secretXor(16, 24), swappedSeed));
    const product = mulWide(keyed, addU64(P64_1, { hi: 0, lo: 4 * length }));
    const high = addU64(product.high, shlU64(product.low, 1));
    const low = xorU64(product.low, shrU64(high, 3));
    return {
      low: xorShift(mulU64(xorShift(low, 35), SHORT_FACTOR), 28),
      high: avalanche(high, AVALANCHE_FACTOR),
    };
  }
  if (length > 0) {
    const combined = combineUpTo3(bytes, start, end);
    const swapped = bswap32(combined);
    const keyLow = addU64({ hi: 0, lo: secretXor32(0, 4) }, seed);
    const keyHigh = subU64({ hi: 0, lo: secretXor32(8, 12) }, seed);
    return {
      low: avalancheXxh64(xorU64({ hi: 0, lo: combined }, keyLow)),
      high: avalancheXxh64(xorU64(u64(0, (swapped << 13) | (swapped >>> 19)), keyHigh)),
    };
  }
  return {
    low: avalancheXxh64(xorU64(seed, secretXor(64, 72))),
    high: avalancheXxh64(xorU64(seed, secretXor(80, 88))),
  };
}

/** Lengths 17 to 240: each step crosses two 16-byte pieces of the input between the two sums. */
function hashMiddleWide(bytes: Uint8Array, start: number, end: number, seed: U64): Hash128 {
  const length = end - start;
  let low = mulU64({ hi: 0, lo: length }, P64_1);
  let high = ZERO;
  const step = (i: number, j: number, secretPos: number, stepSeed: U64): void => {
    low = xorU64(addU64(low, mix16(bytes, i, secretPos, stepSeed)), sumOfWords(bytes, j));
    high = xorU64(addU64(high, mix16(bytes, j, secretPos + 16, stepSeed)), sumOfWords(bytes, i));
  };
  if (length <= 128) {
    for (let i = Math.floor((length - 1) / 32); i >= 0; i--) {
      step(start + 16 * i, end - 16 * (i + 1), 32 * i, seed);
    }
  } else {
    for (let i = 0; i < 4; i++) step(start + 32 * i, start + 32 * i + 16, 32 * i, seed);
    low = avalanche(low, AVALANCHE_FACTOR);
    high = avalanche(high, AVALANCHE_FACTOR);
    for (let i = 4; i < Math.floor(length / 32); i++) {
      step(start + 32 * i, start + 32 * i + 16, 32 * (i - 4) + 3, seed);
    }
    step(end - 16, end - 32, LAST_STEP_SECRET, subU64(ZERO, seed));
  }
  const weighted = addU64(
    addU64(mulU64(low, P64_1), mulU64(high, P64_4)),
    mulU64(subU64({ hi: 0, lo: length }, seed), P64_2),
  );
  return {
    low: avalanche(addU64(low, high), AVALANCHE_FACTOR),
    high: subU64(ZERO, avalanche(weighted, AVALANCHE_FACTOR)),
  };
}

/** First, middle and last byte of 1 to 3 bytes, and the length, in one uint32. */
function combineUpTo3(bytes: Uint8Array, start: number, end: number): number {
  const length = end - start;
  const middle = bytes[start + (length >> 1)]!;
  return ((bytes[start]! << 16) | (middle << 24) | bytes[end - 1]! | (length << 8)) >>> 0;
}

function sumOfWords(bytes: Uint8Array, pos: number): U64 {
  return addU64(readU64(bytes, pos), readU64(bytes, pos + 8));
}

function secretXor(a: number, b: number): U64 {
  return xorU64(secretWord(a), secretWord(b));
}

function secretXor32(a: number, b: number): number {
  return (readFixed32(SECRET, a) ^ readFixed32(SECRET, b)) >>> 0;
}

function xorShift(h: U64, count: number): U64 {
  return xorU64(h, shrU64(h, count));
}

function not(a: U64): U64 {
  return u64(~a.hi, ~a.lo);
}
