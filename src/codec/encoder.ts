import { varintLength, writeVarint } from '../bytes/varint.ts';
import { UnsupportedError } from '../errors.ts';
import { type CompressionName, CompressionType } from './registry.ts';
import type { SizePrefix } from './size-prefix.ts';

/** RocksDB's "default of the codec" as a number. Source: include/rocksdb/advanced_options.h. */
export const DEFAULT_COMPRESSION_LEVEL = 32767;

/** What an encoder is opened with. */
export interface EncoderParameters {
  /** `DEFAULT_COMPRESSION_LEVEL`, or a level of the codec. */
  readonly level: number;
  /** zlib: negative for raw deflate, the exponent of the window. Readers of RocksDB 11 take -14 alone. */
  readonly windowBits: number;
  /** zlib's strategy. */
  readonly strategy: number;
  /** zstd: each frame ends in a checksum of its content. */
  readonly checksum: boolean;
}

/**
 * Encodes block after block with one codec. The encoded bytes are those of the codec alone, without a size
 * prefix (Snappy's own length belongs to Snappy); they are the caller's until the next call at least.
 * `input` is not changed by anybody until the result is there.
 */
export interface BlockEncoder {
  /** Which package answers, for `--version --verbose`. */
  readonly implementation: string;
  /** `input[start, end)` encoded. Throws any Error when it cannot be. */
  encode(input: Uint8Array, start: number, end: number): Uint8Array;
  /** The same on another thread, where there is one; many may be under way. */
  encodeLater?(input: Uint8Array, start: number, end: number): Promise<Uint8Array>;
  /** The same codec with a dictionary. Codecs that take none answer with themselves. */
  withDictionary(dictionary: Uint8Array): BlockEncoder;
}

/** Encoders by compression name. */
export interface EncoderRegistry {
  /**
   * Loads and opens an encoder. Throws UnsupportedError, which names the nearest alternative, for a compression
   * that can be read here and not written, or parameters that its codec here does not have.
   */
  open(name: EncodableName, parameters: EncoderParameters): Promise<BlockEncoder>;
}

export type EncodableName = Exclude<CompressionName, 'none'>;

/** How stored blocks of table format 2 and later say their uncompressed length. */
export function sizePrefixOf(name: EncodableName): SizePrefix {
  return name === 'snappy' ? 'snappy' : 'varint';
}

/**
 * The stored form of a block: size prefix, `encoded`, and `room` bytes behind for a trailer.
 * `length` is the uncompressed length, `prefix` is `varint`, `none`, or `snappy` (where none is added).
 */
export function withSizePrefix(
  encoded: Uint8Array,
  length: number,
  prefix: SizePrefix,
  room: number,
): Uint8Array {
  const prefixLength = prefix === 'varint' ? varintLength(length) : 0;
  const stored = new Uint8Array(prefixLength + encoded.length + room);
  if (prefixLength > 0) writeVarint(stored, 0, length);
  stored.set(encoded, prefixLength);
  return stored;
}

/** For a compression that this build reads and does not write. */
export function notWritable(name: string, why: string, instead: string): UnsupportedError {
  return new UnsupportedError(
    'compression',
    name,
    `compression ${name} can be read here, but not written: ${why}; ${instead}`,
  );
}

/** The on-disk byte of a compression that is written. */
export function compressionTypeOf(name: CompressionName): number {
  return CompressionType[name];
}
