import { ByteWriter } from '../../bytes/byte-writer.ts';
import { BLOOM_HASH_SEED, legacyHash32 } from '../../hash/legacy-hash.ts';
import { BLOCK_FILTER_PREFIX } from '../metaindex.ts';
import type { LevelDbFilterSink } from './filter-sink.ts';

export const LEVELDB_FILTER_BLOCK = `${BLOCK_FILTER_PREFIX}leveldb.BuiltinBloomFilter2`;

/** A filter for every 2 KiB of the file. */
const RANGE_LOG = 11;
const RANGE_BYTES = 2 ** RANGE_LOG;
const MIN_FILTER_BITS = 64;

/**
 * LevelDB's filter block: a Bloom filter for each range of 2 KiB, with the keys of the data blocks that begin in it.
 *
 *   filters | offset of each: fixed32 | offset of the offsets: fixed32 | 11 (1)
 *   filter: bits, number of probes (1)
 *
 * Source: LevelDB table/filter_block.cc, util/bloom.cc.
 */
export class LevelDbFilterBuilder implements LevelDbFilterSink {
  readonly kind = 'leveldb';
  entries = 0;
  private readonly filters = new ByteWriter();
  private readonly offsets: number[] = [];
  private hashes: number[] = [];
  private readonly probes: number;

  constructor(private readonly bitsPerKey: number) {
    // The probes that make the fewest mistakes: bits a key times ln 2.
    this.probes = Math.min(30, Math.max(1, Math.floor(bitsPerKey * 0.69)));
  }

  startBlock(offset: number): void {
    const range = Math.floor(offset / RANGE_BYTES);
    while (range > this.offsets.length) this.closeFilter();
  }

  addKey(bytes: Uint8Array, start: number, end: number): void {
    this.hashes.push(legacyHash32(bytes, start, end, BLOOM_HASH_SEED));
    this.entries++;
  }

  finish(): Uint8Array {
    if (this.hashes.length > 0) this.closeFilter();
    const { filters } = this;
    const offsetsStart = filters.length;
    for (const offset of this.offsets) filters.fixed32(offset);
    filters.fixed32(offsetsStart);
    filters.byte(RANGE_LOG);
    return filters.copy();
  }

  /** A range without keys has a filter of no bytes. */
  private closeFilter(): void {
    this.offsets.push(this.filters.length);
    if (this.hashes.length === 0) return;
    const byteCount = Math.ceil(Math.max(MIN_FILTER_BITS, this.hashes.length * this.bitsPerKey) / 8);
    const bitCount = byteCount * 8;
    const filter = new Uint8Array(byteCount + 1);
    filter[byteCount] = this.probes;
    for (let hash of this.hashes) {
      const delta = ((hash >>> 17) | (hash << 15)) >>> 0;
      for (let i = 0; i < this.probes; i++) {
        const bit = hash % bitCount;
        filter[bit >>> 3]! |= 1 << (bit & 7);
        hash = (hash + delta) >>> 0;
      }
    }
    this.filters.append(filter);
    this.hashes = [];
  }
}
