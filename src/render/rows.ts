import type { BlobIndex, WideColumn } from '../format/entry-value.ts';
import type { HashFunctions } from '../hash/registry.ts';
import type { TextKernel } from '../kernels/text-kernel.ts';
import type { Row } from '../tools/row.ts';
import type { ScanPlan } from '../tools/scan-inputs.ts';
import { writeJsonDocument, writeJsonString } from './json.ts';
import { type BytesMode, bytesWriter, formatKey, writeEscapedColumnName } from './key-format.ts';
import { putAscii, putBytes, putDecimal, putHex } from './put.ts';
import { type ByteSink, MemorySink } from './sink.ts';
import { TextPutter } from './text-putter.ts';

/** Where the rows of a scan go. `finish` is called once, after the last. */
export interface RowWriter {
  row(row: Row): void;
  finish(): void;
}

export interface RowFormat {
  readonly bytes: BytesMode;
  readonly withValues: boolean;
  /** Put the file's name on each row. */
  readonly withFile: boolean;
  /** Column families by file name, where there is more than one. */
  readonly columnFamilyOf?: ((file: string) => string) | undefined;
}

export interface RowWriterOptions {
  readonly format: 'text' | 'json' | 'ndjson' | 'csv';
  /** By default escaped in text, hexadecimal elsewhere. */
  readonly bytes: BytesMode | undefined;
  readonly withValues: boolean;
  /** Counts in place of rows, with a digest where hashes are given. */
  readonly count: boolean;
  readonly digest: HashFunctions | undefined;
  /** Prints values faster, where there is one. */
  readonly textKernel?: TextKernel | undefined;
}

/** The writer for rows of the planned files. */
export function openRowWriter(sink: ByteSink, plan: ScanPlan, options: RowWriterOptions): RowWriter {
  const familyOf = (file: string): string => plan.families.get(file) ?? '';
  if (options.count) return new CountRows(sink, options.format !== 'text', familyOf, options.digest);
  const several = plan.files.length > 1;
  const isText = options.format === 'text';
  const format: RowFormat = {
    bytes: options.bytes ?? (isText ? 'escape' : 'hex'),
    withValues: options.withValues,
    withFile: several || !isText,
    columnFamilyOf: new Set(plan.families.values()).size > 1 ? familyOf : undefined,
  };
  const { textKernel } = options;
  switch (options.format) {
    case 'text':
      return new TextRows(sink, format, textKernel);
    case 'json':
      return new JsonRows(sink, format, textKernel);
    case 'ndjson':
      return new NdjsonRows(sink, format, textKernel);
    case 'csv':
      return new CsvRows(sink, format);
  }
}

/** Rows up to this go into the buffer by one reservation. */
const SHORT_ROW_BYTES = 8 * 1024;

const TAB = 0x09;
const NEWLINE = 0x0a;
const QUOTE = 0x22;
const COMMA = 0x2c;

const ASCII = new TextEncoder();

/** One row a line, fields parted by one TAB: [file], key, seqno, type, value. */
class TextRows implements RowWriter {
  private file = '';
  private filePrefix: Uint8Array = new Uint8Array(0);
  private readonly putter: TextPutter;

  constructor(
    private readonly sink: ByteSink,
    private readonly format: RowFormat,
    textKernel: TextKernel | undefined,
  ) {
    this.putter = new TextPutter(sink, textKernel);
  }

  row(row: Row): void {
    const { sink, format } = this;
    if (format.withFile && row.file !== this.file) this.takeFile(row.file);
    const payload = row.keyEnd + (row.valueEnd - row.valueStart);
    if (payload > SHORT_ROW_BYTES || row.columns !== null || row.blob !== null || !isPutMode(format.bytes)) {
      this.long(row);
      return;
    }
    let pos = sink.reserve(this.filePrefix.length + 4 * payload + 128 + 2 * (row.timestampEnd - row.keyEnd));
    const buffer = sink.buffer;
    const isHex = format.bytes === 'hex';
    pos = putBytes(buffer, pos, this.filePrefix);
    pos = isHex
      ? this.putter.keyHex(pos, row.key, 0, row.keyEnd)
      : this.putter.keyEscaped(pos, row.key, 0, row.keyEnd);
    buffer[pos++] = TAB;
    pos = row.seqnoText === null ? putDecimal(buffer, pos, row.seqno) : putAscii(buffer, pos, row.seqnoText);
    buffer[pos++] = TAB;
    pos = putAscii(buffer, pos, row.type);
    if (row.isRangeDelete || format.withValues) {
      buffer[pos++] = TAB;
      const end = row.isRangeDelete ? row.endKeyEnd : row.valueEnd;
      pos = isHex
        ? this.putter.hex(pos, row.data, row.valueStart, end)
        : this.putter.escaped(pos, row.data, row.valueStart, end);
    }
    if (row.timestampEnd > row.keyEnd) {
      pos = putAscii(buffer, pos, '\ttimestamp=');
      pos = putHex(sink.view, pos, row.key, row.keyEnd, row.timestampEnd);
    }
    if (row.preferredSeqno !== null) pos = putAscii(buffer, pos, `\tpreferredSeqno=${row.preferredSeqno}`);
    if (row.storedSeqno !== null) pos = putAscii(buffer, pos, `\tstoredSeqno=${row.storedSeqno}`);
    if (row.covered) pos = putAscii(buffer, pos, '\tcovered');
    buffer[pos++] = NEWLINE;
    sink.length = pos;
  }

