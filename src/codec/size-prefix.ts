import { readFixed32 } from '../bytes/fixed.ts';
import { CorruptionError } from '../errors.ts';

/**
 * How a stored payload says how long it is uncompressed.
 *
 * | prefix    | stored bytes                                                   | used by                                |
 * |-----------|----------------------------------------------------------------|----------------------------------------|
 * | `none`    | the codec's bytes alone                                        | framing 1 zlib, bzip2; LevelDB's forks |
 * | `varint`  | varint32 (new readers: varint64), then the codec's bytes       | framing 2; zstd in both framings       |
 * | `fixed64` | 8 bytes, the writer's native 64-bit integer, then LZ4's block  | framing 1 LZ4, LZ4HC                   |
 * | `snappy`  | Snappy's own varint32, which its decoder wants to see as well  | Snappy, both framings                  |
 *
 * Source: RocksDB util/compression.h, compress_format_version.
 */
export type SizePrefix = 'none' | 'varint' | 'fixed64' | 'snappy';

/** 1 for tables before format_version 2 (and LevelDB's), 2 for all later tables and for blob files. */
export type Framing = 1 | 2;

export interface SizedPayload {
  /** Where the codec's bytes start. */
  start: number;
  /** Uncompressed length that the file declares, not yet checked against anything; undefined with `none`. */
  length: number | undefined;
}

/** Reads the prefix of `bytes[start, end)`. Throws CorruptionError when it is cut off or too long. */
export function readSizePrefix(
  prefix: SizePrefix,
  bytes: Uint8Array,
  start: number,
  end: number,
): SizedPayload {
  switch (prefix) {
    case 'none':
      return { start, length: undefined };
    case 'varint':
      return readVarintPrefix(bytes, start, end);
    case 'snappy':
      return { start, length: readVarintPrefix(bytes, start, end).length };
    case 'fixed64': {
      if (end - start < 8) throw malformed(`8 bytes expected, ${end - start} there`);
      const low = readFixed32(bytes, start);
      const high = readFixed32(bytes, start + 4);
      // Written on a big-endian machine: the low half, which no compressed block has zero, is all in `high`.
      if (low === 0 && high !== 0) return { start: start + 8, length: swapBytes32(high) };
      return { start: start + 8, length: high * 2 ** 32 + low };
    }
  }
}

function readVarintPrefix(bytes: Uint8Array, start: number, end: number): SizedPayload {
  let length = 0;
  let scale = 1;
  // Ten bytes hold 64 bits; past 2^53 the sum is inexact, and every limit refuses it anyway.
  const last = Math.min(end, start + 10);
  for (let pos = start; pos < last; pos++) {
    const byte = bytes[pos]!;
    length += (byte & 0x7f) * scale;
    if (byte < 0x80) return { start: pos + 1, length };
    scale *= 128;
  }
  throw malformed(last === end ? 'the varint is cut off' : 'the varint is longer than 10 bytes');
}

function swapBytes32(value: number): number {
  return ((value << 24) | ((value & 0xff00) << 8) | ((value >>> 8) & 0xff00) | (value >>> 24)) >>> 0;
}

function malformed(what: string): CorruptionError {
  return new CorruptionError('block_decompress', `malformed size prefix: ${what}`);
}
