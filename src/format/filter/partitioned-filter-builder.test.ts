import { describe, expect, test } from 'vitest';
import { utf8, utf8Bytes } from '../../bytes/text.ts';
import { bytewiseComparator } from '../../operators/comparator.ts';
import { fixedPrefix } from '../../operators/prefix-extractor.ts';
import type { FilterBuilder } from './filter-builder.ts';
import { FilterPartitionIndex } from './filter-partition-index.ts';
import { FullFilterBuilder } from './full-filter-builder.ts';
import {
  filterPartitionBytes,
  PartitionedFilterBuilder,
  type PartitionedFilterOptions,
} from './partitioned-filter-builder.ts';

/** Keeps what is added as a line of text; has room for one key in ten bytes. */
class TextBuilder implements FilterBuilder {
  readonly kind = 'fast_local_bloom';
  private added: string[] = [];

  addKey(bytes: Uint8Array, start: number, end: number): void {
    const key = utf8(bytes.subarray(start, end));
    if (key !== this.added.at(-1)) this.added.push(key);
  }

  addKeyAndPrefix(bytes: Uint8Array, start: number, prefixEnd: number, end: number): void {
    const prefix = utf8(bytes.subarray(start, prefixEnd));
    if (!this.added.includes(prefix)) this.addKey(bytes, start, prefixEnd);
    if (end !== prefixEnd) this.addKey(bytes, start, end);
  }

  addHash(): void {
    throw new Error('not called');
  }

  get entries(): number {
    return this.added.length;
  }

  hasEntries(count: number): boolean {
    return this.added.length >= count;
  }

  entriesFor(size: number): number {
    return Math.floor(size / 10);
  }

  finish(): Uint8Array {
    const text = this.added.join(' ');
    this.added = [];
    return utf8Bytes(text);
  }
}

type Options = Omit<PartitionedFilterOptions, 'partitionBytes'>;

/** One letter before `.` is the user key of an index entry; keys are added one by one. */
function partitionsOf(options: Options, keys: readonly string[], keysPerPartition: number): string[] {
  const builder = new PartitionedFilterBuilder(new TextBuilder(), {
    ...options,
    partitionBytes: 10 * keysPerPartition,
  });
  for (const key of keys) {
    const bytes = utf8Bytes(key);
    builder.addKey(bytes, 0, bytes.length);
  }
  return builder.finish().map(({ key, contents }) => `${utf8(key.subarray(0, -8))}: ${utf8(contents)}`);
}

const KEYS = ['a1', 'a2', 'b1', 'b2', 'c1', 'd1'];

describe('decoupled', () => {
  test('whole keys: cut where a partition is full', () => {
    expect(partitionsOf({ decoupled: true, wholeKeys: true }, KEYS, 2)).toEqual([
      'a2: a1 a2',
      'b2: b1 b2',
      'd1: c1 d1',
    ]);
  });

  test('prefixes of the neighbours stand at both ends', () => {
    const prefixExtractor = fixedPrefix(1);
    expect(partitionsOf({ decoupled: true, wholeKeys: false, prefixExtractor }, KEYS, 3)).toEqual([
      'b1: a b',
      'c1: b c d',
      'd1: c d',
    ]);
    expect(partitionsOf({ decoupled: true, wholeKeys: true, prefixExtractor }, KEYS, 4)).toEqual([
      'a2: a a1 a2 b',
      'b1: a b b1',
      'c1: b b2 c c1 d',
      'd1: c d d1',
    ]);
  });

  test('the border key ends in sequence number, type and timestamp of zero', () => {
    const builder = new PartitionedFilterBuilder(new TextBuilder(), {
      wholeKeys: true,
      decoupled: true,
      partitionBytes: 100,
      timestampSize: 8,
    });
    builder.addKey(utf8Bytes('key'), 0, 3);
    expect(builder.finish()[0]!.key).toEqual(Uint8Array.of(...utf8Bytes('key'), ...new Uint8Array(16)));
  });
});

