import { readFixed32, readFixed64, writeFixed32, writeFixed64 } from '../../bytes/fixed.ts';
import { hex32 } from '../../bytes/text.ts';
import { CorruptionError, UnsupportedError } from '../../errors.ts';
import { maskCrc32c } from '../../hash/crc32c.ts';
import type { HashFunctions } from '../../hash/registry.ts';
import { BLOB_FILE_MAGIC } from '../magic.ts';

/**
 * A blob file: values that tables refer to by file number, offset and size.
 *
 *   header (30)    fixed32 magic, fixed32 version, fixed32 column family, 1 flags (bit 0: records expire),
 *                  1 compression of all values, fixed64 first and last expiration
 *   record ...     header (32): fixed64 key length, fixed64 value length, fixed64 expiration,
 *                  fixed32 crc32c of these 24 bytes, fixed32 crc32c of key and value, both masked; key; value
 *   footer (32)    fixed32 magic, fixed64 number of records, fixed64 first and last expiration,
 *                  fixed32 crc32c of these 28 bytes, masked; missing where the file was not closed
 *
 * Keys are user keys, with their timestamps. Values are as the compression left them, in the framing of tables since
 * format_version 2; a reference points at the value, not at its record. Expirations are seconds since 1970, 0 where
 * nothing expires. Nothing but its magic protects the header.
 * Source: RocksDB db/blob/blob_log_format.h.
 */

export const BLOB_HEADER_SIZE = 30;
export const BLOB_FOOTER_SIZE = 32;
export const BLOB_RECORD_HEADER_SIZE = 32;
export const BLOB_FILE_VERSION = 1;

const HAS_TTL = 1;
/** What the checksums of a record's header and of the footer are of. */
const RECORD_LENGTHS_SIZE = 24;
const FOOTER_FIELDS_SIZE = 28;

/** Seconds since 1970, both inclusive. */
export interface ExpirationRange {
  readonly from: bigint;
  readonly to: bigint;
}

export interface BlobFileHeader {
  readonly version: number;
  readonly columnFamily: number;
  readonly hasTtl: boolean;
  readonly compressionType: number;
  readonly expiration: ExpirationRange;
}

export interface BlobFileFooter {
  readonly blobCount: bigint;
  readonly expiration: ExpirationRange;
}

/** What a record says before its key. Lengths are exact up to 2^53. */
export interface BlobRecordHeader {
  readonly keyLength: number;
  /** Of the stored value. */
  readonly valueLength: number;
  readonly expiration: bigint;
  /** Masked crc32c of key and value. */
  readonly blobChecksum: number;
}

/**
 * Decodes the first BLOB_HEADER_SIZE bytes of a file. Throws CorruptionError `blob_header` for another magic,
 * UnsupportedError for another version.
 */
export function decodeBlobHeader(bytes: Uint8Array): BlobFileHeader {
  if (bytes.length < BLOB_HEADER_SIZE)
    throw new CorruptionError(
      'blob_header',
      `the header is cut off: ${bytes.length} of ${BLOB_HEADER_SIZE} bytes`,
    );
  if (!startsWithBlobMagic(bytes))
    throw new CorruptionError('blob_header', 'the file does not begin with the magic number of blob files');
  const version = readFixed32(bytes, 4);
  if (version !== BLOB_FILE_VERSION)
    throw new UnsupportedError(
      'blob file version',
      version,
      `blob files of version ${version} are not known here`,
    );
  return {
    version,
    columnFamily: readFixed32(bytes, 8),
    hasTtl: (bytes[12]! & HAS_TTL) !== 0,
    compressionType: bytes[13]!,
    expiration: { from: readFixed64(bytes, 14), to: readFixed64(bytes, 22) },
  };
}

export function encodeBlobHeader(header: BlobFileHeader): Uint8Array {
  const bytes = new Uint8Array(BLOB_HEADER_SIZE);
  writeFixed32(bytes, 0, BLOB_FILE_MAGIC);
  writeFixed32(bytes, 4, header.version);
  writeFixed32(bytes, 8, header.columnFamily);
  bytes[12] = header.hasTtl ? HAS_TTL : 0;
  bytes[13] = header.compressionType;
  writeFixed64(bytes, 14, header.expiration.from);
  writeFixed64(bytes, 22, header.expiration.to);
  return bytes;
}

/** Header and footer begin so. */
export function startsWithBlobMagic(bytes: Uint8Array): boolean {
  return bytes.length >= 4 && readFixed32(bytes, 0) === BLOB_FILE_MAGIC;
}

/**
 * Whether `bytes`, the last BLOB_FOOTER_SIZE of a file, are meant as its footer: by the magic, or by the checksum that
 * they would have with it.
 */
