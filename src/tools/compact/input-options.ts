import { DEFAULT_COMPRESSION_LEVEL } from '../../codec/encoder.ts';
import { type CompressionName, CompressionType } from '../../codec/registry.ts';
import { BLOCK_TRAILER_SIZE } from '../../format/block-handle.ts';
import { type FilterPolicy, parseFilterPolicy } from '../../format/filter/filter-policy.ts';
import type { IndexTypeName } from '../../format/index/index-block-iterator.ts';
import type { TableProperties } from '../../format/properties.ts';
import type {
  CompressionOptions,
  TableIdentity,
  TableOptions,
} from '../../format/table-builder/table-options.ts';
import { type ChecksumName, checksumName } from '../../hash/registry.ts';
import { prefixExtractorByName } from '../../operators/prefix-extractor.ts';
import type { CompactInput } from './compact-input.ts';

/**
 * How a table was written, as far as it says so: what its properties, its footer and its first block tell. The
 * rest is left to the defaults. `note` hears of what cannot be kept.
 */
export function optionsOfInput(input: CompactInput, note: (text: string) => void): TableOptions {
  const { opened, properties } = input;
  if (opened.plain !== undefined) return {};
  const { table } = opened;
  const { footer } = table;
  const compression = writableCompression(compressionOf(input), note);
  if (table.family === 'leveldb') return levelDbOptions(compression, note);
  const extractor = prefixExtractorByName(properties?.get('rocksdb.prefix.extractor.name'));
  if (extractor.status === 'incomplete' || extractor.status === 'unknown') {
    note(`prefix extractor ${extractor.name} is not known here: the output has no prefixes in its filter`);
  }
  const hasExtractor = extractor.status === 'known';
  const wholeKeys = properties?.get('rocksdb.block.based.table.whole.key.filtering') ?? true;
  const options: { -readonly [Name in keyof TableOptions]: TableOptions[Name] } = {
    formatVersion: Math.max(2, footer.formatVersion),
    compression: compression ?? 'none',
    compressionOptions: compressionOptionsOf(properties, compression),
    // A filter of prefixes alone would be empty without its extractor.
    wholeKeyFiltering: wholeKeys || !hasExtractor,
  };
  const checksum = checksumName(footer.checksumType) as ChecksumName | undefined;
  if (checksum !== undefined) options.checksum = checksum;
  if (extractor.status === 'known') options.prefixExtractor = extractor.extractor;
  const filterPolicy = filterPolicyOf(input);
  if (filterPolicy !== undefined) options.filterPolicy = filterPolicy;
  const indexType = INDEX_TYPES[properties?.get('rocksdb.block.based.table.index.type') ?? 0];
  if (indexType !== undefined && (indexType !== 'hash' || hasExtractor)) options.indexType = indexType;
  if (indexType === 'two_level') {
    options.partitionFilters =
      table.metaindex?.some(({ name }) => name.startsWith('partitionedfilter.')) ?? false;
  }
  const interval = properties?.count('rocksdb.data.block.restart.interval');
  if (interval !== undefined && interval > 0) options.blockRestartInterval = interval;
  const indexInterval = properties?.count('rocksdb.index.block.restart.interval');
  if (indexInterval !== undefined && indexInterval > 0) options.indexBlockRestartInterval = indexInterval;
  if (properties?.count('rocksdb.separate.key.value.in.data.block') === 1)
    options.separateKeyValueInDataBlock = true;
  const operator = properties?.get('rocksdb.merge.operator');
  if (operator !== undefined && operator !== '' && operator !== 'nullptr')
    options.mergeOperatorName = operator;
  return options;
}

/** Forks of LevelDB have codecs of their own, which LevelDB does not read. */
function levelDbOptions(
  compression: CompressionName | undefined,
  note: (text: string) => void,
): TableOptions {
  const isOwn = compression === 'none' || compression === 'snappy' || compression === 'zstd';
  if (!isOwn && compression !== undefined)
    note(`compression ${compression} is none of LevelDB's: snappy is written`);
  return { writerProfile: 'leveldb', compression: isOwn ? compression : 'snappy' };
}

const INDEX_TYPES: readonly (IndexTypeName | undefined)[] = [
  'binary_search',
  'hash',
  'two_level',
  'first_key',
];

/** Names that releases before 11 write into property `rocksdb.compression`. */
const COMPRESSION_NAMES: Readonly<Record<string, CompressionName>> = {
  NoCompression: 'none',
  Snappy: 'snappy',
  Zlib: 'zlib',
  BZip2: 'bzip2',
  LZ4: 'lz4',
  LZ4HC: 'lz4hc',
  Xpress: 'xpress',
  ZSTD: 'zstd',
  ZSTDNotFinal: 'zstd',
};

/** `BuiltinV2;01;`: the types of the blocks, two digits each. */
const BUILTIN_COMPRESSION = /^BuiltinV2;((?:[0-9A-Fa-f]{2})*);/;

function compressionOf(input: CompactInput): CompressionName | undefined {
  const text = input.properties?.get('rocksdb.compression');
  const types = text === undefined ? null : BUILTIN_COMPRESSION.exec(text);
  if (types !== null) {
    const numbers = (types[1]!.match(/../g) ?? []).map((digits) => Number.parseInt(digits, 16));
    return nameOfType(numbers.find((type) => type !== 0) ?? 0);
  }
  if (text !== undefined && Object.hasOwn(COMPRESSION_NAMES, text)) return COMPRESSION_NAMES[text];
  return compressionOfFirstBlock(input);
}

