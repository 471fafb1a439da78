/**
 * XXH3-64 and XXPH3 (the preview of XXH3 that RocksDB froze for its filters), both with seed 0.
 * They share the secret, the mixing of 16-byte pieces and the shape of the long form; `preview` selects
 * between them and is a constant at each call, so that inlining leaves no test of it in a loop.
 */
import { BATCH_KEYS, HASHES, INPUT, OFFSETS, split } from './memory';

const P32_1: u64 = 0x9e3779b1;
const P32_2: u64 = 0x85ebca77;
const P32_3: u64 = 0xc2b2ae3d;
const P64_1: u64 = 0x9e3779b185ebca87;
const P64_2: u64 = 0xc2b2ae3d27d4eb4f;
const P64_3: u64 = 0x165667b19e3779f9;
const P64_4: u64 = 0x85ebca77c2b2ae63;
const P64_5: u64 = 0x27d4eb2f165667c5;
const RELEASED_AVALANCHE: u64 = 0x165667919e3779f9;
const RRMXMX: u64 = 0x9fb21c651e98df25;

const SECRET: usize = memory.data<u8>([
  0xb8, 0xfe, 0x6c, 0x39, 0x23, 0xa4, 0x4b, 0xbe, 0x7c, 0x01, 0x81, 0x2c, 0xf7, 0x21, 0xad, 0x1c,
  0xde, 0xd4, 0x6d, 0xe9, 0x83, 0x90, 0x97, 0xdb, 0x72, 0x40, 0xa4, 0xa4, 0xb7, 0xb3, 0x67, 0x1f,
  0xcb, 0x79, 0xe6, 0x4e, 0xcc, 0xc0, 0xe5, 0x78, 0x82, 0x5a, 0xd0, 0x7d, 0xcc, 0xff, 0x72, 0x21,
  0xb8, 0x08, 0x46, 0x74, 0xf7, 0x43, 0x24, 0x8e, 0xe0, 0x35, 0x90, 0xe6, 0x81, 0x3a, 0x26, 0x4c,
  0x3c, 0x28, 0x52, 0xbb, 0x91, 0xc3, 0x00, 0xcb, 0x88, 0xd0, 0x65, 0x8b, 0x1b, 0x53, 0x2e, 0xa3,
  0x71, 0x64, 0x48, 0x97, 0xa2, 0x0d, 0xf9, 0x4e, 0x38, 0x19, 0xef, 0x46, 0xa9, 0xde, 0xac, 0xd8,
  0xa8, 0xfa, 0x76, 0x3f, 0xe3, 0x9c, 0x34, 0x3f, 0xf9, 0xdc, 0xbb, 0xc7, 0xc7, 0x0b, 0x4f, 0x1d,
  0x8a, 0x51, 0xe0, 0x4b, 0xcd, 0xb4, 0x59, 0x31, 0xc8, 0x9f, 0x7e, 0xc9, 0xd9, 0x78, 0x73, 0x64,
  0xea, 0xc5, 0xac, 0x83, 0x34, 0xd3, 0xeb, 0xc3, 0xc5, 0x81, 0xa0, 0xff, 0xfa, 0x13, 0x63, 0xeb,
  0x17, 0x0d, 0xdd, 0x51, 0xb7, 0xf0, 0xda, 0x49, 0xd3, 0x16, 0x55, 0x26, 0x29, 0xd4, 0x68, 0x9e,
  0x2b, 0x16, 0xbe, 0x58, 0x7d, 0x47, 0xa1, 0xfc, 0x8f, 0xf8, 0xb8, 0xd1, 0x7a, 0xd0, 0x31, 0xce,
  0x45, 0xcb, 0x3a, 0x8f, 0x95, 0x16, 0x04, 0x28, 0xaf, 0xd7, 0xfb, 0xca, 0xbb, 0x4b, 0x40, 0x7e,
], 16);

const LAST_STRIPE_SECRET: usize = 121;
const STRIPE: usize = 64;

/** Eight u64 lanes of the long form: the state between calls. */
const LANES: usize = memory.data(64, 16);

// @ts-ignore: decorator
@inline
function secret(at: usize): u64 {
  return load<u64>(SECRET + at);
}

/** Low half xor high half of the 128-bit product. */
// @ts-ignore: decorator
@inline
function fold(a: u64, b: u64): u64 {
  const aLow = a & 0xffffffff;
  const aHigh = a >> 32;
  const bLow = b & 0xffffffff;
  const bHigh = b >> 32;
  const low = aLow * bLow;
  const middle = aHigh * bLow + (low >> 32); // at most (2^32-1)^2 + 2^32-1: no overflow
  const cross = aLow * bHigh + (middle & 0xffffffff);
  return (a * b) ^ (aHigh * bHigh + (middle >> 32) + (cross >> 32));
}

