/** One key's equation, for queries. */
import { INPUT } from './memory';
import { coefficientsOf, lowRow, rehash, startOf } from './ribbon-equation';
import { hashPreview } from './xxh3';

/** Of the last key: start, result (u32 each), row (u64 twice). */
export const EQUATION: usize = memory.data(24, 8);

/** Of the first `length` bytes of INPUT. */
export function ribbonEquation(length: i32, rawSeed: u32, starts: u32): void {
  const hash = rehash(hashPreview(INPUT, length), rawSeed);
  const high = coefficientsOf(hash);
  store<u32>(EQUATION, <u32>startOf(hash, <u64>starts));
  store<u32>(EQUATION, bswap<u32>(<u32>(high >> 32)), 4);
  store<u64>(EQUATION, lowRow(high), 8);
  store<u64>(EQUATION, high, 16);
}
