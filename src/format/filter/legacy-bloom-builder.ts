import type { KeyHash } from '../../hash/key-hash.ts';
import { BLOOM_HASH_SEED, LegacyHasher } from '../../hash/legacy-hash.ts';
import type { FilterKernel } from '../../kernels/filter-kernel.ts';
import { fillLegacyBloom, writeLegacyBloomMetadata } from './bloom-fill.ts';
import {
  legacyBloomEntries,
  legacyBloomLines,
  legacyBloomProbes,
  millibitsPerKey,
  wholeBitsPerKey,
} from './bloom-math.ts';
import type { FilterBuilder } from './filter-builder.ts';
import { FILTER_METADATA_BYTES, LINE_BYTES } from './filter-metadata.ts';

const NOTHING = new Uint8Array(0);
const HASH_BYTES = 4;

/**
 * The Bloom filter of tables before format_version 5, with lines of 64 bytes, as processors of x86 have them. A key is
 * hashed where it lies, which takes no longer than to copy it; the kernel, where there is one, sets the bits.
 */
export class LegacyBloomBuilder implements FilterBuilder {
  readonly kind = 'legacy_bloom';
  private readonly bits: number;
  private readonly hasher = new LegacyHasher(BLOOM_HASH_SEED);
  private readonly kernel: FilterKernel | undefined;
  /** Hashes as int32, as all of them are here. */
  private hashes = new Int32Array(1024);
  private count = 0;
  /** The last hash, if there is one, and that of the last prefix that came with a key. */
  private last = 0;
  private lastPrefix = 0;
  private hasLastPrefix = false;

  /** `bitsPerKey` at least 0.5; rounded to whole bits. */
  constructor(bitsPerKey: number, hash?: KeyHash) {
    this.bits = wholeBitsPerKey(millibitsPerKey(bitsPerKey));
    this.kernel = hash?.filterKernel;
  }

  addKey(bytes: Uint8Array, start: number, end: number): void {
    const hash = this.hasher.hash(bytes, start, end);
    if (!this.isLast(hash)) this.push(hash);
  }

  addKeyAndPrefix(bytes: Uint8Array, start: number, prefixEnd: number, end: number): void {
    const prefix = this.hasher.hash(bytes, start, prefixEnd);
    const key = this.hasher.hash(bytes, start, end);
    const repeatsKey = this.isLast(key);
    const repeatsPrefix = this.hasLastPrefix && prefix === this.lastPrefix;
    const isLastPrefix = this.hasLastPrefix && key === this.lastPrefix;
    if (!repeatsPrefix && prefix !== key && !this.isLast(prefix)) this.push(prefix);
    this.lastPrefix = prefix;
    this.hasLastPrefix = true;
    if (!repeatsKey && !isLastPrefix) this.push(key);
  }

  addHash(hash: number): void {
    if (!this.isLast(hash | 0)) this.push(hash | 0);
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
    const filter = this.build();
    this.count = 0;
    this.hasLastPrefix = false;
    this.hasher.release();
    return filter;
  }

  private build(): Uint8Array {
    const { count, bits, hashes } = this;
    if (count === 0) return NOTHING;
    const lines = legacyBloomLines(count, bits);
    const probes = legacyBloomProbes(bits);
    return (
      this.fillByKernel(lines, probes) ??
      fillLegacyBloom(new Uint32Array(hashes.buffer), count, lines, probes)
    );
  }

  /** Undefined where there is no kernel, or no memory for it. */
  private fillByKernel(lines: number, probes: number): Uint8Array | undefined {
    const { kernel, count, hashes } = this;
    const dataBytes = lines * LINE_BYTES;
    const memory = kernel?.openBehind(count * HASH_BYTES + LINE_BYTES + dataBytes);
    if (memory === undefined) return undefined;
    memory.hashWords(count).set(hashes.subarray(0, count));
    const out = Math.ceil((memory.hashesStart + count * HASH_BYTES) / LINE_BYTES) * LINE_BYTES;
    memory.exports.fillLegacyBloom(count, out, lines, probes);
    const filter = new Uint8Array(dataBytes + FILTER_METADATA_BYTES);
    filter.set(memory.bytes.subarray(out, out + dataBytes));
    kernel!.giveBack(memory);
    writeLegacyBloomMetadata(filter, lines, probes);
    return filter;
  }

  private isLast(hash: number): boolean {
    return hash === this.last && this.count > 0;
  }

  private push(hash: number): void {
    if (this.count === this.hashes.length) {
      const larger = new Int32Array(2 * this.count);
      larger.set(this.hashes);
      this.hashes = larger;
    }
    this.hashes[this.count++] = hash;
    this.last = hash;
  }
}
