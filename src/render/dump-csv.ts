import type { BlockHandle } from '../format/block-handle.ts';
import type { MetaindexEntry } from '../format/metaindex.ts';
import type { EntryPlace } from '../tools/dump/block-entries.ts';
import type { PropertyView } from '../tools/dump/describe-properties.ts';
import type { DumpOutput, DumpParts } from '../tools/dump/dump-files.ts';
import type { DumpSubject } from '../tools/dump/open-subject.ts';
import type { BlockRow } from '../tools/dump/walk-blocks.ts';
import type { Row } from '../tools/row.ts';
import { blockRowJson } from './dump-document.ts';
import { ScanRowText } from './dump-entries.ts';
import { type BytesMode, formatHex, formatKey } from './key-format.ts';
import type { ByteSink } from './sink.ts';

const BLOCK_COLUMNS = [
  'ordinal',
  'type',
  'offset',
  'size',
  'rawSize',
  'compression',
  'checksum',
  'checksumOk',
  'entries',
  'restarts',
  'firstKey',
  'lastKey',
] as const;

/** RFC 4180 with a header. One part of a dump: blocks, entries, properties or meta blocks. */
export class CsvDump implements DumpOutput {
  private path = '';
  private rows: ScanRowText | undefined;

  constructor(
    private readonly sink: ByteSink,
    private readonly parts: DumpParts,
    private readonly bytes: BytesMode,
  ) {}

  start(): void {
    this.sink.writeLine(this.header());
  }

  file(subject: DumpSubject): void {
    this.path = subject.path;
    this.rows = new ScanRowText('csv', subject.path, this.bytes, true);
  }

  summary(): void {
    // Has no rows.
  }

  manifest(): void {
    // Has none of the parts that are rows: the tool refuses it before.
  }

  edit(): void {
    // As above.
  }

  live(): void {
    // As above.
  }

  wal(): void {
    // As a MANIFEST.
  }

  walBatch(): void {
    // As above.
  }

  walControl(): void {
    // As above.
  }

  walEnd(): void {
    // As above.
  }

  smallFile(): void {
    // As a MANIFEST.
  }

  blobFile(): void {
    // As a MANIFEST.
  }

  blobRecord(): void {
    // As above.
  }

  blobEnd(): void {
    // As above.
  }

  properties({ known, user }: PropertyView): void {
    for (const { jsonName, value } of known) {
      this.line([jsonName, typeof value === 'object' && value !== null ? JSON.stringify(value) : value]);
    }
    for (const [name, value] of user) this.line([name, formatHex(value)]);
  }

  metaBlocks(entries: readonly MetaindexEntry[] | undefined): void {
    for (const { name, type, offset, size } of entries ?? []) this.line([name, type, offset, size]);
  }

  beginBlocks(): void {
    // The rows follow.
  }

  block(row: BlockRow): void {
    if (this.parts.entries) return;
    const fields = blockRowJson(row, this.bytes);
    this.line(BLOCK_COLUMNS.map((column) => fields[column]));
  }

  oneBlock(): void {
    // Its entries follow.
  }

  row(row: Row, place: EntryPlace): void {
    this.rows!.write(this.sink, row);
    const { block, offset, shared, unshared, valueLength } = place;
    this.sink.writeLine(`,${block},${offset},${shared ?? ''},${unshared ?? ''},${valueLength ?? ''}`);
  }

  handle(key: Uint8Array, handle: BlockHandle, _: Uint8Array | undefined, place: EntryPlace): void {
    const value = JSON.stringify({ offset: handle.offset, size: handle.size });
    this.entry(formatKey(key, this.bytes), value, place);
  }

  named(name: Uint8Array, value: BlockHandle | Uint8Array, place: EntryPlace): void {
    const text = value instanceof Uint8Array ? formatHex(value) : JSON.stringify(value);
    this.entry(formatKey(name, 'utf8'), text, place);
  }

  endBlock(): void {
    // Its line is complete.
  }

  endBlocks(): void {
    // Every line is complete in itself.
  }

  endFile(): void {
    // Every line is complete in itself.
  }

  failure(): void {
    // Said on stderr; there is no row to show.
  }

  finish(): void {
    // Every line is complete in itself.
  }

  private header(): string {
    const { parts } = this;
    if (parts.properties) return 'file,name,value';
    if (parts.metaBlocks) return 'file,name,type,offset,size';
    if (parts.entries || parts.block !== undefined) {
      return 'file,key,timestamp,seqno,type,value,block,offset,shared,unshared,valueLength';
    }
    return `file,${BLOCK_COLUMNS.join(',')}`;
  }

  private entry(key: string, value: string, place: EntryPlace): void {
    const { block, offset, shared, unshared, valueLength } = place;
    this.line([key, '', '', '', value, block, offset, shared, unshared, valueLength]);
  }

  private line(fields: readonly unknown[]): void {
    this.sink.writeLine([this.path, ...fields].map(csvField).join(','));
  }
}

function csvField(value: unknown): string {
  const text = value === null || value === undefined ? '' : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
