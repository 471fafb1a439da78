import type { ByteSource } from '../../bytes/source.ts';
import { createCrc32c } from '../../hash/crc32c.ts';

/** Name of the one checksum function for whole files that RocksDB brings along. */
export const FILE_CHECKSUM_CRC32C = 'FileChecksumCrc32c';

const PIECE_BYTES = 1024 * 1024;

/**
 * The checksum of a whole file as the MANIFEST stores it: crc32c, not masked, four bytes, the highest first.
 * Source: RocksDB util/file_checksum_helper.h, FileChecksumGenCrc32c. Throws IoErrors of the source.
 */
export function fileChecksumCrc32c(source: ByteSource): Uint8Array {
  // Continues from piece to piece, which the kernel's function does not.
  const crc32c = createCrc32c();
  const piece = new Uint8Array(Math.min(PIECE_BYTES, source.size));
  let crc = 0;
  for (let offset = 0; offset < source.size; offset += piece.length) {
    const part = piece.subarray(0, Math.min(piece.length, source.size - offset));
    source.readInto(offset, part);
    crc = crc32c(part, 0, part.length, crc);
  }
  return Uint8Array.of(crc >>> 24, crc >>> 16, crc >>> 8, crc);
}
