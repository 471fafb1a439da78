import { IndexType } from '../format/index/index-block-iterator.ts';
import type { TableFormat } from '../format/magic.ts';
import { PlainEncoding } from '../format/plain/plain-table-iterator.ts';
import type { TableProperties } from '../format/properties.ts';
import { ValueType } from '../format/value-type.ts';
import { ChecksumType } from '../hash/registry.ts';
import type { TableFilterKind } from './dump/filter-kind.ts';

/**
 * Which releases of RocksDB can read a table file, and what in it keeps older ones, or newer ones, from it.
 * Releases are those whose source first, or last, has the code; checked against RocksDB's tags and HISTORY.md.
 */

/** What a file uses. Everything that is not known counts as not used. */
export interface TableFacts {
  /** `leveldb`: a table without anything that only RocksDB writes. */
  readonly format: TableFormat;
  readonly formatVersion: number;
  readonly checksumType: number;
  readonly indexType: number | undefined;
  readonly filterKind: TableFilterKind | undefined;
  readonly filterPartitions: number;
  /** Type bytes of all blocks. */
  readonly compressionTypes: ReadonlySet<number>;
  readonly usesDictionary: boolean;
  readonly rangeTombstones: number;
  readonly properties: TableProperties | undefined;
  /** Type numbers of entries that were seen. */
  readonly entryTypes: ReadonlySet<number>;
  readonly entityVersions: ReadonlySet<number>;
  readonly hashIndexInBlocks: boolean;
  readonly separatedKeys: boolean;
  readonly uniformKeys: boolean;
  readonly timestampSize: number;
}

export interface Requirement {
  /** Stable name, for scripts. */
  readonly feature: string;
  readonly description: string;
  /** The first release that reads it, as `6.27`. */
  readonly first: string;
  /** The first release that no longer reads it. */
  readonly before?: string;
}

export interface Compatibility {
  /** The first release that reads the whole file. */
  readonly first: string;
  /** The first newer release that refuses it; null: none does. */
  readonly before: string | null;
  /** Whether LevelDB reads it. */
  readonly leveldb: boolean;
  /** What the file uses, the most demanding first. */
  readonly requirements: readonly Requirement[];
}

interface Feature extends Requirement {
  readonly used: (facts: TableFacts) => boolean;
}

/** Compression types 0x80 to 0xfe belong to a compression manager of the application. */
const FIRST_CUSTOM_TYPE = 0x80;
const ZSTD_NOT_FINAL = 0x40;

function isBlockBased({ format }: TableFacts): boolean {
  return format === 'block-based' || format === 'leveldb';
}

function formatVersion(version: number, description: string, first: string, before?: string): Feature {
  return {
    feature: `format_version_${version}`,
    description: `format_version ${version}: ${description}`,
    first,
    ...(before === undefined ? {} : { before }),
    used: (facts) => isBlockBased(facts) && facts.formatVersion === version,
  };
}

function compression(feature: string, description: string, types: readonly number[], first: string): Feature {
  return {
    feature,
    description,
    first,
    // In LevelDB's tables the same bytes mean other things.
    used: (facts) => facts.format !== 'leveldb' && types.some((type) => facts.compressionTypes.has(type)),
  };
}

function entryType(feature: string, description: string, type: number, first: string): Feature {
  return { feature, description, first, used: ({ entryTypes }) => entryTypes.has(type) };
}