  finish(): void {
    // Every row is complete in itself.
  }

  private takeFile(file: string): void {
    this.file = file;
    this.filePrefix = ASCII.encode(`${formatKey(ASCII.encode(file), 'utf8')}\t`);
  }

  /** Rows that are long, or have more than one value. */
  private long(row: Row): void {
    const { sink, format } = this;
    const write = bytesWriter(format.bytes);
    sink.writeBytes(this.filePrefix);
    write(sink, row.key, 0, row.keyEnd);
    sink.writeText(`\t${row.seqnoText ?? row.seqno}\t${row.type}`);
    if (row.isRangeDelete || (format.withValues && row.columns === null && row.blob === null)) {
      sink.writeByte(TAB);
      write(sink, row.data, row.valueStart, row.isRangeDelete ? row.endKeyEnd : row.valueEnd);
    } else if (format.withValues && row.columns !== null) {
      for (const column of row.columns) {
        sink.writeByte(TAB);
        writeEscapedColumnName(sink, column.name, 0, column.name.length);
        sink.writeByte(0x3d);
        if (column.blob === undefined) write(sink, column.value, 0, column.value.length);
        else sink.writeText(blobText(column.blob, format.bytes, ','));
      }
    } else if (format.withValues && row.blob !== null) {
      sink.writeByte(TAB);
      sink.writeText(blobText(row.blob, format.bytes, '\t'));
    }
    if (row.timestampEnd > row.keyEnd) {
      sink.writeText(`\ttimestamp=${formatKey(row.key.subarray(row.keyEnd, row.timestampEnd), 'hex')}`);
    }
    if (row.preferredSeqno !== null) sink.writeText(`\tpreferredSeqno=${row.preferredSeqno}`);
    if (row.storedSeqno !== null) sink.writeText(`\tstoredSeqno=${row.storedSeqno}`);
    if (row.covered) sink.writeText('\tcovered');
    sink.writeByte(NEWLINE);
  }
}

function isPutMode(mode: BytesMode): boolean {
  return mode === 'hex' || mode === 'escape';
}

export function blobText(blob: BlobIndex, bytes: BytesMode, separator: string): string {
  return Object.entries(blobFields(blob, bytes))
    .map(([name, value]) => `${name}=${value}`)
    .join(separator);
}

/** The members of `blob` in JSON rows, in their order. */
export function blobFields(blob: BlobIndex, bytes: BytesMode): Record<string, string | number> {
  if (blob.kind === 'inlined_ttl') {
    return { kind: blob.kind, expiration: blob.expirationSeconds, value: formatKey(blob.value, bytes) };
  }
  const fields: Record<string, string | number> = {
    kind: blob.kind,
    file: blob.fileNumber,
    offset: blob.offset,
    size: blob.size,
    compression: blob.compressionType,
  };
  if (blob.expirationSeconds !== undefined) fields.expiration = blob.expirationSeconds;
  if (blob.value !== undefined) fields.value = formatKey(blob.value, bytes);
  return fields;
}

const KEY_HEAD = ASCII.encode('"key":"');
const START_HEAD = ASCII.encode('"start":"');
const END_HEAD = ASCII.encode('","end":"');
const TIMESTAMP_HEAD = ASCII.encode('","timestamp":"');
const SEQNO_HEAD = ASCII.encode('","seqno":"');
const TYPE_HEAD = ASCII.encode('","type":"');
const VALUE_HEAD = ASCII.encode('","value":"');
/** Everything between the fields of a row, generously. */
const JSON_FRAME_BYTES = 256;

/** One JSON object a line, in the field order of the contract. */
class NdjsonRows implements RowWriter {
  private file: string | undefined;
  private head: Uint8Array = ASCII.encode('{');
  private readonly putter: TextPutter;

  constructor(
    private readonly sink: ByteSink,
    private readonly format: RowFormat,
    textKernel: TextKernel | undefined,
    /** False for digests, which speak of contents alone: without the stored sequence number and marks. */
    private readonly withMarks = true,
  ) {
    this.putter = new TextPutter(sink, textKernel);
  }

