import { readFixed32 } from '../bytes/fixed.ts';
import type { ByteSource } from '../bytes/source.ts';
import { maskCrc32c } from '../hash/crc32c.ts';
import { ChecksumType, type HashFunctions } from '../hash/registry.ts';
import { baseName, parseFileName } from './file-name.ts';
import { magicAt } from './footer.ts';
import { TRAILER_SIZE, trailerType } from './internal-key.ts';
import { guessLog } from './log-kind.ts';
import { BLOB_FILE_MAGIC, PEBBLE_MAGIC, type TableFormat, tableFormatOf } from './magic.ts';
import { isPointType } from './value-type.ts';

/** What a file is. The words stand in reports (`kind`). */
export type FileKind =
  | 'sst'
  | 'wal'
  | 'manifest'
  | 'blob'
  | 'options'
  | 'current'
  | 'identity'
  | 'info_log'
  | 'pebble'
  | 'encrypted'
  | 'text'
  | 'empty'
  | 'unknown';

export interface FileKindResult {
  readonly kind: FileKind;
  readonly detail: FileKindDetail;
}

/** For messages. */
export interface FileKindDetail {
  /** Of `sst`. */
  readonly tableFormat?: TableFormat;
  /** Of `pebble`: the table's format version. */
  readonly formatVersion?: number;
  /** Of `unknown` and `text`: a well-known format that is none of ours, such as `gzip` or `html`. */
  readonly guess?: string;
  /** What is to be said of it beside its kind. */
  readonly note?: string;
}

const SAMPLE_BYTES = 64 * 1024;
const MAGIC_BYTES = 8;
/** Magic at byte 0, blob count, expiration range, checksum. */
const BLOB_FOOTER_SIZE = 32;
const BLOB_FILE_VERSION = 1;

const PEBBLE_BLOB_MAGICS: ReadonlySet<string> = new Set(['80a69ff0b3aa9ff0', '82a69ff0b3aa9ff0']);

/** Formats that turn up where a table was expected: a download that was not unpacked, a wrong path. */
const FOREIGN: readonly (readonly [name: string, offset: number, bytes: string])[] = [
  ['gzip', 0, '\x1f\x8b\x08'],
  ['zip', 0, 'PK\x03\x04'],
  ['zip', 0, 'PK\x05\x06'],
  ['zstd', 0, '\x28\xb5\x2f\xfd'],
  ['xz', 0, '\xfd7zXZ\0'],
  ['bzip2', 4, '1AY&SY'],
  ['lz4', 0, '\x04\x22\x4d\x18'],
  ['7z', 0, "7z\xbc\xaf'\x1c"],
  ['tar', 257, 'ustar'],
  ['sqlite', 0, 'SQLite format 3\0'],
  ['elf', 0, '\x7fELF'],
  ['parquet', 0, 'PAR1'],
  ['pdf', 0, '%PDF-'],
  ['png', 0, '\x89PNG'],
];

/**
 * Tells what a file is by its content. `name`, the path or a part of it, only breaks ties, where a log's first
 * record could be of either kind or is cut off. Reads the last bytes, where a table has its magic number; if
 * it is none, 64 KiB from the start; and where these look like noise, 64 KiB from the end.
 * A table without its footer is `unknown` here: its blocks can still be found (recover-table.ts).
 * Throws what the source throws.
 */
export function detectFileKind(source: ByteSource, hashes: HashFunctions, name?: string): FileKindResult {
  if (source.size === 0) return { kind: 'empty', detail: {} };
  const end = source.read(
    source.size - Math.min(source.size, BLOB_FOOTER_SIZE),
    Math.min(source.size, BLOB_FOOTER_SIZE),
  );
  const ended = kindByEnd(end);
  if (ended !== undefined) return ended;
  const head = source.read(0, Math.min(source.size, SAMPLE_BYTES));
  return (
    kindOfLog(head, hashes, name) ??
    kindOfBlob(head, end, hashes) ??
    kindOfForeign(head) ??
    kindOfText(head, source.size, name) ??
    kindOfBytes(head, source, hashes)
  );
}

function kindByEnd(end: Uint8Array): FileKindResult | undefined {
  if (end.length < MAGIC_BYTES) return undefined;
  const magic = magicAt(end, end.length);
  const tableFormat = tableFormatOf(magic);
  if (tableFormat !== undefined) return { kind: 'sst', detail: { tableFormat } };
  if (magic === PEBBLE_MAGIC && end.length >= MAGIC_BYTES + 4) {
    const formatVersion = readFixed32(end, end.length - MAGIC_BYTES - 4);
    return { kind: 'pebble', detail: { formatVersion, note: "a table in a format of Pebble's own" } };
  }
  if (PEBBLE_BLOB_MAGICS.has(magic)) return { kind: 'pebble', detail: { note: 'a blob file of Pebble' } };
  return undefined;
}

