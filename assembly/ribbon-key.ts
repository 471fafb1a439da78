/** One key's equation, for queries. */
import { INPUT } from './memory';
import { coefficientsOf, lowRow, rehash, startOf } from './ribbon-equation';
import { hashPreview, hashPreviewOf, join } from './xxh3';

/** Of the last key: start, result (u32 each), row (u64 twice). */
export const EQUATION: usize = memory.data(24, 8);

function put(hash: u64, rawSeed: u32, starts: u32): void {
  hash = rehash(hash, rawSeed);
  const high = coefficientsOf(hash);
  store<u32>(EQUATION, <u32>startOf(hash, <u64>starts));
  store<u32>(EQUATION, bswap<u32>(<u32>(high >> 32)), 4);
  store<u64>(EQUATION, lowRow(high), 8);
  store<u64>(EQUATION, high, 16);
}

/** Of the first `length` bytes of INPUT. */
export function ribbonEquation(length: i32, rawSeed: u32, starts: u32): void {
  put(hashPreview(INPUT, length), rawSeed, starts);
}

/** Of 9 to 32 bytes by words, as xxph3Words. */
export function ribbonEquationWords(
  rawSeed: u32,
  starts: u32,
  a0: u32,
  a1: u32,
  b0: u32,
  b1: u32,
  c0: u32,
  c1: u32,
  d0: u32,
  d1: u32,
  n: i32,
): void {
  put(hashPreviewOf(join(a0, a1), join(b0, b1), join(c0, c1), join(d0, d1), <u64>n), rawSeed, starts);
}
