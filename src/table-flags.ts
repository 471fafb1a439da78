/**
 * How tables are written, as flags: every option of `TableOptions` under RocksDB's name for it. Not given means
 * RocksDB 11.9's default. Values take RocksDB's spelling (`kXXH3`) beside the short one that reports print (`xxh3`).
 */

import { boolean, custom } from '@oclif/core/flags';
import type { BooleanFlag, InferredFlags, OptionFlag } from '@oclif/core/interfaces';
import type { CompressionName } from './codec/registry.ts';
import { InvalidArgumentError } from './errors.ts';
import { parseByteCount } from './flags.ts';
import { type FilterPolicy, parseFilterPolicy } from './format/filter/filter-policy.ts';
import type { IndexTypeName } from './format/index/index-block-iterator.ts';
import type {
  CompressionOptions,
  TableOptions,
  WriterProfile,
} from './format/table-builder/table-options.ts';
import type { ChecksumName } from './hash/registry.ts';
import { type Comparator, comparatorOf } from './operators/comparator.ts';
import { type PrefixExtractor, prefixExtractorOf } from './operators/prefix-extractor.ts';

type Optional<T> = OptionFlag<T | undefined>;

/** A flag whose text `parse` understands; `aliases` are its other names. */
function valueFlag<T>(
  description: string,
  helpValue: string,
  parse: (text: string) => T,
  aliases: readonly string[] = [],
): Optional<T> {
  const flag = custom<unknown>({
    description,
    helpValue,
    aliases: [...aliases],
    parse: async (text) => parse(text),
  });
  return flag() as unknown as Optional<T>;
}

/** One of several names: each with its other spellings. */
function nameFlag<T extends string>(
  argument: string,
  description: string,
  names: Readonly<Record<T, readonly string[]>>,
): Optional<T> {
  return valueFlag(description, `<${Object.keys(names).join('|')}>`, (text) => nameOf(argument, names, text));
}

function nameOf<T extends string>(
  argument: string,
  names: Readonly<Record<T, readonly string[]>>,
  text: string,
): T {
  for (const name of Object.keys(names) as T[]) {
    if (name === text || names[name].includes(text)) return name;
  }
  throw new InvalidArgumentError(
    argument,
    text,
    `--${argument}: "${text}" is none of ${Object.keys(names).join(', ')}`,
  );
}

function bytesFlag(argument: string, description: string, aliases: readonly string[] = []): Optional<number> {
  return valueFlag(description, 'BYTES', (text) => parseByteCount(text, argument), aliases);
}

function numberFlag(
  argument: string,
  description: string,
  helpValue: string,
  rule: { readonly whole?: boolean; readonly min: number; readonly max: number },
): Optional<number> {
  return valueFlag(description, helpValue, (text) => {
    const value = /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    const fits = value >= rule.min && value <= rule.max && (rule.whole === false || Number.isInteger(value));
    if (fits) return value;
    const kind = rule.whole === false ? 'a number' : 'a whole number';
    throw new InvalidArgumentError(
      argument,
      text,
      `--${argument}: "${text}" is not ${kind} from ${rule.min} to ${rule.max}`,
    );
  });
}

/** A switch that can also be turned off; undefined where it is not given. */
function optionalSwitch(description: string): BooleanFlag<boolean | undefined> {
  return boolean({ description, allowNo: true }) as unknown as BooleanFlag<boolean | undefined>;
}

const PROFILES: Readonly<Record<WriterProfile, readonly string[]>> = {
  '11.9': ['11'],
  '7.8': ['7.8.3'],
  leveldb: [],
};

const CHECKSUMS: Readonly<Record<ChecksumName, readonly string[]>> = {
  none: ['kNoChecksum'],
  crc32c: ['kCRC32c'],
  xxh32: ['kxxHash', 'xxhash'],
  xxh64: ['kxxHash64', 'xxhash64'],
  xxh3: ['kXXH3'],
};

const INDEX_TYPES: Readonly<Record<IndexTypeName, readonly string[]>> = {
  binary_search: ['kBinarySearch'],
  hash: ['kHashSearch'],
  two_level: ['kTwoLevelIndexSearch'],
  first_key: ['kBinarySearchWithFirstKey'],
};

const DATA_BLOCK_INDEX_TYPES = {
  binary_search: ['kDataBlockBinarySearch'],
  binary_and_hash: ['kDataBlockBinaryAndHash'],
} as const;

const INDEX_SHORTENINGS = {
  none: ['kNoShortening'],
  separators: ['kShortenSeparators'],
  separators_and_successor: ['kShortenSeparatorsAndSuccessor'],
} as const;

const COMPRESSIONS: Readonly<Record<CompressionName, readonly string[]>> = {
  none: ['kNoCompression', 'no'],
  snappy: ['kSnappyCompression'],
  zlib: ['kZlibCompression'],
  bzip2: ['kBZip2Compression'],
  lz4: ['kLZ4Compression'],
  lz4hc: ['kLZ4HCCompression'],
  xpress: ['kXpressCompression'],
  zstd: ['kZSTD', 'kZSTDNotFinalCompression'],
};