function kindOfLog(
  head: Uint8Array,
  hashes: HashFunctions,
  name: string | undefined,
): FileKindResult | undefined {
  const named = name === undefined ? undefined : parseFileName(baseName(name))?.type;
  const byName = named === 'wal' || named === 'manifest' ? named : undefined;
  if (byName === 'wal' && isZeros(head)) {
    // Space that was reserved and never written: readers skip it.
    return { kind: 'wal', detail: { note: `the first ${head.length} bytes are zeros` } };
  }
  const log = guessLog(head, hashes);
  if (log === undefined) return undefined;
  if (log.certain) {
    if (log.kind !== undefined) return { kind: log.kind, detail: {} };
    return { kind: byName ?? 'wal', detail: { note: 'a log whose first records tell no kind' } };
  }
  const kind = byName ?? log.kind;
  if (kind === undefined) return undefined;
  return { kind, detail: { note: 'no record near the start of the log has a checksum that holds' } };
}

function kindOfBlob(head: Uint8Array, end: Uint8Array, hashes: HashFunctions): FileKindResult | undefined {
  if (head.length >= 8 && readFixed32(head, 0) === BLOB_FILE_MAGIC) {
    const version = readFixed32(head, 4);
    return {
      kind: 'blob',
      detail: version === BLOB_FILE_VERSION ? {} : { note: `blob file version ${version}` },
    };
  }
  if (end.length < BLOB_FOOTER_SIZE || readFixed32(end, 0) !== BLOB_FILE_MAGIC) return undefined;
  const checksum = maskCrc32c(hashes.crc32c(end, 0, BLOB_FOOTER_SIZE - 4));
  if (checksum !== readFixed32(end, BLOB_FOOTER_SIZE - 4)) return undefined;
  return { kind: 'blob', detail: { note: 'the header is damaged, the footer is whole' } };
}

function kindOfForeign(head: Uint8Array): FileKindResult | undefined {
  const found = FOREIGN.find(([, offset, bytes]) => latin1(head, offset, offset + bytes.length) === bytes);
  return found === undefined
    ? undefined
    : { kind: 'unknown', detail: { guess: found[0], note: `a ${found[0]} file` } };
}