/** Final mixing of XXH64, used by XXH3 for lengths 0 to 3. */
function avalanche64(h: u64): u64 {
  h = (h ^ (h >> 33)) * P64_2;
  h = (h ^ (h >> 29)) * P64_3;
  return h ^ (h >> 32);
}

// @ts-ignore: decorator
@inline
function avalanche(h: u64, preview: bool): u64 {
  h = (h ^ (h >> 37)) * (preview ? P64_3 : RELEASED_AVALANCHE);
  return h ^ (h >> 32);
}

// @ts-ignore: decorator
@inline
function mix(p: usize, at: usize): u64 {
  return fold(load<u64>(p) ^ secret(at), load<u64>(p, 8) ^ secret(at + 8));
}

/** Lengths 17 to 240. */
// @ts-ignore: decorator
@inline
function middleForm(p: usize, n: usize, preview: bool): u64 {
  let a = <u64>n * P64_1;
  if (n <= 128) {
    for (let i = <isize>((n - 1) >> 5); i >= 0; i--) {
      const at = <usize>i << 4;
      a += mix(p + at, at << 1) + mix(p + n - 16 - at, (at << 1) + 16);
    }
    return avalanche(a, preview);
  }
  for (let at: usize = 0; at < 128; at += 16) a += mix(p + at, at);
  a = avalanche(a, preview);
  const end = n & ~15;
  for (let at: usize = 128; at < end; at += 16) a += mix(p + at, at - 128 + 3);
  return avalanche(a + mix(p + n - 16, 119), preview);
}

// @ts-ignore: decorator
@inline
function shortReleased(p: usize, n: usize): u64 {
  if (n > 8) {
    const low = load<u64>(p) ^ (secret(24) ^ secret(32));
    const high = load<u64>(p + n - 8) ^ (secret(40) ^ secret(48));
    return avalanche(<u64>n + bswap<u64>(low) + high + fold(low, high), false);
  }
  if (n >= 4) {
    let h = (<u64>load<u32>(p + n - 4) + (<u64>load<u32>(p) << 32)) ^ (secret(8) ^ secret(16));
    h ^= rotl<u64>(h, 49) ^ rotl<u64>(h, 24);
    h *= RRMXMX;
    h ^= (h >> 35) + <u64>n;
    h *= RRMXMX;
    return h ^ (h >> 28);
  }
  if (n > 0) {
    const c =
      (<u32>load<u8>(p) << 16) + (<u32>load<u8>(p + (n >> 1)) << 24) + <u32>load<u8>(p + n - 1) + (<u32>n << 8);
    return avalanche64(<u64>(c ^ load<u32>(SECRET) ^ load<u32>(SECRET, 4)));
  }
  return avalanche64(secret(56) ^ secret(64));
}

// @ts-ignore: decorator
@inline
function shortPreview(p: usize, n: usize): u64 {
  if (n > 8) {
    const low = load<u64>(p) ^ secret(0);
    const high = load<u64>(p + n - 8) ^ secret(8);
    return avalanche(<u64>n + low + high + fold(low, high), true);
  }
  if (n >= 4) {
    const k = (<u64>load<u32>(p) + (<u64>load<u32>(p + n - 4) << 32)) ^ secret(0);
    const t = <u64>n + (k ^ (k >> 51)) * P32_1;
    return avalanche((t ^ (t >> 47)) * P64_2, true);
  }
  if (n > 0) {
    const c =
      <u32>load<u8>(p) + (<u32>load<u8>(p + (n >> 1)) << 8) + (<u32>load<u8>(p + n - 1) << 16) + (<u32>n << 24);
    return avalanche((<u64>c ^ <u64>load<u32>(SECRET)) * P64_1, true);
  }
  return fold(secret(0), P64_2);
}

/** Start values of the eight lanes. */
export function resetLanes(lanes: usize): void {
  store<u64>(lanes, P32_3);
  store<u64>(lanes, P64_1, 8);
  store<u64>(lanes, P64_2, 16);
  store<u64>(lanes, P64_3, 24);
  store<u64>(lanes, P64_4, 32);
  store<u64>(lanes, P32_2, 40);
  store<u64>(lanes, P64_5, 48);
  store<u64>(lanes, P32_1, 56);
}

/** The data's own contribution to a pair of lanes: XXH3 adds it to the neighbour lane. */
// @ts-ignore: decorator
@inline
function direct(data: v128, preview: bool): v128 {
  return preview ? data : v128.shuffle<u64>(data, data, 1, 0);
}