  row(row: Row): void {
    this.object(row);
    this.sink.writeByte(NEWLINE);
  }

  finish(): void {
    // Every row is complete in itself.
  }

  /** The row without a line's end. */
  object(row: Row): void {
    const { sink, format } = this;
    if (format.withFile && row.file !== this.file) this.takeFile(row.file);
    const payload = row.timestampEnd + (row.valueEnd - row.valueStart);
    if (payload > SHORT_ROW_BYTES || format.bytes !== 'hex' || row.columns !== null || row.blob !== null) {
      this.long(row);
      return;
    }
    let pos = sink.reserve(this.head.length + 2 * payload + JSON_FRAME_BYTES);
    const buffer = sink.buffer;
    pos = putBytes(buffer, pos, this.head);
    pos = putBytes(buffer, pos, row.isRangeDelete ? START_HEAD : KEY_HEAD);
    pos = this.putter.keyHex(pos, row.key, 0, row.keyEnd);
    if (row.isRangeDelete) {
      pos = putBytes(buffer, pos, END_HEAD);
      pos = putHex(sink.view, pos, row.data, row.valueStart, row.endKeyEnd);
    }
    if (row.timestampEnd > row.keyEnd) {
      pos = putBytes(buffer, pos, TIMESTAMP_HEAD);
      pos = putHex(sink.view, pos, row.key, row.keyEnd, row.timestampEnd);
    }
    pos = putBytes(buffer, pos, SEQNO_HEAD);
    pos = row.seqnoText === null ? putDecimal(buffer, pos, row.seqno) : putAscii(buffer, pos, row.seqnoText);
    pos = putBytes(buffer, pos, TYPE_HEAD);
    pos = putAscii(buffer, pos, row.type);
    if (format.withValues && !row.isRangeDelete) {
      pos = putBytes(buffer, pos, VALUE_HEAD);
      pos = this.putter.hex(pos, row.data, row.valueStart, row.valueEnd);
    }
    pos = putAscii(buffer, pos, this.tail(row));
    sink.length = pos;
  }

  private tail(row: Row): string {
    if (row.preferredSeqno === null && row.storedSeqno === null && !row.covered) return '"}';
    const preferred = row.preferredSeqno === null ? '' : `,"preferredSeqno":"${row.preferredSeqno}"`;
    const stored = row.storedSeqno === null || !this.withMarks ? '' : `,"storedSeqno":"${row.storedSeqno}"`;
    const covered = row.covered && this.withMarks ? ',"covered":true' : '';
    return `"${preferred}${stored}${covered}}`;
  }

  private takeFile(file: string): void {
    this.file = file;
    const family = this.format.columnFamilyOf?.(file);
    const cf = family === undefined ? '' : `"cf":${JSON.stringify(family)},`;
    this.head = ASCII.encode(`{"file":${JSON.stringify(file)},${cf}`);
  }

  private long(row: Row): void {
    const { sink, format } = this;
    sink.writeBytes(this.head);
    this.string(row.isRangeDelete ? '"start":' : '"key":', row.key, 0, row.keyEnd);
    if (row.isRangeDelete) this.string(',"end":', row.data, row.valueStart, row.endKeyEnd);
    if (row.timestampEnd > row.keyEnd) {
      sink.writeText(`,"timestamp":"${formatKey(row.key.subarray(row.keyEnd, row.timestampEnd), 'hex')}"`);
    }
    sink.writeText(`,"seqno":"${row.seqnoText ?? row.seqno}","type":"${row.type}`);
    if (!format.withValues || row.isRangeDelete) {
      sink.writeText(this.tail(row));
      return;
    }
    sink.writeByte(QUOTE);
    if (row.columns !== null) {
      sink.writeText(`,"columns":${JSON.stringify(row.columns.map((column) => this.column(column)))}`);
    } else if (row.blob !== null) {
      sink.writeText(`,"blob":${JSON.stringify(blobFields(row.blob, format.bytes))}`);
    } else {
      this.string(',"value":', row.data, row.valueStart, row.valueEnd);
    }
    sink.writeText(this.tail(row).slice(1));
  }

  private column(column: WideColumn): object {
    const { bytes } = this.format;
    const name = formatKey(column.name, bytes);
    if (column.blob !== undefined) return { name, blob: blobFields(column.blob, bytes) };
    return { name, value: formatKey(column.value, bytes) };
  }

  private string(head: string, bytes: Uint8Array, start: number, end: number): void {
    const { sink, format } = this;
    sink.writeText(head);
    if (format.bytes === 'hex' || format.bytes === 'base64') {
      sink.writeByte(QUOTE);
      bytesWriter(format.bytes)(sink, bytes, start, end);
      sink.writeByte(QUOTE);
    } else {
      writeJsonString(sink, formatKey(bytes.subarray(start, end), format.bytes));
    }
  }
}

