import type { KeyHash } from '../../hash/key-hash.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import { BenchRandom } from '../bench/random.ts';
import type { FilterAudit } from '../filter-audit.ts';
import { HashSet64 } from './hash-set.ts';

/** Absent keys that are asked in all, about: at a rate of 1 % the measured one is good to a few percent. */
const ABSENT_TARGET = 100_000;
/** Where the file does not tell how many entries it has: the first thousand keys are asked near. */
const ABSENT_PER_KEY_OF_UNKNOWN_COUNT = 100;
/** Behind a key of the file these make one that it does not have. */
const SUFFIX_BYTES = 8;
/** Of a prefix so many of the last bytes are drawn anew. */
const DRAWN_BYTES = 4;
const SAMPLES_MAX = 1000;
const SEED = 1;

/**
 * Asks a filter for what the file does not have, near what it has, so that partitions need not be read again and
 * again: keys of the file with some bytes behind them. Of a filter without whole keys other prefixes are asked, at the
 * end, when all are known.
 */
export class AbsentKeys {
  private readonly random = new BenchRandom(SEED);
  private readonly perKey: number;
  private readonly every: number;
  private readonly mode: 'keys' | 'prefixes' | 'none';
  private readonly prefixes = new HashSet64();
  private readonly samples: Uint8Array[] = [];
  private count = 0;

  constructor(
    private readonly audit: FilterAudit,
    content: { wholeKey: boolean; prefix: boolean },
    private readonly extractor: PrefixExtractor | undefined,
    private readonly hash: KeyHash,
    entries: number,
  ) {
    this.mode = content.wholeKey ? 'keys' : content.prefix && extractor !== undefined ? 'prefixes' : 'none';
    this.perKey =
      entries > 0 ? Math.max(1, Math.ceil(ABSENT_TARGET / entries)) : ABSENT_PER_KEY_OF_UNKNOWN_COUNT;
    this.every = Math.max(1, Math.floor(entries / ABSENT_TARGET));
  }

  /** Asks near the user key `key[0, end)`, which the audit has turned to. */
  near(key: Uint8Array, end: number): void {
    // The number of entries is what the file says of itself.
    const isEnough = this.audit.absentAsked >= 2 * ABSENT_TARGET;
    if (this.mode === 'keys' && !isEnough && this.count++ % this.every === 0) this.behind(key, end);
    if (this.mode === 'prefixes' && this.extractor!.inDomain(key, 0, end)) {
      this.remember(key, this.extractor!.prefixEnd(key, 0, end));
    }
  }

  /** When all keys were seen. */
  finish(): void {
    const { audit, hash, prefixes, samples } = this;
    if (samples.length === 0) return;
    const perSample = Math.ceil(ABSENT_TARGET / samples.length);
    for (const sample of samples) {
      const target = audit.seekTarget(sample, 0, sample.length);
      for (let i = 0; i < perSample; i++) {
        this.draw(target, Math.max(0, sample.length - DRAWN_BYTES), sample.length);
        const isNew = prefixes.add(hash.xxph3(target, 0, sample.length), hash.high());
        if (isNew && audit.turnTo(target, target.length)) audit.absent(target, 0, sample.length);
      }
    }
  }

  private behind(key: Uint8Array, end: number): void {
    const bytes = new Uint8Array(end + SUFFIX_BYTES);
    bytes.set(key.subarray(0, end));
    for (let i = 0; i < this.perKey; i++) {
      this.draw(bytes, end, bytes.length);
      this.audit.absent(bytes, 0, bytes.length);
    }
  }

  private remember(key: Uint8Array, prefixEnd: number): void {
    const { hash, prefixes, samples } = this;
    if (!prefixes.add(hash.xxph3(key, 0, prefixEnd), hash.high())) return;
    if (samples.length < SAMPLES_MAX && prefixEnd > 0) samples.push(key.slice(0, prefixEnd));
  }

  private draw(bytes: Uint8Array, from: number, to: number): void {
    for (let i = from; i < to; i++) bytes[i] = this.random.uint32();
  }
}
