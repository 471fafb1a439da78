import { ByteReader } from '../bytes/byte-reader.ts';
import { ByteWriter } from '../bytes/byte-writer.ts';
import { compareArrays } from '../bytes/compare.ts';
import { readFixed64 } from '../bytes/fixed.ts';
import { CorruptionError, InvalidArgumentError, UnsupportedError } from '../errors.ts';

/**
 * The values that have a structure of their own: blob references, wide columns, values with a preferred
 * sequence number. All decoders throw CorruptionError `entry_malformed`; encoders append to a writer.
 */

const BlobIndexType = { inlinedTtl: 0, blob: 1, blobTtl: 2 } as const;

/** The value of a `blob_index` entry. */
export type BlobIndex =
  | { kind: 'inlined_ttl'; expirationSeconds: number; value: Uint8Array }
  | {
      kind: 'blob' | 'blob_ttl';
      expirationSeconds: number | undefined;
      /** Number of the blob file; 0 where the value lies in this very table. */
      fileNumber: number;
      /** Of the stored value, not of its record's header. */
      offset: number;
      size: number;
      compressionType: number;
      /** The value, where somebody has looked it up. */
      value?: Uint8Array;
    };

/**
 * Layout: type (1); inlined with TTL: varint64 expiration, value. Blob: varint64 file number, varint64 offset,
 * varint64 size, compression type (1). Blob with TTL: varint64 expiration before these.
 * Source: RocksDB db/blob/blob_index.h.
 */
export function decodeBlobIndex(bytes: Uint8Array, start: number, end: number): BlobIndex {
  const reader = new ByteReader(bytes, 'entry_malformed', start, end);
  const type = reader.byte();
  if (type > BlobIndexType.blobTtl) return reader.fail(`blob reference of unknown kind ${type}`);
  const expirationSeconds = type === BlobIndexType.blob ? undefined : reader.varint64();
  if (type === BlobIndexType.inlinedTtl) {
    return { kind: 'inlined_ttl', expirationSeconds: expirationSeconds!, value: reader.rest() };
  }
  const fileNumber = reader.varint64();
  const offset = reader.varint64();
  const size = reader.varint64();
  const compressionType = reader.byte();
  if (reader.remaining !== 0) reader.fail(`blob reference with ${reader.remaining} bytes too many`);
  return {
    kind: type === BlobIndexType.blob ? 'blob' : 'blob_ttl',
    expirationSeconds,
    fileNumber,
    offset,
    size,
    compressionType,
  };
}

/** The inverse of `decodeBlobIndex`. */
export function encodeBlobIndex(blob: BlobIndex, out: ByteWriter): void {
  if (blob.kind === 'inlined_ttl') {
    out.byte(BlobIndexType.inlinedTtl);
    out.varint(blob.expirationSeconds);
    out.append(blob.value);
    return;
  }
  out.byte(blob.kind === 'blob' ? BlobIndexType.blob : BlobIndexType.blobTtl);
  if (blob.kind === 'blob_ttl') out.varint(blob.expirationSeconds ?? 0);
  out.varint(blob.fileNumber);
  out.varint(blob.offset);
  out.varint(blob.size);
  out.byte(blob.compressionType);
}

/** One column of an entity: its value, or where the value lies. */
export interface WideColumn {
  readonly name: Uint8Array;
  /** The bytes as stored: a blob reference's bytes where `blob` is there. */
  readonly value: Uint8Array;
  readonly blob?: BlobIndex;
}

const COLUMN_INLINE = 0x01;
const COLUMN_BLOB = 0x11;

/**
 * Columns of an `entity`, sorted by name; the default column has the empty name.
 *
 *   version 1: varint32 1, varint32 n, n x (length-prefixed name, varint32 value size), values
 *   version 2: varint32 2, varint32 n, varint32 bytes of A, of B, of the names; n column types;
 *              A = n varint32 name sizes; B = n varint32 value sizes; names; values
 *
 * Throws CorruptionError `entry_malformed`, UnsupportedError for another version.
 * Source: RocksDB db/wide/wide_column_serialization.h.
 */
export function decodeWideColumns(bytes: Uint8Array, start: number, end: number): WideColumn[] {
  const reader = new ByteReader(bytes, 'entry_malformed', start, end);
  const version = reader.varint32();
  if (version !== 1 && version !== 2) {
    throw new UnsupportedError(
      'entity version',
      version,
      `an entity of version ${version} is not known here`,
    );
  }
  const count = reader.varint32();
  if (count > reader.remaining) reader.fail(`${count} columns do not fit into ${reader.remaining} bytes`);
  const columns = version === 1 ? columnsOfVersion1(reader, count) : columnsOfVersion2(reader, count);
  if (reader.remaining !== 0) reader.fail(`entity with ${reader.remaining} bytes too many`);
  return columns;
}

