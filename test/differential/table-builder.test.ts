/**
 * Byte for byte against librocksdb 7.8.3: it writes a table, we read it and write the same entries with the same
 * options. Whole files where nothing is compressed; else the uncompressed contents of each block, and properties.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes/text.ts';
import type { BlockEncoder } from '../../src/codec/encoder.ts';
import { parseFilterPolicy } from '../../src/format/filter/filter-policy.ts';
import { sampleBlocks } from '../../src/format/table-builder/dictionary/samples.ts';
import { trainDictionary } from '../../src/format/table-builder/dictionary/train-dictionary.ts';
import type { TableOptions } from '../../src/format/table-builder/table-options.ts';
import { NodeEncoderRegistry } from '../../src/node/encoders.ts';
import type { NodeEnvironment } from '../../src/node/environment.ts';
import {
  bytewiseComparator,
  comparatorOf,
  reverseBytewiseComparator,
} from '../../src/operators/comparator.ts';
import { cappedPrefix, fixedPrefix } from '../../src/operators/prefix-extractor.ts';
import { buildGenerator, canBuildGenerators } from '../support/librocksdb.ts';
import {
  CountingCollector,
  dataBlocks,
  identityOf,
  metaBlocks,
  openNodeEnvironment,
  readTable,
  writeTable,
} from './table-builder-rebuild.ts';

const GENERATOR = new URL('./make-table.cc', import.meta.url);
const available = canBuildGenerators('byte identity with librocksdb 7.8.3');

interface Case {
  name: string;
  mode: 'flush' | 'writer' | 'timestamps' | 'whole-keys-flush';
  entries?: number;
  /** RocksDB's options of the column family and of its block-based tables. */
  cf?: string;
  table?: string;
  options: TableOptions;
}

const bloom = (bitsPerKey: number) => parseFilterPolicy(`bloomfilter:${bitsPerKey}:false`)!;

