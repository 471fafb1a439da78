import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { fromHex, hex32, toHex, utf8Bytes } from '../../src/bytes/text.ts';
import { mulHigh32, u64FromBigInt } from '../../src/bytes/u64.ts';
import { FastLocalBloomBuilder } from '../../src/format/filter/bloom-builder.ts';
import { fastLocalBloomProbes, legacyBloomProbes } from '../../src/format/filter/bloom-math.ts';
import type { FilterBuilder } from '../../src/format/filter/filter-builder.ts';
import { LegacyBloomBuilder } from '../../src/format/filter/legacy-bloom-builder.ts';
import { openFilter } from '../../src/format/filter/open-filter.ts';
import { RibbonBuilder, ribbonOneIn } from '../../src/format/filter/ribbon-builder.ts';
import { highOfProduct, RibbonHasher } from '../../src/format/filter/ribbon-hasher.ts';
import { ribbonBytes, ribbonRawSlots, ribbonSlots } from '../../src/format/filter/ribbon-math.ts';
import { type KeyHash, twinKeyHash } from '../../src/hash/key-hash.ts';
import { openKernels } from '../../src/kernels/open-kernels.ts';

/** A subset is part of the project; the full set is used as well where it lies beside the checkout. */
const SETS = [
  { name: 'subset', url: new URL('../fixtures/vectors-filter.json', import.meta.url) },
  { name: 'full set', url: new URL('../../../shared/format/vectors.json', import.meta.url) },
].filter(({ name, url }) => name === 'subset' || existsSync(url));

interface Vectors<T> {
  vectors: T[];
}

interface Groups {
  fastrange32: Vectors<{ hash: string; range: string; out: string }>;
  fastrange64: Vectors<{ hash: string; range: string; out: string }>;
  fastlocalbloom_num_probes: Vectors<{ millibits_to_probes: [number, number][] }>;
  legacybloom_num_probes: Vectors<{ bits_to_probes: [number, number][] }>;
  ribbon_num_slots: Vectors<Record<'entries_to_[raw_slots,rounded_slots]', [number, number, number][]>>;
  ribbon_bytes: Vectors<
    { bits_per_key: number; desired_one_in_fp_rate: number } & Record<
      '[num_slots,rounding_bias32,bytes]',
      [number, number, number][]
    >
  >;
  ribbon_hash: Vectors<Record<string, string> & { ordinal_seed: number; start_of_897: number }>;
  filter: Vectors<{
    policy: string;
    bits_per_key: number;
    optimize_filters_for_memory: boolean;
    num_keys: number;
    filter_hex: string;
    absent_matches: number[];
  }>;
}

const BUILDERS: Record<string, (bitsPerKey: number, hash: KeyHash) => FilterBuilder> = {
  'rocksdb.internal.FastLocalBloomFilter': (bits, hash) => new FastLocalBloomBuilder(bits, hash),
  'rocksdb.internal.LegacyBloomFilter': (bits) => new LegacyBloomBuilder(bits),
  'rocksdb.internal.Standard128RibbonFilter': (bits, hash) => new RibbonBuilder(bits, hash),
};

const HASHES = { kernels: await openKernels(), twins: twinKeyHash() };

