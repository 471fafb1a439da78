/** Tables under many sets of options, read back by our reader and, where it knows the version, by sst_dump. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compareArrays } from '../../src/bytes/compare.ts';
import { toHex, utf8Bytes } from '../../src/bytes/text.ts';
import { parseFilterPolicy } from '../../src/format/filter/filter-policy.ts';
import { openTableBuilder } from '../../src/format/table-builder/table-builder.ts';
import type { CompressionOptions, TableOptions } from '../../src/format/table-builder/table-options.ts';
import { MemorySink } from '../../src/format/table-builder/table-sink.ts';
import { ValueType } from '../../src/format/value-type.ts';
import { NodeEncoderRegistry } from '../../src/node/encoders.ts';
import type { NodeEnvironment } from '../../src/node/environment.ts';
import { comparatorOf, reverseBytewiseComparator } from '../../src/operators/comparator.ts';
import { cappedPrefix } from '../../src/operators/prefix-extractor.ts';
import {
  openNodeEnvironment,
  readTable,
  type TableContents,
  writeTable,
} from '../differential/table-builder-rebuild.ts';
import { findTool, runTool } from '../support/oracles.ts';

const SCALE = Number(process.env.SSTKIT_TEST_SCALE ?? 1);

/** Multiply-with-carry: the same numbers everywhere. */
function randomSource(seed: number): (below: number) => number {
  let state = seed * 2654435761 + 12345;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const TYPES = [
  ValueType.value,
  ValueType.value,
  ValueType.value,
  ValueType.deletion,
  ValueType.merge,
  ValueType.singleDeletion,
  ValueType.blobIndex,
  ValueType.deletionWithTimestamp,
  ValueType.wideColumnEntity,
  ValueType.valuePreferredSeqno,
];
/** Those that sst_dump 7.8 shows without looking into them. */
const OLD_TYPES = [ValueType.value, ValueType.value, ValueType.deletion, ValueType.merge];

function internalKey(userKey: Uint8Array, seqno: number, type: number): Uint8Array {
  const key = new Uint8Array(userKey.length + 8);
  key.set(userKey);
  key[userKey.length] = type;
  for (let i = 0, rest = seqno; i < 7; i++, rest = Math.floor(rest / 256))
    key[userKey.length + 1 + i] = rest % 256;
  return key;
}

/** Seeded entries of all kinds: some keys with many versions, some long, values up to larger than a block. */
function makeContents(seed: number, count: number, types = TYPES, reverse = false): TableContents {
  const random = randomSource(seed);
  const names = new Set<string>();
  while (names.size < count / 2) {
    names.add(
      `k${random(5)}${String(random(count * 3)).padStart(random(3) * 3, '0')}${'y'.repeat(random(30) === 0 ? 300 : 0)}`,
    );
  }
  const keys = [...names].map((name) => utf8Bytes(name));
  keys.push(new Uint8Array(0), Uint8Array.of(0xff, 0xff), Uint8Array.of(0, 255, 0));
  keys.sort(compareArrays);
  if (reverse) keys.reverse();
  const entries: TableContents['entries'] = [];
  for (const key of keys) {
    let seqno = random(2 ** 20) * 2 ** 12 + 1000;
    for (let versions = random(8) === 0 ? 20 : 1 + random(2); versions > 0; versions--) {
      const type = types[random(types.length)]!;
      const isEmpty = type === ValueType.deletion || type === ValueType.singleDeletion;
      const length = isEmpty ? 0 : random(25) === 0 ? random(9000) : random(80);
      const value = utf8Bytes('value '.repeat(Math.ceil(length / 6))).slice(0, length);
      for (let i = 0; i < length; i += 1 + random(9)) value[i] = random(256);
      entries.push({ key: internalKey(key, seqno, type), value });
      seqno -= 1 + random(40);
    }
  }
  const tombstones = Array.from({ length: random(12) }, (_, i) => ({
    startKey: internalKey(utf8Bytes(`k${i}`), 5000 + i, ValueType.rangeDeletion),
    end: utf8Bytes(`k${i}z`),
  }));
  return { entries, tombstones };
}

function choose<T>(random: (below: number) => number, values: readonly T[]): T {
  return values[random(values.length)]!;
}

/** One set of options of many. */
function makeOptions(random: (below: number) => number): TableOptions {
  const profile = choose(random, ['11.9', '11.9', '7.8'] as const);
  const formatVersion = 2 + random(profile === '7.8' ? 4 : 6);
  const blockAlign = random(8) === 0;
  const compression = blockAlign
    ? 'none'
    : choose(random, ['none', 'snappy', 'zlib', 'lz4', 'zstd'] as const);
  const dictionary = random(3);
  const compressionOptions: CompressionOptions = {
    maxDictBytes: dictionary === 0 ? 0 : 500 + random(6000),
    zstdMaxTrainBytes: dictionary === 2 ? 100_000 : 0,
    maxDictBufferBytes: random(2) * 50_000,
    checksum: random(3) === 0,
    ...(compression === 'zlib' || compression === 'zstd' ? { level: 1 + random(9) } : {}),
  };
  const indexType = choose(random, ['binary_search', 'hash', 'two_level', 'first_key'] as const);
  const filter = choose(random, ['none', 'bloom:10', 'ribbon:10']);
  const filterPolicy = parseFilterPolicy(filter);
  return {
    writerProfile: profile,
    formatVersion,
    checksum: choose(random, ['none', 'crc32c', 'xxh32', 'xxh64', 'xxh3']),
    blockSize: blockAlign ? 1024 : 200 + random(5000),
    blockSizeDeviation: choose(random, [0, 10, 30, 100]),
    blockRestartInterval: choose(random, [1, 2, 16, 40]),
    useDeltaEncoding: random(5) > 0,
    blockAlign,
    dataBlockIndexType: choose(random, ['binary_search', 'binary_and_hash']),
    indexType,
    indexBlockRestartInterval: choose(random, [1, 1, 3, 16]),
    indexShortening: choose(random, ['none', 'separators', 'separators_and_successor']),
    metadataBlockSize: 200 + random(2000),
    enableIndexCompression: random(2) === 0,
    partitionFilters: random(2) === 0,
    compression,
    compressionOptions,
    prefixExtractor: cappedPrefix(4),
    wholeKeyFiltering: random(3) > 0,
    external: random(4) === 0,
    ...(filterPolicy === undefined ? {} : { filterPolicy }),
    ...(profile === '11.9'
      ? {
          separateKeyValueInDataBlock: random(3) === 0,
          superBlockAlignmentSize: !blockAlign && random(3) === 0 ? 16384 : 0,
          decouplePartitionedFilters: random(2) === 0,
        }
      : {}),
  };
}

/** Element by element only where they differ: `toEqual` is slow on thousands. */
function expectSame(read: TableContents, written: TableContents, what = ''): void {
  const [a, b] = [rows(read), rows(written)];
  if (a.join() !== b.join()) expect(a, what).toEqual(b);
}

function rows({ entries, tombstones }: TableContents): string[] {
  return [
    ...entries.map(({ key, value }) => `${toHex(key)} ${toHex(value)}`),
    ...tombstones.map(({ startKey, end }) => `${toHex(startKey)} to ${toHex(end)}`),
  ];
}

let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
});

