import { describe, expect, it } from 'vitest';
import { CorruptionError, UnsupportedError } from '../errors.ts';
import { compressionName, resolveCodec, type TableFamily } from './resolve-codec.ts';

const ZSTD_MAGIC = [0x28, 0xb5, 0x2f, 0xfd];
const ZLIB_HEADER = [0x78, 0x9c];
const ANYTHING = [0x4b, 0x4c, 0x4a, 0x06];

function resolve(family: TableFamily, framing: 1 | 2, type: number, payload: readonly number[]) {
  const bytes = Uint8Array.from([0xee, ...payload, ...new Array(20).fill(0x55)]);
  const { codec, name, prefix, usesDictionary } = resolveCodec(family, framing, type, bytes, 1, bytes.length);
  return `${name} ${codec} ${prefix}${usesDictionary ? ' dictionary' : ''}`;
}

describe('compressionName', () => {
  it.each([
    [0, 'none'],
    [1, 'snappy'],
    [2, 'zlib'],
    [3, 'bzip2'],
    [4, 'lz4'],
    [5, 'lz4hc'],
    [6, 'xpress'],
    [7, 'zstd'],
    [8, 'reserved_08'],
    [0x40, 'zstd'],
    [0x7f, 'reserved_7f'],
    [0x80, 'custom_80'],
    [0xfe, 'custom_fe'],
    [0xff, 'reserved_ff'],
  ])('%i is %s', (type, name) => expect(compressionName(type)).toBe(name));
});

describe('resolveCodec', () => {
  it.each([
    [1, 1, 'snappy snappy snappy'],
    [1, 2, 'zlib deflate_raw none dictionary'],
    [1, 3, 'bzip2 bzip2 none'],
    [1, 4, 'lz4 lz4 fixed64 dictionary'],
    [1, 5, 'lz4hc lz4 fixed64 dictionary'],
    [1, 7, 'zstd zstd varint dictionary'],
    [2, 1, 'snappy snappy snappy'],
    [2, 2, 'zlib deflate_raw varint dictionary'],
    [2, 3, 'bzip2 bzip2 varint'],
    [2, 4, 'lz4 lz4 varint dictionary'],
    [2, 5, 'lz4hc lz4 varint dictionary'],
    [2, 7, 'zstd zstd varint dictionary'],
    [2, 0x40, 'zstd zstd varint dictionary'],
  ] as const)('RocksDB, framing %i, byte %i: %s', (framing, type, expected) => {
    // What the payload looks like does not matter there.
    expect(resolve('rocksdb', framing, type, ZLIB_HEADER)).toBe(expected);
  });

  it('tells the three meanings of 2 in LevelDB tables apart', () => {
    for (const family of ['leveldb', 'unknown'] as const) {
      expect(resolve(family, 1, 2, ZSTD_MAGIC)).toBe('zstd zstd none');
      expect(resolve(family, 1, 2, ZLIB_HEADER)).toBe('zlib zlib_stream none');
      expect(resolve(family, 1, 2, ANYTHING)).toBe('zlib deflate_raw none dictionary');
    }
  });

  it("reads 4 as Mojang's raw deflate, or as LZ4 where the family is unknown and a size stands before it", () => {
    const sized = [0x40, 0, 0, 0, 0, 0, 0, 0, ...ANYTHING];
    expect(resolve('leveldb', 1, 4, sized)).toBe('zlib deflate_raw none dictionary');
    expect(resolve('unknown', 1, 4, sized)).toBe('lz4 lz4 fixed64 dictionary');
    expect(resolve('unknown', 1, 4, ANYTHING)).toBe('zlib deflate_raw none dictionary');
    expect(resolve('unknown', 1, 4, [0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0])).toMatch(/deflate_raw/);
  });

  it.each([6, 8, 0x3f, 0x41, 0x7f, 0x80, 0xfe, 0xff])('refuses byte %i of a RocksDB table', (type) => {
    let error: unknown;
    try {
      resolve('rocksdb', 2, type, ANYTHING);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(UnsupportedError);
    expect(error).toMatchObject({
      code: 'unsupported',
      feature: 'compression',
      value: compressionName(type),
    });
  });

  it.each([3, 5, 7, 0x80])('refuses byte %i of a LevelDB table', (type) => {
    expect(() => resolve('leveldb', 1, type, ANYTHING)).toThrow(UnsupportedError);
    if (type < 0x80) expect(() => resolve('unknown', 1, type, ANYTHING)).not.toThrow();
  });

  it('names framed Snappy', () => {
    const framed = [0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59];
    expect(() => resolve('leveldb', 1, 1, framed)).toThrow(CorruptionError);
    expect(() => resolve('leveldb', 1, 1, framed)).toThrow(/framed Snappy/);
    expect(() => resolve('leveldb', 1, 1, framed.slice(0, 9))).not.toThrow();
  });
});
