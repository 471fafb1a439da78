import { compareBytes } from '../../bytes/compare.ts';
import { KeptBytes } from '../../format/filter/added-keys.ts';
import type { KeyHash } from '../../hash/key-hash.ts';
import { bytewiseComparator, type Comparator } from '../../operators/comparator.ts';
import { keepsGroupsTogether, type PrefixExtractor } from '../../operators/prefix-extractor.ts';
import { HashSet64 } from './hash-set.ts';

/** A seek key for which prefix mode and total order are likely to differ; whether they do is seen by a walk. */
export interface SeekCandidates {
  /** A group that begins behind a key which is not smaller than its prefix: a seek for the prefix lands there. */
  landsBefore: Uint8Array | undefined;
  /** The prefix of a group that another one interrupts. */
  interrupted: Uint8Array | undefined;
  /** Longer than its prefix, shorter than a key: what is typed as the beginning of a key. */
  beginning: Uint8Array | undefined;
  /** Longer than its prefix. */
  longer: Uint8Array | undefined;
}

/** How the keys of a file fall into groups of one prefix, in stored order. */
export class PrefixGroups {
  /** Prefixes, each counted once. */
  distinct = 0;
  /** User keys that have no prefix. */
  outOfDomain = 0;
  /** Times that a group goes on behind keys of other groups. */
  notContiguous = 0;
  readonly candidates: SeekCandidates = {
    landsBefore: undefined,
    interrupted: undefined,
    beginning: undefined,
    longer: undefined,
  };
  private readonly lastKey = new KeptBytes();
  private hasLastKey = false;
  /** Of the last key; -1 for none. */
  private lastPrefixEnd = -1;
  /** Undefined where groups cannot be interrupted. */
  private readonly seen: HashSet64 | undefined;

  constructor(
    private readonly extractor: PrefixExtractor,
    private readonly comparator: Comparator | undefined,
    private readonly hash: KeyHash,
  ) {
    const isBytewise = comparator?.withoutTimestamp.name === bytewiseComparator.name;
    this.seen = isBytewise && keepsGroupsTogether(extractor) ? undefined : new HashSet64();
  }

  /** The next user key, `key[0, end)` without timestamp: another one than the key before. */
  add(key: Uint8Array, end: number): void {
    const { extractor, lastKey } = this;
    const inDomain = extractor.inDomain(key, 0, end);
    const prefixEnd = inDomain ? extractor.prefixEnd(key, 0, end) : -1;
    const sameGroup =
      inDomain &&
      this.lastPrefixEnd === prefixEnd &&
      compareBytes(lastKey.bytes, 0, prefixEnd, key, 0, prefixEnd) === 0;
    if (!inDomain) this.outOfDomain++;
    else if (sameGroup) this.compareNeighbours(key, end, prefixEnd);
    else this.beginGroup(key, prefixEnd);
    lastKey.set(key, 0, end);
    this.hasLastKey = true;
    this.lastPrefixEnd = prefixEnd;
  }

  private beginGroup(key: Uint8Array, prefixEnd: number): void {
    const { candidates, comparator, hasLastKey, hash, lastKey, seen } = this;
    const isNew = seen === undefined || seen.add(hash.xxph3(key, 0, prefixEnd), hash.high());
    if (isNew) this.distinct++;
    else this.notContiguous++;
    if (!isNew && candidates.interrupted === undefined) candidates.interrupted = key.slice(0, prefixEnd);
    if (candidates.landsBefore !== undefined || !hasLastKey || comparator === undefined) return;
    const order = comparator.withoutTimestamp.compare(lastKey.bytes, 0, lastKey.length, key, 0, prefixEnd);
    if (isNew && order >= 0) candidates.landsBefore = key.slice(0, prefixEnd);
  }

  /** Neighbours of one group part where they differ first: a seek key that ends there fits the one before alone. */
  private compareNeighbours(key: Uint8Array, end: number, prefixEnd: number): void {
    const { candidates, lastKey } = this;
    if (candidates.beginning !== undefined) return;
    const common = sharedLength(lastKey, key, end);
    const length = common + 1;
    if (length > lastKey.length || length <= prefixEnd) return;
    candidates.longer ??= lastKey.bytes.slice(0, length);
    if (length < lastKey.length && common > prefixEnd) candidates.beginning = lastKey.bytes.slice(0, length);
  }
}

/** How many bytes the two begin with alike. */
function sharedLength(last: KeptBytes, key: Uint8Array, end: number): number {
  const most = Math.min(last.length, end);
  let length = 0;
  while (length < most && last.bytes[length] === key[length]) length++;
  return length;
}