const MANIFEST_NAME = /^MANIFEST-\d+(\r?\n)?$/;
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\s*$/i;
/** `2026/01/31-12:59:59.123456 7f2c ` in front of each line. */
const INFO_LOG_LINE = /^\d{4}\/\d\d\/\d\d-\d\d:\d\d:\d\d\.\d{6} [0-9a-fx]+ /;
const OPTIONS_SECTION = /^\s*\[(Version|DBOptions|CFOptions "|TableOptions\/)/m;
/** Longer than any of the small files. */
const SMALL_FILE_BYTES = 256;

function kindOfText(head: Uint8Array, size: number, name: string | undefined): FileKindResult | undefined {
  const start = latin1(head, 0, 4096);
  // Values of options and texts of log lines may hold any byte: these two are told by how they begin.
  if (INFO_LOG_LINE.test(start)) return { kind: 'info_log', detail: {} };
  if (/^\s*[#[]/.test(start) && OPTIONS_SECTION.test(start)) return { kind: 'options', detail: {} };
  if (!isText(head)) return undefined;
  if (size <= SMALL_FILE_BYTES) {
    if (MANIFEST_NAME.test(start)) {
      return {
        kind: 'current',
        detail: start.endsWith('\n') ? {} : { note: 'the line feed at the end is missing' },
      };
    }
    const named = name === undefined ? undefined : parseFileName(baseName(name))?.type;
    if (UUID.test(start) || named === 'identity') return { kind: 'identity', detail: {} };
  }
  const guess = textGuess(start);
  return {
    kind: 'text',
    detail: guess === undefined ? {} : { guess, note: `a text that looks like ${guess}` },
  };
}

function textGuess(start: string): string | undefined {
  if (start.startsWith('version https://git-lfs.')) return 'a Git LFS pointer';
  if (/^\s*<\?xml/i.test(start)) return 'xml';
  if (/^\s*<(!doctype html|html)/i.test(start)) return 'html';
  if (/^\s*[[{]/.test(start)) return 'json';
  return undefined;
}

const TABLE_NOTE = 'it begins like a table, but does not end in a footer';

/** What has no beginning and no end that is known here. */
function kindOfBytes(head: Uint8Array, source: ByteSource, hashes: HashFunctions): FileKindResult {
  const { size } = source;
  if (isZeros(head)) {
    return { kind: 'unknown', detail: { note: `the first ${head.length} of ${size} bytes are zeros` } };
  }
  if (beginsLikeTable(head)) {
    return { kind: 'unknown', detail: { note: TABLE_NOTE } };
  }
  const tailLength = Math.min(size, SAMPLE_BYTES);
  if (!isNoise(head) || !isNoise(source.read(size - tailLength, tailLength)))
    return { kind: 'unknown', detail: {} };
  if (isPieceOfTable(head, hashes)) return { kind: 'unknown', detail: { note: TABLE_NOTE } };
  return {
    kind: 'encrypted',
    detail: { note: 'no known magic number, and bytes like random ones: encrypted' },
  };
}

function isZeros(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  let text = '';
  for (let i = start; i < end && i < bytes.length; i++) text += String.fromCharCode(bytes[i]!);
  return text;
}

/** UTF-8 without control characters other than white space; the last character may be cut off. */
function isText(bytes: Uint8Array): boolean {
  for (const byte of bytes) {
    if (byte < 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0c && byte !== 0x0d && byte !== 0x1b)
      return false;
  }
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}

/** Entries that have to fit before a block is believed in. */
const MIN_ENTRIES = 3;
const COMPRESSED_MARK = /^(\x28\xb5\x2f\xfd|BZh[1-9]1AY&SY)/;

/**
 * Whether the first data block is at byte 0: entries whose keys are internal keys, or varint32 size and what zstd
 * or bzip2 begin with. The other codecs' data have no mark of their own.
 */
function beginsLikeTable(head: Uint8Array): boolean {
  for (let pos = 1; pos <= 4 && pos < head.length; pos++) {
    if (head[pos - 1]! < 0x80 && COMPRESSED_MARK.test(latin1(head, pos, pos + 10))) return true;
  }
  const key = new Uint8Array(256);
  let keyLength = 0;
  let pos = 0;
  for (let count = 0; count < MIN_ENTRIES; count++) {
    if (pos + 4 > head.length) return false;
    const shared = head[pos]!;
    const nonShared = head[pos + 1]!;
    // Lengths of one byte; a value's may have two.
    let valueLength = head[pos + 2]!;
    let keyStart = pos + 3;
    if (valueLength >= 0x80) valueLength = (valueLength & 0x7f) + 0x80 * head[keyStart++]!;
    const keyEnd = keyStart + nonShared;
    if (keyEnd + valueLength > head.length || shared > keyLength || shared + nonShared > 127) return false;
    key.set(head.subarray(keyStart, keyEnd), shared);
    keyLength = shared + nonShared;
    if (keyLength < TRAILER_SIZE || !isPointType(trailerType(key, keyLength))) return false;
    pos = keyEnd + valueLength;
  }
  return true;
}

/** In larger pieces compressed data no longer looks like noise. */
const SMALL_PIECE_BYTES = 16 * 1024;
const FIRST_BLOCK_BYTES = 8 * 1024;

/**
 * Whether a small piece of a file begins with a block whose checksum holds: well compressed blocks look like noise.
 * From format_version 6 on checksums have an unknown number added, and the block is not found so.
 */
function isPieceOfTable(head: Uint8Array, hashes: HashFunctions): boolean {
  if (head.length > SMALL_PIECE_BYTES) return false;
  const end = Math.min(head.length, FIRST_BLOCK_BYTES);
  return [ChecksumType.crc32c, ChecksumType.xxh3].some(
    (checksumType) => hashes.findBlockEnd(head, 0, end, { checksumType, minLength: TRAILER_SIZE }) >= 0,
  );
}

/** Of fewer bytes nothing can be said. */
const MIN_NOISE_BYTES = 4096;
const ZERO_RUN = 8;

/**
 * Whether each byte value is as frequent as the next. In n random bytes, entropy falls short of 8 bits by about
 * 255 / (2 n ln 2), with a standard deviation of a tenth of it; twice that is allowed (0.09 bits in 4 KiB,
 * 0.006 in 64 KiB). Compressed data stays outside in larger samples: headers and code tables repeat.
 */
function isNoise(sample: Uint8Array): boolean {
  const n = sample.length;
  if (n < MIN_NOISE_BYTES) return false;
  const counts = new Uint32Array(256);
  let zeros = 0;
  for (const byte of sample) {
    counts[byte]!++;
    zeros = byte === 0 ? zeros + 1 : 0;
    if (zeros === ZERO_RUN) return false;
  }
  let entropyBits = 0;
  for (const count of counts) if (count > 0) entropyBits -= (count / n) * Math.log2(count / n);
  return 8 - entropyBits <= 255 / (n * Math.LN2);
}
