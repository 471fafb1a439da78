/**
 * What XXH3 and XXPH3 share: constants, the secret, the mixing of 16-byte pieces, and the long form.
 * Source: xxHash (xxhash.h); for XXPH3 RocksDB util/xxph3.h.
 */
import { readFixed32 } from '../bytes/fixed.ts';
import {
  addU64,
  foldU64,
  mulHigh32,
  mulU64,
  readU64,
  shrU64,
  subU64,
  type U64,
  u64,
  u64FromNumber,
  xorU64,
} from '../bytes/u64.ts';

export const P32_1 = 0x9e3779b1;
export const P32_2 = 0x85ebca77;
const P32_3 = 0xc2b2ae3d;
export const P64_1: U64 = { hi: 0x9e3779b1, lo: 0x85ebca87 };
export const P64_2: U64 = { hi: 0xc2b2ae3d, lo: 0x27d4eb4f };
export const P64_3: U64 = { hi: 0x165667b1, lo: 0x9e3779f9 };
export const P64_4: U64 = { hi: 0x85ebca77, lo: 0xc2b2ae63 };
const P64_5: U64 = { hi: 0x27d4eb2f, lo: 0x165667c5 };
export const ZERO: U64 = { hi: 0, lo: 0 };

/** The longest input that is hashed without lanes. */
export const MIDDLE_LENGTH_MAX = 240;

const STRIPE_LENGTH = 64;
const STRIPES_PER_BLOCK = 16;
/** Where the stripe of the last 64 bytes, the scrambling and the final merge find their part of the secret. */
const LAST_STRIPE_SECRET = 121;
const SCRAMBLE_SECRET = 128;
export const MERGE_SECRET = 11;

/** 192 bytes that stand in for a key; written as little-endian words. */
export const SECRET: Uint8Array = fromWords([
  0x396cfeb8, 0xbe4ba423, 0x2c81017c, 0x1cad21f7, 0xe96dd4de, 0xdb979083, 0xa4a44072, 0x1f67b3b7, 0x4ee679cb,
  0x78e5c0cc, 0x7dd05a82, 0x2172ffcc, 0x744608b8, 0x8e2443f7, 0xe69035e0, 0x4c263a81, 0xbb52283c, 0xcb00c391,
  0x8b65d088, 0xa32e531b, 0x97486471, 0x4ef90da2, 0x46ef1938, 0xd8acdea9, 0x3f76faa8, 0x3f349ce3, 0xc7bbdcf9,
  0x1d4f0bc7, 0x4be0518a, 0x3159b4cd, 0xc97e9fc8, 0x647378d9, 0x83acc5ea, 0xc3ebd334, 0xffa081c5, 0xeb6313fa,
  0x51dd0d17, 0x49daf0b7, 0x265516d3, 0x9e68d429, 0x58be162b, 0xfca1477d, 0xd1b8f88f, 0xce31d07a, 0x8f3acb45,
  0x28041695, 0xcafbd7af, 0x7e404bbb,
]);

/** The 64-bit word of the secret at byte `pos`. */
export function secretWord(pos: number): U64 {
  return readU64(SECRET, pos);
}

/** fold of 16 bytes at `pos` with 16 bytes of the secret at `secretPos`, the seed added and subtracted. */
export function mix16(bytes: Uint8Array, pos: number, secretPos: number, seed: U64): U64 {
  return foldU64(
    xorU64(readU64(bytes, pos), addU64(secretWord(secretPos), seed)),
    xorU64(readU64(bytes, pos + 8), subU64(secretWord(secretPos + 8), seed)),
  );
}

/** Final mixing: xor-shift 37, times `factor`, xor-shift 32. */
export function avalanche(h: U64, factor: U64): U64 {
  const x = mulU64(xorU64(h, shrU64(h, 37)), factor);
  return xorU64(x, shrU64(x, 32));
}

/** Lengths 17 to 240 of both hashes; `factor` is that of their avalanche. */
export function hashMiddle(bytes: Uint8Array, start: number, end: number, seed: U64, factor: U64): U64 {
  const length = end - start;
  let sum = mulU64(u64FromNumber(length), P64_1);
  if (length <= 128) {
    for (let i = Math.floor((length - 1) / 32); i >= 0; i--) {
      sum = addU64(sum, mix16(bytes, start + 16 * i, 32 * i, seed));
      sum = addU64(sum, mix16(bytes, end - 16 * (i + 1), 32 * i + 16, seed));
    }
    return avalanche(sum, factor);
  }
  for (let i = 0; i < 8; i++) sum = addU64(sum, mix16(bytes, start + 16 * i, 16 * i, seed));
  sum = avalanche(sum, factor);
  for (let i = 8; i < Math.floor(length / 16); i++) {
    sum = addU64(sum, mix16(bytes, start + 16 * i, 16 * (i - 8) + 3, seed));
  }
  return avalanche(addU64(sum, mix16(bytes, end - 16, 119, seed)), factor);
}

