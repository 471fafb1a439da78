import { readFixed32 } from '../bytes/fixed.ts';
import {
  addU64,
  foldU64,
  mulU64,
  readU64,
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
  P32_1,
  P64_1,
  P64_2,
  P64_3,
  SECRET,
  secretWord,
  seededSecret,
  ZERO,
} from './xxh3-parts.ts';

/**
 * XXPH3, RocksDB's Hash64, of `bytes[start, end)`: the preview of XXH3 that was frozen for its filters (seed 0).
 * Its values differ from those of the released XXH3 at every length.
 * Source: RocksDB util/hash.cc, Hash64; util/xxph3.h.
 */
export function xxph3(bytes: Uint8Array, start: number, end: number, seed: U64 = ZERO): U64 {
  const length = end - start;
  if (length <= 16) return hashShort(bytes, start, end, seed);
  if (length <= MIDDLE_LENGTH_MAX) return hashMiddle(bytes, start, end, seed, P64_3);
  const secret = seed.hi === 0 && seed.lo === 0 ? SECRET : seededSecret(seed);
  const lanes = longLanes(bytes, start, end, secret, true);
  return avalanche(mergeLanes(lanes, mulU64(u64FromNumber(length), P64_1), secret, MERGE_SECRET), P64_3);
}

function hashShort(bytes: Uint8Array, start: number, end: number, seed: U64): U64 {
  const length = end - start;
  const n: U64 = { hi: 0, lo: length };
  if (length > 8) {
    const low = xorU64(readU64(bytes, start), addU64(secretWord(0), seed));
    const high = xorU64(readU64(bytes, end - 8), subU64(secretWord(8), seed));
    return avalanche(addU64(addU64(n, low), addU64(high, foldU64(low, high))), P64_3);
  }
  if (length >= 4) {
    const word: U64 = { hi: readFixed32(bytes, end - 4), lo: readFixed32(bytes, start) };
    const keyed = xorU64(word, addU64(secretWord(0), seed));
    const mixed = addU64(n, mulU64(xorU64(keyed, shrU64(keyed, 51)), { hi: 0, lo: P32_1 }));
    return avalanche(mulU64(xorU64(mixed, shrU64(mixed, 47)), P64_2), P64_3);
  }
  if (length > 0) {
    const first = bytes[start]!;
    const middle = bytes[start + (length >> 1)]!;
    const last = bytes[end - 1]!;
    const combined = u64(0, first | (middle << 8) | (last << 16) | (length << 24));
    const keyed = xorU64(combined, addU64({ hi: 0, lo: secretWord(0).lo }, seed));
    return avalanche(mulU64(keyed, P64_1), P64_3);
  }
  return foldU64(addU64(seed, secretWord(0)), P64_2);
}
