import type { ErrorPlace, SstError } from '../errors.ts';
import type { GetResult, ShownValue, VersionRow } from '../tools/get.ts';
import { writeJsonDocument } from './json.ts';
import { type BytesMode, formatKey } from './key-format.ts';
import { blobFields, blobText } from './rows.ts';
import type { ByteSink } from './sink.ts';

/**
 * One line a key: key, sequence number, type, value, parted by TABs as in `scan`; or the key and `not found`, or `not
 * readable`.
 */
export function writeGetText(sink: ByteSink, results: readonly GetResult[], bytes: BytesMode): void {
  for (const result of results) {
    const key = formatKey(result.key, bytes);
    if (!result.found) sink.writeLine(`${key}\t${result.error === undefined ? 'not found' : 'not readable'}`);
    else sink.writeLine([key, result.seqno, result.type, ...valueTexts(result, bytes)].join('\t'));
  }
}

export function writeGetJson(sink: ByteSink, results: readonly GetResult[], bytes: BytesMode): void {
  writeJsonDocument(sink, {
    schema: 1,
    results: results.map((result) => {
      const key = formatKey(result.key, bytes);
      if (!result.found) {
        return {
          key,
          found: false,
          ...(result.error === undefined ? {} : { error: errorFields(result.error) }),
        };
      }
      const { seqno, type, file } = result;
      return { key, found: true, ...valueFields(result, bytes), seqno, type, file };
    }),
  });
}

/** As in the document of an error. Undefined members are left out by JSON. */
function errorFields(error: SstError & ErrorPlace): object {
  const { code, message, file, offset, blockType } = error;
  return { code, message, file, offset, blockType };
}

/** File first, then as a row of `scan`, then block offset and what covers it. */
export function writeVersionsText(sink: ByteSink, rows: readonly VersionRow[], bytes: BytesMode): void {
  for (const row of rows) {
    const { file, key, timestamp, seqno, storedSeqno, type, blockOffset, coveredBy } = row;
    const place = [
      ...(timestamp.length === 0 ? [] : [`timestamp=${formatKey(timestamp, 'hex')}`]),
      ...(row.preferredSeqno === undefined ? [] : [`preferredSeqno=${row.preferredSeqno}`]),
      ...(storedSeqno === null ? [] : [`storedSeqno=${storedSeqno}`]),
      `block ${blockOffset}`,
      ...coveredBy.map((covering) => `covered by ${covering}`),
    ];
    sink.writeLine(
      [file, formatKey(key, bytes), seqno, type, ...valueTexts(row, bytes), ...place].join('\t'),
    );
  }
}

export function writeVersionsNdjson(sink: ByteSink, rows: readonly VersionRow[], bytes: BytesMode): void {
  for (const row of rows) writeJsonDocument(sink, versionFields(row, bytes));
}

export function writeVersionsJson(sink: ByteSink, rows: readonly VersionRow[], bytes: BytesMode): void {
  writeJsonDocument(sink, { schema: 1, versions: rows.map((row) => versionFields(row, bytes)) });
}

function versionFields(row: VersionRow, bytes: BytesMode): object {
  const { file, key, timestamp, seqno, storedSeqno, type, level, blockOffset, coveredBy } = row;
  return {
    file,
    key: formatKey(key, bytes),
    ...(timestamp.length === 0 ? {} : { timestamp }),
    seqno,
    type,
    ...valueFields(row, bytes),
    ...(storedSeqno === null ? {} : { storedSeqno }),
    level,
    blockOffset,
    coveredBy,
  };
}

function valueFields(shown: ShownValue, bytes: BytesMode): object {
  const { value, columns, blob, preferredSeqno } = shown;
  return {
    ...(value === undefined ? {} : { value: formatKey(value, bytes) }),
    ...(preferredSeqno === undefined ? {} : { preferredSeqno }),
    ...(blob === undefined ? {} : { blob: blobFields(blob, bytes) }),
    ...(columns === undefined
      ? {}
      : {
          columns: columns.map((column) => ({
            name: formatKey(column.name, bytes),
            ...(column.blob === undefined
              ? { value: formatKey(column.value, bytes) }
              : { blob: blobFields(column.blob, bytes) }),
          })),
        }),
  };
}

function valueTexts({ value, columns, blob }: ShownValue, bytes: BytesMode): string[] {
  if (blob !== undefined) return [blobText(blob, bytes, '\t')];
  if (columns === undefined) return [formatKey(value!, bytes)];
  return columns.map((column) => {
    const name = formatKey(column.name, bytes).replaceAll('=', '\\x3d');
    const text =
      column.blob === undefined ? formatKey(column.value, bytes) : blobText(column.blob, bytes, ',');
    return `${name}=${text}`;
  });
}