export function looksLikeBlobFooter(bytes: Uint8Array, hashes: HashFunctions): boolean {
  if (startsWithBlobMagic(bytes)) return true;
  const mended = bytes.slice();
  writeFixed32(mended, 0, BLOB_FILE_MAGIC);
  return checksumHolds(mended, 0, FOOTER_FIELDS_SIZE, hashes);
}

/** Throws CorruptionError `blob_footer` for another magic or a wrong checksum. */
export function decodeBlobFooter(bytes: Uint8Array, hashes: HashFunctions): BlobFileFooter {
  if (!startsWithBlobMagic(bytes))
    throw new CorruptionError('blob_footer', 'the footer does not begin with the magic number of blob files');
  requireChecksum(bytes, 0, FOOTER_FIELDS_SIZE, hashes, 'blob_footer');
  return {
    blobCount: readFixed64(bytes, 4),
    expiration: { from: readFixed64(bytes, 12), to: readFixed64(bytes, 20) },
  };
}

export function encodeBlobFooter(footer: BlobFileFooter, hashes: HashFunctions): Uint8Array {
  const bytes = new Uint8Array(BLOB_FOOTER_SIZE);
  writeFixed32(bytes, 0, BLOB_FILE_MAGIC);
  writeFixed64(bytes, 4, footer.blobCount);
  writeFixed64(bytes, 12, footer.expiration.from);
  writeFixed64(bytes, 20, footer.expiration.to);
  writeFixed32(bytes, FOOTER_FIELDS_SIZE, maskCrc32c(hashes.crc32c(bytes, 0, FOOTER_FIELDS_SIZE)));
  return bytes;
}

/** Whether a record may begin at `pos`: its checksum holds. Cheap where its lengths are beyond `lengthMax`. */
export function isBlobRecordHeader(
  bytes: Uint8Array,
  pos: number,
  lengthMax: number,
  hashes: HashFunctions,
): boolean {
  const length = readLength(bytes, pos) + readLength(bytes, pos + 8);
  return length <= lengthMax && checksumHolds(bytes, pos, RECORD_LENGTHS_SIZE, hashes);
}

/** Decodes the record header at `pos`. Throws CorruptionError `blob_record_damaged` for a wrong checksum. */
export function decodeBlobRecordHeader(
  bytes: Uint8Array,
  pos: number,
  hashes: HashFunctions,
): BlobRecordHeader {
  requireChecksum(bytes, pos, RECORD_LENGTHS_SIZE, hashes, 'blob_record_damaged');
  return {
    keyLength: readLength(bytes, pos),
    valueLength: readLength(bytes, pos + 8),
    expiration: readFixed64(bytes, pos + 16),
    blobChecksum: readFixed32(bytes, pos + 28),
  };
}

/** A whole record. `value` is as it is to be stored. */
export function encodeBlobRecord(
  key: Uint8Array,
  value: Uint8Array,
  expiration: bigint,
  hashes: HashFunctions,
): Uint8Array {
  const bytes = new Uint8Array(BLOB_RECORD_HEADER_SIZE + key.length + value.length);
  writeFixed64(bytes, 0, BigInt(key.length));
  writeFixed64(bytes, 8, BigInt(value.length));
  writeFixed64(bytes, 16, expiration);
  bytes.set(key, BLOB_RECORD_HEADER_SIZE);
  bytes.set(value, BLOB_RECORD_HEADER_SIZE + key.length);
  writeFixed32(bytes, 24, maskCrc32c(hashes.crc32c(bytes, 0, RECORD_LENGTHS_SIZE)));
  writeFixed32(bytes, 28, maskCrc32c(hashes.crc32c(bytes, BLOB_RECORD_HEADER_SIZE, bytes.length)));
  return bytes;
}

/** Above 2^53 inexact, and too large for any file. */
function readLength(bytes: Uint8Array, pos: number): number {
  return readFixed32(bytes, pos + 4) * 2 ** 32 + readFixed32(bytes, pos);
}

function checksumHolds(bytes: Uint8Array, pos: number, length: number, hashes: HashFunctions): boolean {
  return readFixed32(bytes, pos + length) === maskCrc32c(hashes.crc32c(bytes, pos, pos + length));
}

function requireChecksum(
  bytes: Uint8Array,
  pos: number,
  length: number,
  hashes: HashFunctions,
  code: string,
): void {
  if (checksumHolds(bytes, pos, length, hashes)) return;
  const stored = hex32(readFixed32(bytes, pos + length));
  const computed = hex32(maskCrc32c(hashes.crc32c(bytes, pos, pos + length)));
  throw new CorruptionError(code, `crc32c mismatch, stored ${stored}, computed ${computed}`, {
    stored,
    computed,
  });
}
