import type { SstError } from '../errors.ts';
import type { BlobFileFooter } from '../format/blob/blob-file.ts';
import type { BlockHandle } from '../format/block-handle.ts';
import type { MetaindexEntry } from '../format/metaindex.ts';
import type { BlobHeaderView, BlobRecordView } from '../tools/dump/blob-dump.ts';
import type { EntryPlace } from '../tools/dump/block-entries.ts';
import type { BlockDescription } from '../tools/dump/describe-block.ts';
import type { PropertyView } from '../tools/dump/describe-properties.ts';
import type { DumpOutput, DumpParts } from '../tools/dump/dump-files.ts';
import type { EditRecord, LiveSet } from '../tools/dump/manifest-dump.ts';
import type { DumpSubject } from '../tools/dump/open-subject.ts';
import type { BatchView, ControlView, WalSummary } from '../tools/dump/wal-dump.ts';
import type { BlockRow } from '../tools/dump/walk-blocks.ts';
import type { TableDump } from '../tools/dump.ts';
import type { Finding } from '../tools/finding.ts';
import type { Row } from '../tools/row.ts';
import type { SmallFile } from '../tools/small-file.ts';
import { blobFooterJson, blobHeaderJson, writeBlobRecordJson } from './blob-json.ts';
import { blockRowJson, documentHead, errorJson, findingJson, metaindexJson } from './dump-document.ts';
import { descriptionJson, handleEntryJson, namedEntryJson, placeJson, ScanRowText } from './dump-entries.ts';
import { type BytesMode, formatHex } from './key-format.ts';
import { editJson, liveSetJson } from './manifest-json.ts';
import type { ByteSink } from './sink.ts';
import { smallFileJson } from './small-file.ts';
import { controlJson, walSummaryJson, writeBatchJson } from './wal-json.ts';

/** An object's members without its braces. */
function members(object: object): string {
  return JSON.stringify(object).slice(1, -1);
}

/**
 * One document, streamed: `{"schema":1,"kind":"sst","path",...}` for a PATH that is a file, else
 * `{"schema":1,"files":[...]}`. Blocks one by one are in `blockList`, their entries in `entryList`.
 */
export class JsonDump implements DumpOutput {
  private single = true;
  private files = 0;
  private blocks = 0;
  private edits = 0;
  private batches = 0;
  private blobs = 0;
  private controls: { readonly [name: string]: unknown }[] = [];
  private entries = 0;
  private withEntries = false;
  private rows: ScanRowText | undefined;

  constructor(
    private readonly sink: ByteSink,
    private readonly parts: DumpParts,
    private readonly bytes: BytesMode,
  ) {}

  start(single: boolean): void {
    this.single = single;
    if (!single) this.sink.writeText('{"schema":1,"files":[\n');
  }

  file(subject: DumpSubject): void {
    this.rows = new ScanRowText('ndjson', subject.path, this.bytes, false);
    this.begin(documentHead(subject.path, subject.source.size));
  }

  manifest(path: string, size: number): void {
    this.begin(documentHead(path, size, 'manifest'));
    this.edits = 0;
    this.sink.writeText(',"edits":[');
  }

  edit(record: EditRecord): void {
    this.sink.writeText(`${this.edits++ > 0 ? ',' : ''}\n${JSON.stringify(editJson(record, this.bytes))}`);
  }

  live(live: LiveSet): void {
    this.sink.writeText(`],${members(liveSetJson(live, this.bytes))}`);
  }

  wal(path: string, size: number): void {
    this.begin(documentHead(path, size, 'wal'));
    this.batches = 0;
    this.controls = [];
    this.sink.writeText(',"records":[');
  }

  walBatch(batch: BatchView): void {
    this.sink.writeText(this.batches++ > 0 ? ',\n{' : '\n{');
    writeBatchJson(this.sink, batch, this.bytes);
  }

  walControl(control: ControlView): void {
    this.controls.push(controlJson(control));
  }

