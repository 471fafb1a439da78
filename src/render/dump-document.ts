import type { SstError } from '../errors.ts';
import type { MetaindexEntry } from '../format/metaindex.ts';
import type { BlockRow } from '../tools/dump/walk-blocks.ts';
import type { Finding } from '../tools/finding.ts';
import { type BytesMode, formatHex, formatKey } from './key-format.ts';

/** Pieces of a dump's JSON documents (schema/dump.schema.json). */

interface JsonObject {
  readonly [name: string]: unknown;
}

/** What every document of a file begins with. */
export function documentHead(path: string, size: number, kind = 'sst'): JsonObject {
  return { kind, path, size };
}

export function metaindexJson(metaindex: readonly MetaindexEntry[] | undefined): JsonObject[] | null {
  return metaindex?.map(({ name, type, offset, size }) => ({ name, offset, size, type })) ?? null;
}

/** As in the document of an error that ends a command. */
export function errorJson(error: SstError): JsonObject {
  const { file, offset, blockType } = error as { file?: string; offset?: number; blockType?: string };
  // Undefined members are left out by JSON.
  return { code: error.code, message: error.message, file, offset, blockType };
}

export function findingJson(finding: Finding): JsonObject {
  const { code, severity, message, block, stored, computed, lost, shape } = finding;
  return {
    code,
    severity,
    message,
    ...(block === undefined
      ? {}
      : { block: { type: block.type, offset: block.offset, size: block.size, ordinal: block.ordinal } }),
    ...(stored === undefined ? {} : { stored }),
    ...(computed === undefined ? {} : { computed }),
    ...(lost === undefined
      ? {}
      : { lost: { after: hexOrNull(lost.after), before: hexOrNull(lost.before), entries: lost.entries } }),
    ...(shape === undefined ? {} : { shape }),
  };
}

/** A row of `--blocks`. */
export function blockRowJson(row: BlockRow, bytes: BytesMode): JsonObject {
  return {
    ordinal: row.ordinal,
    type: row.type,
    ...(row.name === null ? {} : { name: row.name }),
    offset: row.offset,
    size: row.size,
    rawSize: row.rawSize,
    compression: row.compression,
    checksum: row.storedChecksum === null ? null : checksumText(row.storedChecksum),
    checksumOk: row.checksumHolds,
    entries: row.entries,
    restarts: row.restarts,
    firstKey: row.firstKey === null ? null : formatKey(row.firstKey, bytes),
    lastKey: row.lastKey === null ? null : formatKey(row.lastKey, bytes),
    ...(row.hashBuckets === 0 ? {} : { hashBuckets: row.hashBuckets }),
    ...(row.separated ? { separated: true } : {}),
    ...(row.uniformKeys ? { uniformKeys: true } : {}),
  };
}

/** A checksum, eight hexadecimal digits. */
export function checksumText(value: number): string {
  return value.toString(16).padStart(8, '0');
}

function hexOrNull(bytes: Uint8Array | null): string | null {
  return bytes === null ? null : formatHex(bytes);
}
