import type { BatchView, ControlView, WalSummary } from '../tools/dump/wal-dump.ts';
import type { OperationView } from '../tools/wal-operation.ts';
import { type BytesMode, bytesWriter, formatHex, writeEscapedColumnName } from './key-format.ts';
import { blobText } from './rows.ts';
import type { ByteSink } from './sink.ts';
import { writePairs, writeSection } from './text-sections.ts';
import type { Theme } from './theme.ts';

/** A WAL for people: each record with a line an operation, its fields parted by TABs as in the rows of scan. */
export class WalText {
  constructor(
    private readonly sink: ByteSink,
    private readonly bytes: BytesMode,
    private readonly theme: Theme,
  ) {}

  head(path: string, size: number): void {
    this.sink.writeLine(`${this.theme.heading(path)}: write-ahead log, ${size} bytes`);
    writeSection(this.sink, this.theme, 'Records');
  }

  batch({ offset, size, seqno, count, operations }: BatchView): void {
    const text = `batch at ${offset}, size ${size}, seqno ${seqno}, count ${count}`;
    this.sink.writeLine(`  ${this.theme.label(text)}`);
    let isEmpty = true;
    for (const operation of operations) {
      isEmpty = false;
      this.operation(operation);
    }
    if (isEmpty) this.sink.writeLine('    no operations');
  }

  control(view: ControlView): void {
    this.sink.writeLine(
      `  ${this.theme.label(`record at ${view.offset}, size ${view.size}`)}: ${controlText(view)}`,
    );
  }

  end(summary: WalSummary | undefined): void {
    if (summary === undefined) return;
    writeSection(this.sink, this.theme, 'End');
    const { end, batches, operations } = summary;
    writePairs(this.sink, this.theme, [
      ['batches', batches],
      ['operations', operations],
      ['end of the log', `${end.state}, at ${end.offset}`],
    ]);
  }

  /** [column family, where it is not 0], key, seqno, type, value. */
  private operation(operation: OperationView): void {
    const { sink } = this;
    const { type, columnFamily, seqno, key, end, timestamp, value, columns, blob, writeTime } = operation;
    sink.writeText('    ');
    if (key !== undefined) {
      if (columnFamily !== 0) sink.writeText(`cf=${columnFamily}\t`);
      this.put(key);
      sink.writeText(`\t${seqno ?? '-'}\t`);
    }
    sink.writeText(type);
    for (const field of [end, value, operation.bytes]) {
      if (field === undefined || (field === operation.bytes && field.length === 0)) continue;
      sink.writeText('\t');
      this.put(field);
    }
    for (const column of columns ?? []) {
      sink.writeText('\t');
      writeEscapedColumnName(sink, column.name, 0, column.name.length);
      sink.writeText('=');
      if (column.blob === undefined) this.put(column.value);
      else sink.writeText(blobText(column.blob, this.bytes, ','));
    }
    if (blob !== undefined) sink.writeText(`\t${blobText(blob, this.bytes, '\t')}`);
    if (timestamp !== undefined) sink.writeText(`\ttimestamp=${formatHex(timestamp)}`);
    if (writeTime !== undefined) sink.writeText(`\twriteTime=${writeTime}`);
    sink.writeText('\n');
  }

  private put(field: Uint8Array): void {
    bytesWriter(this.bytes)(this.sink, field, 0, field.length);
  }
}

function controlText(view: ControlView): string {
  switch (view.control) {
    case 'compression_type':
      return `records behind are compressed with ${view.compression}`;
    case 'timestamp_sizes': {
      const sizes = view.sizes.map(
        ({ columnFamily, size }) => `${size} bytes in column family ${columnFamily}`,
      );
      return `timestamps of ${sizes.join(', ')}`;
    }
    case 'predecessor_wal': {
      const { logNumber, size, lastSeqno } = view.predecessor;
      return `the log before is ${logNumber}, ${size} bytes, last sequence number ${lastSeqno}`;
    }
  }
}