function compressionOfFirstBlock({ opened, source }: CompactInput): CompressionName | undefined {
  if (opened.plain !== undefined || opened.blocks.count === 0) return undefined;
  const trailer = opened.blocks.offsets[0]! + opened.blocks.sizes[0]!;
  if (trailer + BLOCK_TRAILER_SIZE > source.size) return undefined;
  return nameOfType(source.read(trailer, 1)[0]!);
}

function nameOfType(type: number): CompressionName | undefined {
  return (Object.keys(CompressionType) as CompressionName[]).find((name) => CompressionType[name] === type);
}

/** What is decoded by the same readers, where a compression is not written here. */
const NEAREST: Readonly<Partial<Record<CompressionName, CompressionName>>> = {
  lz4hc: 'lz4',
  bzip2: 'zstd',
  xpress: 'snappy',
};

function writableCompression(
  name: CompressionName | undefined,
  note: (text: string) => void,
): CompressionName | undefined {
  const nearest = name === undefined ? undefined : NEAREST[name];
  if (nearest === undefined) return name;
  note(`compression ${name} is read and not written here: the output is compressed with ${nearest}`);
  return nearest;
}

/** `window_bits=-14; level=32767; strategy=0; ...`. */
function compressionOptionsOf(
  properties: TableProperties | undefined,
  compression: CompressionName | undefined,
): CompressionOptions {
  const fields = new Map<string, number>();
  for (const part of (properties?.get('rocksdb.compression_options') ?? '').split(';')) {
    const [name, value] = part.split('=');
    if (value !== undefined && /^-?\d+$/.test(value.trim())) fields.set(name!.trim(), Number(value));
  }
  const options: { -readonly [Name in keyof CompressionOptions]: CompressionOptions[Name] } = {};
  const level = fields.get('level');
  const takesLevel = compression === 'zstd' || compression === 'zlib';
  if (takesLevel && level !== undefined && level !== DEFAULT_COMPRESSION_LEVEL) options.level = level;
  const take = (name: string, set: (value: number) => void): void => {
    const value = fields.get(name);
    if (value !== undefined) set(value);
  };
  take('max_dict_bytes', (value) => (options.maxDictBytes = value));
  take('zstd_max_train_bytes', (value) => (options.zstdMaxTrainBytes = value));
  take('max_dict_buffer_bytes', (value) => (options.maxDictBufferBytes = value));
  take('use_zstd_dict_trainer', (value) => (options.useZstdDictTrainer = value !== 0));
  take('max_compressed_bytes_per_kb', (value) => (options.maxCompressedBytesPerKb = value));
  take('checksum', (value) => (options.checksum = value !== 0));
  return options;
}

/** A Ribbon filter takes about so much of the Bloom filter with the same rate of false positives. */
const RIBBON_SHARE = 0.7;

/** The policy with the bits a key that the filter has: files do not store the number that was asked for. */
function filterPolicyOf({ properties }: CompactInput): FilterPolicy | undefined {
  const name = properties?.get('rocksdb.filter.policy');
  const size = properties?.count('rocksdb.filter.size') ?? 0;
  const entries =
    properties?.count('rocksdb.num.filter_entries') || (properties?.count('rocksdb.num.entries') ?? 0);
  if (name === undefined || name === '' || size === 0 || entries === 0) return undefined;
  const ribbon = /ribbon/i.test(name);
  const bits = (8 * size) / entries / (ribbon ? RIBBON_SHARE : 1);
  // Filters are rounded up to cache lines, which shows in small ones.
  const rounded = Math.min(32, Math.max(1, entries < 20_000 ? Math.floor(bits) : Math.round(bits * 10) / 10));
  return parseFilterPolicy(`${ribbon ? 'ribbon' : 'bloom'}:${rounded}`);
}

/** What the outputs say of where they come from: what all inputs agree on, and the oldest and newest times. */
export function identityOf(inputs: readonly CompactInput[]): TableIdentity {
  const identity: { -readonly [Name in keyof TableIdentity]: TableIdentity[Name] } = {};
  const agreed = <T>(read: (properties: TableProperties) => T | undefined): T | undefined => {
    const values = inputs.map(({ properties }) => (properties === undefined ? undefined : read(properties)));
    return values.every((value) => value === values[0]) ? values[0] : undefined;
  };
  const times = (read: (properties: TableProperties) => number | undefined): number[] =>
    inputs
      .flatMap(({ properties }) => (properties === undefined ? [] : (read(properties) ?? [])))
      .filter((t) => t > 0);
  const id = agreed((properties) => properties.count('rocksdb.column.family.id'));
  const name = agreed((properties) => properties.get('rocksdb.column.family.name'));
  const db = agreed((properties) => properties.get('rocksdb.creating.db.identity'));
  const creation = times((properties) => properties.count('rocksdb.creation.time'));
  const oldest = times((properties) => properties.count('rocksdb.oldest.key.time'));
  const newest = times((properties) => properties.count('rocksdb.newest.key.time'));
  if (id !== undefined) identity.columnFamilyId = id;
  if (name !== undefined) identity.columnFamilyName = name;
  if (db !== undefined) identity.dbId = db;
  if (creation.length > 0) identity.creationTime = Math.min(...creation);
  if (oldest.length > 0) identity.oldestKeyTime = Math.min(...oldest);
  if (newest.length > 0) identity.newestKeyTime = Math.max(...newest);
  return identity;
}
