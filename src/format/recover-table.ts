import { readFixed32 } from '../bytes/fixed.ts';
import { type ByteSource, memorySource } from '../bytes/source.ts';
import { CompressionType } from '../codec/registry.ts';
import type { TableFamily } from '../codec/resolve-codec.ts';
import { SstError, withPending } from '../errors.ts';
import { computeBlockChecksum } from '../hash/block-checksum.ts';
import { ChecksumType } from '../hash/registry.ts';
import { blockSizeAt, type FoundBlock, findBlocks, typeOfContents } from './block-finder.ts';
import { BLOCK_TRAILER_SIZE, type BlockHandle } from './block-handle.ts';
import { BlockReader } from './block-reader.ts';
import { FOOTER_SIZE, type Footer, LEGACY_FOOTER_SIZE, magicAt, readFooterAt } from './footer.ts';
import { DataBlockList } from './index/data-blocks.ts';
import { TRAILER_SIZE } from './internal-key.ts';
import { TableMagic } from './magic.ts';
import {
  COMPRESSION_DICT_BLOCK,
  type MetaindexEntry,
  PROPERTIES_BLOCK,
  RANGE_DEL_BLOCK,
} from './metaindex.ts';
import { decodeProperties, type TableProperties } from './properties.ts';
import { type OpenTableOptions, type TableEnvironment, TableReader } from './table-reader.ts';

/** A table whose data blocks were found without its index. */
export interface RecoveredTable {
  readonly table: TableReader;
  readonly blocks: DataBlockList;
  /** Ranges in which no block begins. */
  readonly holes: readonly BlockHandle[];
}

/** How far from the end a footer is looked for that something was appended to. */
const FOOTER_SEARCH_BYTES = 1024 * 1024;
const PROBE_BYTES = 1024 * 1024;

/**
 * Looks for a footer before the end of the file: bytes may have been appended to it. Undefined when none of
 * the last megabyte's magic numbers ends a footer whose metaindex lies before it.
 */
export function findEarlierFooter(source: ByteSource, environment: TableEnvironment): Footer | undefined {
  const length = Math.min(source.size, FOOTER_SEARCH_BYTES);
  const base = source.size - length;
  const bytes = source.read(base, length);
  const magics = new Set<string>([TableMagic.blockBased, TableMagic.levelDb]);
  const lastBytes = new Set([...magics].map((magic) => Number.parseInt(magic.slice(0, 2), 16)));
  for (let end = length - 1; end >= LEGACY_FOOTER_SIZE; end--) {
    // The last byte first: the rest would be made a text at each of a million places.
    if (!lastBytes.has(bytes[end - 1]!) || !magics.has(magicAt(bytes, end))) continue;
    try {
      const footer = readFooterAt(source, base + end, environment.hashes);
      if (footer.metaindex.offset + footer.metaindex.size <= footer.offset) return footer;
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
    }
  }
  return undefined;
}

/**
 * Reads what it can of a table without its index, or without even a footer, by finding its blocks from the
 * start of the file. `known` is the footer where it could be read. Undefined when not a single block is found.
 */
export async function recoverTable(
  source: ByteSource,
  environment: TableEnvironment,
  options: OpenTableOptions,
  known: Footer | undefined,
): Promise<RecoveredTable | undefined> {
  const guess = known === undefined ? await guessFooter(source, environment) : familyOf(known);
  if (guess === undefined) return undefined;
  const { footer, family } = guess;
  const reader = new BlockReader(source, footer, environment.hashes, environment.codecs, family);
  const { blocks: found, holes } = await findBlocks(reader, 0, footer.offset);
  if (found.length === 0) return undefined;
  const properties = await foundProperties(reader, found);
  const metaindex = foundMetaindex(found);
  const table = new TableReader(source, footer, reader, metaindex, properties, undefined, [], options);
  const blocks = new DataBlockList();
  for (const block of found) if (block.type === 'data') blocks.push(block.offset, block.size);
  return { table, blocks, holes: holes.filter((hole) => !isTail(hole, source, known)) };
}

/** A footer, and whose meaning compression bytes have. */
interface GuessedFooter {
  readonly footer: Footer;
  readonly family: TableFamily;
}

function familyOf(footer: Footer): GuessedFooter {
  return { footer, family: footer.format === 'leveldb' ? 'unknown' : 'rocksdb' };
}

/** The bytes of a lost footer are no hole in the data. */
function isTail(hole: BlockHandle, source: ByteSource, known: Footer | undefined): boolean {
  return known === undefined && hole.offset + hole.size === source.size && hole.size <= FOOTER_SIZE;
}

async function foundProperties(
  reader: BlockReader,
  found: readonly FoundBlock[],
): Promise<TableProperties | undefined> {
  const block = found.find(({ type }) => type === 'properties');
  if (block === undefined) return undefined;
  return decodeProperties(await withPending(() => reader.read(block, 'properties')));
}

/**
 * The meta blocks that can be told by their contents. A dictionary has no contents that could be told: the last
 * block without entries before the range tombstones or the properties is taken for it.
 */
function foundMetaindex(found: readonly FoundBlock[]): MetaindexEntry[] {
  const entries: MetaindexEntry[] = [];
  const add = (name: string, type: MetaindexEntry['type'], block: FoundBlock | undefined): void => {
    if (block !== undefined) entries.push({ name, type, offset: block.offset, size: block.size });
  };
  add(
    PROPERTIES_BLOCK,
    'properties',
    found.find(({ type }) => type === 'properties'),
  );
  add(
    RANGE_DEL_BLOCK,
    'range_del',
    found.find(({ type }) => type === 'range_del'),
  );
  const end = found.findIndex(({ type }) => type === 'range_del' || type === 'properties');
  const before = end > 0 ? found[end - 1]! : undefined;
  if (before?.type === 'unknown') add(COMPRESSION_DICT_BLOCK, 'compression_dict', before);
  return entries;
}

