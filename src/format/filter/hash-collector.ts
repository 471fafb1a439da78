import type { KeyHash } from '../../hash/key-hash.ts';
import { fillFastLocalBloom } from './bloom-fill.ts';
import type { FilterHashes } from './filter-hashes.ts';
import { KeyBatch } from './key-batch.ts';
import { solveRibbon } from './ribbon-solve.ts';

const BATCH_KEYS = 512;
const BATCH_BYTES = 32 * 1024;

/** What a pending hash is: a key (or a prefix) alone, a prefix whose key comes next, the key behind its prefix. */
export const ALONE = 0;
export const PREFIX = 1;
export const KEY_OF_PREFIX = 2;

/** Hashes that are collected, and made a filter, in plain TypeScript. Keys are hashed some hundred at a time. */
export class HashCollector implements FilterHashes {
  /** Hash i: low half in `[2 * i]`, high half in `[2 * i + 1]`. May be replaced by a longer array. */
  hashes = new Uint32Array(2 * 1024);
  private count = 0;
  private readonly hash: KeyHash;
  /** Keys that are not hashed yet, and what each of them is. */
  private readonly pending = new KeyBatch(BATCH_KEYS, BATCH_BYTES);
  private readonly roles = new Uint8Array(BATCH_KEYS);
  private readonly batch = new Uint32Array(2 * BATCH_KEYS);
  private pairs = false;
  /** The prefix before the key that comes next, and the one before that. */
  private prefixLo = 0;
  private prefixHi = 0;
  private lastPrefixLo = 0;
  private lastPrefixHi = 0;
  private hasLastPrefix = false;

  constructor(hash: KeyHash) {
    this.hash = hash;
  }

  addKey(bytes: Uint8Array, start: number, end: number): void {
    this.take(bytes, start, end, ALONE);
  }

  addKeyAndPrefix(bytes: Uint8Array, start: number, prefixEnd: number, end: number): void {
    this.take(bytes, start, prefixEnd, PREFIX);
    this.take(bytes, start, end, KEY_OF_PREFIX);
  }

  addHash(lo: number, hi: number): void {
    this.settle();
    this.pushNew(lo >>> 0, hi >>> 0);
  }

  get entries(): number {
    this.settle();
    return this.count;
  }

  hasEntries(count: number): boolean {
    if (this.count >= count) return true;
    // The prefix of the first that waits may have been hashed with the batch before: it counts once its key does.
    return this.count + this.pending.count + 1 >= count && this.entries >= count;
  }

  get firstHigh(): number {
    return this.entries === 0 ? 0 : this.hashes[1]!;
  }

  fillBloom(dataBytes: number, probes: number): Uint8Array {
    const { entries } = this;
    return fillFastLocalBloom(this.hashes, entries, dataBytes, probes);
  }

  solveRibbon(slots: number, dataBytes: number): Uint8Array | undefined {
    const { entries } = this;
    return solveRibbon(this.hashes, entries, slots, dataBytes);
  }

  /** Forgets all; the space is kept for the next filter. */
  reset(): void {
    this.count = 0;
    this.pending.release();
    this.pairs = false;
    this.hasLastPrefix = false;
  }

  private take(bytes: Uint8Array, start: number, end: number, role: number): void {
    if (!this.pending.push(bytes, start, end)) {
      this.settle();
      if (!this.pending.push(bytes, start, end)) {
        const lo = this.hash.xxph3(bytes, start, end);
        this.enter(lo, this.hash.high(), role);
        return;
      }
    }
    if (role !== ALONE) this.pairs = true;
    this.roles[this.pending.count - 1] = role;
  }

  /** Hashes what is pending. */
  private settle(): void {
    const { pending, batch, roles } = this;
    const { count } = pending;
    if (count === 0) return;
    this.hash.xxph3Batch(pending.bytes, pending.offsets, count, batch);
    this.reserve(count);
    if (this.pairs) {
      for (let i = 0; i < count; i++) this.enter(batch[2 * i]!, batch[2 * i + 1]!, roles[i]!);
    } else {
      this.enterAll(batch, count);
    }
    pending.clear();
    this.pairs = false;
  }

  /** As `enter` for keys that are all alone. */
  private enterAll(batch: Uint32Array, pending: number): void {
    const { hashes } = this;
    let at = 2 * this.count;
    let first = 0;
    if (at === 0) {
      hashes[0] = batch[0]!;
      hashes[1] = batch[1]!;
      at = 2;
      first = 1;
    }
    for (let i = first; i < pending; i++) {
      const lo = batch[2 * i]!;
      const hi = batch[2 * i + 1]!;
      if (lo === hashes[at - 2] && hi === hashes[at - 1]) continue;
      hashes[at] = lo;
      hashes[at + 1] = hi;
      at += 2;
    }
    this.count = at / 2;
  }

  private enter(lo: number, hi: number, role: number): void {
    if (role === PREFIX) {
      this.prefixLo = lo;
      this.prefixHi = hi;
    } else if (role === KEY_OF_PREFIX) {
      this.enterPair(lo, hi);
    } else {
      this.pushNew(lo, hi);
    }
  }

  /** Prefixes come first, so that the last hash is a key's, to be compared with the next key's. */
  private enterPair(lo: number, hi: number): void {
    const { prefixLo, prefixHi, hasLastPrefix, lastPrefixLo, lastPrefixHi } = this;
    const repeatsKey = this.isLast(lo, hi);
    const repeatsPrefix = hasLastPrefix && prefixLo === lastPrefixLo && prefixHi === lastPrefixHi;
    const isPrefix = lo === prefixLo && hi === prefixHi;
    if (!repeatsPrefix && !isPrefix && !this.isLast(prefixLo, prefixHi)) this.push(prefixLo, prefixHi);
    this.hasLastPrefix = true;
    this.lastPrefixLo = prefixLo;
    this.lastPrefixHi = prefixHi;
    // In reverse order a key that is the prefix itself comes last of its group.
    const isLastPrefix = hasLastPrefix && lo === lastPrefixLo && hi === lastPrefixHi;
    if (!repeatsKey && !isLastPrefix) this.push(lo, hi);
  }

  private isLast(lo: number, hi: number): boolean {
    const at = 2 * this.count;
    return at > 0 && this.hashes[at - 2] === lo && this.hashes[at - 1] === hi;
  }

  private pushNew(lo: number, hi: number): void {
    if (!this.isLast(lo, hi)) this.push(lo, hi);
  }

  private push(lo: number, hi: number): void {
    this.reserve(1);
    this.hashes[2 * this.count] = lo;
    this.hashes[2 * this.count + 1] = hi;
    this.count++;
  }

  private reserve(more: number): void {
    const needed = 2 * (this.count + more);
    if (needed <= this.hashes.length) return;
    const larger = new Uint32Array(Math.max(needed, 2 * this.hashes.length));
    larger.set(this.hashes.subarray(0, 2 * this.count));
    this.hashes = larger;
  }
}
