import { ByteReader } from '../bytes/byte-reader.ts';
import { readFixed32 } from '../bytes/fixed.ts';
import type { ByteSource } from '../bytes/source.ts';
import { hex32 } from '../bytes/text.ts';
import { CorruptionError, UnsupportedError } from '../errors.ts';
import { bufferChecksum, contextModifier } from '../hash/block-checksum.ts';
import { ChecksumType, checksumName, type HashFunctions } from '../hash/registry.ts';
import { BLOCK_TRAILER_SIZE, type BlockHandle, decodeBlockHandle } from './block-handle.ts';
import { EXTENDED_FOOTER_MAGIC, PEBBLE_MAGIC, type TableFormat, TableMagic, tableFormatOf } from './magic.ts';

/**
 * The end of a table file.
 *
 *   legacy, 48 bytes (LevelDB, format_version 0, plain tables)
 *     0   metaindex handle, index handle, zeros    40
 *     40  magic                                     8
 *
 *   format_version 1 to 5, and cuckoo tables, 53 bytes
 *     0   checksum type                             1
 *     1   metaindex handle, index handle, zeros    40   (the zeros are not checked by any reader)
 *     41  format version, fixed32                   4
 *     45  magic                                     8
 *
 *   format_version 6 and 7, 53 bytes
 *     0   checksum type                             1
 *     1   3e 00 7a 00                               4
 *     5   checksum of these 53 bytes, this field 0  4
 *     9   base context checksum, never 0            4
 *     13  metaindex size                            4   (the block lies right before the footer)
 *     17  reserved, ignored                        16
 *     33  reserved, 0 or a feature we do not know   8
 *     41  format version                            4
 *     45  magic                                     8
 *
 * Source: RocksDB table/format.h, Footer; LevelDB table/format.h.
 */
export const LEGACY_FOOTER_SIZE = 48;
export const FOOTER_SIZE = 53;

export const MAX_FORMAT_VERSION = 7;

export interface Footer {
  readonly magic: string;
  readonly format: TableFormat;
  /** 0 for the legacy footer. */
  readonly formatVersion: number;
  readonly checksumType: ChecksumType;
  /** 0 before format_version 6: block checksums then do not depend on file and offset. */
  readonly baseContextChecksum: number;
  readonly metaindex: BlockHandle;
  /** Null from format_version 6 on: the metaindex names the index. */
  readonly index: BlockHandle | null;
  /** Where the footer begins in the file, and its size. */
  readonly offset: number;
  readonly size: number;
}

/** The last eight bytes before `end` as the hexadecimal text of a number. */
export function magicAt(bytes: Uint8Array, end: number): string {
  return hex32(readFixed32(bytes, end - 4)) + hex32(readFixed32(bytes, end - 8));
}

/**
 * Decodes the footer that ends at `end` in `bytes`; `fileOffset` is where `bytes` begins in the file.
 * Throws CorruptionError `footer_magic`, `footer_checksum`, `footer_version`, or UnsupportedError for a
 * version or feature that is newer than this code, or for Pebble's tables.
 */
export function decodeFooter(
  bytes: Uint8Array,
  end: number,
  fileOffset: number,
  hashes: HashFunctions,
): Footer {
  if (end < 8) throw new CorruptionError('footer_magic', `${end} bytes are too few for a table's footer`);
  const magic = magicAt(bytes, end);
  const format = tableFormatOf(magic);
  if (format === undefined) {
    if (magic === PEBBLE_MAGIC) {
      throw new UnsupportedError('table format', 'pebble', "a table in a format of Pebble's own");
    }
    throw new CorruptionError('footer_magic', `the last eight bytes are ${magic}, no table's magic number`);
  }
  const legacy = magic === TableMagic.levelDb || magic === TableMagic.plainLegacy;
  const size = legacy ? LEGACY_FOOTER_SIZE : FOOTER_SIZE;
  if (end < size) {
    throw new CorruptionError('footer_magic', `${end} bytes are too few for a footer of ${size}`);
  }
  const start = end - size;
  const place = { offset: fileOffset + start, size };
  if (legacy) {
    const reader = new ByteReader(bytes, 'footer_handle', start, end - 8);
    const metaindex = decodeBlockHandle(reader);
    const index = decodeBlockHandle(reader);
    const checksumType = format === 'plain' ? ChecksumType.none : ChecksumType.crc32c;
    return {
      magic,
      format,
      formatVersion: 0,
      checksumType,
      baseContextChecksum: 0,
      metaindex,
      index,
      ...place,
    };
  }
  const formatVersion = readFixed32(bytes, end - 12);
  const checksumType = bytes[start]!;
  if (readFixed32(bytes, start + 1) === EXTENDED_FOOTER_MAGIC && formatVersion >= 6) {
    return decodeExtendedFooter(bytes, start, fileOffset, { magic, format, formatVersion, ...place }, hashes);
  }
  if (formatVersion === 0 || formatVersion > 5) throw unexpectedVersion(formatVersion);
  if (checksumName(checksumType) === undefined) {
    throw new CorruptionError('footer_version', `checksum type ${checksumType} does not exist`);
  }
  const reader = new ByteReader(bytes, 'footer_handle', start + 1, end - 12);
  const metaindex = decodeBlockHandle(reader);
  const index = decodeBlockHandle(reader);
  return {
    magic,
    format,
    formatVersion,
    checksumType: checksumType as ChecksumType,
    baseContextChecksum: 0,
    metaindex,
    index,
    ...place,
  };
}