// @ts-ignore: decorator
@inline
function lows(k: v128, l: v128): v128 {
  return v128.shuffle<u32>(k, l, 0, 2, 4, 6);
}

// @ts-ignore: decorator
@inline
function highs(k: v128, l: v128): v128 {
  return v128.shuffle<u32>(k, l, 1, 3, 5, 7);
}

// @ts-ignore: decorator
@inline
function scrambled(lane: v128, at: usize): v128 {
  const x = v128.xor(v128.xor(lane, i64x2.shr_u(lane, 47)), v128.load(SECRET + 128 + at));
  return i64x2.mul(x, i64x2.splat(P32_1));
}

/**
 * Adds `count` stripes at `p`; the first one is stripe number `index` (0 to 15) of its block. A block that gets
 * complete is scrambled.
 */
// @ts-ignore: decorator
@inline
function addStripes(lanes: usize, p: usize, count: i32, index: usize, preview: bool): void {
  let v0 = v128.load(lanes);
  let v1 = v128.load(lanes, 16);
  let v2 = v128.load(lanes, 32);
  let v3 = v128.load(lanes, 48);
  let s = SECRET + (index << 3);
  while (count > 0) {
    const d0 = v128.load(p);
    const d1 = v128.load(p, 16);
    const d2 = v128.load(p, 32);
    const d3 = v128.load(p, 48);
    const k0 = v128.xor(d0, v128.load(s));
    const k1 = v128.xor(d1, v128.load(s, 16));
    const k2 = v128.xor(d2, v128.load(s, 32));
    const k3 = v128.xor(d3, v128.load(s, 48));
    // Two vectors share their shuffles: the low and the high form of the widening multiply take one each.
    const low01 = lows(k0, k1);
    const high01 = highs(k0, k1);
    const low23 = lows(k2, k3);
    const high23 = highs(k2, k3);
    v0 = i64x2.add(i64x2.add(v0, direct(d0, preview)), i64x2.extmul_low_i32x4_u(low01, high01));
    v1 = i64x2.add(i64x2.add(v1, direct(d1, preview)), i64x2.extmul_high_i32x4_u(low01, high01));
    v2 = i64x2.add(i64x2.add(v2, direct(d2, preview)), i64x2.extmul_low_i32x4_u(low23, high23));
    v3 = i64x2.add(i64x2.add(v3, direct(d3, preview)), i64x2.extmul_high_i32x4_u(low23, high23));
    p += STRIPE;
    s += 8;
    count--;
    if (s == SECRET + 128) {
      v0 = scrambled(v0, 0);
      v1 = scrambled(v1, 16);
      v2 = scrambled(v2, 32);
      v3 = scrambled(v3, 48);
      s = SECRET;
    }
  }
  v128.store(lanes, v0);
  v128.store(lanes, v1, 16);
  v128.store(lanes, v2, 32);
  v128.store(lanes, v3, 48);
}

// @ts-ignore: decorator
@inline
function afterLastStripe(lane: v128, p: usize, at: usize, preview: bool): v128 {
  const d = v128.load(p + at);
  const k = v128.xor(d, v128.load(SECRET + LAST_STRIPE_SECRET + at));
  return i64x2.add(i64x2.add(lane, direct(d, preview)), i64x2.extmul_low_i32x4_u(lows(k, k), highs(k, k)));
}

// @ts-ignore: decorator
@inline
function mergePair(pair: v128, at: usize): u64 {
  const x = v128.xor(pair, v128.load(SECRET + at));
  return fold(i64x2.extract_lane(x, 0), i64x2.extract_lane(x, 1));
}

/** Result for `n` bytes that end at `end`, with or without the stripe of the last 64 bytes. Lanes stay as they are. */
// @ts-ignore: decorator
@inline
function finishLong(lanes: usize, end: usize, n: u64, lastStripe: bool, preview: bool): u64 {
  let v0 = v128.load(lanes);
  let v1 = v128.load(lanes, 16);
  let v2 = v128.load(lanes, 32);
  let v3 = v128.load(lanes, 48);
  if (lastStripe) {
    v0 = afterLastStripe(v0, end - STRIPE, 0, preview);
    v1 = afterLastStripe(v1, end - STRIPE, 16, preview);
    v2 = afterLastStripe(v2, end - STRIPE, 32, preview);
    v3 = afterLastStripe(v3, end - STRIPE, 48, preview);
  }
  const r = n * P64_1 + mergePair(v0, 11) + mergePair(v1, 27) + mergePair(v2, 43) + mergePair(v3, 59);
  return avalanche(r, preview);
}

