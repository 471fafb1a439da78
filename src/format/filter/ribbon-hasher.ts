import { bswap32, mulHigh32, mulU64, type U64 } from '../../bytes/u64.ts';
import { RIBBON_ROW_BITS } from './ribbon-math.ts';

const SEED_FACTOR: U64 = { hi: 0xc78219a2, lo: 0x3eeadd03 };
const SEED_MASK = 0xf0f0f0f0;
const REHASH_HI = 0x6193d459;
const REHASH_LO = 0x236a3a0d;
const COEFFICIENT_HI = 0xc28f8282;
const COEFFICIENT_LO = 0x2b650bed;
const COEFFICIENT_XOR_HI = 0xc367844a;
const COEFFICIENT_XOR_LO = 0x6e52731d;

/**
 * From a key's 64-bit hash to its equation in a Ribbon filter: from slot `start` on, the sum of the rows that the
 * 128 bits of `row` choose is `result`. One object serves many hashes; its fields are those of the last one.
 * Source: RocksDB util/ribbon_impl.h, StandardRehasherAdapter, StandardHasher.
 */
export class RibbonHasher {
  start = 0;
  /** Coefficients, least significant word first, int32; bit 0 is always set. */
  row0 = 1;
  row1 = 0;
  row2 = 0;
  row3 = 0;
  /** int32; bit i is the result of column i. */
  result = 0;
  /** Another seed gives other equations: for when they cannot be solved. */
  readonly rawSeed: number;
  /** How many slots a row can begin at. */
  readonly starts: number;

  /** `seed` 0 to 255. */
  constructor(seed: number, slots: number) {
    this.rawSeed = ribbonRawSeed(seed);
    this.starts = slots - RIBBON_ROW_BITS + 1;
  }

  /** Halves as uint32. */
  hash(lo: number, hi: number): void {
    const seeded = (lo ^ this.rawSeed) >>> 0;
    const hashHi =
      (mulHigh32(seeded, REHASH_LO) + Math.imul(hi, REHASH_LO) + Math.imul(seeded, REHASH_HI)) >>> 0;
    const hashLo = Math.imul(seeded, REHASH_LO) >>> 0;
    this.start = highOfProduct(hashHi, hashLo, this.starts);
    const productHi =
      (mulHigh32(hashLo, COEFFICIENT_LO) +
        Math.imul(hashHi, COEFFICIENT_LO) +
        Math.imul(hashLo, COEFFICIENT_HI)) |
      0;
    const productLo = Math.imul(hashLo, COEFFICIENT_LO);
    this.row0 = (productLo ^ COEFFICIENT_XOR_LO) | 1;
    this.row1 = productHi ^ COEFFICIENT_XOR_HI;
    this.row2 = productLo;
    this.row3 = productHi;
    this.result = bswap32(productHi) | 0;
  }
}

/** What a seed of 0 to 255 changes in the low half of each hash, as uint32. */
export function ribbonRawSeed(seed: number): number {
  const mixed = mulU64({ hi: 0, lo: seed }, SEED_FACTOR).lo;
  return (mixed ^ ((mixed & SEED_MASK) >>> 4)) >>> 0;
}

/** FastRange64: bits 64 to 95 of the product of a 64-bit number with `range` (uint32). */
export function highOfProduct(hi: number, lo: number, range: number): number {
  const carry = (Math.imul(hi, range) >>> 0) + mulHigh32(lo, range) > 0xffffffff ? 1 : 0;
  return mulHigh32(hi, range) + carry;
}
