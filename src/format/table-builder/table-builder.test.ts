import { describe, expect, it } from 'vitest';
import { memorySource } from '../../bytes/source.ts';
import { utf8Bytes } from '../../bytes/text.ts';
import type { BlockEncoder, EncoderRegistry } from '../../codec/encoder.ts';
import { InvalidArgumentError, UnsupportedError } from '../../errors.ts';
import { twinHashFunctions } from '../../hash/hash-functions.ts';
import { twinKeyHash } from '../../hash/key-hash.ts';
import { comparatorOf } from '../../operators/comparator.ts';
import { parseFilterPolicy } from '../filter/filter-policy.ts';
import { decodeProperties, TableProperties } from '../properties.ts';
import { encodeProperties } from '../properties-encoder.ts';
import { openTable } from '../table-reader.ts';
import { ValueType } from '../value-type.ts';
import { openTableBuilder, type TableBuilder, type TableBuilderEnvironment } from './table-builder.ts';
import type { TableOptions } from './table-options.ts';
import { MemorySink } from './table-sink.ts';

/** Repeats four bytes of its input and its length: small, and undone by nobody here. */
function fakeEncoder(finishOrder?: (() => void)[]): BlockEncoder {
  const encode = (input: Uint8Array, start: number, end: number) => {
    const length = end - start;
    return Uint8Array.of(length, length >>> 8, length >>> 16, input[start]!);
  };
  const encoder: BlockEncoder = {
    implementation: 'fake',
    encode,
    withDictionary: () => encoder,
  };
  if (finishOrder !== undefined) {
    encoder.encodeLater = (input, start, end) =>
      new Promise((resolve) => finishOrder.push(() => resolve(encode(input, start, end))));
  }
  return encoder;
}

function environment(encoder: BlockEncoder): TableBuilderEnvironment {
  let drawn = 0;
  const encoders: EncoderRegistry = { open: () => Promise.resolve(encoder) };
  return {
    hashes: twinHashFunctions(),
    keyHash: twinKeyHash(),
    encoders,
    clock: { nowMicros: () => 1_700_000_000_000_000 },
    random: { uint32: () => drawn++ },
  };
}

function internalKey(userKey: string, seqno = 1, type: number = ValueType.value): Uint8Array {
  return Uint8Array.of(...utf8Bytes(userKey), type, seqno & 255, seqno >> 8, 0, 0, 0, 0, 0);
}

function put(builder: TableBuilder, userKey: string, valueLength = 10, seqno = 1): void {
  const key = internalKey(userKey, seqno);
  builder.add(key, 0, key.length, new Uint8Array(valueLength), 0, valueLength);
}

async function open(options: TableOptions, encoder = fakeEncoder()) {
  const sink = new MemorySink();
  return { sink, builder: await openTableBuilder(options, sink, environment(encoder)) };
}

