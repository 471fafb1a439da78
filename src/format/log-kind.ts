import { ByteReader } from '../bytes/byte-reader.ts';
import { readFixed16, readFixed32 } from '../bytes/fixed.ts';
import { CorruptionError } from '../errors.ts';
import { maskCrc32c } from '../hash/crc32c.ts';
import type { HashFunctions } from '../hash/registry.ts';
import { TRAILER_SIZE } from './internal-key.ts';
import { headerSizeOf, LEGACY_HEADER_SIZE, LOG_BLOCK_SIZE, LogRecordType } from './log/log-format.ts';

/**
 * Tells logs by their beginning. WALs and MANIFESTs are both written in log format (log/log-format.ts), so that a
 * checksum that holds says "a log", and the payload says which: a write batch or a version edit.
 */
export type LogKind = 'wal' | 'manifest';

export interface LogGuess {
  /** Undefined: a log whose payload could be either. */
  readonly kind: LogKind | undefined;
  /** A record's checksum holds. Without, it is a guess from the shape of the first record. */
  readonly certain: boolean;
}

/** Full and First, whose payload begins a logical record. */
const { full: FULL, first: FIRST, last: LAST } = LogRecordType;
/** Full and First, plain and recyclable. */
const BEGINNING_TYPES: ReadonlySet<number> = new Set([FULL, FIRST, 5, 6]);
/** WALs alone have the types above 4: recycled, compressed, with timestamps, with their predecessor. */
const WAL_TYPES: ReadonlySet<number> = new Set([5, 6, 7, 8, 9, 10, 11, 130, 131]);

/** `head` is the beginning of a file, of two blocks at least where it has them. Undefined: it is no log. */
export function guessLog(head: Uint8Array, hashes: HashFunctions): LogGuess | undefined {
  let log = false;
  // A damaged first block does not hide a log: records begin again with the next one.
  for (let blockStart = 0; blockStart < head.length; blockStart += LOG_BLOCK_SIZE) {
    const blockEnd = Math.min(blockStart + LOG_BLOCK_SIZE, head.length);
    for (let pos = blockStart; pos + LEGACY_HEADER_SIZE <= blockEnd; ) {
      const type = head[pos + 6]!;
      const length = readFixed16(head, pos + 4);
      const payload = pos + headerSizeOf(type);
      const end = payload + length;
      if (!isKnownType(type) || end > blockEnd) break;
      const crc = maskCrc32c(hashes.crc32c(head, pos + 6, end));
      if (crc === readFixed32(head, pos)) {
        if (WAL_TYPES.has(type)) return { kind: 'wal', certain: true };
        log = true;
        const kind =
          type === FULL || type === FIRST ? payloadKind(head, payload, end, type === FULL) : undefined;
        if (kind !== undefined) return { kind, certain: true };
      }
      pos = end;
    }
  }
  return log ? { kind: undefined, certain: true } : guessFirstRecord(head);
}

/** A first record that is damaged, or cut off before its end: its shape is all there is. */
function guessFirstRecord(head: Uint8Array): LogGuess | undefined {
  if (head.length < LEGACY_HEADER_SIZE || !BEGINNING_TYPES.has(head[6]!)) return undefined;
  const type = head[6]!;
  const start = headerSizeOf(type);
  const end = start + readFixed16(head, 4);
  if (end > LOG_BLOCK_SIZE || start >= head.length) return undefined;
  // Behind a whole record comes the next header, zeros, or nothing.
  const nextType = head[end + 6];
  if (nextType !== undefined && nextType !== 0 && !isKnownType(nextType)) return undefined;
  const there = Math.min(end, head.length);
  // Of a few bytes too much could be the beginning.
  if (there - start < BATCH_HEADER_SIZE) return { kind: undefined, certain: false };
  const kind = payloadKind(head, start, there, type === FULL && end <= head.length);
  return { kind: kind === 'manifest' && WAL_TYPES.has(type) ? undefined : kind, certain: false };
}

function isKnownType(type: number): boolean {
  return (type >= FULL && type <= LAST) || WAL_TYPES.has(type);
}

