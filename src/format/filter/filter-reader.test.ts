import { describe, expect, test } from 'vitest';
import { utf8Bytes } from '../../bytes/text.ts';
import { twinKeyHash } from '../../hash/key-hash.ts';
import { BLOOM_HASH_SEED, legacyHash32 } from '../../hash/legacy-hash.ts';
import { findFilterBlock } from './filter-block.ts';
import { openFilter } from './open-filter.ts';

/** A filter of `dataBytes` bytes of zeros (nothing is in it) and these five bytes of metadata. */
function filterOf(dataBytes: number, ...metadata: number[]): Uint8Array {
  const filter = new Uint8Array(dataBytes + metadata.length);
  filter.set(metadata, dataBytes);
  return filter;
}

describe('dispatch', () => {
  test.each([
    ['empty', new Uint8Array(0), 'always_false'],
    ['metadata alone', filterOf(0, 0xff, 0, 6, 0, 0), 'always_false'],
    ['"always true" as it is written', filterOf(1, 0, 0, 0, 0, 0), 'always_true'],
    ['marker -3', filterOf(64, 0xfd, 0, 6, 0, 0), 'always_true'],
    ['Bloom', filterOf(128, 0xff, 0, 6, 0, 0), 'fast_local_bloom'],
    ['Bloom of another implementation', filterOf(128, 0xff, 1, 6, 0, 0), 'always_true'],
    ['Bloom with lines of 128 bytes', filterOf(128, 0xff, 0, 0x26, 0, 0), 'always_true'],
    ['Bloom without probes', filterOf(128, 0xff, 0, 0, 0, 0), 'always_true'],
    ['Bloom with 31 probes', filterOf(128, 0xff, 0, 31, 0, 0), 'always_true'],
    ['Bloom with a seed', filterOf(128, 0xff, 0, 6, 0, 1), 'always_true'],
    ['Bloom without a whole line', filterOf(63, 0xff, 0, 6, 0, 0), 'always_true'],
    ['Ribbon', filterOf(64, 0xfe, 9, 2, 0, 0), 'ribbon'],
    ['Ribbon of one block', filterOf(64, 0xfe, 9, 1, 0, 0), 'always_true'],
    ['legacy', filterOf(192, 6, 3, 0, 0, 0), 'legacy_bloom'],
    ['legacy without lines', filterOf(192, 6, 0, 0, 0, 0), 'always_true'],
    ['legacy with lines of 96 bytes', filterOf(192, 6, 2, 0, 0, 0), 'always_true'],
    ['legacy with a part of a line', filterOf(190, 6, 3, 0, 0, 0), 'always_true'],
    ['legacy with more lines than bytes', filterOf(64, 6, 0xff, 0xff, 0xff, 0xff), 'always_true'],
  ])('%s', (_name, contents, kind) => {
    const reader = openFilter(contents);
    expect(reader.kind).toBe(kind);
    const key = utf8Bytes('key');
    // Nothing is in these filters; a "perhaps" comes from those alone that say it of all keys.
    const may = reader.mayContain(twinKeyHash(), key, 0, key.length);
    if (kind !== 'ribbon') expect(may).toBe(kind === 'always_true');
    expect(reader.hash).toBe(
      { legacy_bloom: 'bloom_hash', fast_local_bloom: 'xxph3', ribbon: 'xxph3' }[kind] ?? 'none',
    );
  });

  test('facts', () => {
    expect(openFilter(filterOf(130, 0xff, 0, 7, 0, 0)).facts).toMatchObject({
      probes: 7,
      lines: 2,
      lineBytes: 64,
    });
    expect(openFilter(filterOf(64, 0xfe, 9, 4, 3, 2)).facts).toMatchObject({ seed: 9, blocks: 0x020304 });
    expect(openFilter(filterOf(640, 6, 5, 0, 0, 0)).facts).toMatchObject({
      probes: 6,
      lines: 5,
      lineBytes: 128,
    });
  });

  test('parses are counted where the counter is', () => {
    const counters = { filterMetadataParses: 0 };
    const reader = openFilter(filterOf(64, 0xff, 0, 6, 0, 0), counters);
    for (let i = 0; i < 10; i++) reader.mayContainHash(i, i);
    openFilter(new Uint8Array(0), counters);
    expect(counters.filterMetadataParses).toBe(2);
  });
});

test('a Ribbon filter with more blocks than segments, or more columns than a result has bits', () => {
  for (const [dataBytes, blocks] of [
    [0x10, 0xffffff],
    [15, 2],
    [16 * 200, 2],
  ] as const) {
    const reader = openFilter(
      filterOf(dataBytes, 0xfe, 1, blocks & 0xff, (blocks >> 8) & 0xff, blocks >> 16),
    );
    for (let i = 0; i < 1000; i++) {
      const may = reader.mayContainHash(Math.imul(i, 0x9e3779b1) >>> 0, Math.imul(i, 0x85ebca77) >>> 0);
      expect(typeof may).toBe('boolean');
    }
  }
});

test.each([16, 32, 64, 128, 256, 4096])('a legacy filter with lines of %i bytes', (lineBytes) => {
  const lines = 7;
  const probes = 6;
  const filter = filterOf(lines * lineBytes, probes, lines, 0, 0, 0);
  const keys = Array.from({ length: 40 }, (_, i) => utf8Bytes(`key${i}`));
  for (const key of keys) {
    let hash = BigInt(legacyHash32(key, 0, key.length, BLOOM_HASH_SEED));
    const delta = ((hash >> 17n) | (hash << 15n)) & 0xffffffffn;
    const line = Number(hash % BigInt(lines));
    for (let i = 0; i < probes; i++) {
      const bit = Number(hash % BigInt(8 * lineBytes));
      filter[line * lineBytes + (bit >> 3)]! |= 1 << (bit & 7);
      hash = (hash + delta) & 0xffffffffn;
    }
  }
  const reader = openFilter(filter);
  const hash = twinKeyHash();
  expect(reader.facts.lineBytes).toBe(lineBytes);
  expect(keys.every((key) => reader.mayContain(hash, key, 0, key.length))).toBe(true);
  if (lineBytes < 64) return;
  const absent = Array.from({ length: 500 }, (_, i) => utf8Bytes(`other${i}`));
  expect(absent.filter((key) => reader.mayContain(hash, key, 0, key.length)).length).toBeLessThan(50);
});

test('names in the metaindex, in the order of RocksDB', () => {
  const entry = (name: string) => ({ name, type: 'filter', offset: 0, size: 1 }) as const;
  const full = entry('fullfilter.rocksdb.BuiltinBloomFilter');
  const partitioned = entry('partitionedfilter.rocksdb.BuiltinBloomFilter');
  const old = entry('filter.rocksdb.BuiltinBloomFilter');
  expect(findFilterBlock([old, full, partitioned])).toEqual({ layout: 'full', entry: full });
  expect(findFilterBlock([old, partitioned])).toEqual({ layout: 'partitioned', entry: partitioned });
  expect(findFilterBlock([old])).toEqual({ layout: 'per_block', entry: old });
  expect(findFilterBlock([entry('fullfilter.example.Filter')])).toBeUndefined();
});
