import { ByteReader } from '../../bytes/byte-reader.ts';
import { readFixed32 } from '../../bytes/fixed.ts';
import { SstError } from '../../errors.ts';
import { hasEntries } from './block-entries.ts';
import { type FilterParameters, filterMetadata, recogniseFilter } from './filter-kind.ts';
import type { BlockRow } from './walk-blocks.ts';

/** What there is to say of a block whose contents are no entries. */
export interface BlockDescription {
  readonly filter: FilterParameters | undefined;
  readonly prefixes: readonly HashPrefix[] | undefined;
  /** Dictionary number of a trained zstd dictionary. */
  readonly zstdId: number | undefined;
  /** The contents, where they have no entries to show; as stored where they do not decode. */
  readonly bytes: Uint8Array | undefined;
  readonly decoded: boolean;
  /** Entries follow. */
  readonly hasEntries: boolean;
}

/** One prefix of a hash index: how long it is, and which data blocks hold its keys. */
export interface HashPrefix {
  readonly length: number;
  readonly firstBlock: number;
  readonly blocks: number;
}

/** Magic number in front of a dictionary that zstd has trained, little-endian. */
const ZSTD_DICTIONARY_MAGIC = 0xec30a437;

/** Undefined for raw contents. */
export function zstdDictionaryId(dictionary: Uint8Array): number | undefined {
  if (dictionary.length < 8 || readFixed32(dictionary, 0) !== ZSTD_DICTIONARY_MAGIC) return undefined;
  return readFixed32(dictionary, 4);
}

export function describeBlock(row: BlockRow, bytes: Uint8Array, decoded: boolean): BlockDescription {
  const isOldFilter = row.name?.startsWith('filter.') === true;
  const isFilter = (row.type === 'filter' || row.type === 'filter_partition') && !isOldFilter;
  return {
    filter: isFilter && decoded ? recogniseFilter(bytes.length, filterMetadata(bytes)) : undefined,
    prefixes: row.type === 'hash_metadata' && decoded ? decodeHashMetadata(bytes) : undefined,
    zstdId: row.type === 'compression_dict' && decoded ? zstdDictionaryId(bytes) : undefined,
    bytes: decoded && hasEntries(row.type) ? undefined : bytes,
    decoded,
    hasEntries: decoded && hasEntries(row.type),
  };
}

/**
 * `rocksdb.hashindex.metadata`: for each prefix varint32 length, varint32 first block, varint32 number of blocks.
 * Source: RocksDB table/block_based/block_prefix_index.cc. Undefined when it does not decode.
 */
function decodeHashMetadata(bytes: Uint8Array): HashPrefix[] | undefined {
  const reader = new ByteReader(bytes, 'block_format');
  const prefixes: HashPrefix[] = [];
  try {
    while (reader.remaining > 0) {
      prefixes.push({ length: reader.varint32(), firstBlock: reader.varint32(), blocks: reader.varint32() });
    }
    return prefixes;
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return undefined;
  }
}
