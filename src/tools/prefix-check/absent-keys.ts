import { compareBytes } from '../../bytes/compare.ts';
import { KeptBytes } from '../../format/filter/added-keys.ts';
import type { Comparator } from '../../operators/comparator.ts';
import { keepsGroupsTogether, type PrefixExtractor } from '../../operators/prefix-extractor.ts';
import { BenchRandom } from '../bench/random.ts';
import type { FilterAudit } from '../filter-audit.ts';

/** Absent keys that are asked in all, about: at a rate of 1 % the measured one is good to a few percent. */
const ABSENT_TARGET = 100_000;
const ABSENT_A_KEY_MAX = 1000;
/** Behind a key of the file these make one that it does not have. */
const SUFFIX_BYTES = 8;
const SEED = 1;

/**
 * Asks a filter for what the file does not have, near the keys that a walk meets, so that partitions need not be read
 * again. Of a filter without whole keys prefixes are asked that lie between two neighbours of the file.
 */
export class AbsentKeys {
  private readonly random = new BenchRandom(SEED);
  private readonly perKey: number;
  private readonly every: number;
  private readonly mode: 'keys' | 'prefixes' | 'none';
  private readonly lastPrefix = new KeptBytes();
  private hasLastPrefix = false;
  private count = 0;

  constructor(
    private readonly audit: FilterAudit,
    content: { wholeKey: boolean; prefix: boolean },
    private readonly extractor: PrefixExtractor | undefined,
    comparator: Comparator | undefined,
    entries: number,
  ) {
    const isBytewise = comparator?.withoutTimestamp.name === 'leveldb.BytewiseComparator';
    const knowsPrefixes = extractor !== undefined && keepsGroupsTogether(extractor) && isBytewise;
    this.mode = content.wholeKey ? 'keys' : content.prefix && knowsPrefixes ? 'prefixes' : 'none';
    this.perKey = Math.min(ABSENT_A_KEY_MAX, Math.max(1, Math.ceil(ABSENT_TARGET / Math.max(1, entries))));
    this.every = Math.max(1, Math.floor(entries / ABSENT_TARGET));
  }

  /** Asks near the user key `key[0, end)`, which the audit has turned to. */
  near(key: Uint8Array, end: number): void {
    if (this.mode === 'prefixes') this.betweenPrefixes(key, end);
    else if (this.mode === 'keys' && this.count++ % this.every === 0) this.behind(key, end);
  }

  private behind(key: Uint8Array, end: number): void {
    const { audit } = this;
    const length = end + SUFFIX_BYTES;
    const bytes = new Uint8Array(length);
    bytes.set(key.subarray(0, end));
    for (let i = 0; i < this.perKey; i++) {
      this.randomise(bytes, end, length);
      audit.absent(bytes, 0, length);
    }
  }

  /** Prefixes behind the last one and before this one: groups stand together, so they are nobody's. */
  private betweenPrefixes(key: Uint8Array, end: number): void {
    const { extractor, lastPrefix, audit } = this;
    if (!extractor!.inDomain(key, 0, end)) return;
    const prefixEnd = extractor!.prefixEnd(key, 0, end);
    if (this.hasLastPrefix && lastPrefix.equals(key, 0, prefixEnd)) return;
    if (this.hasLastPrefix && lastPrefix.length > 0 && this.count++ % this.every === 0) {
      const bytes = lastPrefix.bytes.slice(0, lastPrefix.length);
      const from = Math.max(0, bytes.length - 4);
      for (let i = 0; i < this.perKey; i++) {
        this.randomise(bytes, from, bytes.length);
        const behind = compareBytes(bytes, 0, bytes.length, lastPrefix.bytes, 0, lastPrefix.length) > 0;
        if (behind && compareBytes(bytes, 0, bytes.length, key, 0, prefixEnd) < 0) {
          audit.absent(bytes, 0, bytes.length);
        }
      }
    }
    lastPrefix.set(key, 0, prefixEnd);
    this.hasLastPrefix = true;
  }

  private randomise(bytes: Uint8Array, from: number, to: number): void {
    for (let i = from; i < to; i++) bytes[i] = this.random.uint32();
  }
}
