/**
 * Checksums of blocks and footers by checksum type.
 *
 *   payload | compression type (1 byte) | stored checksum (fixed32)
 *
 * stored = C + M mod 2^32: C over payload and type byte (`computeBlockChecksum`), M from the place of the block
 * (`contextModifier`, 0 before format_version 6).
 * Source: RocksDB table/format.cc, ComputeBuiltinChecksum, ComputeBuiltinChecksumWithLastByte;
 * table/format.h, ChecksumModifierForContext.
 */
import { UnsupportedError } from '../errors.ts';
import { maskCrc32c } from './crc32c.ts';
import { ChecksumType, type HashFunctions } from './registry.ts';

/** Type 4 does not hash the last byte but multiplies it with this. */
const LAST_BYTE_FACTOR = 0x6b9083d9;

/**
 * C of a block as uint32: payload `bytes[start, end)`, compression type byte at `bytes[end]`. The modifier is not in it.
 * Type 0 gives 0. Throws UnsupportedError for a checksum type that no release has, RangeError when the type
 * byte is not in `bytes`.
 */
export function computeBlockChecksum(
  hashes: HashFunctions,
  type: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  if (end >= bytes.length) throw new RangeError(`the type byte at ${end} is not in ${bytes.length} bytes`);
  return bufferChecksum(hashes, type, bytes, start, end + 1);
}

/**
 * C of `bytes[start, end)` as uint32: footers of format_version 6 and later, whose last byte plays the part of the
 * compression type. Type 0 gives 0, and so does type 4 for no bytes at all; the other types hash an empty input.
 * Throws UnsupportedError for a checksum type that no release has.
 */
export function bufferChecksum(
  hashes: HashFunctions,
  type: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): number {
  switch (type) {
    case ChecksumType.none:
      return 0;
    case ChecksumType.crc32c:
      return maskCrc32c(hashes.crc32c(bytes, start, end));
    case ChecksumType.xxh32:
      return hashes.xxh32(bytes, start, end);
    case ChecksumType.xxh64:
      return hashes.xxh64Low(bytes, start, end);
    case ChecksumType.xxh3:
      if (end === start) return 0;
      return (hashes.xxh3Low(bytes, start, end - 1) ^ Math.imul(bytes[end - 1]!, LAST_BYTE_FACTOR)) >>> 0;
    default:
      throw new UnsupportedError('checksum_type', type, `checksum type ${type} is not known`);
  }
}

/**
 * M of a block at `offset` (bytes from the file start) in a file whose footer has `base` as base_context_checksum
 * (uint32; 0: none). As uint32.
 */
export function contextModifier(base: number, offset: number): number {
  if (base === 0) return 0;
  const halves = (offset % 2 ** 32) + Math.floor(offset / 2 ** 32);
  return (base ^ halves) >>> 0;
}

/** The fixed32 in the trailer: C + M mod 2^32. */
export function storedChecksum(checksum: number, modifier: number): number {
  return (checksum + modifier) >>> 0;
}
