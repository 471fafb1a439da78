import { readFixed32 } from '../bytes/fixed.ts';
import {
  addU64,
  mulU64,
  readU64,
  rotlU64,
  shrU64,
  subU64,
  type U64,
  u64FromNumber,
  xorU64,
} from '../bytes/u64.ts';

const P1: U64 = { hi: 0x9e3779b1, lo: 0x85ebca87 };
const P2: U64 = { hi: 0xc2b2ae3d, lo: 0x27d4eb4f };
const P3: U64 = { hi: 0x165667b1, lo: 0x9e3779f9 };
const P4: U64 = { hi: 0x85ebca77, lo: 0xc2b2ae63 };
const P5: U64 = { hi: 0x27d4eb2f, lo: 0x165667c5 };
const ZERO: U64 = { hi: 0, lo: 0 };

/**
 * XXH64 of `bytes[start, end)`. Block checksums use seed 0 and keep the low half.
 * Source: the xxHash specification, "XXH64 algorithm description".
 */
export function xxh64(bytes: Uint8Array, start: number, end: number, seed: U64 = ZERO): U64 {
  let p = start;
  let h = addU64(seed, P5);
  if (end - start >= 32) {
    let v1 = addU64(addU64(seed, P1), P2);
    let v2 = addU64(seed, P2);
    let v3 = seed;
    let v4 = subU64(seed, P1);
    for (; p + 32 <= end; p += 32) {
      v1 = round(v1, readU64(bytes, p));
      v2 = round(v2, readU64(bytes, p + 8));
      v3 = round(v3, readU64(bytes, p + 16));
      v4 = round(v4, readU64(bytes, p + 24));
    }
    h = addU64(addU64(rotlU64(v1, 1), rotlU64(v2, 7)), addU64(rotlU64(v3, 12), rotlU64(v4, 18)));
    for (const v of [v1, v2, v3, v4]) h = addU64(mulU64(xorU64(h, round(ZERO, v)), P1), P4);
  }
  h = addU64(h, u64FromNumber(end - start));
  for (; p + 8 <= end; p += 8) {
    h = addU64(mulU64(rotlU64(xorU64(h, round(ZERO, readU64(bytes, p))), 27), P1), P4);
  }
  if (p + 4 <= end) {
    h = addU64(mulU64(rotlU64(xorU64(h, mulU64({ hi: 0, lo: readFixed32(bytes, p) }, P1)), 23), P2), P3);
    p += 4;
  }
  for (; p < end; p++) h = mulU64(rotlU64(xorU64(h, mulU64({ hi: 0, lo: bytes[p]! }, P5)), 11), P1);
  return avalancheXxh64(h);
}

/** The final mixing, which XXH3 uses for its shortest inputs. */
export function avalancheXxh64(h: U64): U64 {
  h = mulU64(xorU64(h, shrU64(h, 33)), P2);
  h = mulU64(xorU64(h, shrU64(h, 29)), P3);
  return xorU64(h, shrU64(h, 32));
}

function round(v: U64, word: U64): U64 {
  return mulU64(rotlU64(addU64(v, mulU64(word, P2)), 31), P1);
}