const CASES: Case[] = [
  { name: 'defaults', mode: 'flush', options: {} },
  { name: 'defaults of SstFileWriter', mode: 'writer', options: { external: true } },
  {
    name: 'format_version 2, crc32c, small blocks',
    mode: 'flush',
    table: 'format_version=2;checksum=kCRC32c;block_size=512',
    options: { formatVersion: 2, checksum: 'crc32c', blockSize: 512 },
  },
  {
    name: 'format_version 3, xxhash64, restart interval 3',
    mode: 'flush',
    table: 'format_version=3;checksum=kxxHash64;block_size=700;block_restart_interval=3',
    options: { formatVersion: 3, checksum: 'xxh64', blockSize: 700, blockRestartInterval: 3 },
  },
  {
    name: 'format_version 4, xxhash, no delta encoding',
    mode: 'whole-keys-flush',
    table: 'format_version=4;checksum=kxxHash',
    options: { formatVersion: 4, checksum: 'xxh32', useDeltaEncoding: false },
  },
  {
    name: 'no checksum, deviation 0, no shortening',
    mode: 'flush',
    table: 'checksum=kNoChecksum;block_size_deviation=0;index_shortening=kNoShortening',
    options: { checksum: 'none', blockSizeDeviation: 0, indexShortening: 'none' },
  },
  {
    name: 'shortened successor, index restart interval 8',
    mode: 'writer',
    table: 'index_shortening=kShortenSeparatorsAndSuccessor;index_block_restart_interval=8;block_size=256',
    options: {
      external: true,
      indexShortening: 'separators_and_successor',
      indexBlockRestartInterval: 8,
      blockSize: 256,
    },
  },
  {
    name: 'block_align',
    mode: 'flush',
    table: 'block_align=true;block_size=1024',
    options: { blockAlign: true, blockSize: 1024 },
  },
  {
    name: 'in-block hash index',
    mode: 'flush',
    table: 'data_block_index_type=kDataBlockBinaryAndHash;data_block_hash_table_util_ratio=0.6',
    options: { dataBlockIndexType: 'binary_and_hash', dataBlockHashTableUtilRatio: 0.6 },
  },
  {
    name: 'in-block hash index given up at 254 restarts',
    mode: 'writer',
    table: 'data_block_index_type=kDataBlockBinaryAndHash;block_size=40000;block_restart_interval=1',
    options: {
      external: true,
      dataBlockIndexType: 'binary_and_hash',
      blockSize: 40000,
      blockRestartInterval: 1,
    },
  },
  {
    name: 'first keys in the index',
    mode: 'flush',
    table: 'index_type=kBinarySearchWithFirstKey;block_size=900;index_block_restart_interval=3',
    options: { indexType: 'first_key', blockSize: 900, indexBlockRestartInterval: 3 },
  },
  {
    name: 'first keys in the index, user keys',
    mode: 'writer',
    table: 'index_type=kBinarySearchWithFirstKey;block_size=900',
    options: { external: true, indexType: 'first_key', blockSize: 900 },
  },
  {
    name: 'hash index',
    mode: 'writer',
    cf: 'prefix_extractor=fixed:4',
    table: 'index_type=kHashSearch;block_size=400',
    options: { external: true, indexType: 'hash', blockSize: 400, prefixExtractor: fixedPrefix(4) },
  },
  {
    name: 'two-level index, internal keys',
    mode: 'flush',
    table: 'index_type=kTwoLevelIndexSearch;metadata_block_size=400;block_size=512',
    options: { indexType: 'two_level', metadataBlockSize: 400, blockSize: 512 },
  },
  {
    name: 'two-level index, user keys, restart interval 4',
    mode: 'writer',
    table:
      'index_type=kTwoLevelIndexSearch;metadata_block_size=300;block_size=300;index_block_restart_interval=4',
    options: {
      external: true,
      indexType: 'two_level',
      metadataBlockSize: 300,
      blockSize: 300,
      indexBlockRestartInterval: 4,
    },
  },
  {
    name: 'two-level index of format_version 2',
    mode: 'writer',
    table: 'index_type=kTwoLevelIndexSearch;metadata_block_size=300;block_size=300;format_version=2',
    options: {
      external: true,
      indexType: 'two_level',
      metadataBlockSize: 300,
      blockSize: 300,
      formatVersion: 2,
    },
  },
  {
    name: 'reverse comparator',
    mode: 'flush',
    cf: 'comparator=rocksdb.ReverseBytewiseComparator',
    table: 'block_size=500',
    options: { comparator: reverseBytewiseComparator, blockSize: 500 },
  },
  {
    name: 'reverse comparator, SstFileWriter',
    mode: 'writer',
    cf: 'comparator=rocksdb.ReverseBytewiseComparator',
    table: 'block_size=500',
    options: { external: true, comparator: reverseBytewiseComparator, blockSize: 500 },
  },
  {
    name: 'user-defined timestamps',
    mode: 'timestamps',
    cf: 'comparator=leveldb.BytewiseComparator.u64ts',
    table: 'block_size=500',
    options: { comparator: comparatorOf('leveldb.BytewiseComparator.u64ts'), blockSize: 500 },
  },
  {
    name: 'a dictionary without compression',
    mode: 'flush',
    cf: 'compression_opts={max_dict_bytes=3000}',
    table: 'block_size=512',
    options: { blockSize: 512, compressionOptions: { maxDictBytes: 3000 } },
  },
  {
    name: 'a dictionary with a limited buffer',
    mode: 'flush',
    cf: 'compression_opts={max_dict_bytes=2000;max_dict_buffer_bytes=40000}',
    table: 'block_size=512;index_type=kTwoLevelIndexSearch;metadata_block_size=400',
    options: {
      blockSize: 512,
      indexType: 'two_level',
      metadataBlockSize: 400,
      compressionOptions: { maxDictBytes: 2000, maxDictBufferBytes: 40000 },
    },
  },
  {
    name: 'Bloom filter, user-defined timestamps',
    mode: 'timestamps',
    cf: 'comparator=leveldb.BytewiseComparator.u64ts',
    table: 'filter_policy=bloomfilter:10:false',
    options: { comparator: comparatorOf('leveldb.BytewiseComparator.u64ts'), filterPolicy: bloom(10) },
  },
  {
    name: 'Bloom filter of keys and prefixes',
    mode: 'flush',
    cf: 'prefix_extractor=capped:7',
    table: 'filter_policy=bloomfilter:9.5:false;block_size=800',
    options: { blockSize: 800, prefixExtractor: cappedPrefix(7), filterPolicy: bloom(9.5) },
  },
  {
    name: 'Bloom filter of prefixes, with a dictionary to wait for',
    mode: 'flush',
    cf: 'prefix_extractor=fixed:6;compression_opts={max_dict_bytes=2000}',
    table: 'filter_policy=bloomfilter:12:false;whole_key_filtering=false;index_type=kHashSearch',
    options: {
      indexType: 'hash',
      wholeKeyFiltering: false,
      prefixExtractor: fixedPrefix(6),
      filterPolicy: bloom(12),
      compressionOptions: { maxDictBytes: 2000 },
    },
  },
  {
    name: 'Bloom filter of format_version 4',
    mode: 'writer',
    table: 'filter_policy=bloomfilter:10:false;format_version=4',
    options: { external: true, formatVersion: 4, filterPolicy: bloom(10) },
  },
  {
    name: 'Ribbon filter',
    mode: 'flush',
    table: 'filter_policy=ribbonfilter:10:-1',
    options: { level: 0, filterPolicy: parseFilterPolicy('ribbonfilter:10:-1')! },
  },
  {
    name: 'partitioned filter',
    mode: 'flush',
    table:
      'filter_policy=bloomfilter:10:false;partition_filters=true;index_type=kTwoLevelIndexSearch;' +
      'metadata_block_size=500;block_size=600',
    options: {
      indexType: 'two_level',
      partitionFilters: true,
      metadataBlockSize: 500,
      blockSize: 600,
      filterPolicy: bloom(10),
    },
  },
  {
    name: 'partitioned filter of keys and prefixes, user keys',
    mode: 'writer',
    cf: 'prefix_extractor=fixed:5',
    table:
      'filter_policy=bloomfilter:10:false;partition_filters=true;index_type=kTwoLevelIndexSearch;' +
      'metadata_block_size=256;block_size=300',
    options: {
      external: true,
      indexType: 'two_level',
      partitionFilters: true,
      metadataBlockSize: 256,
      blockSize: 300,
      prefixExtractor: fixedPrefix(5),
      filterPolicy: bloom(10),
    },
  },
  {
    name: 'partitioned filter with a dictionary to wait for',
    mode: 'flush',
    cf: 'compression_opts={max_dict_bytes=1500;max_dict_buffer_bytes=60000}',
    table:
      'filter_policy=bloomfilter:10:false;partition_filters=true;index_type=kTwoLevelIndexSearch;' +
      'metadata_block_size=700;block_size=600',
    options: {
      indexType: 'two_level',
      partitionFilters: true,
      metadataBlockSize: 700,
      blockSize: 600,
      filterPolicy: bloom(10),
      compressionOptions: { maxDictBytes: 1500, maxDictBufferBytes: 60000 },
    },
  },
  { name: 'few entries', mode: 'flush', entries: 3, options: {} },
  {
    name: 'many entries of one key',
    mode: 'flush',
    entries: 20000,
    table: 'block_size=128;index_type=kTwoLevelIndexSearch',
    options: { blockSize: 128, indexType: 'two_level' },
  },
  {
    name: 'snappy',
    mode: 'flush',
    cf: 'compression=kSnappyCompression',
    options: { compression: 'snappy' },
  },
  {
    name: 'zlib with level and dictionary',
    mode: 'flush',
    cf: 'compression=kZlibCompression;compression_opts={level=9;max_dict_bytes=4000}',
    options: { compression: 'zlib', compressionOptions: { level: 9, maxDictBytes: 4000 } },
  },
  {
    name: 'lz4 with dictionary',
    mode: 'writer',
    cf: 'compression=kLZ4Compression;compression_opts={max_dict_bytes=6000}',
    options: { external: true, compression: 'lz4', compressionOptions: { maxDictBytes: 6000 } },
  },
  {
    name: 'zstd, two-level index',
    mode: 'flush',
    cf: 'compression=kZSTD',
    table: 'index_type=kTwoLevelIndexSearch;metadata_block_size=900',
    options: { compression: 'zstd', indexType: 'two_level', metadataBlockSize: 900 },
  },
  {
    name: 'zstd with raw dictionary',
    mode: 'flush',
    cf: 'compression=kZSTD;compression_opts={level=5;max_dict_bytes=8000}',
    table: 'enable_index_compression=false',
    options: {
      compression: 'zstd',
      enableIndexCompression: false,
      compressionOptions: { level: 5, maxDictBytes: 8000 },
    },
  },
];