describe('coupled', () => {
  const options = { wholeKeys: true, partitionBytes: 20 };
  const separator = (text: string) => Uint8Array.of(...utf8Bytes(text), 1, 0, 0, 0, 0, 0, 0, 0);

  test('asks until it is cut, and is cut from outside', () => {
    const builder = new PartitionedFilterBuilder(new TextBuilder(), options);
    const full: boolean[] = [];
    for (const key of KEYS) {
      const bytes = utf8Bytes(key);
      full.push(builder.isFull);
      if (key === 'c1') builder.cut(separator('b9'), bytes, 0, 2);
      builder.addKey(bytes, 0, 2);
    }
    builder.cut(separator('d9'), undefined, 0, 0);
    expect(full).toEqual([false, false, true, true, true, false]);
    expect(builder.entries).toBe(6);
    expect(builder.finish().map(({ contents }) => utf8(contents))).toEqual(['a1 a2 b1 b2', 'c1 d1']);
  });

  test('before 9.6 a full partition asks once, and the end is always cut', () => {
    const builder = new PartitionedFilterBuilder(new TextBuilder(), { ...options, rules: 'before_9_6' });
    const full: boolean[] = [];
    for (const key of KEYS) {
      full.push(builder.isFull);
      builder.addKey(utf8Bytes(key), 0, 2);
    }
    builder.cut(separator('d9'), undefined, 0, 0);
    builder.cut(separator('d9'), undefined, 0, 0);
    expect(full).toEqual([false, false, true, false, false, false]);
    expect(builder.finish().map(({ contents }) => contents.length)).toEqual([17, 0]);
  });

  test('a last partition that was not cut is a bug of the caller', () => {
    const builder = new PartitionedFilterBuilder(new TextBuilder(), options);
    builder.addKey(utf8Bytes('a1'), 0, 2);
    expect(() => builder.finish()).toThrow('was not cut');
  });
});

test('nothing added, nothing written', () => {
  const content = { wholeKeys: false, prefixExtractor: fixedPrefix(5) };
  const full = new FullFilterBuilder(new TextBuilder(), content);
  full.addKey(utf8Bytes('abc'), 0, 3);
  expect(full.finish()).toBeUndefined();
  expect(partitionsOf({ ...content, decoupled: true }, ['abc'], 2)).toEqual([]);
  expect(partitionsOf({ ...content, decoupled: true, rules: 'before_9_6' }, ['abc'], 2)).toEqual([]);
});

test('keys out of the domain are added whole, or not at all', () => {
  const contents = (wholeKeys: boolean) => {
    const full = new FullFilterBuilder(new TextBuilder(), { wholeKeys, prefixExtractor: fixedPrefix(2) });
    for (const key of ['a', 'ab', 'abc']) full.addKey(utf8Bytes(key), 0, key.length);
    return utf8(full.finish()!);
  };
  expect(contents(true)).toBe('a ab abc');
  expect(contents(false)).toBe('ab');
});

test('bytes of a partition', () => {
  expect(filterPartitionBytes(4096, 10)).toBe(3687);
  expect(filterPartitionBytes(4096, 0)).toBe(4096);
  expect(filterPartitionBytes(10, 100)).toBe(1);
});

describe('top-level index', () => {
  const encodings = { 'user keys': true, 'internal keys': false };

  test.each(Object.entries(encodings))('of %s', (_name, userKeys) => {
    const trailer = (seqno: number) => [1, seqno, 0, 0, 0, 0, 0, 0];
    const entries = ['b', 'd', 'd', 'f'].flatMap((key, i) => {
      const bytes = [...utf8Bytes(key), ...(userKeys ? [] : trailer(9 - i))];
      return [0, bytes.length, 2, ...bytes, 100 + i, 20];
    });
    const block = Uint8Array.of(...entries, 0, 0, 0, 0, 1, 0, 0, 0);
    const encoding = { userKeys, deltaValues: false, firstKeys: true };
    const index = new FilterPartitionIndex(block, encoding, bytewiseComparator);
    expect([...index.offsets.subarray(0, index.count)]).toEqual([100, 101, 102, 103]);
    const find = (key: string, seqno: number) => {
      const bytes = Uint8Array.of(0x7a, ...utf8Bytes(key), ...trailer(seqno));
      return index.find(bytes, 1, bytes.length);
    };
    expect(['a', 'b', 'c', 'e', 'f'].map((key) => find(key, 200))).toEqual([0, 0, 1, 3, 3]);
    // Behind all: only its prefix may be there, in the last partition.
    expect(find('g', 200)).toBe(3);
    // Versions of one key lie in two partitions: newer than 8, 8 and 7, older.
    expect([200, 8, 7, 6].map((seqno) => find('d', seqno))).toEqual(userKeys ? [1, 1, 1, 1] : [1, 1, 2, 3]);
  });

  test('without partitions nothing is known', () => {
    const empty = Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0);
    const encoding = { userKeys: true, deltaValues: true, firstKeys: false };
    const index = new FilterPartitionIndex(empty, encoding, bytewiseComparator);
    expect(index.find(new Uint8Array(9), 0, 9)).toBe(-1);
  });
});
