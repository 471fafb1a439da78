import { readFixed32 } from '../bytes/fixed.ts';

const P1 = 0x9e3779b1;
const P2 = 0x85ebca77;
const P3 = 0xc2b2ae3d;
const P4 = 0x27d4eb2f;
const P5 = 0x165667b1;

/**
 * XXH32 of `bytes[start, end)` as uint32. Block checksums use seed 0.
 * Source: the xxHash specification, "XXH32 algorithm description".
 */
export function xxh32(bytes: Uint8Array, start: number, end: number, seed = 0): number {
  let p = start;
  let h = (seed + P5) | 0;
  if (end - start >= 16) {
    let v1 = (seed + P1 + P2) | 0;
    let v2 = (seed + P2) | 0;
    let v3 = seed | 0;
    let v4 = (seed - P1) | 0;
    for (; p + 16 <= end; p += 16) {
      v1 = round(v1, readFixed32(bytes, p));
      v2 = round(v2, readFixed32(bytes, p + 4));
      v3 = round(v3, readFixed32(bytes, p + 8));
      v4 = round(v4, readFixed32(bytes, p + 12));
    }
    h = (rotl32(v1, 1) + rotl32(v2, 7) + rotl32(v3, 12) + rotl32(v4, 18)) | 0;
  }
  h = (h + (end - start)) | 0;
  for (; p + 4 <= end; p += 4) h = Math.imul(rotl32(h + Math.imul(readFixed32(bytes, p), P3), 17), P4);
  for (; p < end; p++) h = Math.imul(rotl32(h + Math.imul(bytes[p]!, P5), 11), P1);
  h = Math.imul(h ^ (h >>> 15), P2);
  h = Math.imul(h ^ (h >>> 13), P3);
  return (h ^ (h >>> 16)) >>> 0;
}

function round(v: number, word: number): number {
  return Math.imul(rotl32(v + Math.imul(word, P2), 13), P1);
}

function rotl32(x: number, count: number): number {
  return (x << count) | (x >>> (32 - count));
}
