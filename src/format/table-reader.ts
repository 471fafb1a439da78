import type { ByteSource } from '../bytes/source.ts';
import { utf8Bytes } from '../bytes/text.ts';
import type { CodecRegistry } from '../codec/registry.ts';
import type { TableFamily } from '../codec/resolve-codec.ts';
import { CorruptionError, SstError, UnsupportedError } from '../errors.ts';
import type { HashFunctions } from '../hash/registry.ts';
import { type Comparator, comparatorByName } from '../operators/comparator.ts';
import { BlockIterator } from './block/block-iterator.ts';
import { type BlockHandle, isNullHandle } from './block-handle.ts';
import { BlockReader } from './block-reader.ts';
import type { BlockType } from './block-type.ts';
import { type Footer, readFooter } from './footer.ts';
import { guessIndexEncoding } from './index/guess-index-encoding.ts';
import { type IndexEncoding, IndexType } from './index/index-block-iterator.ts';
import {
  COMPRESSION_DICT_BLOCK,
  decodeMetaindex,
  INDEX_BLOCK,
  type MetaindexEntry,
  OLD_PROPERTIES_BLOCK,
  PROPERTIES_BLOCK,
  RANGE_DEL_BLOCK,
} from './metaindex.ts';
import { decodeProperties, type TableProperties } from './properties.ts';
import { decodeRangeDelBlock, type RangeTombstone } from './range-del-block.ts';

/** What the format layer is given from outside. */
export interface TableEnvironment {
  readonly hashes: HashFunctions;
  readonly codecs: CodecRegistry;
}

export interface OpenTableOptions {
  /** In place of the comparator that the properties name. */
  readonly comparator?: Comparator;
  /** Bytes of user-defined timestamp in each key, where an unknown comparator does not tell. */
  readonly timestampSize?: number;
}

export interface TableIndex extends IndexEncoding {
  readonly handle: BlockHandle;
  readonly type: number;
  /** The properties did not say how it is encoded: it was told by its own bytes. */
  readonly guessed: boolean;
}

const GLOBAL_SEQNO = 'rocksdb.external_sst_file.global_seqno';

/**
 * An open block-based or LevelDB table: its footer, what its meta blocks say, and a way to its blocks.
 * Everything but the footer may be missing or damaged: `problems` says what, and the rest stays readable.
 * Opening reads footer, metaindex and properties; other blocks are read when they are asked for.
 */
export class TableReader {
  constructor(
    readonly source: ByteSource,
    readonly footer: Footer,
    readonly blocks: BlockReader,
    /** Undefined where the block cannot be read. */
    readonly metaindex: readonly MetaindexEntry[] | undefined,
    readonly properties: TableProperties | undefined,
    readonly index: TableIndex | undefined,
    /** What was found while opening, each with its place. */
    readonly problems: readonly SstError[],
    readonly options: OpenTableOptions,
  ) {
    this.comparatorName =
      options.comparator?.name ??
      this.properties?.get('rocksdb.comparator') ??
      (footer.format === 'leveldb' && properties === undefined && metaindex !== undefined
        ? 'leveldb.BytewiseComparator'
        : undefined);
    this.comparator =
      options.comparator ??
      (this.comparatorName === undefined ? undefined : comparatorByName(this.comparatorName));
    const persisted = properties?.get('rocksdb.user.defined.timestamps.persisted');
    this.timestampsPersisted = persisted === undefined || persisted !== 0;
    this.timestampSize = options.timestampSize ?? this.comparator?.timestampSize ?? 0;
    const seqno = properties?.get(GLOBAL_SEQNO);
    const version = properties?.get('rocksdb.external_sst_file.version');
    this.globalSeqno = version === 2 && seqno !== undefined && seqno !== 0n ? seqno : undefined;
  }

  /** As the file names it. LevelDB's tables name none: it is taken to be LevelDB's own. */
  readonly comparatorName: string | undefined;
  readonly comparator: Comparator | undefined;
  /** Bytes of user-defined timestamp in a user key, as its comparator sees it. */
  readonly timestampSize: number;
  /** False: keys are stored without their timestamps. */
  readonly timestampsPersisted: boolean;
  /** Sequence number that ingestion gave to every entry of the file; undefined where the stored ones count. */
  readonly globalSeqno: bigint | undefined;