/** One body each for XXH3 and XXPH3, not one a caller: a smaller module compiles sooner. */
export function addStripesReleased(lanes: usize, p: usize, count: i32, index: usize): void {
  addStripes(lanes, p, count, index, false);
}

function addStripesPreview(lanes: usize, p: usize, count: i32): void {
  addStripes(lanes, p, count, 0, true);
}

export function finishLongReleased(lanes: usize, end: usize, n: u64): u64 {
  return finishLong(lanes, end, n, true, false);
}

function finishLongPreview(lanes: usize, end: usize, n: u64): u64 {
  return finishLong(lanes, end, n, (n & 63) != 0, true);
}

/** XXH3-64 of [p, p + n). */
export function hashReleased(p: usize, n: usize): u64 {
  if (n <= 16) return shortReleased(p, n);
  if (n <= 240) return middleForm(p, n, false);
  resetLanes(LANES);
  addStripesReleased(LANES, p, <i32>((n - 1) >> 6), 0);
  return finishLongReleased(LANES, p + n, <u64>n);
}

/** XXPH3 of [p, p + n). */
export function hashPreview(p: usize, n: usize): u64 {
  if (n <= 16) return shortPreview(p, n);
  if (n <= 240) return middleForm(p, n, true);
  resetLanes(LANES);
  addStripesPreview(LANES, p, <i32>(n >> 6));
  return finishLongPreview(LANES, p + n, <u64>n);
}

/** XXH3-64 of the first `length` bytes of INPUT. */
export function xxh3(length: i32): i32 {
  return split(hashReleased(INPUT, length));
}

/** XXPH3 of the first `length` bytes of INPUT. */
export function xxph3(length: i32): i32 {
  return split(hashPreview(INPUT, length));
}

/** XXPH3 of 9 to 32 bytes: `a` and `b` are the first 16 of them, `c` and `d` the last 16; of 16 and fewer `a` and `d` count. */
// @ts-ignore: decorator
@inline
export function hashPreviewOf(a: u64, b: u64, c: u64, d: u64, n: u64): u64 {
  if (n <= 16) {
    const low = a ^ secret(0);
    const high = d ^ secret(8);
    return avalanche(n + low + high + fold(low, high), true);
  }
  const first = fold(a ^ secret(0), b ^ secret(8));
  return avalanche(n * P64_1 + first + fold(c ^ secret(16), d ^ secret(24)), true);
}

// @ts-ignore: decorator
@inline
export function join(low: u32, high: u32): u64 {
  return (<u64>high << 32) | <u64>low;
}

/**
 * The same by words, least significant first. What is passed in registers is there at once; 8 bytes that were stored as
 * two words have to be in the cache before they can be loaded.
 */
export function xxph3Words(
  a0: u32,
  a1: u32,
  b0: u32,
  b1: u32,
  c0: u32,
  c1: u32,
  d0: u32,
  d1: u32,
  n: i32,
): i32 {
  return split(hashPreviewOf(join(a0, a1), join(b0, b1), join(c0, c1), join(d0, d1), <u64>n));
}

/** XXPH3 of `count` keys: key i is INPUT[OFFSETS[i], OFFSETS[i + 1]); its hash goes to HASHES[i]. */
export function xxph3Batch(count: i32): void {
  let start = load<u32>(OFFSETS);
  const n = min(count, BATCH_KEYS);
  for (let i = 0; i < n; i++) {
    const end = load<u32>(OFFSETS + (<usize>(i + 1) << 2));
    store<u64>(HASHES + (<usize>i << 3), hashPreview(INPUT + start, end - start));
    start = end;
  }
}

/**
 * Inputs longer than INPUT, in three steps: begin; whole blocks of 1024 bytes; then the rest, with the 64 bytes
 * before it at INPUT and itself (`rest` bytes, 1 to 1024; XXPH3: 0 to 1023) behind them. `total` is the length of
 * the whole input: a double, exact below 2^53; blocks being whole, its remainder by 64 is that of `rest`.
 */
export function longBegin(): void {
  resetLanes(LANES);
}

export function xxh3Blocks(count: i32): void {
  addStripesReleased(LANES, INPUT, count << 4, 0);
}

export function xxph3Blocks(count: i32): void {
  addStripesPreview(LANES, INPUT, count << 4);
}

export function xxh3End(rest: i32, total: f64): i32 {
  addStripesReleased(LANES, INPUT + STRIPE, (rest - 1) >> 6, 0);
  return split(finishLongReleased(LANES, INPUT + STRIPE + rest, <u64>total));
}

export function xxph3End(rest: i32, total: f64): i32 {
  addStripesPreview(LANES, INPUT + STRIPE, rest >> 6);
  return split(finishLongPreview(LANES, INPUT + STRIPE + rest, <u64>total));
}