const GUESSES: readonly (readonly [formatVersion: number, family: TableFamily])[] = [
  [5, 'rocksdb'],
  [1, 'rocksdb'],
  [1, 'unknown'],
];

/**
 * Checksum type, context and framing of a file without footer, told by its first blocks: a type is right when the
 * end of the first block can be found with it and a second block follows. From format_version 6 on each
 * checksum has the file's context in it; the first block lies at offset 0, where it stands in plain.
 */
async function guessFooter(
  source: ByteSource,
  environment: TableEnvironment,
): Promise<GuessedFooter | undefined> {
  const types = [ChecksumType.xxh3, ChecksumType.crc32c, ChecksumType.xxh64, ChecksumType.xxh32];
  for (const checksumType of types) {
    // RocksDB's reading comes first: 2 and 4 are zlib and LZ4 there, and what forks of LevelDB made of them elsewhere.
    for (const [formatVersion, family] of GUESSES) {
      const footer = assumedFooter(source, checksumType, formatVersion, 0);
      const reader = new BlockReader(source, footer, environment.hashes, environment.codecs, family);
      const size = blockSizeAt(reader, 0, source.size, [PROBE_BYTES]);
      if (size < 0) break;
      if (await isData(reader, { offset: 0, size })) return { footer, family };
    }
  }
  return guessContext(source, environment, types);
}

/**
 * The context follows from the first block, once its end is known: a position at which the bytes before it are a data
 * block by their contents. The second block then has to fit as well.
 */
async function guessContext(
  source: ByteSource,
  environment: TableEnvironment,
  types: readonly ChecksumType[],
): Promise<GuessedFooter | undefined> {
  const length = Math.min(source.size, PROBE_BYTES / 16);
  const bytes = source.read(0, length);
  const plausible = plausibleTypes(bytes);
  const unchecked = new BlockReader(
    memorySource(bytes, source.name),
    assumedFooter(source, ChecksumType.none, 6, 0),
    environment.hashes,
    environment.codecs,
    'rocksdb',
  );
  for (let size = 8; size + BLOCK_TRAILER_SIZE <= length; size++) {
    const compressionType = bytes[size]!;
    if (plausible[compressionType] !== 1) continue;
    if (compressionType === CompressionType.none && !endsInRestarts(bytes, size)) continue;
    if (!(await isData(unchecked, { offset: 0, size }))) continue;
    for (const checksumType of types) {
      const plain = computeBlockChecksum(environment.hashes, checksumType, bytes, 0, size);
      const context = (readFixed32(bytes, size + 1) - plain) >>> 0;
      if (context === 0) continue;
      const footer = assumedFooter(source, checksumType, 6, context);
      const reader = new BlockReader(source, footer, environment.hashes, environment.codecs, 'rocksdb');
      const second = size + BLOCK_TRAILER_SIZE;
      if (blockSizeAt(reader, second, source.size, [PROBE_BYTES / 16]) >= 0) return familyOf(footer);
    }
  }
  return undefined;
}

/** 1 for each compression type that the first block can have by how the file begins; all fail but one or two. */
function plausibleTypes(bytes: Uint8Array): Uint8Array {
  const plausible = new Uint8Array(256);
  // An entry that shares nothing, with a key that has room for its trailer.
  if (bytes[0] === 0 && bytes[1]! >= TRAILER_SIZE) plausible[CompressionType.none] = 1;
  let pos = 0;
  while (pos < 4 && bytes[pos]! >= 0x80) pos++;
  const isSize = pos > 0 || bytes[0]! >= TRAILER_SIZE;
  const first = bytes[pos + 1]!;
  if (!isSize || pos + 4 >= bytes.length) return plausible;
  // Snappy and LZ4 begin with a literal, there is nothing to copy yet; deflate has three kinds of blocks.
  if ((first & 3) === 0) plausible[CompressionType.snappy] = 1;
  if ((first & 6) !== 6) plausible[CompressionType.zlib] = 1;
  if (first >>> 4 > 0) plausible[CompressionType.lz4] = plausible[CompressionType.lz4hc] = 1;
  if (first === 0x42 && bytes[pos + 2] === 0x5a) plausible[CompressionType.bzip2] = 1;
  if (readFixed32(bytes, pos + 1) === ZSTD_MAGIC) plausible[CompressionType.zstd] = 1;
  return plausible;
}

const ZSTD_MAGIC = 0xfd2fb528;

/** Whether `bytes[0, size)` can end in the restarts of a block; the first one is 0 where nothing stands behind them. */
function endsInRestarts(bytes: Uint8Array, size: number): boolean {
  const packed = readFixed32(bytes, size - 4);
  const restarts = packed & 0x0fffffff;
  if (restarts === 0 || 4 * restarts + 4 > size) return false;
  return packed >>> 28 !== 0 || readFixed32(bytes, size - 4 - 4 * restarts) === 0;
}

function assumedFooter(
  source: ByteSource,
  checksumType: ChecksumType,
  formatVersion: number,
  baseContextChecksum: number,
): Footer {
  return {
    magic: TableMagic.blockBased,
    format: 'block-based',
    formatVersion,
    checksumType,
    baseContextChecksum,
    metaindex: { offset: 0, size: 0 },
    index: null,
    offset: source.size,
    size: 0,
  };
}

async function isData(reader: BlockReader, handle: BlockHandle): Promise<boolean> {
  try {
    const contents = await withPending(() => reader.read(handle, 'unknown'));
    return typeOfContents(contents, new Map()) !== 'unknown';
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return false;
  }
}
