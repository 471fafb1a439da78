import { readFixed32 } from '../bytes/fixed.ts';
import { InvalidArgumentError } from '../errors.ts';
import { computeBlockChecksum, storedChecksum } from '../hash/block-checksum.ts';
import { ChecksumType, type HashFunctions } from '../hash/registry.ts';

/** Compression type byte and checksum behind the payload. */
export const TRAILER_LENGTH = 5;

export interface FindBlockEndOptions {
  /** 1 to 4: a block without checksum has no end that can be found. */
  checksumType: number;
  /** Context modifier of the block (uint32). Default 0. */
  modifier?: number;
  /** The smallest payload length to consider, bytes. Default 0. */
  minLength?: number;
  /**
   * 256 entries, 1 for each byte that may stand as compression type. Default: the built-in types 0 to 7, 0x40
   * (ZSTD before its number was final) and the custom ones 0x80 to 0xfe.
   */
  allowedTypes?: Uint8Array;
}

/** The default of `allowedTypes`; a new array, the caller's own. */
export function defaultAllowedTypes(): Uint8Array {
  const allowed = new Uint8Array(256);
  allowed.fill(1, 0, 8);
  allowed[0x40] = 1;
  allowed.fill(1, 0x80, 0xff);
  return allowed;
}

/**
 * Twin of the kernel `findBlockEnd`: the smallest payload length at which `bytes[start, end)` holds an allowed type byte
 * and the fitting checksum behind the payload; -1 when there is none. Tries every length from scratch, O(n^2).
 * Throws InvalidArgumentError for a checksum type other than 1 to 4.
 */
export function findBlockEnd(
  hashes: HashFunctions,
  bytes: Uint8Array,
  start: number,
  end: number,
  options: FindBlockEndOptions,
): number {
  const { checksumType, modifier, minLength, allowedTypes } = resolveFindOptions(options);
  for (let length = minLength; length + TRAILER_LENGTH <= end - start; length++) {
    const pos = start + length;
    if (allowedTypes[bytes[pos]!] !== 1) continue;
    const checksum = computeBlockChecksum(hashes, checksumType, bytes, start, pos);
    if (readFixed32(bytes, pos + 1) === storedChecksum(checksum, modifier)) return length;
  }
  return -1;
}

/** Fills in the defaults. Throws InvalidArgumentError for a checksum type other than 1 to 4. */
export function resolveFindOptions(options: FindBlockEndOptions): Required<FindBlockEndOptions> {
  const { checksumType, modifier = 0, minLength = 0, allowedTypes = defaultAllowedTypes() } = options;
  if (checksumType < ChecksumType.crc32c || checksumType > ChecksumType.xxh3) {
    throw new InvalidArgumentError(
      'checksumType',
      String(checksumType),
      `a block's end can be found by checksum types 1 to 4, not by ${checksumType}`,
    );
  }
  return { checksumType, modifier, minLength, allowedTypes };
}
