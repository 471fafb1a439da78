import type { BatchView, ControlView, WalSummary } from '../tools/dump/wal-dump.ts';
import type { OperationView } from '../tools/wal-operation.ts';
import { integerJson, writeJsonBytes } from './json.ts';
import { type BytesMode, formatHex, formatKey } from './key-format.ts';
import { blobFields } from './rows.ts';
import type { ByteSink } from './sink.ts';

/** Pieces of a WAL's JSON document (schema/dump.schema.json). */

const CLOSING_BRACE = 0x7d;

interface JsonObject {
  readonly [name: string]: unknown;
}

/** Writes a batch without its opening brace, operation by operation: values are never held as texts. */
export function writeBatchJson(sink: ByteSink, batch: BatchView, bytes: BytesMode): void {
  const { offset, size, seqno, count, batchSize, operations } = batch;
  sink.writeText(
    `"offset":${offset},"size":${size},"seqno":"${seqno}","count":${count},"batchSize":${batchSize},"ops":[`,
  );
  let isFirst = true;
  for (const operation of operations) {
    if (!isFirst) sink.writeText(',');
    isFirst = false;
    writeOperation(sink, operation, bytes);
  }
  sink.writeText(']}');
}

/** The members of a row of scan, with the column family by its id in front. */
function writeOperation(sink: ByteSink, operation: OperationView, bytes: BytesMode): void {
  const { type, columnFamily, seqno, key, end, timestamp, value, columns, blob, writeTime } = operation;
  if (key === undefined) {
    sink.writeText(`{"type":"${type}",`);
    if (timestamp !== undefined) sink.writeText(`"timestamp":"${formatHex(timestamp)}",`);
    sink.writeText('"bytes":');
    if (operation.bytes !== undefined) writeJsonBytes(sink, operation.bytes, bytes);
    sink.writeByte(CLOSING_BRACE);
    return;
  }
  sink.writeText(end === undefined ? `{"cf":${columnFamily},"key":` : `{"cf":${columnFamily},"start":`);
  writeJsonBytes(sink, key, bytes);
  if (end !== undefined) {
    sink.writeText(',"end":');
    writeJsonBytes(sink, end, bytes);
  }
  if (timestamp !== undefined) sink.writeText(`,"timestamp":"${formatHex(timestamp)}"`);
  sink.writeText(seqno === undefined ? `,"type":"${type}"` : `,"seqno":"${seqno}","type":"${type}"`);
  if (value !== undefined) {
    sink.writeText(',"value":');
    writeJsonBytes(sink, value, bytes);
  }
  if (writeTime !== undefined) sink.writeText(`,"writeTime":${JSON.stringify(integerJson(writeTime))}`);
  if (columns !== undefined) {
    const list = columns.map((column) => ({
      name: formatKey(column.name, bytes),
      ...(column.blob === undefined
        ? { value: formatKey(column.value, bytes) }
        : { blob: blobFields(column.blob, bytes) }),
    }));
    sink.writeText(`,"columns":${JSON.stringify(list)}`);
  }
  if (blob !== undefined) sink.writeText(`,"blob":${JSON.stringify(blobFields(blob, bytes))}`);
  sink.writeByte(CLOSING_BRACE);
}

export function controlJson(view: ControlView): JsonObject {
  const { offset, size, control } = view;
  const place = { offset, size, control };
  switch (control) {
    case 'compression_type':
      return { ...place, compression: view.compression };
    case 'timestamp_sizes':
      return { ...place, sizes: view.sizes.map((of) => ({ cf: of.columnFamily, size: of.size })) };
    case 'predecessor_wal': {
      const { logNumber, size: bytes, lastSeqno } = view.predecessor;
      const predecessor = {
        number: integerJson(logNumber),
        size: integerJson(bytes),
        lastSeqno: String(lastSeqno),
      };
      return { ...place, predecessor };
    }
  }
}

/** What follows the records. `end` is left out of a dump that was stopped at its first damage. */
export function walSummaryJson(controls: readonly JsonObject[], summary: WalSummary | undefined): JsonObject {
  return { control: controls, end: summary?.end };
}
