/** From the hash of a key to its equation in a Ribbon filter. src/format/filter/ribbon-hasher.ts is the twin. */

const REHASH: u64 = 0x6193d459236a3a0d;
const COEFFICIENT: u64 = 0xc28f82822b650bed;
const COEFFICIENT_XOR: u64 = 0xc367844a6e52731d;

/** The hash under a seed. */
// @ts-ignore: decorator
@inline
export function rehash(hash: u64, rawSeed: u32): u64 {
  return (hash ^ <u64>rawSeed) * REHASH;
}

/** The slot where its row begins, one of `starts`. */
// @ts-ignore: decorator
@inline
export function startOf(hash: u64, starts: u64): usize {
  return <usize>(((hash >> 32) * starts + (((hash & 0xffffffff) * starts) >> 32)) >> 32);
}

/** The high half of the row; its own high half, bytes reversed, is the result. */
// @ts-ignore: decorator
@inline
export function coefficientsOf(hash: u64): u64 {
  return hash * COEFFICIENT;
}

/** The low half of the row, by the high one. */
// @ts-ignore: decorator
@inline
export function lowRow(high: u64): u64 {
  return (high ^ COEFFICIENT_XOR) | 1;
}