describe('tables read back', () => {
  const seeds = Array.from({ length: Math.ceil(50 * SCALE) }, (_, i) => i + 1);
  it.each(seeds)('options of seed %i', async (seed) => {
    const random = randomSource(seed + 77);
    const options = makeOptions(random);
    const contents = makeContents(seed, 50 + random(800));
    const { bytes, result } = await writeTable(contents, options, environment, seed);
    const { table, contents: read } = await readTable(bytes, environment);
    expectSame(read, contents, JSON.stringify(options));
    expect(result.fileSize).toBe(bytes.length);
    expect(table.footer.formatVersion).toBe(options.formatVersion);
    const properties = table.properties!;
    const count = (type: number) => contents.entries.filter(({ key }) => key[key.length - 8] === type).length;
    expect(properties.malformed).toEqual([]);
    expect(properties.count('rocksdb.num.entries')).toBe(
      contents.entries.length + contents.tombstones.length,
    );
    expect(properties.count('rocksdb.num.data.blocks')).toBe(result.dataBlockCount);
    expect(properties.count('rocksdb.merge.operands')).toBe(count(ValueType.merge));
    expect(properties.count('rocksdb.num.range-deletions')).toBe(contents.tombstones.length);
  });

  it('with keys in reverse', async () => {
    const contents = makeContents(5, 900, TYPES, true);
    for (const indexType of ['binary_search', 'two_level', 'first_key'] as const) {
      const options = {
        comparator: reverseBytewiseComparator,
        indexType,
        blockSize: 300,
        metadataBlockSize: 300,
      };
      const { bytes } = await writeTable(contents, options, environment);
      expectSame((await readTable(bytes, environment)).contents, contents);
    }
  });

  it('with timestamps that are not kept', async () => {
    const plain = makeContents(6, 600);
    const stamped = (key: Uint8Array, tail: number) => {
      const longer = new Uint8Array(key.length + 8);
      longer.set(key.subarray(0, key.length - tail));
      longer.set(key.subarray(key.length - tail), longer.length - tail);
      return longer;
    };
    const contents = {
      entries: plain.entries.map(({ key, value }) => ({ key: stamped(key, 8), value })),
      tombstones: plain.tombstones.map(({ startKey, end }) => ({
        startKey: stamped(startKey, 8),
        end: stamped(end, 0),
      })),
    };
    const options = {
      comparator: comparatorOf('leveldb.BytewiseComparator.u64ts'),
      persistUserDefinedTimestamps: false,
      indexType: 'first_key',
      blockSize: 500,
      filterPolicy: parseFilterPolicy('bloom:10')!,
    } as const;
    const { bytes } = await writeTable(contents, options, environment);
    const { table, contents: read } = await readTable(bytes, environment);
    expect(table.timestampsPersisted).toBe(false);
    expectSame(read, plain);
    expect(table.properties!.raw.has('rocksdb.timestamp_min')).toBe(false);
  });

  it.each(['none', 'snappy', 'zstd'] as const)("of LevelDB's format, %s", async (compression) => {
    const types = [ValueType.value, ValueType.value, ValueType.deletion];
    const { entries } = makeContents(9, 900, types);
    const filterPolicy = parseFilterPolicy('bloom:10')!;
    const options = { writerProfile: 'leveldb', blockSize: 700, compression, filterPolicy } as const;
    const { bytes } = await writeTable({ entries, tombstones: [] }, options, environment);
    const { table, contents } = await readTable(bytes, environment);
    expect(table.family).toBe('leveldb');
    expectSame(contents, { entries, tombstones: [] });
  });

  it('without any entry', async () => {
    for (const indexType of ['binary_search', 'hash', 'two_level', 'first_key'] as const) {
      const options = {
        indexType,
        prefixExtractor: cappedPrefix(3),
        filterPolicy: parseFilterPolicy('bloom:10')!,
      };
      const { bytes, result } = await writeTable({ entries: [], tombstones: [] }, options, environment);
      expect(result.dataBlockCount).toBe(0);
      expect((await readTable(bytes, environment)).contents).toEqual({ entries: [], tombstones: [] });
    }
  });

  it('behind other bytes of the same sink', async () => {
    const contents = makeContents(8, 200);
    const sink = new MemorySink();
    sink.write(new Uint8Array(1000).fill(1));
    const sources = { clock: { nowMicros: () => 0 }, random: { uint32: () => 9 } };
    const builder = await openTableBuilder({ blockSize: 300 }, sink, {
      ...environment,
      ...sources,
      encoders: new NodeEncoderRegistry(environment.hashes),
    });
    for (const { key, value } of contents.entries) builder.add(key, 0, key.length, value, 0, value.length);
    const { fileSize } = builder.finishSync();
    const table = sink.contents().subarray(1000);
    expect(fileSize).toBe(table.length);
    expectSame((await readTable(table, environment)).contents, { ...contents, tombstones: [] });
  });
});

