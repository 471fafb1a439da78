import type { BlobFileFooter, ExpirationRange } from '../format/blob/blob-file.ts';
import type { BlobHeaderView, BlobRecordView } from '../tools/dump/blob-dump.ts';
import { integerJson, writeJsonBytes } from './json.ts';
import type { BytesMode } from './key-format.ts';
import type { ByteSink } from './sink.ts';

/** Pieces of a blob file's JSON document (schema/dump.schema.json). */

interface JsonObject {
  readonly [name: string]: unknown;
}

/** 2^64 - 1 stands for "never". */
const NEVER = 2n ** 64n - 1n;

export function blobHeaderJson(header: BlobHeaderView | undefined): JsonObject | null {
  if (header === undefined) return null;
  const { version, columnFamily, hasTtl, compression, expiration } = header;
  return { version, columnFamily, hasTtl, compression, ...expirationsJson(expiration) };
}

export function blobFooterJson(footer: BlobFileFooter | undefined): JsonObject | null {
  if (footer === undefined) return null;
  return { blobCount: integerJson(footer.blobCount), ...expirationsJson(footer.expiration) };
}

/** Writes a record without its opening brace; its value is never held as a text. */
export function writeBlobRecordJson(sink: ByteSink, record: BlobRecordView, bytes: BytesMode): void {
  const { offset, valueOffset, key, value, size, expiration } = record;
  sink.writeText(`"offset":${offset},"valueOffset":${valueOffset},"key":`);
  writeJsonBytes(sink, key, bytes);
  sink.writeText(',"value":');
  if (value === undefined) sink.writeText('null');
  else writeJsonBytes(sink, value, bytes);
  sink.writeText(`,"size":${size}`);
  if (expiration !== 0n) sink.writeText(`,"expiration":${JSON.stringify(expirationJson(expiration))}`);
  sink.writeText('}');
}

function expirationsJson({ from, to }: ExpirationRange): JsonObject {
  return { expirationFrom: expirationJson(from), expirationTo: expirationJson(to) };
}

function expirationJson(seconds: bigint): number | string | null {
  return seconds === NEVER ? null : integerJson(seconds);
}
