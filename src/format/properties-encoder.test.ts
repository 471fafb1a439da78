import { describe, expect, it } from 'vitest';
import { utf8Bytes } from '../bytes/text.ts';
import { decodeProperties } from './properties.ts';
import { encodeProperties, PropertiesEncoder } from './properties-encoder.ts';

describe('PropertiesEncoder', () => {
  it('writes what decodeProperties reads, sorted by name', () => {
    const encoder = new PropertiesEncoder();
    encoder.text('rocksdb.comparator', 'leveldb.BytewiseComparator');
    encoder.varint('rocksdb.num.entries', 2 ** 40);
    encoder.varintIfSet('rocksdb.file.creation.time', 0);
    encoder.textIfSet('rocksdb.column.family.name', '');
    encoder.fixed32('rocksdb.block.based.table.index.type', 2);
    encoder.fixed64('rocksdb.external_sst_file.global_seqno', 7n);
    encoder.flag('rocksdb.block.based.table.whole.key.filtering', true);
    encoder.bytes('user', Uint8Array.of(0, 255));
    encoder.bytes('Z', new Uint8Array(0));
    // The name is taken: RocksDB keeps the first value, too.
    encoder.text('user', 'again');
    const properties = decodeProperties(encodeProperties(encoder.sorted()));
    expect([...properties.raw.keys()]).toEqual([
      'Z',
      'rocksdb.block.based.table.index.type',
      'rocksdb.block.based.table.whole.key.filtering',
      'rocksdb.comparator',
      'rocksdb.external_sst_file.global_seqno',
      'rocksdb.num.entries',
      'user',
    ]);
    expect(properties.get('rocksdb.num.entries')).toBe(2 ** 40);
    expect(properties.get('rocksdb.block.based.table.index.type')).toBe(2);
    expect(properties.get('rocksdb.external_sst_file.global_seqno')).toBe(7n);
    expect(properties.get('rocksdb.block.based.table.whole.key.filtering')).toBe(true);
    expect(properties.userCollected()).toEqual([
      ['Z', new Uint8Array(0)],
      ['user', Uint8Array.of(0, 255)],
    ]);
  });

  it('sorts names by their bytes', () => {
    const encoder = new PropertiesEncoder();
    for (const name of ['\u{1f600}', '\uffee', 'a']) encoder.bytes(name, utf8Bytes(name));
    // UTF-16 would put the first one before the second.
    expect([...encoder.sorted().keys()]).toEqual(['a', '\uffee', '\u{1f600}']);
  });
});