describe.skipIf(findTool('sst_dump') === undefined)('sst_dump reads', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sstkit-table-builder-'));
  });
  afterAll(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  it('blocks with a trained dictionary', async () => {
    const contents = makeContents(3, 6000, OLD_TYPES);
    const options = {
      formatVersion: 5,
      compression: 'zstd',
      compressionOptions: { maxDictBytes: 8192, zstdMaxTrainBytes: 200_000 },
    } as const;
    const { bytes } = await writeTable(contents, options, environment);
    const { table } = await readTable(bytes, environment);
    expect(toHex(table.readDictionary()!.subarray(0, 4))).toBe('37a430ec');
    const file = path.join(folder, 'trained.sst');
    writeFileSync(file, bytes);
    const scan = runTool('sst_dump', [`--file=${file}`, '--command=scan', '--output_hex'], { cwd: folder });
    expect(scan.status).toBe(0);
    expect(scan.stdout.match(/^'/gm)).toHaveLength(contents.entries.length);
  });

  const seeds = Array.from({ length: Math.ceil(12 * SCALE) }, (_, i) => i + 1);
  it.each(seeds)('options of seed %i', async (seed) => {
    const random = randomSource(seed + 991);
    let options = makeOptions(random);
    // Newer tables, and newer kinds of blocks, are not for release 7.8.
    while (options.formatVersion! > 5 || options.separateKeyValueInDataBlock) options = makeOptions(random);
    const contents = makeContents(seed, 700, OLD_TYPES);
    const { bytes } = await writeTable(contents, { ...options, external: false }, environment, seed);
    const file = path.join(folder, `${seed}.sst`);
    writeFileSync(file, bytes);
    const check = runTool('sst_dump', [`--file=${file}`, '--command=check', '--verify_checksum'], {
      cwd: folder,
    });
    expect(`${check.stdout}${check.stderr}`, JSON.stringify(options)).not.toMatch(/corrupt|error|fail|not /i);
    expect(check.status).toBe(0);
    const scan = runTool('sst_dump', [`--file=${file}`, '--command=scan', '--output_hex'], { cwd: folder });
    const lines = scan.stdout.split('\n').filter((line) => line.startsWith("'"));
    expect(lines.length).toBe(contents.entries.length);
    const key = contents.entries[100]!.key;
    expect(lines[100]).toContain(`'${toHex(key.subarray(0, -8)).toUpperCase()}' seq:`);
  });
});