/** `zstd`, `zstd:19`. */
export interface NamedCompression {
  readonly name: CompressionName;
  readonly level: number | undefined;
}

export function parseCompression(text: string): NamedCompression {
  const match = /^([A-Za-z0-9]+)(?::(-?\d{1,6}))?$/.exec(text);
  const name = nameOf('compression', COMPRESSIONS, match?.[1] ?? text);
  return { name, level: match?.[2] === undefined ? undefined : Number(match[2]) };
}

/** The flags; a command spreads them into its own. */
export const tableFlags = {
  'format-version': numberFlag('format-version', 'version of the table format, 2 to 7 [default: 7]', 'N', {
    min: 0,
    max: 99,
  }),
  'writer-profile': nameFlag<WriterProfile>(
    'writer-profile',
    'release whose tables are written, where releases differ [default: 11.9]',
    PROFILES,
  ),
  comparator: valueFlag<Comparator>(
    'order of the user keys, by its RocksDB name [default: leveldb.BytewiseComparator]',
    'NAME',
    comparatorOf,
  ),
  'merge-operator': valueFlag<string>(
    'name of the merge operator to record [default: none]',
    'NAME',
    (text) => text,
  ),
  'prefix-extractor': valueFlag<PrefixExtractor | undefined>(
    'what filters and hash indexes take for the prefix of a key: fixed:8, capped:8, noop [default: none]',
    'NAME',
    (text) => prefixExtractorOf(text),
  ),
  'persist-user-defined-timestamps': optionalSwitch('store timestamps behind the user keys [default: on]'),
  checksum: nameFlag<ChecksumName>('checksum', 'checksum of blocks [default: xxh3]', CHECKSUMS),

  'block-size': bytesFlag('block-size', 'bytes of a data block before compression [default: 4096]'),
  'block-size-deviation': numberFlag(
    'block-size-deviation',
    'percent by which a block may be closed before it is full [default: 10]',
    'PERCENT',
    { min: 0, max: 100 },
  ),
  'block-restart-interval': numberFlag(
    'block-restart-interval',
    'entries from one restart of a data block to the next [default: 16]',
    'COUNT',
    { min: 1, max: 1_000_000 },
  ),
  'use-delta-encoding': optionalSwitch('keys leave out what they share with the one before [default: on]'),
  'block-align': optionalSwitch('data blocks keep to pages; not with compression [default: off]'),
  'super-block-alignment-size': bytesFlag(
    'super-block-alignment-size',
    'data blocks do not straddle multiples of this; 0 for off [default: 0]',
  ),
  'super-block-alignment-space-overhead-ratio': numberFlag(
    'super-block-alignment-space-overhead-ratio',
    'the padding for it is at most one part in so many [default: 128]',
    'RATIO',
    { min: 0, max: 1_000_000 },
  ),
  'data-block-index-type': nameFlag(
    'data-block-index-type',
    'index within data blocks [default: binary_search]',
    {
      ...DATA_BLOCK_INDEX_TYPES,
    },
  ),
  'data-block-hash-table-util-ratio': numberFlag(
    'data-block-hash-table-util-ratio',
    'keys per bucket of that hash index [default: 0.75]',
    'RATIO',
    { whole: false, min: 0, max: 100 },
  ),
  'separate-key-value-in-data-block': optionalSwitch('keys and values apart in data blocks [default: off]'),

  'index-type': nameFlag<IndexTypeName>(
    'index-type',
    'index over data blocks [default: binary_search]',
    INDEX_TYPES,
  ),
  'index-block-restart-interval': numberFlag(
    'index-block-restart-interval',
    'entries from one restart of an index block to the next [default: 1]',
    'COUNT',
    { min: 1, max: 1_000_000 },
  ),
  'index-shortening': nameFlag('index-shortening', 'which index keys are shortened [default: separators]', {
    ...INDEX_SHORTENINGS,
  }),
  'metadata-block-size': bytesFlag(
    'metadata-block-size',
    'bytes of a partition of the index or filter [default: 4096]',
  ),
  'enable-index-compression': optionalSwitch('compress index blocks too [default: on]'),

  filter: valueFlag<FilterPolicy | undefined>(
    'filter: bloom:10, ribbon:10[:level], none; the number is bits a key [default: none]',
    'POLICY',
    parseFilterPolicy,
    ['filter-policy'],
  ),
  'whole-key-filtering': optionalSwitch('the filter has whole keys in it, not prefixes alone [default: on]'),
  'partition-filters': optionalSwitch('the filter in partitions; with --index-type two_level [default: off]'),
  'decouple-partitioned-filters': optionalSwitch(
    'partitions of the filter need not be those of the index [default: on]',
  ),

  compression: valueFlag<NamedCompression>(
    'compression of blocks, with a level where that is wanted: zstd:19 [default: lz4; with --writer-profile 7.8 ' +
      'and leveldb: snappy]',
    '<none|snappy|zlib|lz4|zstd>[:LEVEL]',
    parseCompression,
  ),
  'compression-level': numberFlag(
    'compression-level',
    "level of the compression [default: the codec's own]",
    'LEVEL',
    { min: -131_072, max: 32_767 },
  ),
  'compression-window-bits': numberFlag('compression-window-bits', "zlib's window [default: -14]", 'BITS', {
    min: -15,
    max: 47,
  }),
  'compression-strategy': numberFlag('compression-strategy', "zlib's strategy [default: 0]", 'N', {
    min: 0,
    max: 4,
  }),
  'dict-bytes': bytesFlag('dict-bytes', 'bytes of the compression dictionary; 0 for none [default: 0]', [
    'compression-max-dict-bytes',
  ]),
  'compression-zstd-max-train-bytes': bytesFlag(
    'compression-zstd-max-train-bytes',
    'bytes of samples that a zstd dictionary is selected from; 0: the samples are the dictionary [default: 0]',
  ),
  'compression-max-dict-buffer-bytes': bytesFlag(
    'compression-max-dict-buffer-bytes',
    'bytes of data blocks that wait for the dictionary; 0: no limit of their own [default: 0]',
  ),
  'compression-use-zstd-dict-trainer': optionalSwitch('recorded in the properties [default: on]'),
  'compression-max-compressed-bytes-per-kb': numberFlag(
    'compression-max-compressed-bytes-per-kb',
    'a block is stored compressed when it has at most so many bytes per KiB [default: 896]',
    'COUNT',
    { min: 0, max: 1024 },
  ),
  'compression-checksum': optionalSwitch('zstd frames end in a checksum [default: off]'),
};