const FEATURES: readonly Feature[] = [
  formatVersion(0, "LevelDB's footer", '1.5', '11.0'),
  formatVersion(1, 'the footer names a checksum', '3.0', '11.0'),
  formatVersion(2, 'sizes in front of compressed blocks', '3.10'),
  formatVersion(3, 'index keys without sequence numbers', '5.15'),
  formatVersion(4, 'delta-encoded index values', '5.16'),
  formatVersion(5, 'the faster Bloom filter', '6.6'),
  formatVersion(6, 'checksums that know file and offset', '8.6'),
  formatVersion(7, 'compression managers', '10.4'),
  {
    feature: 'checksum_xxh64',
    description: 'XXH64 block checksums',
    first: '5.18',
    used: (facts) => isBlockBased(facts) && facts.checksumType === ChecksumType.xxh64,
  },
  {
    feature: 'checksum_xxh3',
    description: 'XXH3 block checksums',
    first: '6.27',
    used: (facts) => isBlockBased(facts) && facts.checksumType === ChecksumType.xxh3,
  },
  compression('compression_lz4', 'LZ4 blocks', [4, 5], '2.8'),
  compression('compression_xpress', 'XPRESS blocks (Windows alone)', [6], '4.2'),
  compression('compression_zstd', 'zstd blocks', [7], '4.12'),
  {
    ...compression('compression_zstd_not_final', 'blocks of unfinished zstd', [ZSTD_NOT_FINAL], '4.0'),
    before: '9.11',
  },
  {
    feature: 'compression_custom',
    description: "blocks of an application's own compression",
    first: '10.4',
    used: ({ compressionTypes }) => [...compressionTypes].some((type) => type >= FIRST_CUSTOM_TYPE),
  },
  {
    feature: 'compression_dictionary',
    description: 'a compression dictionary',
    first: '4.8',
    used: ({ usesDictionary }) => usesDictionary,
  },
  {
    feature: 'index_hash',
    description: 'hash index',
    first: '3.0',
    used: ({ indexType }) => indexType === IndexType.hash,
  },
  {
    feature: 'index_two_level',
    description: 'partitioned index',
    first: '5.2',
    used: ({ indexType }) => indexType === IndexType.twoLevel,
  },
  {
    feature: 'index_first_key',
    description: 'index with first keys',
    first: '6.2',
    used: ({ indexType }) => indexType === IndexType.firstKey,
  },
  {
    feature: 'index_user_keys',
    description: 'index keys without sequence numbers',
    first: '5.15',
    used: ({ properties }) => properties?.count('rocksdb.index.key.is.user.key') === 1,
  },
  {
    feature: 'index_delta_values',
    description: 'delta-encoded index values',
    first: '5.16',
    used: ({ properties }) => properties?.count('rocksdb.index.value.is.delta.encoded') === 1,
  },
  {
    feature: 'index_uniform',
    description: 'index blocks marked as uniform',
    first: '11.1',
    used: ({ uniformKeys }) => uniformKeys,
  },
  {
    feature: 'filter_fast_local_bloom',
    description: 'the faster Bloom filter',
    first: '6.6',
    used: ({ filterKind }) => filterKind === 'fast_local_bloom',
  },
  {
    feature: 'filter_ribbon',
    description: 'Ribbon filter',
    first: '6.15',
    used: ({ filterKind }) => filterKind === 'ribbon',
  },
  {
    feature: 'filter_partitioned',
    description: 'partitioned filter',
    first: '5.4',
    used: ({ filterPartitions }) => filterPartitions > 0,
  },
  {
    feature: 'range_deletions',
    description: 'range tombstones, which older releases pass over',
    first: '5.0',
    used: ({ rangeTombstones, properties }) =>
      rangeTombstones > 0 || (properties?.count('rocksdb.num.range-deletions') ?? 0) > 0,
  },
  {
    feature: 'global_seqno',
    description: 'written to be ingested, with a global sequence number',
    first: '5.0',
    used: ({ properties }) => properties?.get('rocksdb.external_sst_file.version') === 2,
  },
  entryType('single_delete', 'single deletions', ValueType.singleDeletion, '4.1'),
  entryType('blob_index', 'values in blob files', ValueType.blobIndex, '6.18'),
  entryType('delete_with_timestamp', 'deletions with a timestamp', ValueType.deletionWithTimestamp, '6.11'),
  entryType('entity', 'wide-column entities', ValueType.wideColumnEntity, '7.9'),
  entryType(
    'put_preferred_seqno',
    'values with a preferred sequence number',
    ValueType.valuePreferredSeqno,
    '9.1',
  ),
  {
    feature: 'entity_version_2',
    description: 'entities whose columns may be blobs',
    first: '11.2',
    used: ({ entityVersions }) => entityVersions.has(2),
  },
  {
    feature: 'embedded_blobs',
    description: 'values as blob records between the blocks',
    first: '11.6',
    used: ({ properties }) => properties?.raw.has('rocksdb.embedded.blob.stats') === true,
  },
  {
    feature: 'data_block_hash_index',
    description: 'hash index in data blocks',
    first: '5.16',
    used: ({ hashIndexInBlocks }) => hashIndexInBlocks,
  },
  {
    feature: 'separated_keys_and_values',
    description: 'keys and values apart in data blocks',
    first: '11.0',
    used: ({ separatedKeys, properties }) =>
      separatedKeys || (properties?.count('rocksdb.separate.key.value.in.data.block') ?? 0) > 0,
  },
  {
    feature: 'user_timestamps',
    description: 'user-defined timestamps',
    first: '6.3',
    used: ({ timestampSize }) => timestampSize > 0,
  },
  {
    feature: 'user_timestamps_not_persisted',
    description: 'user-defined timestamps left out of the keys',
    first: '8.4',
    used: ({ properties }) => properties?.count('rocksdb.user.defined.timestamps.persisted') === 0,
  },
  {
    feature: 'plain_table',
    description: 'plain table',
    first: '2.8',
    used: ({ format }) => format === 'plain',
  },
  {
    feature: 'plain_table_prefix_encoding',
    description: 'plain table with prefix encoding',
    first: '3.2',
    used: ({ format, properties }) =>
      format === 'plain' && properties?.get('rocksdb.plain.table.encoding.type') === PlainEncoding.prefix,
  },
  {
    feature: 'cuckoo_table',
    description: 'cuckoo table',
    first: '3.3',
    used: ({ format }) => format === 'cuckoo',
  },
];