  /** Bytes of timestamp that each stored key ends in, before its trailer. */
  get storedTimestampSize(): number {
    return this.timestampsPersisted ? this.timestampSize : 0;
  }

  /** The order of the user keys as they are stored, with or without timestamps. */
  get storedComparator(): Comparator | undefined {
    return this.timestampsPersisted ? this.comparator : this.comparator?.withoutTimestamp;
  }

  /** RocksDB's tables say more of themselves than LevelDB's, which have the same footer as format_version 0. */
  get family(): TableFamily {
    return this.blocks.decompression.family;
  }

  metaBlock(name: string): MetaindexEntry | undefined {
    return this.metaindex?.find((entry) => entry.name === name);
  }

  /**
   * The compression dictionary for data blocks; undefined when the file has none. Throws CorruptionError:
   * without it no compressed data block can be read.
   */
  readDictionary(): Uint8Array | undefined {
    const entry = this.metaBlock(COMPRESSION_DICT_BLOCK);
    if (entry === undefined) return undefined;
    const dictionary = this.blocks.read(entry, 'compression_dict');
    if (dictionary.length > 0) return dictionary;
    throw new CorruptionError(
      'block_format',
      'the compression dictionary is empty',
      this.blocks.place(entry.offset, 'compression_dict'),
    );
  }

  /** The range tombstones as stored; none when the file has no such block. Throws CorruptionError. */
  readRangeTombstones(): RangeTombstone[] {
    const entry = this.metaBlock(RANGE_DEL_BLOCK);
    if (entry === undefined) return [];
    const contents = this.blocks.read(entry, 'range_del');
    return this.decoding(entry, 'range_del', () => decodeRangeDelBlock(contents, this.storedTimestampSize));
  }

  /** Runs a decoder over a block's contents and adds the place to its errors. */
  decoding<T>(handle: BlockHandle, blockType: BlockType, decode: () => T): T {
    return withPlace(this.blocks, handle, blockType, decode);
  }
}

/**
 * Opens a table with a readable footer. Throws CorruptionError or UnsupportedError for the footer alone;
 * everything else that is wrong stands in `problems`. May throw the signal CodecPending: run it in `withPending`.
 */
export function openTable(
  source: ByteSource,
  environment: TableEnvironment,
  options: OpenTableOptions = {},
): TableReader {
  return openTableAt(source, readFooter(source, environment.hashes), environment, options);
}

/** The same with a footer that was found elsewhere than at the end. */
export function openTableAt(
  source: ByteSource,
  footer: Footer,
  environment: TableEnvironment,
  options: OpenTableOptions = {},
): TableReader {
  const problems: SstError[] = [];
  const attempt = <T>(step: () => T): T | undefined => {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      problems.push(error);
      return undefined;
    }
  };
  let blocks = new BlockReader(source, footer, environment.hashes, environment.codecs, initialFamily(footer));
  const metaindex = attempt(() => readMetaindex(blocks));
  const propertiesEntry = metaindex?.find(
    ({ name }) => name === PROPERTIES_BLOCK || name === OLD_PROPERTIES_BLOCK,
  );
  if (footer.format === 'leveldb' && metaindex !== undefined) {
    blocks = blocks.withFamily(propertiesEntry === undefined ? 'leveldb' : 'rocksdb');
  }
  const properties =
    propertiesEntry === undefined ? undefined : attempt(() => readProperties(blocks, propertiesEntry));
  if (propertiesEntry === undefined && metaindex !== undefined && footer.format !== 'leveldb') {
    problems.push(
      new CorruptionError('properties_missing', 'the metaindex names no properties block', {
        file: source.name,
        offset: footer.metaindex.offset,
        blockType: 'metaindex',
      }),
    );
  }
  const index = attempt(() => describeIndex(blocks, metaindex, properties));
  return new TableReader(source, footer, blocks, metaindex, properties, index, problems, options);
}