/** Undefined where a payload could be both, as an empty one, or is neither. `whole`: it is all of its record. */
function payloadKind(bytes: Uint8Array, start: number, end: number, whole: boolean): LogKind | undefined {
  if (start === end) return undefined;
  const batch = isWriteBatch(bytes, start, end, whole);
  const edit = followsLayout(new ByteReader(bytes, 'log', start, end), EDIT_FIELDS, whole);
  if (batch === edit) return undefined;
  return batch ? 'wal' : 'manifest';
}

/**
 * Fields of a record by its tag, a letter each: v varint64, s length-prefixed bytes, k length-prefixed internal
 * key; c (tag, s) until tag 1, f (tag, s) until tag 0; w (tag, v) until tag 1.
 */
type Layout = ReadonlyMap<number, string>;

/** Write batch records. Source: RocksDB db/write_batch.cc. */
const BATCH_FIELDS: Layout = new Map([
  [0x00, 's'],
  [0x01, 'ss'],
  [0x02, 'ss'],
  [0x03, 's'],
  [0x04, 'vs'],
  [0x05, 'vss'],
  [0x06, 'vss'],
  [0x07, 's'],
  [0x08, 'vs'],
  [0x09, ''],
  [0x0a, 's'],
  [0x0b, 's'],
  [0x0c, 's'],
  [0x0d, ''],
  [0x0e, 'vss'],
  [0x0f, 'ss'],
  [0x10, 'vss'],
  [0x11, 'ss'],
  [0x12, ''],
  [0x13, ''],
  [0x15, 'ss'],
  [0x16, 'ss'],
  [0x17, 'vss'],
  [0x18, 'ss'],
  [0x19, 'vss'],
]);

/** Version edits. Source: RocksDB db/version_edit.cc; LevelDB db/version_edit.cc. */
const EDIT_FIELDS: Layout = new Map([
  [1, 's'],
  [2, 'v'],
  [3, 'v'],
  [4, 'v'],
  [5, 'vk'],
  [6, 'vv'],
  [7, 'vvvkk'],
  [9, 'v'],
  [10, 'v'],
  [100, 'vvvkkvv'],
  [102, 'vvvvkkvv'],
  [103, 'vvvkkvvc'],
  [200, 'v'],
  [201, 's'],
  [202, ''],
  [203, 'v'],
  [300, 'v'],
  [400, 'vvvssf'],
  [401, 'vvvf'],
  [8194, 'vvvssf'],
  [8195, 'vvvf'],
  [8196, 'vw'],
  [8197, 'v'],
]);
/** Edits with a higher tag that are not in the table carry their length, so that they can be skipped. */
const SKIPPABLE_TAG_BIT = 8192;

const BATCH_HEADER_SIZE = 12;

/** fixed64 sequence number of at most 56 bits, fixed32 count, records. */
function isWriteBatch(bytes: Uint8Array, start: number, end: number, whole: boolean): boolean {
  if (end - start < BATCH_HEADER_SIZE) return false;
  if (bytes[start + 7] !== 0) return false;
  if (whole && readFixed32(bytes, start + 8) > end - start) return false;
  return followsLayout(new ByteReader(bytes, 'log', start + BATCH_HEADER_SIZE, end), BATCH_FIELDS, whole);
}

/** Whether the rest of `reader` is records of this layout; unless it is whole, the last one may be cut off. */
function followsLayout(reader: ByteReader, layout: Layout, whole: boolean): boolean {
  try {
    while (reader.remaining > 0) {
      const tag = reader.varint32();
      const fields =
        layout.get(tag) ?? (layout === EDIT_FIELDS && (tag & SKIPPABLE_TAG_BIT) !== 0 ? 's' : undefined);
      if (fields === undefined) return false;
      for (const field of fields) if (!skipField(reader, field)) return false;
    }
    return true;
  } catch (error) {
    if (!(error instanceof CorruptionError)) throw error;
    return !whole;
  }
}

function skipField(reader: ByteReader, field: string): boolean {
  switch (field) {
    case 'v':
      reader.varint64Big();
      return true;
    case 's':
      reader.lengthPrefixed();
      return true;
    case 'k':
      return reader.lengthPrefixed().length >= TRAILER_SIZE;
    case 'c':
      while (reader.varint32() !== 1) reader.lengthPrefixed();
      return true;
    case 'f':
      while (reader.varint32() !== 0) reader.lengthPrefixed();
      return true;
    default:
      while (reader.varint32() !== 1) reader.varint64Big();
      return true;
  }
}