export function compatibilityOf(facts: TableFacts): Compatibility {
  const requirements = FEATURES.filter(({ used }) => used(facts))
    .map(({ used: _, ...requirement }): Requirement => requirement)
    .sort((a, b) => compareReleases(b.first, a.first));
  const limits = requirements.flatMap(({ before }) => (before === undefined ? [] : [before]));
  return {
    first: requirements[0]?.first ?? OLDEST_RELEASE,
    before: limits.sort(compareReleases)[0] ?? null,
    leveldb: isReadByLevelDb(facts),
    requirements,
  };
}

const OLDEST_RELEASE = '1.5';

/** `6.27` against `6.3`: number by number. */
export function compareReleases(a: string, b: string): number {
  const left = a.split('.').map(Number);
  const right = b.split('.').map(Number);
  for (let i = 0; i < Math.max(left.length, right.length); i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * LevelDB reads its own footer, blocks without compression or with Snappy, puts and deletions. Meta blocks of RocksDB
 * it passes over, and with them range tombstones.
 */
function isReadByLevelDb(facts: TableFacts): boolean {
  if (facts.format === 'leveldb') return true;
  if (facts.format !== 'block-based' || facts.formatVersion !== 0) return false;
  const { properties, entryTypes, compressionTypes } = facts;
  const merges = properties?.count('rocksdb.merge.operands') ?? 0;
  return (
    (properties === undefined || properties.get('rocksdb.comparator') === 'leveldb.BytewiseComparator') &&
    facts.indexType !== IndexType.twoLevel &&
    facts.rangeTombstones === 0 &&
    merges === 0 &&
    !facts.hashIndexInBlocks &&
    !facts.separatedKeys &&
    [...compressionTypes].every((type) => type <= 1) &&
    [...entryTypes].every((type) => type <= ValueType.value)
  );
}
