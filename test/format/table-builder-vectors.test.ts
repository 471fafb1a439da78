/** Whole files of RocksDB 7.8.3 and 11.9 and of LevelDB, read and written again byte for byte. */
import { existsSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { fromHex, toHex } from '../../src/bytes/text.ts';
import { parseFilterPolicy } from '../../src/format/filter/filter-policy.ts';
import { indexTypeName } from '../../src/format/index/index-block-iterator.ts';
import { encodeFooter } from '../../src/format/table-builder/footer-encoder.ts';
import type { TableOptions } from '../../src/format/table-builder/table-options.ts';
import { twinHashFunctions } from '../../src/hash/hash-functions.ts';
import { type ChecksumType, checksumName } from '../../src/hash/registry.ts';
import type { NodeEnvironment } from '../../src/node/environment.ts';
import { prefixExtractorByName } from '../../src/operators/prefix-extractor.ts';
import {
  dataBlocks,
  identityOf,
  openNodeEnvironment,
  readTable,
  writeTable,
} from '../differential/table-builder-rebuild.ts';
import { fixture } from '../support/fixtures.ts';

const VECTORS = new URL('../../../shared/format/vectors.json', import.meta.url);
const groups = existsSync(VECTORS) ? JSON.parse(readFileSync(VECTORS, 'utf8')).groups : undefined;
if (groups === undefined) {
  console.warn('SKIPPED: footers and whole files of RocksDB 11.9 (the full set of vectors is not here)');
}

interface FileVector {
  name: string;
  writer: string;
  format_version: number;
  checksum_type: number;
  file_hex: string;
}

/** What the files do not say of their options. Block sizes are any that cut the same blocks. */
const FILES: Readonly<Record<string, TableOptions>> = {
  'fv2_crc32c 7.8.3': { blockSize: 95 },
  'fv3_xxhash64 7.8.3': { blockSize: 95 },
  'fv4_legacy_bloom 7.8.3': { blockSize: 95 },
  'fv5_xxh3_bloom_rangedel 7.8.3': { blockSize: 95 },
  'fv5_prefix_bloom 7.8.3': { blockSize: 96 },
  'fv5_index_restart4 7.8.3': { blockSize: 96, indexBlockRestartInterval: 4 },
  'fv5_first_key_index 7.8.3': { blockSize: 95, indexBlockRestartInterval: 2 },
  'fv5_hash_index 7.8.3': { blockSize: 95 },
  'fv5_partitioned_index_filter 7.8.3': { blockSize: 96, metadataBlockSize: 64, partitionFilters: true },
  'fv5_data_hash_index 7.8.3': {
    blockSize: 378,
    blockRestartInterval: 2,
    dataBlockIndexType: 'binary_and_hash',
  },
  'fv5_ribbon 7.8.3': { blockSize: 1993 },
  'fv5_empty_rangedel_only 7.8.3': {},
  'fv6_crc32c 11.9.0': { blockSize: 95 },
  'fv7_nocompression 11.9.0': { blockSize: 95 },
  'fv7_ribbon 11.9.0': { blockSize: 1993 },
};

let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
});

/** Options as far as a file's properties say them. */
async function optionsOf(vector: FileVector): Promise<{ bytes: Uint8Array; options: TableOptions }> {
  const bytes = fromHex(vector.file_hex)!;
  const { table } = await readTable(bytes, environment);
  const properties = table.properties!;
  const policy = properties.get('rocksdb.filter.policy');
  const extractor = prefixExtractorByName(properties.get('rocksdb.prefix.extractor.name'));
  const merge = properties.get('rocksdb.merge.operator');
  return {
    bytes,
    options: {
      writerProfile: vector.writer.includes('7.8.3') ? '7.8' : '11.9',
      formatVersion: vector.format_version,
      checksum: checksumName(vector.checksum_type)!,
      indexType: indexTypeName(properties.get('rocksdb.block.based.table.index.type')!)!,
      external: true,
      identity: identityOf(properties),
      wholeKeyFiltering: properties.get('rocksdb.block.based.table.whole.key.filtering')!,
      ...(policy === undefined ? {} : { filterPolicy: parseFilterPolicy(`${policy}:10`)! }),
      ...(extractor.status === 'known' ? { prefixExtractor: extractor.extractor } : {}),
      ...(merge === 'nullptr' ? {} : { mergeOperatorName: merge! }),
    },
  };
}

describe.skipIf(groups === undefined)('files of RocksDB', () => {
  const vectors: FileVector[] = groups?.sst.vectors ?? [];
  const named = vectors.map((vector) => ({
    ...vector,
    key: `${vector.name} ${vector.writer.split(' ')[1]}`,
  }));
  it.each(named.filter(({ key }) => key in FILES))('$key', async (vector) => {
    const { bytes, options } = await optionsOf(vector);
    const { table, contents } = await readTable(bytes, environment);
    const { bytes: ours } = await writeTable(
      contents,
      { ...options, ...FILES[vector.key] },
      environment,
      table.footer.baseContextChecksum,
    );
    expect(toHex(ours)).toBe(toHex(bytes));
  });

  it('has a file for each of the options above', () => {
    expect(named.filter(({ key }) => key in FILES)).toHaveLength(Object.keys(FILES).length);
  });
});

describe.skipIf(groups === undefined)('footers', () => {
  interface FooterVector {
    what: string;
    magic: string;
    format_version: number;
    footer_offset: string;
    checksum_type: number;
    metaindex: [string, string];
    index: [string, string];
    base_context: string;
    hex: string;
  }
  const vectors: FooterVector[] = groups?.footer.vectors ?? [];
  const tables = vectors.filter(({ magic }) => magic === '88e241b785f4cff7' || magic === 'db4775248b80fb57');
  it.each(tables)('$what, format_version $format_version', (vector) => {
    const handle = ([offset, size]: [string, string]) => ({ offset: Number(offset), size: Number(size) });
    const footer = encodeFooter(
      {
        formatVersion: vector.format_version,
        checksumType: vector.checksum_type as ChecksumType,
        baseContextChecksum: Number.parseInt(vector.base_context, 16),
        metaindex: handle(vector.metaindex),
        index: handle(vector.index),
        offset: Number(vector.footer_offset),
      },
      twinHashFunctions(),
    );
    expect(toHex(footer)).toBe(vector.hex);
  });
});

describe('files of LevelDB', () => {
  it.each([
    { name: 'leveldb/none.ldb', options: {} },
    { name: 'leveldb/none-bloom.ldb', options: { filterPolicy: parseFilterPolicy('bloom:10')! } },
  ])('$name', async ({ name, options }) => {
    const bytes = fixture(name).bytes();
    const { contents } = await readTable(bytes, environment);
    const written = await writeTable(
      contents,
      { writerProfile: 'leveldb', blockSize: 1024, ...options },
      environment,
    );
    expect(toHex(written.bytes)).toBe(toHex(bytes));
  });

  it('snappy: the same blocks, uncompressed', async () => {
    const bytes = fixture('leveldb/snappy-bloom.ldb').bytes();
    const { contents } = await readTable(bytes, environment);
    const options = { writerProfile: 'leveldb', blockSize: 1024, compression: 'snappy' } as const;
    const written = await writeTable(contents, options, environment);
    expect(await dataBlocks(written.bytes, environment)).toEqual(await dataBlocks(bytes, environment));
  });
});
