import type { DroppedEntry } from '../tools/compact/events.ts';
import type { NamedTry } from '../tools/compact/what-if.ts';
import type { CompactResult, WhatIf } from '../tools/compact.ts';
import { writeJsonDocument } from './json.ts';
import { type BytesMode, formatKey } from './key-format.ts';
import type { ByteSink } from './sink.ts';
import { writeTable } from './table.ts';
import type { Theme } from './theme.ts';

export interface CompactReportOptions {
  readonly format: 'text' | 'json';
  /** By default escaped in text, hexadecimal in JSON. */
  readonly bytes: BytesMode | undefined;
  readonly theme: Theme;
}

export function writeCompactReport(
  sink: ByteSink,
  result: CompactResult,
  options: CompactReportOptions,
): void {
  if (options.format === 'json') writeJsonDocument(sink, resultToJson(result, options.bytes ?? 'hex'));
  else writeText(sink, result, options);
}

/** The members in the order of the contract; undefined ones are left out by JSON. */
function resultToJson({ inputs, outputs, dropped, holes, plans, whatIf }: CompactResult, bytes: BytesMode) {
  const key = (each: Uint8Array | null): string | null => (each === null ? null : formatKey(each, bytes));
  return {
    schema: 1,
    inputs,
    outputs: outputs.map(({ path, entries, bytes: size, smallest, largest }) => ({
      path,
      entries,
      bytes: size,
      smallest: key(smallest),
      largest: key(largest),
    })),
    dropped,
    holes: holes.map(({ path, offset, size, code, after, before, entries }) => ({
      path,
      offset,
      size,
      code,
      after: key(after),
      before: key(before),
      entries,
    })),
    plans,
    whatIf: whatIf && { ...whatIf, tables: whatIf.tables.map(tryToJson) },
  };
}

function tryToJson({ writeMicros, readMicros, ...rest }: NamedTry) {
  return { ...rest, writeMicros: Math.round(writeMicros), readMicros: Math.round(readMicros) };
}

function writeText(sink: ByteSink, result: CompactResult, { bytes, theme }: CompactReportOptions): void {
  const { inputs, outputs, dropped, holes, plans } = result;
  const heading = { heading: theme.dim };
  const sum = (rows: readonly { entries: number; bytes: number }[]): string =>
    `${rows.reduce((n, { entries }) => n + entries, 0)} entries, ${rows.reduce((n, row) => n + row.bytes, 0)} bytes`;
  sink.writeLine(`${inputs.length} ${inputs.length === 1 ? 'input' : 'inputs'}: ${sum(inputs)}`);
  if (plans !== undefined) {
    writeTable(
      sink,
      [
        { title: 'what if' },
        { title: 'kept' },
        { title: 'range tombstones' },
        { title: 'overwritten' },
        { title: 'deleted' },
        { title: 'range-deleted' },
        { title: 'tombstones' },
        { title: 'merged' },
        { title: 'of the bytes', align: 'right' },
        { title: 'about' },
      ],
      plans.map(({ name, kept, keptTombstones, dropped: drops, share, estimatedBytes }) => [
        name,
        kept,
        keptTombstones,
        drops.overwritten,
        drops.deleted,
        drops.rangeDeleted,
        drops.tombstones,
        drops.mergedOperands,
        `${(100 * share).toFixed(1)} %`,
        estimatedBytes,
      ]),
      heading,
    );
    if (result.whatIf !== undefined) writeWhatIf(sink, result.whatIf, heading);
    sink.writeLine('nothing was written (--dry-run)');
    return;
  }
  sink.writeLine(
    `dropped: ${dropped.overwritten} overwritten, ${dropped.deleted} deleted, ${dropped.rangeDeleted} range-deleted, ` +
      `${dropped.tombstones} tombstones, ${dropped.mergedOperands} merged operands`,
  );
  if (holes.length > 0) {
    writeTable(
      sink,
      [
        { title: 'lost of' },
        { title: 'offset' },
        { title: 'size' },
        { title: 'code' },
        { title: 'after' },
        { title: 'before' },
      ],
      holes.map(({ path, offset, size, code, after, before }) => [
        path,
        offset,
        size,
        theme.damage(code),
        after === null ? '(beginning)' : formatKey(after, bytes ?? 'escape'),
        before === null ? '(end)' : formatKey(before, bytes ?? 'escape'),
      ]),
      heading,
    );
  }
  sink.writeLine(`${outputs.length} ${outputs.length === 1 ? 'output' : 'outputs'}: ${sum(outputs)}`);
  writeTable(
    sink,
    [
      { title: 'file' },
      { title: 'entries' },
      { title: 'bytes' },
      { title: 'smallest' },
      { title: 'largest' },
    ],
    outputs.map(({ path, entries, bytes: size, smallest, largest }) => [
      path,
      entries,
      size,
      formatKey(smallest, bytes ?? 'escape'),
      formatKey(largest, bytes ?? 'escape'),
    ]),
    heading,
  );
}

function writeWhatIf(
  sink: ByteSink,
  { sample, tables }: WhatIf,
  options: { heading: (text: string) => string },
): void {
  if (tables.length === 0) return;
  const part = sample.complete ? 'all' : 'the first';
  sink.writeLine(
    `\ntables of ${part} ${sample.entries} entries (${sample.rawBytes} bytes of keys and values):`,
  );
  writeTable(
    sink,
    [
      { title: 'what if' },
      { title: 'file' },
      { title: 'data' },
      { title: 'index' },
      { title: 'filter' },
      { title: 'blocks' },
      { title: 'uncompressed' },
      { title: 'write ms', align: 'right' },
      { title: 'read ms', align: 'right' },
    ],
    tables.map((table) => [
      table.name,
      table.fileBytes,
      table.dataBytes,
      table.indexBytes,
      table.filterBytes,
      table.dataBlocks,
      table.uncompressedDataBlocks,
      (table.writeMicros / 1000).toFixed(1),
      (table.readMicros / 1000).toFixed(1),
    ]),
    options,
  );
}

/** Why an entry is not written, as one line: file, key, sequence number, type, reason, parted by TABs. */
export function droppedLine(entry: DroppedEntry, bytes: BytesMode | undefined): string {
  const { path, userKey, seqno, type } = entry;
  return [path, formatKey(userKey, bytes ?? 'escape'), seqno, type, reasonOf(entry)].join('\t');
}

function reasonOf({ reason, by }: DroppedEntry): string {
  switch (reason) {
    case 'overwritten':
      return `overwritten by the entry at ${by}`;
    case 'deleted':
      return `deleted by the tombstone at ${by}`;
    case 'rangeDeleted':
      return by === undefined
        ? 'covered by a range tombstone'
        : `covered by a range tombstone (newest: ${by})`;
    case 'mergedOperands':
      return `merged into the entry at ${by}`;
    case 'tombstones':
      return by === undefined
        ? 'a tombstone with nothing left to hide'
        : `a tombstone, settled with the entry at ${by}`;
  }
}
