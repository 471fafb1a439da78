import { legacyHash32, SLICE_HASH_SEED } from '../../hash/legacy-hash.ts';

const MAX_RESTART = 253;
const SEVERAL = 254;
const NONE = 255;

/**
 * The hash index of a data block: one byte a bucket, the restart whose interval has the keys that hash there,
 * then fixed16 number of buckets.
 *
 * A block with more than 254 restarts has none, and from then on no block of the table has: RocksDB's builder
 * does not recover either, and files are to be the same.
 * Source: RocksDB table/block_based/data_block_hash_index.cc.
 */
export class DataBlockHashBuilder {
  isValid = true;
  private readonly bucketsPerKey: number;
  /** A sum of doubles, as RocksDB adds it up: the product would round differently. */
  private bucketEstimate = 0;
  private hashes = new Uint32Array(64);
  private restarts = new Uint8Array(64);
  private count = 0;

  /** `ratio`: keys per bucket. */
  constructor(ratio: number) {
    this.bucketsPerKey = 1 / ratio;
  }

  /** Bytes that `write` takes. */
  get size(): number {
    return this.bucketCount + 2;
  }

  add(key: Uint8Array, start: number, end: number, restart: number): void {
    if (!this.isValid) return;
    if (restart > MAX_RESTART) {
      this.isValid = false;
      return;
    }
    if (this.count === this.hashes.length) this.grow();
    this.hashes[this.count] = legacyHash32(key, start, end, SLICE_HASH_SEED);
    this.restarts[this.count++] = restart;
    this.bucketEstimate += this.bucketsPerKey;
  }

  /** Writes the index at `pos`; returns the position after it. */
  write(target: Uint8Array, pos: number): number {
    const buckets = this.bucketCount;
    target.fill(NONE, pos, pos + buckets);
    for (let i = 0; i < this.count; i++) {
      const at = pos + (this.hashes[i]! % buckets);
      const restart = this.restarts[i]!;
      if (target[at] === NONE) target[at] = restart;
      else if (target[at] !== restart) target[at] = SEVERAL;
    }
    target[pos + buckets] = buckets;
    target[pos + buckets + 1] = buckets >>> 8;
    return pos + buckets + 2;
  }

  reset(): void {
    if (!this.isValid) return;
    this.count = 0;
    this.bucketEstimate = 0;
  }

  /** Always odd: an even number of buckets spreads the hash badly. */
  private get bucketCount(): number {
    return (Math.trunc(this.bucketEstimate) & 0xffff) | 1;
  }

  private grow(): void {
    const hashes = new Uint32Array(2 * this.hashes.length);
    hashes.set(this.hashes);
    this.hashes = hashes;
    const restarts = new Uint8Array(2 * this.restarts.length);
    restarts.set(this.restarts);
    this.restarts = restarts;
  }
}