/** LevelDB's tables and format_version 0 share a magic number; only the metaindex tells them apart. */
function initialFamily(footer: Footer): TableFamily {
  return footer.format === 'leveldb' ? 'unknown' : 'rocksdb';
}

function readMetaindex(blocks: BlockReader): MetaindexEntry[] {
  const handle = blocks.footer.metaindex;
  const contents = blocks.read(handle, 'metaindex');
  return withPlace(blocks, handle, 'metaindex', () => decodeMetaindex(contents));
}

/**
 * Ingestion by older releases wrote the global sequence number into the finished file: where the block's
 * checksum does not hold, it is tried again with these eight bytes as 0.
 * Source: RocksDB table/meta_blocks.cc, ReadTablePropertiesHelper.
 */
function readProperties(blocks: BlockReader, handle: BlockHandle): TableProperties {
  const stored = blocks.readStored(handle, 'properties');
  const fault = blocks.checksumFault(stored, handle, 'properties');
  if (fault !== undefined) {
    const valueStart = globalSeqnoPosition(stored.bytes.subarray(0, stored.size));
    if (valueStart === undefined) throw fault;
    const unpatched = blocks.examinePatched(stored, handle, valueStart);
    if (blocks.checksumFault(unpatched, handle, 'properties') !== undefined) throw fault;
  }
  const contents = blocks.contents(stored, handle, 'properties');
  return withPlace(blocks, handle, 'properties', () => decodeProperties(contents));
}

function globalSeqnoPosition(contents: Uint8Array): number | undefined {
  const wanted = utf8Bytes(GLOBAL_SEQNO);
  const block = new BlockIterator();
  try {
    block.reset(contents);
    while (block.next()) {
      if (block.keyLength !== wanted.length || block.valueEnd - block.valueStart !== 8) continue;
      if (wanted.every((byte, i) => byte === block.key[i])) return block.valueStart;
    }
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
  }
  return undefined;
}

function describeIndex(
  blocks: BlockReader,
  metaindex: readonly MetaindexEntry[] | undefined,
  properties: TableProperties | undefined,
): TableIndex | undefined {
  const { footer } = blocks;
  const handle = footer.index ?? metaindex?.find(({ name }) => name === INDEX_BLOCK);
  if (handle === undefined) {
    if (metaindex === undefined) return undefined;
    throw new CorruptionError('index_missing', 'the metaindex names no index block', {
      file: blocks.source.name,
      offset: footer.metaindex.offset,
      blockType: 'metaindex',
    });
  }
  if (isNullHandle(handle)) {
    throw new CorruptionError('footer_handle', 'the footer has no handle of the index block', {
      file: blocks.source.name,
      offset: footer.offset,
      blockType: 'footer',
    });
  }
  if (blocks.decompression.family === 'leveldb') {
    return {
      handle,
      type: IndexType.binarySearch,
      userKeys: false,
      deltaValues: false,
      firstKeys: false,
      guessed: false,
    };
  }
  if (properties === undefined) {
    const contents = blocks.read(handle, 'index');
    return { handle, guessed: true, ...guessIndexEncoding(contents, handle) };
  }
  const type = properties.get('rocksdb.block.based.table.index.type') ?? IndexType.binarySearch;
  if (type > IndexType.firstKey) {
    throw new UnsupportedError('index type', type, `index type ${type} is not known here`, {
      file: blocks.source.name,
      offset: handle.offset,
      blockType: 'index',
    });
  }
  return {
    handle,
    type,
    userKeys: properties.count('rocksdb.index.key.is.user.key') === 1,
    deltaValues: properties.count('rocksdb.index.value.is.delta.encoded') === 1,
    firstKeys: type === IndexType.firstKey,
    guessed: false,
  };
}

function withPlace<T>(blocks: BlockReader, handle: BlockHandle, blockType: BlockType, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (error instanceof CorruptionError || error instanceof UnsupportedError) {
      throw error.at(blocks.place(handle.offset, blockType));
    }
    throw error;
  }
}