describe.each(SETS)('$name', ({ url }) => {
  const { groups } = JSON.parse(readFileSync(url, 'utf8')) as { groups: Groups };

  test('fastrange32, fastrange64', () => {
    for (const { hash, range, out } of groups.fastrange32.vectors) {
      expect(mulHigh32(Number.parseInt(hash, 16), Number(range)), `${hash} ${range}`).toBe(Number(out));
    }
    for (const { hash, range, out } of groups.fastrange64.vectors) {
      const wide = BigInt(range);
      if (wide > 0xffffffffn) continue;
      const { hi, lo } = u64FromBigInt(BigInt(`0x${hash}`));
      expect(highOfProduct(hi, lo, Number(wide)), `${hash} ${range}`).toBe(Number(out));
    }
  });

  test('fastlocalbloom_num_probes, legacybloom_num_probes', () => {
    const [fast] = groups.fastlocalbloom_num_probes.vectors;
    for (const [millibits, probes] of fast!.millibits_to_probes) {
      expect(fastLocalBloomProbes(millibits), String(millibits)).toBe(probes);
    }
    const [legacy] = groups.legacybloom_num_probes.vectors;
    for (const [bits, probes] of legacy!.bits_to_probes)
      expect(legacyBloomProbes(bits), String(bits)).toBe(probes);
  });

  test('ribbon_num_slots', () => {
    const [vector] = groups.ribbon_num_slots.vectors;
    for (const [count, raw, rounded] of vector!['entries_to_[raw_slots,rounded_slots]']) {
      expect([count, ribbonRawSlots(count), ribbonSlots(count)]).toEqual([count, raw, rounded]);
    }
  });

  test('ribbon_bytes', () => {
    for (const vector of groups.ribbon_bytes.vectors) {
      const oneIn = ribbonOneIn(vector.bits_per_key);
      // exp and pow of two machines differ in the last bit.
      expect(Math.abs(oneIn / vector.desired_one_in_fp_rate - 1)).toBeLessThan(4e-16);
      for (const [slots, bias, bytes] of vector['[num_slots,rounding_bias32,bytes]']) {
        expect(ribbonBytes(slots, oneIn, bias), `${slots} ${bias}`).toBe(bytes);
      }
    }
  });

  test('ribbon_hash', () => {
    for (const vector of groups.ribbon_hash.vectors) {
      const hasher = new RibbonHasher(vector.ordinal_seed, 1024);
      const { hi, lo } = u64FromBigInt(BigInt(`0x${vector.hash64}`));
      hasher.hash(lo, hi);
      const words = [hasher.row3, hasher.row2, hasher.row1, hasher.row0].map(hex32);
      expect({
        raw_seed: hex32(hasher.rawSeed),
        start_of_897: hasher.start,
        coeff_hi: words[0]! + words[1]!,
        coeff_lo: words[2]! + words[3]!,
        result_row: hex32(hasher.result),
      }).toEqual({
        raw_seed: vector.raw_seed,
        start_of_897: vector.start_of_897,
        coeff_hi: vector.coeff_hi,
        coeff_lo: vector.coeff_lo,
        result_row: vector.result_row,
      });
    }
  });

  describe.each(Object.entries(HASHES))('filter, %s', (_name, hash) => {
    test.each(groups.filter.vectors)('$policy $bits_per_key $num_keys', (vector) => {
      const keys = numbered('key', vector.num_keys);
      if (!vector.optimize_filters_for_memory) {
        const builder = BUILDERS[vector.policy]!(vector.bits_per_key, hash);
        for (const key of keys) builder.addKey(key, 0, key.length);
        expect(builder.entries).toBe(vector.num_keys);
        expect(toHex(builder.finish())).toBe(vector.filter_hex);
      }
      const reader = openFilter(fromHex(vector.filter_hex)!);
      expect(keys.every((key) => reader.mayContain(hash, key, 0, key.length))).toBe(true);
      const absent = numbered('absent', 2000);
      const matches = absent.flatMap((key, i) => (reader.mayContain(hash, key, 0, key.length) ? [i] : []));
      expect(matches).toEqual(vector.absent_matches);

      // The batched form says the same of keys in one buffer.
      const bytes = new Uint8Array(absent.flatMap((key) => [...key]));
      const offsets = Uint32Array.from({ length: absent.length + 1 }, (_, i) => i * absent[0]!.length);
      const out = new Uint8Array(absent.length);
      expect(reader.mayContainMany(hash, bytes, offsets, absent.length, out)).toBe(matches.length);
      expect([...out.keys()].filter((i) => out[i] === 1)).toEqual(matches);
    });
  });
});

function numbered(name: string, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, i) => utf8Bytes(name + String(i).padStart(5, '0')));
}
