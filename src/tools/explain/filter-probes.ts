import { hex32 } from '../../bytes/text.ts';
import { fastLocalBloomBase } from '../../format/filter/bloom-bits.ts';
import type { FilterReader } from '../../format/filter/filter-reader.ts';
import type { KeyHash } from '../../hash/key-hash.ts';
import { BLOOM_HASH_SEED, legacyHash32 } from '../../hash/legacy-hash.ts';
import type { Probe } from './explanation.ts';

/** How a filter comes to its answer. */
export interface FilterAnswer {
  readonly mayContain: boolean;
  /** Hexadecimal; null for filters that ask for none. */
  readonly hash: string | null;
  /** Where the bits of the key lie in the filter; null for others than Bloom filters. */
  readonly line: { readonly offset: number; readonly size: number } | null;
  readonly probes: readonly Probe[];
}

const GOLDEN_RATIO = 0x9e3779b9 | 0;

/**
 * Asks a filter for the key or prefix `key[0, end)`, and shows each bit of a Bloom filter, up to the first that is
 * not set. Ribbon filters answer by parities over 128 slots: there the hash and the answer are shown.
 */
export function askWithProbes(
  filter: FilterReader,
  contents: Uint8Array,
  hash: KeyHash,
  key: Uint8Array,
  end: number,
): FilterAnswer {
  const { kind, facts } = filter;
  const mayContain = filter.mayContain(hash, key, 0, end);
  if (kind === 'legacy_bloom') {
    const value = legacyHash32(key, 0, end, BLOOM_HASH_SEED);
    const line = { offset: (value % facts.lines) * facts.lineBytes, size: facts.lineBytes };
    const delta = (value >>> 17) | (value << 15);
    const mask = (8 * facts.lineBytes - 1) | 0;
    const bits = Array.from({ length: facts.probes }, (_, i) => ((value + Math.imul(i, delta)) & mask) >>> 0);
    return { mayContain, hash: hex32(value), line, probes: probesOf(contents, line.offset, bits) };
  }
  if (kind === 'always_true' || kind === 'always_false')
    return { mayContain, hash: null, line: null, probes: [] };
  const lo = hash.xxph3(key, 0, end);
  const hi = hash.high();
  const text = hex32(hi) + hex32(lo);
  if (kind === 'ribbon') return { mayContain, hash: text, line: null, probes: [] };
  const line = { offset: fastLocalBloomBase(lo, facts.lines), size: facts.lineBytes };
  const bits: number[] = [];
  for (let i = 0, x = hi | 0; i < facts.probes; i++, x = Math.imul(x, GOLDEN_RATIO)) bits.push(x >>> 23);
  return { mayContain, hash: text, line, probes: probesOf(contents, line.offset, bits) };
}

function probesOf(contents: Uint8Array, base: number, bits: readonly number[]): Probe[] {
  const probes: Probe[] = [];
  for (const bit of bits) {
    const isSet = ((contents[base + (bit >>> 3)]! >>> (bit & 7)) & 1) === 1;
    probes.push({ bit: 8 * base + bit, isSet });
    if (!isSet) break;
  }
  return probes;
}
