import type { FilterCounters, FilterReader } from '../../format/filter/filter-reader.ts';
import { FullFilterReader } from '../../format/filter/full-filter-reader.ts';
import { KeyBatch } from '../../format/filter/key-batch.ts';
import { openFilter } from '../../format/filter/open-filter.ts';
import type { KeyHash } from '../../hash/key-hash.ts';
import { BLOOM_HASH_SEED, legacyHash32 } from '../../hash/legacy-hash.ts';
import type { KeyMaker } from './key-maker.ts';

export interface FilterFpRates {
  averagePercent: number;
  worstPercent: number;
  bestPercent: number;
  bestPossibleBitsPerKey: number;
}

/**
 * How a filter is asked: its bits alone; as a lookup does, with the parsed reader that the cache has; the same,
 * parsed again each time. Or not at all: `hash` takes the hash of the key, `dry` looks at it.
 */
export type FilterInterface = 'bits' | 'block' | 'reparse' | 'hash' | 'dry';

/** Words of a filter's record: its id, the keys in it, queries for other keys and how many of them it let pass. */
const RECORD_WORDS = 4;
const KEYS = 1;
const OUTSIDE_QUERIES = 2;
const FALSE_POSITIVES = 3;

const WHOLE_KEYS = { wholeKeys: true, prefixExtractor: undefined } as const;

/** The filters of a bench, and what was asked of them. */
export class BenchFilters {
  /** The sum of hashes, as int32. */
  dryRunHash = 0;
  private readonly contents: Uint8Array[] = [];
  private readonly bits: FilterReader[] = [];
  private readonly blocks: FullFilterReader[] = [];
  /** What a query needs of a filter beside the filter, in one line of the processor's cache. */
  private records = new Int32Array(RECORD_WORDS * 1024);
  private readonly batch = new KeyBatch();
  private readonly answers = new Uint8Array(512);
  private readonly hashes = new Uint32Array(2 * 512);
  private counters: FilterCounters = { filterMetadataParses: 0 };
  private readonly isLegacy: boolean;

  constructor(
    private readonly hash: KeyHash,
    impl: number,
  ) {
    this.isLegacy = impl === 0;
  }

  get count(): number {
    return this.bits.length;
  }

  /** As int32. */
  idOf(index: number): number {
    return this.records[index << 2]!;
  }

  keysOf(index: number): number {
    return this.records[(index << 2) + KEYS]!;
  }

  add(id: number, keys: number, contents: Uint8Array, counters: FilterCounters): FilterReader {
    const reader = openFilter(contents, counters);
    const record = RECORD_WORDS * this.count;
    if (record === this.records.length) {
      const larger = new Int32Array(2 * record);
      larger.set(this.records);
      this.records = larger;
    }
    this.records[record] = id;
    this.records[record + KEYS] = keys;
    this.contents.push(contents);
    this.bits.push(reader);
    this.blocks.push(new FullFilterReader(contents, WHOLE_KEYS, counters));
    this.counters = counters;
    return reader;
  }

  /** Asks filter `index` for a key that was added to it, or was not. */
  ask(index: number, key: KeyMaker, inside: boolean, way: FilterInterface): void {
    const { bytes, start, end } = key;
    let may = true;
    switch (way) {
      case 'bits':
        may = this.bits[index]!.mayContain(this.hash, bytes, start, end);
        break;
      case 'block':
        may = this.blocks[index]!.keyMayMatch(this.hash, bytes, start, end);
        break;
      case 'reparse':
        may = new FullFilterReader(this.contents[index]!, WHOLE_KEYS, this.counters).keyMayMatch(
          this.hash,
          bytes,
          start,
          end,
        );
        break;
      case 'hash':
        this.dryRunHash = (this.dryRunHash + this.hashOf(bytes, start, end)) | 0;
        break;
      case 'dry':
        // The character is signed, as in RocksDB on x86.
        this.dryRunHash = (this.dryRunHash + (end - start) + ((bytes[start + 3]! << 24) >> 24)) | 0;
        break;
    }
    if (!inside) this.countOutside(index, 1, may ? 1 : 0);
    else if (!may) throw falseNegative(index);
  }

  /** The same for some keys in one call, of the bits or as a dry run. */
  askTogether(index: number, keys: readonly KeyMaker[], inside: boolean, way: FilterInterface): void {
    const { batch, answers, hash } = this;
    batch.clear();
    for (let i = 0; i < keys.length; i++) {
      const { bytes, start, end } = keys[i]!;
      if (!batch.push(bytes, start, end)) throw new RangeError('keys of one query do not fit into a batch');
    }
    const { count, bytes, offsets } = batch;
    if (way === 'bits') {
      const found = this.bits[index]!.mayContainMany(hash, bytes, offsets, count, answers);
      if (inside) {
        if (found < count) throw falseNegative(index);
        return;
      }
      this.countOutside(index, count, found);
      return;
    }
    if (way === 'hash' && !this.isLegacy) {
      hash.xxph3Batch(bytes, offsets, count, this.hashes);
      for (let i = 0; i < count; i++) this.dryRunHash = (this.dryRunHash + this.hashes[2 * i]!) | 0;
    } else {
      for (let i = 0; i < count; i++) this.ask(index, keys[i]!, true, way);
    }
    if (!inside) this.countOutside(index, count, 0);
  }

  resetCounts(): void {
    const { records } = this;
    for (let record = 0; record < RECORD_WORDS * this.count; record += RECORD_WORDS) {
      records[record + OUTSIDE_QUERIES] = 0;
      records[record + FALSE_POSITIVES] = 0;
    }
    this.dryRunHash = 0;
  }

  /** Over the queries since `resetCounts`. */
  fpRates(): FilterFpRates {
    let queries = 0;
    let falsePositives = 0;
    let worst = 0;
    let best = 1;
    for (let i = 0; i < this.count; i++) {
      const outside = this.records[RECORD_WORDS * i + OUTSIDE_QUERIES]!;
      const passed = this.records[RECORD_WORDS * i + FALSE_POSITIVES]!;
      if (outside === 0) continue;
      queries += outside;
      falsePositives += passed;
      const rate = passed / outside;
      worst = Math.max(worst, rate);
      best = Math.min(best, rate);
    }
    return {
      averagePercent: (100 * falsePositives) / queries,
      worstPercent: 100 * worst,
      bestPercent: 100 * best,
      bestPossibleBitsPerKey: -Math.log(falsePositives / queries) / Math.log(2),
    };
  }

  private countOutside(index: number, queries: number, passed: number): void {
    const record = index << 2;
    this.records[record + OUTSIDE_QUERIES]! += queries;
    this.records[record + FALSE_POSITIVES]! += passed;
  }

  private hashOf(bytes: Uint8Array, start: number, end: number): number {
    return this.isLegacy
      ? legacyHash32(bytes, start, end, BLOOM_HASH_SEED)
      : this.hash.xxph3(bytes, start, end);
  }
}

function falseNegative(index: number): Error {
  return new Error(`filter ${index} denies a key that was added to it`);
}
