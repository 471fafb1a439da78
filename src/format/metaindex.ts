import { ByteReader } from '../bytes/byte-reader.ts';
import { utf8 } from '../bytes/text.ts';
import { BlockIterator } from './block/block-iterator.ts';
import { type BlockHandle, decodeBlockHandle } from './block-handle.ts';
import type { BlockType } from './block-type.ts';

/**
 * The metaindex block: names of meta blocks in bytewise order, each with a block handle as its value.
 * Source: RocksDB table/meta_blocks.cc, block_based_table_reader.cc.
 */
export interface MetaindexEntry extends BlockHandle {
  readonly name: string;
  readonly type: BlockType;
}

export const PROPERTIES_BLOCK = 'rocksdb.properties';
/** The same block's name in very old files. */
export const OLD_PROPERTIES_BLOCK = 'rocksdb.stats';
export const INDEX_BLOCK = 'rocksdb.index';
export const COMPRESSION_DICT_BLOCK = 'rocksdb.compression_dict';
export const RANGE_DEL_BLOCK = 'rocksdb.range_del';
export const HASH_PREFIXES_BLOCK = 'rocksdb.hashindex.prefixes';
export const HASH_METADATA_BLOCK = 'rocksdb.hashindex.metadata';
export const FULL_FILTER_PREFIX = 'fullfilter.';
export const PARTITIONED_FILTER_PREFIX = 'partitionedfilter.';
/** The filter of one block each, which RocksDB has not written since 7.0; LevelDB still does. */
export const BLOCK_FILTER_PREFIX = 'filter.';
const USER_DEFINED_INDEX_PREFIX = 'rocksdb.user_defined_index.';

const TYPES: ReadonlyMap<string, BlockType> = new Map([
  [PROPERTIES_BLOCK, 'properties'],
  [OLD_PROPERTIES_BLOCK, 'properties'],
  [INDEX_BLOCK, 'index'],
  [COMPRESSION_DICT_BLOCK, 'compression_dict'],
  [RANGE_DEL_BLOCK, 'range_del'],
  [HASH_PREFIXES_BLOCK, 'hash_prefixes'],
  [HASH_METADATA_BLOCK, 'hash_metadata'],
]);

function typeOf(name: string): BlockType {
  const type = TYPES.get(name);
  if (type !== undefined) return type;
  if (name.startsWith(PARTITIONED_FILTER_PREFIX)) return 'filter_index';
  if (name.startsWith(FULL_FILTER_PREFIX) || name.startsWith(BLOCK_FILTER_PREFIX)) return 'filter';
  if (name.startsWith(USER_DEFINED_INDEX_PREFIX)) return 'user_defined_index';
  return 'unknown';
}

/** Decodes the contents of a metaindex block, in stored order. Throws CorruptionError. */
export function decodeMetaindex(contents: Uint8Array): MetaindexEntry[] {
  const entries: MetaindexEntry[] = [];
  const block = new BlockIterator();
  block.reset(contents);
  while (block.next()) {
    const name = utf8(block.key.subarray(0, block.keyLength));
    const handle = decodeBlockHandle(
      new ByteReader(contents, 'metaindex_handle', block.valueStart, block.valueEnd),
    );
    entries.push({ name, type: typeOf(name), ...handle });
  }
  return entries;
}
