import { MUL_HIGH_SMALL_MAX, mulHigh32, mulHighSmall } from '../../bytes/u64.ts';
import { LINE_BYTES } from './filter-metadata.ts';

/**
 * The bits of one key in the two Bloom filters. All bits of a key lie in one line, so that it costs one cache miss.
 * Source: RocksDB util/bloom_impl.h, FastLocalBloomImpl, LegacyLocalityBloomImpl<false>.
 */

const GOLDEN_RATIO = 0x9e3779b9 | 0;

/** Up to here the product of lines and a quotient is told apart from its neighbours by its low 32 bits. */
const SMALL_LINES_MAX = 2 ** 21;

/** Where the line of a hash with this low half begins. */
export function fastLocalBloomBase(lo: number, lines: number): number {
  return lines <= MUL_HIGH_SMALL_MAX ? mulHighSmall(lo, lines) << 6 : mulHigh32(lo, lines) * LINE_BYTES;
}

/** Sets the bits of a hash with this high half, in the line at `base`. */
export function setFastLocalBloomBits(data: Uint8Array, base: number, probes: number, hi: number): void {
  let x = hi | 0;
  for (let i = 0; i < probes; i++) {
    const bit = x >>> 23;
    data[base + (bit >>> 3)]! |= 1 << (bit & 7);
    x = Math.imul(x, GOLDEN_RATIO);
  }
}

/**
 * No branch a bit: the processor would guess each of them wrong once in a while, and wait for the line to know. Without,
 * it is at the next key meanwhile. By threes, as loops have checks of their own.
 */
export function fastLocalBloomMayContain(
  data: Uint8Array,
  lines: number,
  probes: number,
  lo: number,
  hi: number,
): boolean {
  const base = fastLocalBloomBase(lo, lines);
  // A constant of the module is a variable in the bundle.
  const ratio = 0x9e3779b9 | 0;
  let x = hi | 0;
  let all = 1;
  let left = probes;
  for (; left >= 3; left -= 3) {
    const y = Math.imul(x, ratio);
    const z = Math.imul(y, ratio);
    all &= bitOf(data, base, x >>> 23) & bitOf(data, base, y >>> 23) & bitOf(data, base, z >>> 23);
    x = Math.imul(z, ratio);
  }
  for (; left > 0; left--) {
    all &= bitOf(data, base, x >>> 23);
    x = Math.imul(x, ratio);
  }
  return all === 1;
}

/** The bit itself is the last one of the result. */
function bitOf(data: Uint8Array, base: number, bit: number): number {
  return data[base + (bit >>> 3)]! >>> (bit & 7);
}

/**
 * Lines that are fetched before any of them is looked at: their cache misses overlap. Filters that the processor's
 * cache holds lose little by it.
 */
const LINES_AHEAD = 16;

/**
 * For `count` hashes, pairs of low and high half: puts 1 into `out[i]` where hash i may be there, otherwise 0.
 * Returns how many may be.
 */
export function fastLocalBloomMayContainMany(
  data: Uint8Array,
  lines: number,
  probes: number,
  hashes: Uint32Array,
  count: number,
  out: Uint8Array,
): number {
  let found = 0;
  for (let first = 0; first < count; first += LINES_AHEAD) {
    const end = Math.min(first + LINES_AHEAD, count);
    let touched = 0;
    for (let i = first; i < end; i++) touched |= data[fastLocalBloomBase(hashes[2 * i]!, lines)]!;
    for (let i = first; i < end; i++) {
      const may = fastLocalBloomMayContain(data, lines, probes, hashes[2 * i]!, hashes[2 * i + 1]!);
      out[i] = may ? 1 : 0;
      if (may) found++;
    }
    // Adds 0, as bytes are: what was read has to go somewhere, or it would not be read.
    found += touched >>> 8;
  }
  return found;
}

/** `hash` is the BloomHash of a key, uint32. */
export function addToLegacyBloom(data: Uint8Array, lines: number, probes: number, hash: number): void {
  const base = legacyBloomLine(hash, lines) * LINE_BYTES;
  const delta = (hash >>> 17) | (hash << 15);
  let h = hash | 0;
  for (let i = 0; i < probes; i++) {
    const bit = h & (8 * LINE_BYTES - 1);
    data[base + (bit >>> 3)]! |= 1 << (bit & 7);
    h = (h + delta) | 0;
  }
}

/** The remainder of a division, by a quotient of doubles: `%` of what is not known to be an integer takes 12 ns. */
export function legacyBloomLine(hash: number, lines: number): number {
  if (lines > SMALL_LINES_MAX) return hash % lines;
  return (hash - Math.imul((hash / lines) >>> 0, lines)) | 0;
}

/** Lines have `lineBytes` bytes, a power of two: writers take the size of their processor's cache lines. */
export function legacyBloomMayContain(
  data: Uint8Array,
  lines: number,
  lineBytes: number,
  probes: number,
  hash: number,
): boolean {
  const base = legacyBloomLine(hash, lines) * lineBytes;
  // Of lines of 512 MiB and more the mask is all 32 bits: `8 * lineBytes - 1` wraps to -1.
  const mask = (8 * lineBytes - 1) | 0;
  const delta = (hash >>> 17) | (hash << 15);
  let h = hash | 0;
  let all = 1;
  let left = probes;
  for (; left >= 3; left -= 3) {
    const i = (h + delta) | 0;
    const j = (i + delta) | 0;
    all &= bitOf(data, base, h & mask) & bitOf(data, base, i & mask) & bitOf(data, base, j & mask);
    h = (j + delta) | 0;
  }
  for (; left > 0; left--) {
    all &= bitOf(data, base, h & mask);
    h = (h + delta) | 0;
  }
  return all === 1;
}