/** Values that follow from how well a codec of another version compresses. */
const SIZE_PROPERTIES = new Set(['rocksdb.data.size', 'rocksdb.tail.start.offset']);

describe.skipIf(!available)('tables of librocksdb 7.8.3', () => {
  let folder: string;
  let environment: NodeEnvironment;

  beforeAll(async () => {
    environment = await openNodeEnvironment();
    folder = mkdtempSync(path.join(tmpdir(), 'sstkit-table-'));
    buildGenerator(GENERATOR, path.join(folder, 'make-table'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  function generate(testCase: Case, seed: number): Uint8Array {
    const out = path.join(folder, `${testCase.name.replace(/\W+/g, '-')}-${seed}.sst`);
    const table = `block_based_table_factory={format_version=5;${testCase.table ?? ''}}`;
    const args = [testCase.mode, out, String(seed), String(testCase.entries ?? 3000)];
    const made = spawnSync(
      path.join(folder, 'make-table'),
      [...args, testCase.cf === undefined ? table : `${testCase.cf};${table}`],
      {
        encoding: 'utf8',
      },
    );
    if (made.status !== 0) throw new Error(made.stderr);
    return new Uint8Array(readFileSync(out));
  }

  it.each(CASES)('$name', async (testCase) => {
    const theirs = generate(testCase, 7);
    const { table, contents } = await readTable(theirs, environment);
    const properties = table.properties!;
    const { bytes: ours } = await writeTable(
      contents,
      {
        writerProfile: '7.8',
        comparator: bytewiseComparator,
        mergeOperatorName: 'sstkit.Join',
        identity: identityOf(properties),
        collectors: [new CountingCollector()],
        ...testCase.options,
      },
      environment,
    );
    const compressed = testCase.options.compression !== undefined;
    const rebuilt = await readTable(ours, environment);
    const ourProperties = rebuilt.table.properties!;
    const text = (raw: ReadonlyMap<string, Uint8Array>) =>
      [...raw]
        .filter(([name]) => !compressed || !SIZE_PROPERTIES.has(name))
        .map(([name, value]) => `${name}=${toHex(value)}`);
    // Index sizes hold where handles have the same lengths, which delta encoding does not promise.
    const names = [...ourProperties.raw.keys()];
    expect(names).toEqual([...properties.raw.keys()]);
    const theirBlocks = await dataBlocks(theirs, environment);
    const ourBlocks = await dataBlocks(ours, environment);
    expect(ourBlocks.length).toBe(theirBlocks.length);
    expect(theirBlocks.length).toBeGreaterThan(testCase.entries === 3 ? 0 : 5);
    for (const [i, block] of theirBlocks.entries()) {
      if (Buffer.compare(ourBlocks[i]!, block) !== 0)
        expect(toHex(ourBlocks[i]!), `block ${i}`).toBe(toHex(block));
    }
    if (!compressed) {
      expect(text(ourProperties.raw)).toEqual(text(properties.raw));
      const theirMeta = await metaBlocks(theirs, environment);
      const ourMeta = await metaBlocks(ours, environment);
      expect([...ourMeta.keys()]).toEqual([...theirMeta.keys()]);
      for (const [name, block] of theirMeta) expect(toHex(ourMeta.get(name)!), name).toBe(toHex(block));
      expect(Buffer.compare(ours, theirs)).toBe(0);
      return;
    }
    const theirMeta = await metaBlocks(theirs, environment);
    const ourMeta = await metaBlocks(ours, environment);
    for (const name of ['rocksdb.compression_dict', 'rocksdb.range_del']) {
      expect(ourMeta.has(name)).toBe(theirMeta.has(name));
      if (theirMeta.has(name)) expect(toHex(ourMeta.get(name)!)).toBe(toHex(theirMeta.get(name)!));
    }
    const indexed = /index\.size|index\.partitions|filter/;
    const settled = (raw: ReadonlyMap<string, Uint8Array>) => text(raw).filter((line) => !indexed.test(line));
    expect(settled(ourProperties.raw)).toEqual(settled(properties.raw));
  });

  it('a trained dictionary saves at least 90 percent of what theirs does', async () => {
    const dictionary = 'max_dict_bytes=16384;zstd_max_train_bytes=1600000';
    const theirs = generate(
      {
        name: 'trained',
        mode: 'flush',
        entries: 30000,
        cf: `compression=kZSTD;compression_opts={${dictionary}}`,
        options: {},
      },
      11,
    );
    const { table } = await readTable(theirs, environment);
    const trained = table.readDictionary()!;
    expect(toHex(trained.subarray(0, 4))).toBe('37a430ec');
    const blocks = (await dataBlocks(theirs, environment)).map((bytes) => ({ bytes, length: bytes.length }));
    const encoder = await new NodeEncoderRegistry(environment.hashes).open('zstd', {
      level: 3,
      windowBits: -14,
      strategy: 0,
      checksum: false,
    });
    const size = ({ encode }: BlockEncoder) =>
      blocks.reduce((sum, { bytes, length }) => sum + Math.min(length, encode(bytes, 0, length).length), 0);
    const ours = trainDictionary(sampleBlocks(blocks, 1_600_000), 16384);
    expect(ours.length).toBeLessThanOrEqual(16384);
    const plain = size(encoder);
    const saved = {
      theirs: plain - size(encoder.withDictionary(trained)),
      ours: plain - size(encoder.withDictionary(ours)),
    };
    console.log(`trained dictionary: ${((100 * saved.ours) / saved.theirs).toFixed(1)} % of their saving`);
    expect(saved.ours / saved.theirs).toBeGreaterThan(0.9);
  });
});