function columnsOfVersion1(reader: ByteReader, count: number): WideColumn[] {
  const names: Uint8Array[] = [];
  const sizes: number[] = [];
  for (let i = 0; i < count; i++) {
    names.push(reader.lengthPrefixed());
    sizes.push(reader.varint32());
  }
  return names.map((name, i) => ({ name, value: reader.view(sizes[i]!) }));
}

function columnsOfVersion2(reader: ByteReader, count: number): WideColumn[] {
  const nameSizesBytes = reader.varint32();
  const valueSizesBytes = reader.varint32();
  const namesBytes = reader.varint32();
  const types = reader.view(count);
  const nameSizes = new ByteReader(reader.view(nameSizesBytes), 'entry_malformed');
  const valueSizes = new ByteReader(reader.view(valueSizesBytes), 'entry_malformed');
  const names = new ByteReader(reader.view(namesBytes), 'entry_malformed');
  const columns: WideColumn[] = [];
  for (let i = 0; i < count; i++) {
    const type = types[i]!;
    const name = names.view(nameSizes.varint32());
    const value = reader.view(valueSizes.varint32());
    if (type === COLUMN_INLINE) columns.push({ name, value });
    else if (type === COLUMN_BLOB)
      columns.push({ name, value, blob: decodeBlobIndex(value, 0, value.length) });
    else reader.fail(`column of unknown type ${type}`);
  }
  return columns;
}

/**
 * The inverse of `decodeWideColumns`: version 1, as every release writes it, and version 2 where a column is a blob
 * reference. Columns are put into the order of their names, as RocksDB does. Throws InvalidArgumentError for a name
 * that comes twice.
 */
export function encodeWideColumns(columns: readonly WideColumn[], out: ByteWriter): void {
  const sorted = [...columns].sort((a, b) => compareArrays(a.name, b.name));
  for (let i = 1; i < sorted.length; i++) {
    if (compareArrays(sorted[i - 1]!.name, sorted[i]!.name) !== 0) continue;
    throw new InvalidArgumentError('columns', '', 'an entity has two columns of the same name');
  }
  if (sorted.some(({ blob }) => blob !== undefined)) encodeVersion2(sorted, out);
  else encodeVersion1(sorted, out);
}

function encodeVersion1(columns: readonly WideColumn[], out: ByteWriter): void {
  out.varint(1);
  out.varint(columns.length);
  for (const { name, value } of columns) {
    out.lengthPrefixed(name);
    out.varint(value.length);
  }
  for (const { value } of columns) out.append(value);
}

function encodeVersion2(columns: readonly WideColumn[], out: ByteWriter): void {
  const nameSizes = new ByteWriter();
  const valueSizes = new ByteWriter();
  const names = new ByteWriter();
  for (const { name, value } of columns) {
    nameSizes.varint(name.length);
    valueSizes.varint(value.length);
    names.append(name);
  }
  out.varint(2);
  out.varint(columns.length);
  for (const part of [nameSizes, valueSizes, names]) out.varint(part.length);
  for (const { blob } of columns) out.byte(blob === undefined ? COLUMN_INLINE : COLUMN_BLOB);
  for (const part of [nameSizes, valueSizes, names]) out.append(part.view());
  for (const { value } of columns) out.append(value);
}

/** Bytes of preferred sequence number at the end of a `put_preferred_seqno` value. */
export const PREFERRED_SEQNO_SIZE = 8;

/**
 * The sequence number that a `put_preferred_seqno` asks for. Layout: value, fixed64 sequence number.
 * Throws CorruptionError `entry_malformed` below 8 bytes.
 * Source: RocksDB db/seqno_to_time_mapping.h, ParsePackedValueWithSeqno.
 */
export function decodePreferredSeqno(bytes: Uint8Array, start: number, end: number): bigint {
  if (end - start < PREFERRED_SEQNO_SIZE) {
    throw new CorruptionError(
      'entry_malformed',
      `a value of ${end - start} bytes has no preferred sequence number`,
    );
  }
  return readFixed64(bytes, end - PREFERRED_SEQNO_SIZE);
}
