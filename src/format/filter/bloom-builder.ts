import { writeFixed32 } from '../../bytes/fixed.ts';
import type { KeyHash } from '../../hash/key-hash.ts';
import { BLOOM_HASH_SEED, legacyHash32 } from '../../hash/legacy-hash.ts';
import { addToLegacyBloom, fastLocalBloomBase, setFastLocalBloomBits } from './bloom-bits.ts';
import {
  fastLocalBloomBytes,
  fastLocalBloomEntries,
  fastLocalBloomProbes,
  legacyBloomEntries,
  legacyBloomLines,
  legacyBloomProbes,
  millibitsPerKey,
  wholeBitsPerKey,
} from './bloom-math.ts';
import type { FilterBuilder } from './filter-builder.ts';
import { BLOOM_MARKER, FILTER_METADATA_BYTES, LINE_BYTES } from './filter-metadata.ts';
import { HashCollector } from './hash-collector.ts';

const NOTHING = new Uint8Array(0);
/**
 * Lines that are fetched before any of them is changed: their cache misses overlap. Of 3 million keys one takes
 * 36 ns instead of 55 to 60; in small filters nothing changes.
 */
const LINES_AHEAD = 16;

/**
 * The Bloom filter of format_version 5 and later, byte for byte as RocksDB builds it with
 * `optimize_filters_for_memory=false`.
 */
export class FastLocalBloomBuilder implements FilterBuilder {
  readonly kind = 'fast_local_bloom';
  private readonly collector: HashCollector;
  private readonly millibits: number;

  /** `bitsPerKey` at least 0.5. */
  constructor(bitsPerKey: number, hash: KeyHash) {
    this.collector = new HashCollector(hash);
    this.millibits = millibitsPerKey(bitsPerKey);
  }

  addKey(bytes: Uint8Array, start: number, end: number): void {
    this.collector.addKey(bytes, start, end);
  }

  addKeyAndPrefix(bytes: Uint8Array, start: number, prefixEnd: number, end: number): void {
    this.collector.addKeyAndPrefix(bytes, start, prefixEnd, end);
  }

  addHash(lo: number, hi: number): void {
    this.collector.addHash(lo, hi);
  }

  get entries(): number {
    return this.collector.entries;
  }

  hasEntries(count: number): boolean {
    return this.collector.hasEntries(count);
  }

  entriesFor(size: number): number {
    return fastLocalBloomEntries(size, this.millibits);
  }

  finish(): Uint8Array {
    const { entries } = this.collector;
    const filter = buildFastLocalBloom(this.collector.hashes, entries, this.millibits);
    this.collector.reset();
    return filter;
  }
}

/** A FastLocalBloom filter of `count` hashes, which are pairs of low and high half; empty when there are none. */
export function buildFastLocalBloom(hashes: Uint32Array, count: number, millibits: number): Uint8Array {
  if (count === 0) return NOTHING;
  return fillFastLocalBloom(
    hashes,
    count,
    fastLocalBloomBytes(count, millibits),
    fastLocalBloomProbes(millibits),
  );
}

/** The same with a size that was chosen otherwise: `dataBytes` is a multiple of 64. */
export function fillFastLocalBloom(
  hashes: Uint32Array,
  count: number,
  dataBytes: number,
  probes: number,
): Uint8Array {
  const filter = new Uint8Array(dataBytes + FILTER_METADATA_BYTES);
  const lines = dataBytes / LINE_BYTES;
  const bases = new Uint32Array(LINES_AHEAD + 1);
  for (let first = 0; first < count; first += LINES_AHEAD) {
    const batch = Math.min(LINES_AHEAD, count - first);
    let touched = 0;
    for (let i = 0; i < batch; i++) {
      const base = fastLocalBloomBase(hashes[2 * (first + i)]!, lines);
      bases[i] = base;
      touched |= filter[base]!;
    }
    // What was read has to go somewhere, or it would not be read.
    bases[LINES_AHEAD] = touched;
    for (let i = 0; i < batch; i++) {
      setFastLocalBloomBits(filter, bases[i]!, probes, hashes[2 * (first + i) + 1]!);
    }
  }
  filter[dataBytes] = BLOOM_MARKER;
  filter[dataBytes + 2] = probes;
  return filter;
}

/** The Bloom filter of tables before format_version 5, with lines of 64 bytes, as processors of x86 have them. */
export class LegacyBloomBuilder implements FilterBuilder {
  readonly kind = 'legacy_bloom';
  private readonly bits: number;
  private hashes = new Uint32Array(1024);
  private count = 0;
  /** The hash of the last prefix that came with a key; -1 for none. */
  private lastPrefix = -1;

  /** `bitsPerKey` at least 0.5; rounded to whole bits. */
  constructor(bitsPerKey: number) {
    this.bits = wholeBitsPerKey(millibitsPerKey(bitsPerKey));
  }

  addKey(bytes: Uint8Array, start: number, end: number): void {
    this.addHash(legacyHash32(bytes, start, end, BLOOM_HASH_SEED));
  }

  addKeyAndPrefix(bytes: Uint8Array, start: number, prefixEnd: number, end: number): void {
    const prefix = legacyHash32(bytes, start, prefixEnd, BLOOM_HASH_SEED);
    const key = legacyHash32(bytes, start, end, BLOOM_HASH_SEED);
    const last = this.last;
    const { lastPrefix } = this;
    if (prefix !== lastPrefix && prefix !== key && prefix !== last) this.push(prefix);
    this.lastPrefix = prefix;
    if (key !== last && key !== lastPrefix) this.push(key);
  }

  addHash(hash: number): void {
    if (hash >>> 0 !== this.last) this.push(hash >>> 0);
  }

  get entries(): number {
    return this.count;
  }

  hasEntries(count: number): boolean {
    return this.count >= count;
  }

  entriesFor(size: number): number {
    return legacyBloomEntries(size, this.bits);
  }

  finish(): Uint8Array {
    const filter = buildLegacyBloom(this.hashes, this.count, this.bits);
    this.count = 0;
    this.lastPrefix = -1;
    return filter;
  }

  private get last(): number {
    return this.count === 0 ? -1 : this.hashes[this.count - 1]!;
  }

  private push(hash: number): void {
    if (this.count === this.hashes.length) {
      const larger = new Uint32Array(2 * this.count);
      larger.set(this.hashes);
      this.hashes = larger;
    }
    this.hashes[this.count++] = hash;
  }
}

/** A legacy Bloom filter of `count` BloomHashes; empty when there are none. */
export function buildLegacyBloom(hashes: Uint32Array, count: number, bits: number): Uint8Array {
  if (count === 0) return NOTHING;
  const lines = legacyBloomLines(count, bits);
  const dataBytes = lines * LINE_BYTES;
  const filter = new Uint8Array(dataBytes + FILTER_METADATA_BYTES);
  const probes = legacyBloomProbes(bits);
  for (let i = 0; i < count; i++) addToLegacyBloom(filter, lines, probes, hashes[i]!);
  filter[dataBytes] = probes;
  writeFixed32(filter, dataBytes + 1, lines);
  return filter;
}
