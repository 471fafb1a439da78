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
import { BlobText } from './blob-text.ts';
import { BlockColumns, checksumCell } from './block-columns.ts';
import { ScanRowText, writeHexLines } from './dump-entries.ts';
import { type BytesMode, formatKey } from './key-format.ts';
import { ManifestText } from './manifest-text.ts';
import type { ByteSink } from './sink.ts';
import { writeSmallFile } from './small-file.ts';
import { writeTable } from './table.ts';
import { FILTER_NAMES, TableSummaryText } from './table-summary-text.ts';
import { handleText, writePairs, writeSection } from './text-sections.ts';
import type { Theme } from './theme.ts';
import { WalText } from './wal-text.ts';

/** The parts of a dump for people: aligned, coloured on a terminal alone. */
export class TextDump implements DumpOutput {
  private readonly table: TableSummaryText;
  private single = true;
  private files = 0;
  private rows: ScanRowText | undefined;
  private columns: BlockColumns | undefined;
  private manifests: ManifestText | undefined;
  private wals: WalText | undefined;
  private blobs: BlobText | undefined;

  constructor(
    private readonly sink: ByteSink,
    private readonly parts: DumpParts,
    private readonly bytes: BytesMode,
    private readonly theme: Theme,
  ) {
    this.table = new TableSummaryText(sink, theme);
  }

  start(single: boolean): void {
    this.single = single;
  }

  file(subject: DumpSubject): void {
    this.rows = new ScanRowText('text', subject.path, this.bytes, false);
    if (this.files++ > 0) this.sink.writeLine('');
    if (this.parts.summary) return;
    // Of one file, its rows alone are wanted.
    if (!this.single) this.sink.writeLine(this.theme.heading(subject.path));
  }

  manifest(path: string, size: number): void {
    if (this.files++ > 0) this.sink.writeLine('');
    this.manifests = new ManifestText(this.sink, this.bytes, this.theme);
    this.manifests.head(path, size);
  }

  edit(record: EditRecord): void {
    this.manifests!.edit(record);
  }

  live(live: LiveSet): void {
    this.manifests!.live(live);
  }

  wal(path: string, size: number): void {
    if (this.files++ > 0) this.sink.writeLine('');
    this.wals = new WalText(this.sink, this.bytes, this.theme);
    this.wals.head(path, size);
  }

  walBatch(batch: BatchView): void {
    this.wals!.batch(batch);
  }

  walControl(control: ControlView): void {
    this.wals!.control(control);
  }

  walEnd(summary: WalSummary | undefined): void {
    this.wals!.end(summary);
  }

  smallFile(path: string, size: number, file: SmallFile): void {
    if (this.files++ > 0) this.sink.writeLine('');
    writeSmallFile(this.sink, this.theme, path, size, file);
  }

  blobFile(path: string, size: number, header: BlobHeaderView | undefined): void {
    if (this.files++ > 0) this.sink.writeLine('');
    this.blobs = new BlobText(this.sink, this.bytes, this.theme);
    this.blobs.head(path, size, header);
  }

  blobRecord(record: BlobRecordView): void {
    this.blobs!.record(record);
  }

  blobEnd(footer: BlobFileFooter | undefined): void {
    this.blobs!.end(footer);
  }

  summary(dump: TableDump): void {
    this.table.write(dump);
  }

  properties(view: PropertyView): void {
    if (!this.parts.summary) this.table.properties(view, 0);
  }

  metaBlocks(entries: readonly MetaindexEntry[] | undefined): void {
    if (!this.parts.summary) this.table.metaindex(entries, 0);
  }

  beginBlocks(subject: DumpSubject): void {
    this.columns = new BlockColumns(subject);
    this.sink.writeLine(this.theme.heading(this.columns.title()));
    if (this.parts.entries) this.sink.writeLine(this.theme.dim(ENTRY_TITLE));
  }

  block(row: BlockRow): void {
    this.sink.writeLine(this.columns!.line(row, this.bytes, this.theme));
  }

  oneBlock(row: BlockRow, description: BlockDescription): void {
    const { sink, theme } = this;
    const name = row.name === null ? '' : ` ${row.name}`;
    sink.writeLine(theme.heading(`${row.type} block ${row.ordinal} at ${row.offset}${name}`));
    const { filter, prefixes, zstdId, bytes, decoded } = description;
    writePairs(sink, theme, [
      ['size', row.size],
      ['raw size', row.rawSize],
      ['compression', row.compression],
      ['checksum', checksumCell(row)],
      ['entries', row.entries],
      ['restarts', row.restarts],
      ['hash buckets', row.hashBuckets === 0 ? null : row.hashBuckets],
      ['keys and values', row.separated ? 'apart' : null],
      ['keys', row.uniformKeys ? 'uniform' : null],
      ['filter', filter === undefined ? null : FILTER_NAMES[filter.kind]],
      ['probes', filter?.probes],
      ['lines', filter?.lines],
      ['blocks of 128 slots', filter?.slotBlocks],
      ['hash seed', filter?.seed],
      ['zstd dictionary', zstdId],
    ]);
    if (prefixes !== undefined) {
      const rows = prefixes.map(({ length, firstBlock, blocks }) => [length, firstBlock, blocks]);
      const columns = [{ title: 'prefix length' }, { title: 'first block' }, { title: 'blocks' }];
      writeTable(sink, columns, rows, { indent: 2, heading: theme.label });
      return;
    }
    if (bytes === undefined || bytes.length === 0) return;
    if (!decoded) sink.writeLine('  as stored:');
    writeHexLines(sink, bytes, 2);
  }

  row(row: Row, place: EntryPlace): void {
    this.sink.writeText(placeText(place));
    this.rows!.write(this.sink, row);
    this.sink.writeLine('');
  }

  handle(key: Uint8Array, handle: BlockHandle, firstKey: Uint8Array | undefined, place: EntryPlace): void {
    const first = firstKey === undefined ? '' : `\tfirst ${formatKey(firstKey, this.bytes)}`;
    this.sink.writeLine(`${placeText(place)}${formatKey(key, this.bytes)}\t${handleText(handle)}${first}`);
  }

  named(name: Uint8Array, value: BlockHandle | Uint8Array, place: EntryPlace): void {
    const text = value instanceof Uint8Array ? formatKey(value, this.bytes) : handleText(value);
    this.sink.writeLine(`${placeText(place)}${formatKey(name, 'utf8')}\t${text}`);
  }

  endBlock(): void {
    // Nothing stands behind a block.
  }

  endBlocks(): void {
    // Nothing stands behind them.
  }

  endFile(findings: readonly Finding[]): void {
    const notes = findings.filter(({ severity }) => severity === 'note');
    if (!this.parts.summary || notes.length === 0) return;
    writeSection(this.sink, this.theme, 'Notes');
    for (const { message } of notes) this.sink.writeLine(`  ${this.theme.warning(message)}`);
  }

  failure(_path: string, _error: SstError): void {
    // Said on stderr.
  }

  finish(): void {
    // Every file is complete in itself.
  }
}

const PLACE_WIDTHS = [10, 6, 8, 6] as const;
const ENTRY_TITLE = `${placeCells(['offset', 'shared', 'unshared', 'value'])}  key, seqno, type, value`;

function placeText({ offset, shared, unshared, valueLength }: EntryPlace): string {
  return `${placeCells([offset, shared ?? '-', unshared ?? '-', valueLength ?? '-'])}  `;
}

function placeCells(cells: readonly (string | number)[]): string {
  return cells.map((cell, i) => String(cell).padStart(PLACE_WIDTHS[i]!)).join(' ');
}
