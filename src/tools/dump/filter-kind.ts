import {
  decodeFilterMetadata,
  FILTER_METADATA_BYTES,
  type FilterKind,
} from '../../format/filter/filter-metadata.ts';

/** What can be said of a table's filter, beside the kinds that a single filter block can have. */
export type TableFilterKind =
  | FilterKind
  /** One small filter for each stretch of the file: LevelDB's, and RocksDB's before 7.0; told by its name alone. */
  | 'block_based'
  /** Its block cannot be read. */
  | 'unreadable'
  /** Partitions of more than one kind. */
  | 'mixed';

/** Only what its kind has. */
export interface FilterParameters {
  readonly kind: TableFilterKind;
  /** Bloom kinds: bits that are asked for, a key. */
  readonly probes?: number;
  /** Bloom kinds: cache lines. */
  readonly lines?: number;
  readonly lineBytes?: number;
  /** Ribbon: hash seed, and blocks of 128 slots. */
  readonly seed?: number;
  readonly slotBlocks?: number;
}

/** Of a full filter, or of one partition, of `size` bytes that end in `metadata`. */
export function recogniseFilter(size: number, metadata: Uint8Array): FilterParameters {
  const { kind, probes, lines, lineBytes, seed, blocks } = decodeFilterMetadata(size, metadata);
  if (kind === 'ribbon') return { kind, seed, slotBlocks: blocks };
  return lines > 0 ? { kind, probes, lines, lineBytes } : { kind };
}

/** The last bytes of a filter, which tell its kind. */
export function filterMetadata(contents: Uint8Array): Uint8Array {
  return contents.subarray(Math.max(0, contents.length - FILTER_METADATA_BYTES));
}

/** A reader of RocksDB looks for its filter under one of these names and no other. */
const READ_NAMES: ReadonlySet<string> = new Set([
  'fullfilter.rocksdb.BuiltinBloomFilter',
  'partitionedfilter.rocksdb.BuiltinBloomFilter',
]);

/** LevelDB's reader, with its own Bloom filter policy. */
const LEVELDB_NAME = 'filter.leveldb.BuiltinBloomFilter2';

export function isFilterNameRead(name: string, isLevelDb: boolean): boolean {
  return isLevelDb ? name === LEVELDB_NAME : READ_NAMES.has(name);
}
