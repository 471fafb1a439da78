import { readFixed32 } from '../bytes/fixed.ts';
import { CorruptionError, UnsupportedError } from '../errors.ts';
import { maxUncompressedLength } from './limits.ts';
import type { CodecName, CompressionName } from './registry.ts';
import type { Framing, SizePrefix } from './size-prefix.ts';
import { startsWithZstdMagic } from './zstd-frame.ts';

/**
 * Whose meaning a compression byte has. RocksDB's format_version 0 tables share LevelDB's magic number: a
 * table with `rocksdb.properties` is RocksDB's; `unknown` where even that is not known (a block alone, a
 * table whose metaindex is damaged), then the bytes decide.
 */
export type TableFamily = 'rocksdb' | 'leveldb' | 'unknown';

export interface ResolvedCodec {
  codec: CodecName;
  /** The compression's name as the tools print it. */
  name: CompressionName;
  prefix: SizePrefix;
  /** False: a dictionary in the file is not meant for blocks of this kind. */
  usesDictionary: boolean;
}

/** Unfinished zstd formats, written before RocksDB called its zstd support final; the framing is zstd's. */
const ZSTD_NOT_FINAL = 0x40;

const SNAPPY: ResolvedCodec = { codec: 'snappy', name: 'snappy', prefix: 'snappy', usesDictionary: false };
const ZSTD: ResolvedCodec = { codec: 'zstd', name: 'zstd', prefix: 'varint', usesDictionary: true };
const BARE_ZSTD: ResolvedCodec = { codec: 'zstd', name: 'zstd', prefix: 'none', usesDictionary: false };
const ZLIB_STREAM: ResolvedCodec = {
  codec: 'zlib_stream',
  name: 'zlib',
  prefix: 'none',
  usesDictionary: false,
};

/** One entry a framing; index 0 is not used. */
type ByFraming = readonly [undefined, ResolvedCodec, ResolvedCodec];
const ZLIB = byFraming('deflate_raw', 'zlib', 'none', true);
const BZIP2 = byFraming('bzip2', 'bzip2', 'none', false);
const LZ4 = byFraming('lz4', 'lz4', 'fixed64', true);
const LZ4HC = byFraming('lz4', 'lz4hc', 'fixed64', true);

/**
 * The name of a compression byte in RocksDB's numbering: `none snappy zlib bzip2 lz4 lz4hc xpress zstd`,
 * `custom_80` for what a compression manager of the user defines, `reserved_08` for what nobody does.
 * In LevelDB's tables 2 and 4 mean other things: there `resolveCodec` knows the name.
 */
export function compressionName(type: number): string {
  const known = NAMES[type];
  if (known !== undefined) return known;
  if (type === ZSTD_NOT_FINAL) return 'zstd';
  const hex = type.toString(16).padStart(2, '0');
  return type >= 0x80 && type < 0xff ? `custom_${hex}` : `reserved_${hex}`;
}

const NAMES: readonly CompressionName[] = [
  'none',
  'snappy',
  'zlib',
  'bzip2',
  'lz4',
  'lz4hc',
  'xpress',
  'zstd',
];

/**
 * Which codec decodes the compressed block `bytes[start, end)` of this type byte (not 0), and which prefix
 * stands before it. Throws UnsupportedError for kinds that this build does not read.
 *
 * | byte    | RocksDB               | LevelDB and its forks, by the payload's first bytes                      |
 * |---------|-----------------------|--------------------------------------------------------------------------|
 * | 1       | Snappy                | Snappy                                                                   |
 * | 2       | zlib (raw deflate)    | Zstandard (LevelDB 1.23), zlib with header or raw deflate (Mojang)       |
 * | 3 5 7   | bzip2 LZ4HC zstd      | not defined                                                              |
 * | 4       | LZ4                   | raw deflate (Mojang)                                                     |
 *
 * Sources: RocksDB compression_type.h; LevelDB table/format.cc; Mojang/leveldb-mcpe.
 */
export function resolveCodec(
  family: TableFamily,
  framing: Framing,
  type: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): ResolvedCodec {
  switch (type) {
    case 1:
      if (startsWithSnappyStreamIdentifier(bytes, start, end)) throw framedSnappy();
      return SNAPPY;
    case 2:
      return family === 'rocksdb' ? ZLIB[framing] : resolveForkedTwo(bytes, start, end);
    case 4:
      if (family === 'rocksdb') return LZ4[framing];
      return family === 'unknown' && startsWithLz4Size(bytes, start, end) ? LZ4[1] : ZLIB[1];
  }
  if (family === 'leveldb') throw unsupported(type, 'not defined for a LevelDB table');
  switch (type) {
    case 3:
      return BZIP2[framing];
    case 5:
      return LZ4HC[framing];
    case 6:
      throw unsupported(type, 'XPRESS needs the Windows Compression API');
    case 7:
    case ZSTD_NOT_FINAL:
      return ZSTD;
    default:
      throw unsupported(
        type,
        type >= 0x80 && type < 0xff
          ? 'defined by a compression manager of its writer'
          : 'not defined by RocksDB',
      );
  }
}

function resolveForkedTwo(bytes: Uint8Array, start: number, end: number): ResolvedCodec {
  if (startsWithZstdMagic(bytes, start, end)) return BARE_ZSTD;
  return startsWithZlibHeader(bytes, start, end) ? ZLIB_STREAM : ZLIB[1];
}

/** CMF and FLG of RFC 1950: method 8, window of at most 32 KiB, both bytes together a multiple of 31. */
function startsWithZlibHeader(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 2) return false;
  const cmf = bytes[start]!;
  return (cmf & 0x0f) === 8 && cmf >>> 4 <= 7 && (cmf * 256 + bytes[start + 1]!) % 31 === 0;
}

/** The 8-byte prefix: a plausible 64-bit length, whose upper half raw deflate does not leave zero. */
function startsWithLz4Size(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < 9 || readFixed32(bytes, start + 4) !== 0) return false;
  return readFixed32(bytes, start) <= maxUncompressedLength('lz4', end - start - 8);
}

const SNAPPY_STREAM_IDENTIFIER = [0xff, 0x06, 0x00, 0x00, 0x73, 0x4e, 0x61, 0x50, 0x70, 0x59];

/** No raw block begins so: its fifth byte would be a copy from before the block's start. */
function startsWithSnappyStreamIdentifier(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start < SNAPPY_STREAM_IDENTIFIER.length || bytes[start] !== 0xff) return false;
  return SNAPPY_STREAM_IDENTIFIER.every((byte, i) => bytes[start + i] === byte);
}

function byFraming(
  codec: CodecName,
  name: CompressionName,
  oldPrefix: SizePrefix,
  usesDictionary: boolean,
): ByFraming {
  return [
    undefined,
    { codec, name, prefix: oldPrefix, usesDictionary },
    { codec, name, prefix: 'varint', usesDictionary },
  ];
}

function framedSnappy(): CorruptionError {
  return new CorruptionError(
    'block_decompress',
    'snappy: the block holds framed Snappy (it begins with the stream identifier "sNaPpY"), the format wants raw Snappy',
  );
}

function unsupported(type: number, why: string): UnsupportedError {
  const name = compressionName(type);
  return new UnsupportedError('compression', name, `compression ${name} (byte ${type}): ${why}`);
}