export type TableFlagValues = InferredFlags<typeof tableFlags>;

/** An ingestable table is for databases of any release: this version is read by all since 6.6. */
const INGESTABLE_FORMAT_VERSION = 5;

/** The options that flags ask for; `ingestable` is a flag of those commands that have it. */
export function tableOptionsOf(
  flags: Partial<TableFlagValues> & { readonly ingestable?: boolean },
): TableOptions {
  const profile = flags['writer-profile'];
  const compression = flags.compression ?? {
    name: profile === undefined || profile === '11.9' ? 'lz4' : 'snappy',
    level: undefined,
  };
  const external = flags.ingestable === true;
  const formatVersion =
    flags['format-version'] ?? (external && profile !== 'leveldb' ? INGESTABLE_FORMAT_VERSION : undefined);
  return given<TableOptions>({
    writerProfile: profile,
    formatVersion,
    comparator: flags.comparator,
    mergeOperatorName: flags['merge-operator'],
    prefixExtractor: flags['prefix-extractor'],
    persistUserDefinedTimestamps: flags['persist-user-defined-timestamps'],
    checksum: flags.checksum,
    blockSize: flags['block-size'],
    blockSizeDeviation: flags['block-size-deviation'],
    blockRestartInterval: flags['block-restart-interval'],
    useDeltaEncoding: flags['use-delta-encoding'],
    blockAlign: flags['block-align'],
    superBlockAlignmentSize: flags['super-block-alignment-size'],
    superBlockAlignmentSpaceOverheadRatio: flags['super-block-alignment-space-overhead-ratio'],
    dataBlockIndexType: flags['data-block-index-type'],
    dataBlockHashTableUtilRatio: flags['data-block-hash-table-util-ratio'],
    separateKeyValueInDataBlock: flags['separate-key-value-in-data-block'],
    indexType: flags['index-type'],
    indexBlockRestartInterval: flags['index-block-restart-interval'],
    indexShortening: flags['index-shortening'],
    metadataBlockSize: flags['metadata-block-size'],
    enableIndexCompression: flags['enable-index-compression'],
    filterPolicy: flags.filter,
    wholeKeyFiltering: flags['whole-key-filtering'],
    partitionFilters: flags['partition-filters'],
    decouplePartitionedFilters: flags['decouple-partitioned-filters'],
    compression: compression.name,
    compressionOptions: compressionOptionsOf(flags, compression.level),
    external: external ? true : undefined,
  });
}

function compressionOptionsOf(
  flags: Partial<TableFlagValues>,
  namedLevel: number | undefined,
): CompressionOptions {
  return given<CompressionOptions>({
    level: namedLevel ?? flags['compression-level'],
    windowBits: flags['compression-window-bits'],
    strategy: flags['compression-strategy'],
    maxDictBytes: flags['dict-bytes'],
    zstdMaxTrainBytes: flags['compression-zstd-max-train-bytes'],
    maxDictBufferBytes: flags['compression-max-dict-buffer-bytes'],
    useZstdDictTrainer: flags['compression-use-zstd-dict-trainer'],
    maxCompressedBytesPerKb: flags['compression-max-compressed-bytes-per-kb'],
    checksum: flags['compression-checksum'],
  });
}

/** Without the fields that are undefined: these take their defaults. */
function given<T extends object>(fields: { [Name in keyof T]: T[Name] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}