  walEnd(summary: WalSummary | undefined): void {
    this.sink.writeText(`],${members(walSummaryJson(this.controls, summary))}`);
  }

  smallFile(path: string, size: number, file: SmallFile): void {
    this.begin({ ...documentHead(path, size, file.kind), ...smallFileJson(file) });
  }

  blobFile(path: string, size: number, header: BlobHeaderView | undefined): void {
    this.begin({ ...documentHead(path, size, 'blob'), header: blobHeaderJson(header) });
    this.blobs = 0;
    this.sink.writeText(',"records":[');
  }

  blobRecord(record: BlobRecordView): void {
    this.sink.writeText(this.blobs++ > 0 ? ',\n{' : '\n{');
    writeBlobRecordJson(this.sink, record, this.bytes);
  }

  blobEnd(footer: BlobFileFooter | undefined): void {
    this.sink.writeText(`],${members({ footer: blobFooterJson(footer) })}`);
  }

  summary(_: TableDump, document: object): void {
    this.sink.writeText(`,${members(document)}`);
  }

  properties(_: PropertyView, document: object): void {
    if (!this.parts.summary) this.sink.writeText(`,${members(document)}`);
  }

  metaBlocks(entries: readonly MetaindexEntry[] | undefined): void {
    if (!this.parts.summary) this.sink.writeText(`,${members({ metaindex: metaindexJson(entries) })}`);
  }

  beginBlocks(): void {
    this.blocks = 0;
    this.sink.writeText(',"blockList":[');
  }

  block(row: BlockRow): void {
    this.sink.writeText(`${this.blocks++ > 0 ? ',' : ''}\n{${members(blockRowJson(row, this.bytes))}`);
    this.beginEntries(this.parts.entries && (row.type === 'data' || row.type === 'range_del'));
  }

  oneBlock(row: BlockRow, description: BlockDescription): void {
    const object = { ...blockRowJson(row, this.bytes), ...descriptionJson(description) };
    this.sink.writeText(`,"block":{${members(object)}`);
    this.beginEntries(description.hasEntries);
  }

  row(row: Row, place: EntryPlace): void {
    this.beginEntry();
    this.rows!.write(this.sink, row);
    this.sink.writeText(`,${placeJson(place)}}`);
  }

  handle(key: Uint8Array, handle: BlockHandle, firstKey: Uint8Array | undefined, place: EntryPlace): void {
    this.beginEntry();
    const entry = members(handleEntryJson(key, handle, firstKey, this.bytes));
    this.sink.writeText(`{${entry},${placeJson(place)}}`);
  }

  named(name: Uint8Array, value: BlockHandle | Uint8Array, place: EntryPlace): void {
    this.beginEntry();
    this.sink.writeText(`{${members(namedEntryJson(name, value))},${placeJson(place)}}`);
  }

  endBlock(): void {
    this.sink.writeText(this.withEntries ? ']}' : '}');
  }

  endBlocks(): void {
    this.sink.writeText(']');
  }

  endFile(findings: readonly Finding[]): void {
    this.sink.writeText(`,"findings":${JSON.stringify(findings.map(findingJson))}}`);
  }

  failure(path: string, error: SstError): void {
    if (this.files++ > 0) this.sink.writeText(',\n');
    this.sink.writeText(JSON.stringify({ path, error: errorJson(error) }));
  }

  finish(): void {
    this.sink.writeText(this.single ? '\n' : '\n]}\n');
  }

  private begin(head: object): void {
    if (this.files++ > 0) this.sink.writeText(',\n');
    this.sink.writeText(`${this.single ? '{"schema":1,' : '{'}${members(head)}`);
  }

  private beginEntries(withEntries: boolean): void {
    this.withEntries = withEntries;
    this.entries = 0;
    if (withEntries) this.sink.writeText(',"entryList":[');
  }

  private beginEntry(): void {
    this.sink.writeText(this.entries++ > 0 ? ',\n' : '\n');
  }
}

