import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fromHex, toHex, utf8Bytes } from '../../bytes/text.ts';
import { bytewiseComparator, comparatorOf, reverseBytewiseComparator } from '../../operators/comparator.ts';
import {
  bytewiseShortener,
  internalSeparator,
  internalSuccessor,
  keyShortenerOf,
  levelDbShortener,
  reverseShortener,
} from './separators.ts';

interface SeparatorVector {
  start: string;
  limit: string;
  bytewise_separator: string;
  bytewise_successor: string;
}

/** Made by RocksDB 11.9. */
const SOME: SeparatorVector[] = [
  { start: '616263', limit: '616264', bytewise_separator: '616263', bytewise_successor: '62' },
  { start: '616263', limit: '616278', bytewise_separator: '616264', bytewise_successor: '62' },
  { start: '61623178797a', limit: '616233', bytewise_separator: '616232', bytewise_successor: '62' },
  { start: '414131ffff7a', limit: '414132', bytewise_separator: '414131ffff7b', bytewise_successor: '42' },
  { start: '78', limit: '61', bytewise_separator: '78', bytewise_successor: '79' },
  { start: '', limit: '62', bytewise_separator: '', bytewise_successor: '' },
];
const FULL_SET = new URL('../../../../shared/format/vectors.json', import.meta.url);
const vectors: SeparatorVector[] = existsSync(FULL_SET)
  ? JSON.parse(readFileSync(FULL_SET, 'utf8')).groups.separator.vectors
  : SOME;

describe('key shorteners', () => {
  it.each(vectors)('bytewise: from $start before $limit', (vector) => {
    const start = fromHex(vector.start)!;
    expect(toHex(bytewiseShortener.separator(start, fromHex(vector.limit)!))).toBe(vector.bytewise_separator);
    expect(toHex(bytewiseShortener.successor(start))).toBe(vector.bytewise_successor);
  });

  it('cuts keys in reverse order where they differ', () => {
    const cut = (a: string, b: string) => toHex(reverseShortener.separator(fromHex(a)!, fromHex(b)!));
    expect(cut('64656667', '646161')).toBe('6465');
    expect(cut('6465', '646161')).toBe('6465');
    expect(cut('646161', '64656667')).toBe('646161');
    expect(toHex(reverseShortener.successor(fromHex('6162')!))).toBe('6162');
  });

  it("keeps to LevelDB's rule", () => {
    const cut = (a: string, b: string) => toHex(levelDbShortener.separator(fromHex(a)!, fromHex(b)!));
    expect(cut('61623178797a', '616233')).toBe('616232');
    // RocksDB goes on behind the byte that cannot be raised, LevelDB does not.
    expect(cut('414131414141', '414132')).toBe('414131414141');
  });

  it('is there for the two orders by bytes alone', () => {
    expect(keyShortenerOf(bytewiseComparator)).toBe(bytewiseShortener);
    expect(keyShortenerOf(reverseBytewiseComparator)).toBe(reverseShortener);
    expect(keyShortenerOf(comparatorOf('leveldb.BytewiseComparator.u64ts'))).toBeUndefined();
    expect(keyShortenerOf(comparatorOf('idb_cmp1'))).toBeUndefined();
  });
});

describe('internal keys of the index', () => {
  const key = (text: string) => new Uint8Array([...utf8Bytes(text), 1, 5, 0, 0, 0, 0, 0, 0]);
  const seek = '18ffffffffffffff';

  it('get the largest sequence number where they are shortened', () => {
    const short = internalSeparator(bytewiseShortener, bytewiseComparator, key('abcxyz'), key('abf'), 0x18);
    expect(toHex(short)).toBe(`${toHex(utf8Bytes('abd'))}${seek}`);
    expect(toHex(internalSuccessor(bytewiseShortener, bytewiseComparator, key('abc'), 0x18))).toBe(
      `62${seek}`,
    );
  });

  it('stay as they are where nothing is gained', () => {
    const last = key('abc');
    expect(internalSeparator(bytewiseShortener, bytewiseComparator, last, key('abcd'), 0x18)).toBe(last);
    expect(internalSuccessor(reverseShortener, reverseBytewiseComparator, last, 0x18)).toBe(last);
    // A key of the same length is taken by RocksDB, not by LevelDB.
    const one = key('a');
    expect(internalSuccessor(levelDbShortener, bytewiseComparator, one, 1)).toBe(one);
    expect(toHex(internalSuccessor(bytewiseShortener, bytewiseComparator, one, 0x18))).toBe(`62${seek}`);
  });
});