function decodeExtendedFooter(
  bytes: Uint8Array,
  start: number,
  fileOffset: number,
  head: { magic: string; format: TableFormat; formatVersion: number; offset: number; size: number },
  hashes: HashFunctions,
): Footer {
  const checksumType = bytes[start]!;
  if (checksumName(checksumType) === undefined) {
    throw new CorruptionError('footer_version', `checksum type ${checksumType} does not exist`);
  }
  const stored = readFixed32(bytes, start + 5);
  const baseContextChecksum = readFixed32(bytes, start + 9);
  const blank = bytes.slice(start, start + FOOTER_SIZE);
  blank.fill(0, 5, 9);
  const plain = bufferChecksum(hashes, checksumType as ChecksumType, blank, 0, FOOTER_SIZE);
  const computed = (plain + contextModifier(baseContextChecksum, head.offset)) >>> 0;
  if (stored !== computed) {
    throw new CorruptionError(
      'footer_checksum',
      `footer checksum mismatch, stored ${hex32(stored)}, computed ${hex32(computed)}`,
      { stored: hex32(stored), computed: hex32(computed) },
    );
  }
  if (head.formatVersion > MAX_FORMAT_VERSION) throw unknownVersion(head.formatVersion);
  if (baseContextChecksum === 0) {
    throw new CorruptionError('footer_checksum', 'the base context checksum is 0, which no writer chooses');
  }
  if (readFixed32(bytes, start + 33) !== 0 || readFixed32(bytes, start + 37) !== 0) {
    throw new UnsupportedError(
      'footer feature',
      'reserved bytes',
      'the footer asks for a feature that is not known here',
    );
  }
  const size = readFixed32(bytes, start + 13);
  const offset = fileOffset + start - BLOCK_TRAILER_SIZE - size;
  if (offset < 0)
    throw new CorruptionError('footer_handle', `a metaindex of ${size} bytes does not fit into the file`);
  return {
    ...head,
    checksumType: checksumType as ChecksumType,
    baseContextChecksum,
    metaindex: { offset, size },
    index: null,
  };
}

/** A version that this footer layout cannot have; it has no checksum that could tell damage from the future. */
function unexpectedVersion(version: number): CorruptionError | UnsupportedError {
  if (version > MAX_FORMAT_VERSION && version <= 0xffff) return unknownVersion(version);
  return new CorruptionError(
    'footer_version',
    version > 0xffff
      ? 'the footer is damaged: its format version is no small number'
      : `the footer is damaged: it says format_version ${version} and has the layout of another`,
  );
}

function unknownVersion(version: number): UnsupportedError {
  return new UnsupportedError(
    'format_version',
    version,
    `format_version ${version} is newer than ${MAX_FORMAT_VERSION}, the newest that is known here`,
  );
}

/** Reads the footer at the end of a file. Errors carry the file's name and the place. */
export function readFooter(source: ByteSource, hashes: HashFunctions): Footer {
  return readFooterAt(source, source.size, hashes);
}

/** Reads a footer that ends at `end`, where bytes were appended behind it. */
export function readFooterAt(source: ByteSource, end: number, hashes: HashFunctions): Footer {
  const length = Math.min(end, FOOTER_SIZE);
  const bytes = source.read(end - length, length);
  try {
    return decodeFooter(bytes, length, end - length, hashes);
  } catch (error) {
    const place = { file: source.name, offset: end - length, blockType: 'footer' };
    if (error instanceof CorruptionError || error instanceof UnsupportedError) throw error.at(place);
    throw error;
  }
}
