import { ByteReader } from '../../bytes/byte-reader.ts';
import { ByteWriter } from '../../bytes/byte-writer.ts';

/**
 * Payloads of the records that say something about a log itself. All of them appear in WALs alone.
 * Decoders throw CorruptionError `log_record_damaged`.
 * Source: RocksDB util/udt_util.h, db/log_reader.h, db/dbformat.h (PredecessorWALInfo).
 */
const CODE = 'log_record_damaged';

/** fixed32 compression type: how the payloads of all data records behind it are compressed. In use: 7, ZSTD. */
export function decodeCompressionType(payload: Uint8Array): number {
  const reader = new ByteReader(payload, CODE);
  const type = reader.fixed32();
  atEnd(reader);
  return type;
}

export function encodeCompressionType(type: number): Uint8Array {
  const writer = new ByteWriter(4);
  writer.fixed32(type);
  return writer.copy();
}

/** Bytes of timestamp that keys of a column family end in, for the records that follow. */
export interface LogTimestampSize {
  readonly columnFamily: number;
  /** Above 0. */
  readonly size: number;
}

/** Repeated: fixed32 column family, fixed16 size. */
export function decodeTimestampSizes(payload: Uint8Array): LogTimestampSize[] {
  const reader = new ByteReader(payload, CODE);
  const sizes: LogTimestampSize[] = [];
  while (reader.remaining > 0) {
    const columnFamily = reader.fixed32();
    const size = reader.byte() | (reader.byte() << 8);
    if (size === 0) reader.fail(`timestamps of 0 bytes for column family ${columnFamily}`);
    sizes.push({ columnFamily, size });
  }
  return sizes;
}

export function encodeTimestampSizes(sizes: readonly LogTimestampSize[]): Uint8Array {
  const writer = new ByteWriter(6 * sizes.length);
  for (const { columnFamily, size } of sizes) {
    writer.fixed32(columnFamily);
    writer.fixed16(size);
  }
  return writer.copy();
}

/** The WAL before this one: fixed64 number, fixed64 size in bytes, fixed64 last sequence number. */
export interface PredecessorWal {
  readonly logNumber: bigint;
  readonly size: bigint;
  readonly lastSeqno: bigint;
}

/** Throws CorruptionError where it has not exactly these 24 bytes. */
export function decodePredecessorWal(payload: Uint8Array): PredecessorWal {
  const reader = new ByteReader(payload, CODE);
  const wal = { logNumber: reader.fixed64(), size: reader.fixed64(), lastSeqno: reader.fixed64() };
  atEnd(reader);
  return wal;
}

export function encodePredecessorWal({ logNumber, size, lastSeqno }: PredecessorWal): Uint8Array {
  const writer = new ByteWriter(24);
  for (const value of [logNumber, size, lastSeqno]) writer.fixed64(value);
  return writer.copy();
}

function atEnd(reader: ByteReader): void {
  if (reader.remaining > 0) reader.fail(`${reader.remaining} bytes behind the last field`);
}