describe('TableBuilder', () => {
  it('keeps the order of blocks whose compression ends in another', async () => {
    const pending: (() => void)[] = [];
    const { sink, builder } = await open({ compression: 'zstd', blockSize: 64 }, fakeEncoder(pending));
    for (let i = 0; i < 40; i++) put(builder, `key${String(i).padStart(3, '0')}`, 60);
    expect(pending.length).toBe(39);
    expect(builder.fileSize).toBe(0);
    const finished = builder.finish();
    expect(pending.length).toBe(40);
    for (const i of [5, 1, 39, ...pending.keys()].reverse()) pending[i]!();
    const { dataBlockCount } = await finished;
    expect(dataBlockCount).toBe(40);
    const table = openTable(memorySource(sink.contents()), {
      hashes: twinHashFunctions(),
      codecs: {
        decoder: () => {
          throw new Error('none');
        },
        load: () => Promise.resolve(),
      },
    });
    expect(table.properties!.count('rocksdb.num.data.blocks')).toBe(40);
  });

  it('is saturated while 128 blocks are under compression, and settles when half are written', async () => {
    const pending: (() => void)[] = [];
    const { builder } = await open({ compression: 'zstd', blockSize: 64 }, fakeEncoder(pending));
    let added = 0;
    while (!builder.isSaturated) put(builder, `key${String(added++).padStart(4, '0')}`, 60);
    expect(pending.length).toBe(128);
    let isSettled = false;
    const settled = builder.settle().then(() => {
      isSettled = true;
    });
    for (const finish of pending.slice(0, 63)) finish();
    await new Promise(setImmediate);
    expect(isSettled).toBe(false);
    pending[63]!();
    await settled;
    expect(builder.isSaturated).toBe(false);
    expect(builder.fileSize).toBeGreaterThan(0);
    expect(builder.estimatedFileSize).toBeGreaterThan(builder.fileSize);
    expect(() => builder.finishSync()).toThrow('under compression');
  });

  it('passes on what compressing throws', async () => {
    const failing = fakeEncoder();
    failing.encodeLater = () => Promise.reject(new Error('no more memory'));
    const { builder } = await open({ compression: 'zstd', blockSize: 64 }, failing);
    for (let i = 0; i < 5; i++) put(builder, `key${i}`, 100);
    await expect(builder.finish()).rejects.toThrow('no more memory');
  });

  it('holds no more blocks than one where nothing waits', async () => {
    const { sink, builder } = await open({ blockSize: 100 });
    let behind = 0;
    let raw = 0;
    for (let i = 0; i < 500; i++) {
      put(builder, `key${String(i).padStart(4, '0')}`, 50);
      raw += 65;
      behind = Math.max(behind, raw - sink.position);
    }
    expect(behind).toBeLessThan(1000);
    builder.finishSync();
  });

  it('lets blocks wait for a dictionary up to the limit, and no further', async () => {
    const options = { maxDictBytes: 500, maxDictBufferBytes: 5000 };
    const { sink, builder } = await open({
      compression: 'snappy',
      blockSize: 200,
      compressionOptions: options,
    });
    let written = 0;
    let waiting = 0;
    for (let i = 0; i < 300; i++) {
      put(builder, `key${String(i).padStart(4, '0')}`, 50);
      waiting += 65;
      if (sink.position > 0 && written === 0) written = waiting;
    }
    expect(written).toBeGreaterThan(4500);
    expect(written).toBeLessThan(6500);
    builder.finishSync();
  });

  it('refuses keys out of order, kinds of entries that do not belong, and keys too short', async () => {
    const { builder } = await open({});
    put(builder, 'b', 1, 5);
    expect(() => put(builder, 'a')).toThrow(InvalidArgumentError);
    expect(() => put(builder, 'b', 1, 5)).toThrow(InvalidArgumentError);
    expect(() => put(builder, 'b', 1, 6)).toThrow(InvalidArgumentError);
    put(builder, 'b', 1, 4);
    const tombstone = internalKey('c', 1, ValueType.rangeDeletion);
    const point = internalKey('c', 1);
    const end = utf8Bytes('d');
    expect(() => builder.add(tombstone, 0, tombstone.length, end, 0, 1)).toThrow('type range_delete');
    expect(() => builder.addRangeTombstone(point, 0, point.length, end, 0, 1)).toThrow('type put');
    expect(() => builder.add(point, 0, 5, end, 0, 1)).toThrow('5 bytes');
    builder.addRangeTombstone(tombstone, 0, tombstone.length, end, 0, 1);
    expect(builder.entryCount).toBe(3);
    builder.finishSync();
    expect(() => builder.finishSync()).toThrow('finished');
  });

  it("takes puts and deletes alone for LevelDB's tables", async () => {
    const { builder } = await open({ writerProfile: 'leveldb' });
    put(builder, 'a');
    const merge = internalKey('b', 1, ValueType.merge);
    expect(() => builder.add(merge, 0, merge.length, merge, 0, 1)).toThrow(
      /type merge cannot be stored here: LevelDB's tables/,
    );
    expect(builder.finishSync().properties.size).toBe(0);
  });

  it('returns the properties that it writes', async () => {
    const { sink, builder } = await open({ identity: { dbId: 'me', originalFileNumber: 12 } });
    put(builder, 'a', 30);
    const { properties } = builder.finishSync();
    const stored = openTable(memorySource(sink.contents()), {
      hashes: twinHashFunctions(),
      codecs: {
        decoder: () => {
          throw new Error('none');
        },
        load: () => Promise.resolve(),
      },
    }).properties!;
    expect([...stored.raw]).toEqual([...properties]);
    const decoded = new TableProperties(properties);
    expect(decoded.get('rocksdb.creating.db.identity')).toBe('me');
    expect(decoded.count('rocksdb.file.creation.time')).toBe(1_700_000_000);
    expect(decoded.get('rocksdb.creating.session.identity')).toMatch(/^[0-9A-Z]{20}$/);
    expect(decoded.get('rocksdb.key.smallest.seqno')).toBe(1);
    expect(decoded.get('rocksdb.compression')).toBe(';;');
    expect(decodeProperties(encodeProperties(properties)).raw).toEqual(stored.raw);
  });

  it('draws a context until it is not 0', async () => {
    const { sink, builder } = await open({ identity: { dbSessionId: '0'.repeat(20) } });
    builder.finishSync();
    const { footer } = openTable(memorySource(sink.contents()), {
      hashes: twinHashFunctions(),
      codecs: {
        decoder: () => {
          throw new Error('none');
        },
        load: () => Promise.resolve(),
      },
    });
    expect(footer.baseContextChecksum).toBe(1);
  });
});

