import { compareBytes } from '../../bytes/compare.ts';
import { writeFixed32 } from '../../bytes/fixed.ts';
import type { Comparator } from '../../operators/comparator.ts';
import { TRAILER_SIZE } from '../internal-key.ts';

/**
 * Short keys for the index. An entry of the index needs a key that is not before the last key of its block and
 * before the first key of the next one: mostly a few bytes do.
 */
export interface KeyShortener {
  /** A key K, start <= K < limit, not longer than needed; `start` itself where there is none. */
  separator(start: Uint8Array, limit: Uint8Array): Uint8Array;
  /** A key K >= start, not longer than needed; `start` itself where there is none. */
  successor(start: Uint8Array): Uint8Array;
  /** A shortened key is used only where it is shorter than the original, not where it is as long. */
  readonly shorterOnly: boolean;
}

/** Source: RocksDB util/comparator.cc, BytewiseComparatorImpl. */
export const bytewiseShortener: KeyShortener = {
  shorterOnly: false,
  separator(start, limit) {
    const common = Math.min(start.length, limit.length);
    const at = firstDifference(start, limit, common);
    if (at === common || start[at]! >= limit[at]!) return start;
    if (at < limit.length - 1 || start[at]! + 1 < limit[at]!) return incrementedAt(start, at);
    // The incremented byte would make it the limit itself: the first byte behind it that can be raised is.
    for (let i = at + 1; i < start.length; i++) if (start[i] !== 0xff) return incrementedAt(start, i);
    return start;
  },
  successor: raiseFirstByte,
};

/** Source: RocksDB util/comparator.cc, ReverseBytewiseComparatorImpl. */
export const reverseShortener: KeyShortener = {
  shorterOnly: false,
  separator(start, limit) {
    const common = Math.min(start.length, limit.length);
    const at = firstDifference(start, limit, common);
    if (at === common || start[at]! < limit[at]! || at === start.length - 1) return start;
    return start.subarray(0, at + 1);
  },
  successor: (start) => start,
};

/** Source: LevelDB util/comparator.cc, db/dbformat.cc. */
export const levelDbShortener: KeyShortener = {
  shorterOnly: true,
  separator(start, limit) {
    const common = Math.min(start.length, limit.length);
    const at = firstDifference(start, limit, common);
    if (at === common || start[at]! + 1 >= limit[at]!) return start;
    return incrementedAt(start, at);
  },
  successor: raiseFirstByte,
};

/** The shortener of a comparator; undefined for those whose keys are never shortened: all others, and timestamps. */
export function keyShortenerOf(comparator: Comparator): KeyShortener | undefined {
  if (comparator.timestampSize > 0) return undefined;
  if (comparator.name === 'leveldb.BytewiseComparator') return bytewiseShortener;
  if (comparator.name === 'rocksdb.ReverseBytewiseComparator') return reverseShortener;
  return undefined;
}

/**
 * The separator of two internal keys: a shortened user key with the largest sequence number and `seekType`, so
 * that it comes before all real entries of that user key; else `last` itself.
 * Source: RocksDB table/block_based/index_builder.cc, FindShortestInternalKeySeparator.
 */
export function internalSeparator(
  shortener: KeyShortener,
  comparator: Comparator,
  last: Uint8Array,
  nextFirst: Uint8Array,
  seekType: number,
): Uint8Array {
  const start = last.subarray(0, last.length - TRAILER_SIZE);
  const limit = nextFirst.subarray(0, nextFirst.length - TRAILER_SIZE);
  return withSeekTrailer(shortener, comparator, last, start, shortener.separator(start, limit), seekType);
}

/** An internal key that is not before `last`, for the last block of a table. */
export function internalSuccessor(
  shortener: KeyShortener,
  comparator: Comparator,
  last: Uint8Array,
  seekType: number,
): Uint8Array {
  const start = last.subarray(0, last.length - TRAILER_SIZE);
  return withSeekTrailer(shortener, comparator, last, start, shortener.successor(start), seekType);
}

function withSeekTrailer(
  shortener: KeyShortener,
  comparator: Comparator,
  last: Uint8Array,
  start: Uint8Array,
  short: Uint8Array,
  seekType: number,
): Uint8Array {
  const fits = shortener.shorterOnly ? short.length < start.length : short.length <= start.length;
  if (!fits || comparator.compare(start, 0, start.length, short, 0, short.length) >= 0) return last;
  const key = new Uint8Array(short.length + TRAILER_SIZE);
  key.set(short);
  writeFixed32(key, short.length, 0xffffff00 | seekType);
  writeFixed32(key, short.length + 4, 0xffffffff);
  return key;
}

function firstDifference(a: Uint8Array, b: Uint8Array, common: number): number {
  let i = 0;
  while (i < common && a[i] === b[i]) i++;
  return i;
}

function incrementedAt(key: Uint8Array, at: number): Uint8Array {
  const short = key.slice(0, at + 1);
  short[at]!++;
  return short;
}

function raiseFirstByte(start: Uint8Array): Uint8Array {
  for (let i = 0; i < start.length; i++) if (start[i] !== 0xff) return incrementedAt(start, i);
  return start;
}

/** Whether two internal keys have the same user key. */
export function sameUserKey(comparator: Comparator | undefined, a: Uint8Array, b: Uint8Array): boolean {
  const compare = comparator?.compare ?? compareBytes;
  return compare(a, 0, a.length - TRAILER_SIZE, b, 0, b.length - TRAILER_SIZE) === 0;
}