/** One object a line: a block, an entry, a property or a meta block, `file` first; else one document a file. */
export class NdjsonDump implements DumpOutput {
  private head = '';
  private summaryText: string | undefined;
  private rows: ScanRowText | undefined;

  constructor(
    private readonly sink: ByteSink,
    private readonly bytes: BytesMode,
  ) {}

  start(): void {
    // Every line is complete in itself.
  }

  file(subject: DumpSubject): void {
    this.head = members({ file: subject.path });
    this.rows = new ScanRowText('ndjson', subject.path, this.bytes, true);
    this.summaryText = undefined;
  }

  manifest(path: string): void {
    this.head = members({ file: path });
    this.summaryText = undefined;
  }

  edit(record: EditRecord): void {
    this.line(editJson(record, this.bytes));
  }

  live(): void {
    // The edits are its rows.
  }

  wal(path: string): void {
    this.head = members({ file: path });
    this.summaryText = undefined;
  }

  walBatch(batch: BatchView): void {
    this.sink.writeText(`{${this.head},`);
    writeBatchJson(this.sink, batch, this.bytes);
    this.sink.writeText('\n');
  }

  walControl(control: ControlView): void {
    this.line(controlJson(control));
  }

  walEnd(): void {
    // The records are its rows.
  }

  smallFile(path: string, size: number, file: SmallFile): void {
    this.summaryText = members({ ...documentHead(path, size, file.kind), ...smallFileJson(file) });
  }

  blobFile(path: string): void {
    this.head = members({ file: path });
    this.summaryText = undefined;
  }

  blobRecord(record: BlobRecordView): void {
    this.sink.writeText(`{${this.head},`);
    writeBlobRecordJson(this.sink, record, this.bytes);
    this.sink.writeText('\n');
  }

  blobEnd(): void {
    // The records are its rows.
  }

  summary({ path, size }: TableDump, document: object): void {
    this.summaryText = members({ ...documentHead(path, size), ...document });
  }

  properties({ known, user }: PropertyView): void {
    for (const { jsonName, value } of known) this.line({ name: jsonName, value });
    for (const [name, value] of user) this.line({ name, value: formatHex(value) });
  }

  metaBlocks(entries: readonly MetaindexEntry[] | undefined): void {
    for (const { name, type, offset, size } of entries ?? []) this.line({ name, type, offset, size });
  }

  beginBlocks(): void {
    // The rows follow.
  }

  block(row: BlockRow): void {
    this.line(blockRowJson(row, this.bytes));
  }

  oneBlock(row: BlockRow, description: BlockDescription): void {
    this.line({ ...blockRowJson(row, this.bytes), ...descriptionJson(description) });
  }

  row(row: Row, place: EntryPlace): void {
    this.rows!.write(this.sink, row);
    this.sink.writeLine(`,${placeJson(place)}}`);
  }

  handle(key: Uint8Array, handle: BlockHandle, firstKey: Uint8Array | undefined, place: EntryPlace): void {
    const entry = members(handleEntryJson(key, handle, firstKey, this.bytes));
    this.sink.writeLine(`{${this.head},${entry},${placeJson(place)}}`);
  }

  named(name: Uint8Array, value: BlockHandle | Uint8Array, place: EntryPlace): void {
    this.sink.writeLine(`{${this.head},${members(namedEntryJson(name, value))},${placeJson(place)}}`);
  }

  endBlock(): void {
    // Its line is complete.
  }

  endBlocks(): void {
    // Every line is complete in itself.
  }

  endFile(findings: readonly Finding[]): void {
    if (this.summaryText === undefined) return;
    this.sink.writeLine(`{${this.summaryText},"findings":${JSON.stringify(findings.map(findingJson))}}`);
  }

  failure(): void {
    // Said on stderr; there is no row to show.
  }

  finish(): void {
    // Every line is complete in itself.
  }

  private line(object: object): void {
    this.sink.writeLine(`{${this.head},${members(object)}}`);
  }
}