/** The secret for a seed: of every 16 bytes, the first word plus the seed, the second minus it. */
export function seededSecret(seed: U64): Uint8Array {
  const words: number[] = [];
  for (let pos = 0; pos < SECRET.length; pos += 16) {
    const first = addU64(secretWord(pos), seed);
    const second = subU64(secretWord(pos + 8), seed);
    words.push(first.lo, first.hi, second.lo, second.hi);
  }
  return fromWords(words);
}

/**
 * The eight lanes of the long form after `[start, end)`, which is longer than 240 bytes. Lane i is the pair
 * (2i: low, 2i + 1: high). Every 64 bytes are one stripe, 16 stripes one block, after which the lanes are
 * scrambled. XXH3 adds the data to the neighbour lane and always ends with a stripe of the last 64 bytes, which
 * therefore is never among the regular ones; XXPH3 does neither (the last stripe only for a broken end).
 */
export function longLanes(
  bytes: Uint8Array,
  start: number,
  end: number,
  secret: Uint8Array,
  preview: boolean,
): Uint32Array {
  const lanes = new Uint32Array(16);
  [
    { hi: 0, lo: P32_3 },
    P64_1,
    P64_2,
    P64_3,
    P64_4,
    { hi: 0, lo: P32_2 },
    P64_5,
    { hi: 0, lo: P32_1 },
  ].forEach((word, i) => {
    lanes[2 * i] = word.lo;
    lanes[2 * i + 1] = word.hi;
  });
  const length = end - start;
  const swap = preview ? 0 : 1;
  const stripeCount = Math.floor((preview ? length : length - 1) / STRIPE_LENGTH);
  for (let i = 0; i < stripeCount; i++) {
    const inBlock = i % STRIPES_PER_BLOCK;
    addStripe(lanes, bytes, start + STRIPE_LENGTH * i, secret, 8 * inBlock, swap);
    if (inBlock === STRIPES_PER_BLOCK - 1) scramble(lanes, secret);
  }
  if (!preview || length % STRIPE_LENGTH !== 0) {
    addStripe(lanes, bytes, end - STRIPE_LENGTH, secret, LAST_STRIPE_SECRET, swap);
  }
  return lanes;
}

/** `initial` plus the folds of the four pairs of lanes with the secret from `secretPos`. */
export function mergeLanes(lanes: Uint32Array, initial: U64, secret: Uint8Array, secretPos: number): U64 {
  let sum = initial;
  for (let i = 0; i < 4; i++) {
    const a = u64(lanes[4 * i + 1]!, lanes[4 * i]!);
    const b = u64(lanes[4 * i + 3]!, lanes[4 * i + 2]!);
    const pos = secretPos + 16 * i;
    sum = addU64(sum, foldU64(xorU64(a, readU64(secret, pos)), xorU64(b, readU64(secret, pos + 8))));
  }
  return sum;
}

/** The one loop here that is written for speed: halves in place, no U64 values. */
function addStripe(
  lanes: Uint32Array,
  bytes: Uint8Array,
  pos: number,
  secret: Uint8Array,
  secretPos: number,
  swap: 0 | 1,
): void {
  for (let i = 0; i < 8; i++) {
    const dataLow = readFixed32(bytes, pos + 8 * i);
    const dataHigh = readFixed32(bytes, pos + 8 * i + 4);
    addToLane(lanes, i ^ swap, dataHigh, dataLow);
    const a = (dataLow ^ readFixed32(secret, secretPos + 8 * i)) >>> 0;
    const b = (dataHigh ^ readFixed32(secret, secretPos + 8 * i + 4)) >>> 0;
    addToLane(lanes, i, mulHigh32(a, b), Math.imul(a, b) >>> 0);
  }
}

function addToLane(lanes: Uint32Array, i: number, hi: number, lo: number): void {
  const sum = lanes[2 * i]! + lo;
  lanes[2 * i] = sum;
  lanes[2 * i + 1] = lanes[2 * i + 1]! + hi + (sum > 0xffffffff ? 1 : 0);
}

function scramble(lanes: Uint32Array, secret: Uint8Array): void {
  for (let i = 0; i < 8; i++) {
    const lane = u64(lanes[2 * i + 1]!, lanes[2 * i]!);
    const x = xorU64(xorU64(lane, shrU64(lane, 47)), readU64(secret, SCRAMBLE_SECRET + 8 * i));
    const { hi, lo } = mulU64(x, { hi: 0, lo: P32_1 });
    lanes[2 * i] = lo;
    lanes[2 * i + 1] = hi;
  }
}

function fromWords(words: readonly number[]): Uint8Array {
  return Uint8Array.from({ length: 4 * words.length }, (_, i) => words[i >> 2]! >>> (8 * (i & 3)));
}