describe('options', () => {
  const refused: [string, TableOptions][] = [
    ['format_version', { formatVersion: 1 }],
    ['format_version', { formatVersion: 8 }],
    ['format_version', { writerProfile: '7.8', formatVersion: 6 }],
    ['block_size', { blockSize: 0 }],
    ['block_size', { blockSize: 1000, blockAlign: true }],
    ['block_align', { blockAlign: true, compression: 'snappy' }],
    ['super_block_alignment_size', { superBlockAlignmentSize: 1000 }],
    ['super_block_alignment_size', { writerProfile: '7.8', superBlockAlignmentSize: 4096 }],
    [
      'persist_user_defined_timestamps',
      {
        writerProfile: '7.8',
        comparator: comparatorOf('leveldb.BytewiseComparator.u64ts'),
        persistUserDefinedTimestamps: false,
      },
    ],
    ['separate_key_value_in_data_block', { writerProfile: '7.8', separateKeyValueInDataBlock: true }],
    ['super_block_alignment_space_overhead_ratio', { superBlockAlignmentSpaceOverheadRatio: 2 }],
    [
      'data_block_hash_table_util_ratio',
      { dataBlockIndexType: 'binary_and_hash', dataBlockHashTableUtilRatio: 0 },
    ],
    ['index_type', { indexType: 'hash' }],
    ['window_bits', { compression: 'zlib', compressionOptions: { windowBits: -15 } }],
    ['checksum', { writerProfile: 'leveldb', checksum: 'xxh3' }],
    ['compression', { writerProfile: 'leveldb', compression: 'lz4' }],
    ['index_type', { writerProfile: 'leveldb', indexType: 'two_level' }],
  ];
  it.each(refused)('%s is refused: %o', async (option, options) => {
    const error = await open(options).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (option === 'format_version') expect(error).toBeInstanceOf(UnsupportedError);
    else expect(error).toMatchObject({ argument: option });
  });

  it("are put right as RocksDB's factory does", async () => {
    const { builder } = await open({
      blockRestartInterval: 0,
      indexBlockRestartInterval: -3,
      blockSizeDeviation: 200,
      partitionFilters: true,
      filterPolicy: parseFilterPolicy('bloom:10')!,
    });
    expect(builder.options).toMatchObject({
      blockRestartInterval: 1,
      indexBlockRestartInterval: 1,
      blockSizeDeviation: 0,
      partitionFilters: false,
    });
  });
});
