/**
 * The format of WALs and MANIFESTs: records in blocks of 32768 bytes, none across the end of a block.
 *
 *   legacy header, 7 bytes:       masked crc32c (4), payload length (2), type (1)
 *   recyclable header, 11 bytes:  the same, then the low 32 bits of the log's number (4)
 *
 * The checksum is over all that follows the length: type, log number where there is one, payload. A record that does
 * not fit is cut into fragments: First, any number of Middle, Last. Where fewer bytes than a header are left in a
 * block they are zeros. Source: RocksDB db/log_format.h; LevelDB doc/log_format.md has the legacy part.
 */
export const LOG_BLOCK_SIZE = 32768;
export const LEGACY_HEADER_SIZE = 7;
export const RECYCLABLE_HEADER_SIZE = 11;

/** On disk. Types of the same name differ in their header alone. */
export const LogRecordType = {
  /** With length 0: the rest of the block is filler. */
  zero: 0,
  full: 1,
  first: 2,
  middle: 3,
  last: 4,
  recyclableFull: 5,
  recyclableFirst: 6,
  recyclableMiddle: 7,
  recyclableLast: 8,
  /** Legacy header always; the first record of its file. */
  setCompressionType: 9,
  timestampSizes: 10,
  recyclableTimestampSizes: 11,
  predecessorWal: 130,
  recyclablePredecessorWal: 131,
} as const;

/** A record of a type that is not known and has this bit is passed over. */
export const IGNORABLE_TYPE_BIT = 0x80;

const RECYCLABLE_TYPES: ReadonlySet<number> = new Set([5, 6, 7, 8, 11, 131]);

/** Whether the header has a log number. */
export function isRecyclableType(type: number): boolean {
  return RECYCLABLE_TYPES.has(type);
}

/** Bytes in front of the payload of a record of this type. */
export function headerSizeOf(type: number): number {
  return isRecyclableType(type) ? RECYCLABLE_HEADER_SIZE : LEGACY_HEADER_SIZE;
}

/** Fragments of data, of both headers. */
export function isDataType(type: number): boolean {
  return type >= LogRecordType.full && type <= LogRecordType.recyclableLast;
}

/** The legacy type of the same meaning: 5 to 8 become 1 to 4, 11 becomes 10, 131 becomes 130. */
export function legacyTypeOf(type: number): number {
  if (type >= LogRecordType.recyclableFull && type <= LogRecordType.recyclableLast) return type - 4;
  return isRecyclableType(type) ? type - 1 : type;
}

/** Of types that tell something about the log itself; they are never cut into fragments. */
export type LogControlKind = 'compression_type' | 'timestamp_sizes' | 'predecessor_wal';

/** Undefined: data, filler, or a type that is not known. */
export function controlKindOf(type: number): LogControlKind | undefined {
  switch (legacyTypeOf(type)) {
    case LogRecordType.setCompressionType:
      return 'compression_type';
    case LogRecordType.timestampSizes:
      return 'timestamp_sizes';
    case LogRecordType.predecessorWal:
      return 'predecessor_wal';
    default:
      return undefined;
  }
}
