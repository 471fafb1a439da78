import { CorruptionError } from '../errors.ts';
import type { CodecName } from './registry.ts';

/** RocksDB never compresses more: its sizes are checked against INT32_MAX. */
export const MAX_UNCOMPRESSED_LENGTH = 2 ** 31 - 1;

/**
 * The most output bytes that one input byte can stand for; zstd's bound is exact and comes from its frame
 * (zstd-frame.ts).
 * - snappy: a 3-byte copy gives 64 bytes (21.4)
 * - lz4: each further length byte gives 255
 * - deflate: 258 bytes for a length and a distance of one bit each (1032)
 * - bzip2: a 900 kB block of run-length bytes unfolds to 46 MB and takes about 32 bytes (1.4 million)
 */
const MAX_EXPANSION: Readonly<Record<Exclude<CodecName, 'zstd'>, number>> = {
  snappy: 22,
  lz4: 255,
  deflate_raw: 1032,
  zlib_stream: 1032,
  bzip2: 2 ** 21,
};

/** Covers headers and rounding, so that the bound holds for payloads of a few bytes too. */
const SLACK_BYTES = 1024;

/** The most that `storedLength` bytes of this codec can become. */
export function maxUncompressedLength(codec: Exclude<CodecName, 'zstd'>, storedLength: number): number {
  return Math.min(MAX_UNCOMPRESSED_LENGTH, MAX_EXPANSION[codec] * storedLength + SLACK_BYTES);
}

/**
 * Refuses a declared length that the stored bytes cannot produce, before anything of that length is
 * allocated. `name` is the compression's name, for the message.
 */
export function checkDeclaredLength(
  name: string,
  declaredLength: number,
  maxLength: number,
  storedLength: number,
): void {
  if (declaredLength <= maxLength) return;
  throw new CorruptionError(
    'block_decompress',
    `${name}: ${declaredLength} bytes declared, but ${storedLength} stored bytes give at most ${maxLength}`,
  );
}
