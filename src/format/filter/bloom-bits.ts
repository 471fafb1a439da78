import { mulHigh32, mulHighSmall } from '../../bytes/u64.ts';
import { LINE_BYTES } from './filter-metadata.ts';

/**
 * The bits of one key in the two Bloom filters. All bits of a key lie in one line, so that it costs one cache miss.
 * Source: RocksDB util/bloom_impl.h, FastLocalBloomImpl, LegacyLocalityBloomImpl<false>.
 */

const GOLDEN_RATIO = 0x9e3779b9 | 0;

/** Up to this many lines the product with a hash is exact in a double. */
const EXACT_LINES_MAX = 2 ** 21;
/** Bits that are asked for before the first answer counts. */
const PROBES_AT_ONCE = 8;

/** Where the line of a hash with this low half begins. */
export function fastLocalBloomBase(lo: number, lines: number): number {
  return lines <= EXACT_LINES_MAX ? mulHighSmall(lo, lines) << 6 : mulHigh32(lo, lines) * LINE_BYTES;
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
 * No test a bit: the processor would guess each of them wrong once in a while, and wait for the line to know. Without,
 * it is at the next key meanwhile.
 */
export function fastLocalBloomMayContain(
  data: Uint8Array,
  lines: number,
  probes: number,
  lo: number,
  hi: number,
): boolean {
  const base = fastLocalBloomBase(lo, lines);
  let x = hi | 0;
  for (let left = probes; left > 0; left -= PROBES_AT_ONCE) {
    let all = 1;
    for (let i = Math.min(left, PROBES_AT_ONCE); i > 0; i--) {
      const bit = x >>> 23;
      all &= data[base + (bit >>> 3)]! >>> (bit & 7);
      x = Math.imul(x, GOLDEN_RATIO);
    }
    if (all === 0) return false;
  }
  return true;
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
  const base = (hash % lines) * LINE_BYTES;
  const delta = (hash >>> 17) | (hash << 15);
  let h = hash | 0;
  for (let i = 0; i < probes; i++) {
    const bit = h & (8 * LINE_BYTES - 1);
    data[base + (bit >>> 3)]! |= 1 << (bit & 7);
    h = (h + delta) | 0;
  }
}

/** Lines have `lineBytes` bytes, a power of two: writers take the size of their processor's cache lines. */
export function legacyBloomMayContain(
  data: Uint8Array,
  lines: number,
  lineBytes: number,
  probes: number,
  hash: number,
): boolean {
  const base = (hash % lines) * lineBytes;
  // Of lines of 512 MiB and more the mask is all 32 bits: `8 * lineBytes - 1` wraps to -1.
  const mask = (8 * lineBytes - 1) | 0;
  const delta = (hash >>> 17) | (hash << 15);
  let h = hash | 0;
  for (let left = probes; left > 0; left -= PROBES_AT_ONCE) {
    let all = 1;
    for (let i = Math.min(left, PROBES_AT_ONCE); i > 0; i--) {
      const bit = (h & mask) >>> 0;
      all &= data[base + (bit >>> 3)]! >>> (bit & 7);
      h = (h + delta) | 0;
    }
    if (all === 0) return false;
  }
  return true;
}