/** `{"schema":1,"entries":[...]}`, streamed. */
class JsonRows implements RowWriter {
  private readonly rows: NdjsonRows;
  private count = 0;

  constructor(
    private readonly sink: ByteSink,
    format: RowFormat,
    textKernel: TextKernel | undefined,
  ) {
    this.rows = new NdjsonRows(sink, format, textKernel);
  }

  row(row: Row): void {
    this.sink.writeText(this.count++ === 0 ? '{"schema":1,"entries":[\n' : ',\n');
    this.rows.object(row);
  }

  finish(): void {
    this.sink.writeText(this.count === 0 ? '{"schema":1,"entries":[]}\n' : '\n]}\n');
  }
}

/**
 * RFC 4180 with a header: file,key,timestamp,seqno,type,value. The value of a tombstone is its end key; those of
 * entities and blob references are JSON.
 */
class CsvRows implements RowWriter {
  private started = false;

  constructor(
    private readonly sink: ByteSink,
    private readonly format: RowFormat,
  ) {}

  row(row: Row): void {
    this.finish();
    const { sink, format } = this;
    this.text(row.file);
    sink.writeByte(COMMA);
    this.bytes(row.key, 0, row.keyEnd);
    sink.writeByte(COMMA);
    if (row.timestampEnd > row.keyEnd) this.bytes(row.key, row.keyEnd, row.timestampEnd);
    sink.writeText(`,${row.seqnoText ?? row.seqno},${row.type},`);
    if (row.isRangeDelete) {
      this.bytes(row.data, row.valueStart, row.endKeyEnd);
    } else if (format.withValues) {
      if (row.columns !== null) {
        this.text(
          JSON.stringify(
            row.columns.map(({ name, value }) => [
              formatKey(name, format.bytes),
              formatKey(value, format.bytes),
            ]),
          ),
        );
      } else if (row.blob !== null) {
        this.text(JSON.stringify(blobFields(row.blob, format.bytes)));
      } else {
        this.bytes(row.data, row.valueStart, row.valueEnd);
      }
    }
    sink.writeByte(NEWLINE);
  }

  finish(): void {
    if (!this.started) this.sink.writeText('file,key,timestamp,seqno,type,value\n');
    this.started = true;
  }

  private bytes(bytes: Uint8Array, start: number, end: number): void {
    const { bytes: mode } = this.format;
    if (mode === 'hex' || mode === 'base64') bytesWriter(mode)(this.sink, bytes, start, end);
    else this.text(formatKey(bytes.subarray(start, end), mode));
  }

  private text(text: string): void {
    this.sink.writeText(/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  }
}

/** Counts rows by type and column family, and digests them where that is wanted. */
class CountRows implements RowWriter {
  private entries = 0;
  private readonly byType = new Map<string, number>();
  private readonly byColumnFamily = new Map<string, number>();
  /** Sum of XXH64 over each row's JSON text without `file` and `storedSeqno`, modulo 2^64. */
  private digest = 0n;
  private readonly line = new MemorySink(4096);
  private readonly rows = new NdjsonRows(
    this.line,
    { bytes: 'hex', withValues: true, withFile: false },
    undefined,
    false,
  );

  constructor(
    private readonly sink: ByteSink,
    private readonly asJson: boolean,
    private readonly familyOf: (file: string) => string,
    /** Undefined: no digest. */
    private readonly hashes: HashFunctions | undefined,
  ) {}

  row(row: Row): void {
    this.entries++;
    this.byType.set(row.type, (this.byType.get(row.type) ?? 0) + 1);
    const family = this.familyOf(row.file);
    this.byColumnFamily.set(family, (this.byColumnFamily.get(family) ?? 0) + 1);
    if (this.hashes === undefined) return;
    this.line.length = 0;
    this.rows.object(row);
    this.digest = BigInt.asUintN(64, this.digest + this.hashes.xxh64(this.line.buffer, 0, this.line.length));
  }

  finish(): void {
    const digest = this.hashes === undefined ? undefined : this.digest.toString(16).padStart(16, '0');
    if (this.asJson) {
      const byType = Object.fromEntries(this.byType);
      const byCf = Object.fromEntries(this.byColumnFamily);
      writeJsonDocument(this.sink, { schema: 1, entries: this.entries, byType, byCf, digest });
      return;
    }
    this.sink.writeLine(`entries\t${this.entries}`);
    for (const [type, count] of this.byType) this.sink.writeLine(`${type}\t${count}`);
    if (this.byColumnFamily.size > 1) {
      for (const [family, count] of this.byColumnFamily) this.sink.writeLine(`cf ${family}\t${count}`);
    }
    if (digest !== undefined) this.sink.writeLine(`digest\t${digest}`);
  }
}
