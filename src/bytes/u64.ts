import { readFixed32 } from './fixed.ts';

/**
 * Unsigned 64-bit words as two halves. BigInt is 3 to 6 times slower and allocates, so it stays at the cold edge.
 * `hi` and `lo` are always unsigned 32-bit numbers (0 to 2^32 - 1); arithmetic wraps at 2^64.
 */
export interface U64 {
  readonly hi: number;
  readonly lo: number;
}

/** Takes any int32 or uint32 for the halves. */
export function u64(hi: number, lo: number): U64 {
  return { hi: hi >>> 0, lo: lo >>> 0 };
}

export function addU64(a: U64, b: U64): U64 {
  const lo = a.lo + b.lo;
  return u64(a.hi + b.hi + (lo > 0xffffffff ? 1 : 0), lo);
}

/** a - b. */
export function subU64(a: U64, b: U64): U64 {
  return u64(a.hi - b.hi - (a.lo < b.lo ? 1 : 0), a.lo - b.lo);
}

export function xorU64(a: U64, b: U64): U64 {
  return u64(a.hi ^ b.hi, a.lo ^ b.lo);
}

/** Shift left; `count` 1 to 63. */
export function shlU64(a: U64, count: number): U64 {
  if (count >= 32) return u64(a.lo << (count - 32), 0);
  return u64((a.hi << count) | (a.lo >>> (32 - count)), a.lo << count);
}

/** Unsigned shift right; `count` 1 to 63. */
export function shrU64(a: U64, count: number): U64 {
  if (count >= 32) return u64(0, a.hi >>> (count - 32));
  return u64(a.hi >>> count, (a.hi << (32 - count)) | (a.lo >>> count));
}

/** Rotate left; `count` 1 to 63, not 32. */
export function rotlU64(a: U64, count: number): U64 {
  const { hi, lo } = count > 32 ? { hi: a.lo, lo: a.hi } : a;
  const n = count & 31;
  return u64((hi << n) | (lo >>> (32 - n)), (lo << n) | (hi >>> (32 - n)));
}

/** Byte order reversed. */
export function bswapU64(a: U64): U64 {
  return u64(bswap32(a.lo), bswap32(a.hi));
}

/** Byte order of a 32-bit word reversed; takes int32 or uint32, gives uint32. */
export function bswap32(x: number): number {
  return ((x << 24) | ((x << 8) & 0xff0000) | ((x >>> 8) & 0xff00) | (x >>> 24)) >>> 0;
}

/**
 * High 32 bits of the 64-bit product of two uint32. The double `a * b` is off by at most 2^11 (its last place is
 * worth 2^11 below 2^64), so that after the exact low half is taken away, rounding finds the high half.
 */
export function mulHigh32(a: number, b: number): number {
  return Math.round((a * b - (Math.imul(a, b) >>> 0)) * 2 ** -32);
}

/** Up to here the second factor of `mulHighSmall` may be. */
export const MUL_HIGH_SMALL_MAX = 2 ** 15;

/** The same where `b` is at most 2^15: by halves of `a`, in integers. */
export function mulHighSmall(a: number, b: number): number {
  return (Math.imul(a >>> 16, b) + (Math.imul(a & 0xffff, b) >>> 16)) >>> 16;
}

/** 64-bit product of two uint32. */
export function mul32(a: number, b: number): U64 {
  return u64(mulHigh32(a, b), Math.imul(a, b));
}

/** Low 64 bits of a * b. */
export function mulU64(a: U64, b: U64): U64 {
  const hi = mulHigh32(a.lo, b.lo) + Math.imul(a.hi, b.lo) + Math.imul(a.lo, b.hi);
  return u64(hi, Math.imul(a.lo, b.lo));
}

/** The whole 128-bit product, as two 64-bit words. */
export function mulWide(a: U64, b: U64): { high: U64; low: U64 } {
  const lowLow = mul32(a.lo, b.lo);
  // At most (2^32 - 1)^2 + 2^32 - 1 each: no overflow.
  const middle = addU64(mul32(a.hi, b.lo), { hi: 0, lo: lowLow.hi });
  const cross = addU64(mul32(a.lo, b.hi), { hi: 0, lo: middle.lo });
  const high = addU64(addU64(mul32(a.hi, b.hi), { hi: 0, lo: middle.hi }), { hi: 0, lo: cross.hi });
  return { high, low: { hi: cross.lo, lo: lowLow.lo } };
}

/** Low half xor high half of the 128-bit product: the mixing step of XXH3. */
export function foldU64(a: U64, b: U64): U64 {
  const { high, low } = mulWide(a, b);
  return xorU64(high, low);
}

/** Little-endian 64-bit word at `pos`; the caller has checked that 8 bytes are there. */
export function readU64(bytes: Uint8Array, pos: number): U64 {
  return { hi: readFixed32(bytes, pos + 4), lo: readFixed32(bytes, pos) };
}

/** The word of a whole number from 0 to 2^53 - 1. */
export function u64FromNumber(value: number): U64 {
  return u64(Math.floor(value / 2 ** 32), value);
}

/** Sixteen hexadecimal digits, most significant first. */
export function u64ToHex(a: U64): string {
  return a.hi.toString(16).padStart(8, '0') + a.lo.toString(16).padStart(8, '0');
}

/** For the cold edge and for tests. */
export function u64ToBigInt(a: U64): bigint {
  return (BigInt(a.hi) << 32n) | BigInt(a.lo);
}

/** The low 64 bits of a bigint. */
export function u64FromBigInt(value: bigint): U64 {
  return u64(Number(BigInt.asUintN(32, value >> 32n)), Number(BigInt.asUintN(32, value)));
}
