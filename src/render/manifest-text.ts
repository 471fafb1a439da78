import type { EditRecord, EditView, FileView, KeyView, LiveSet } from '../tools/dump/manifest-dump.ts';
import { type BytesMode, formatHex, formatKey } from './key-format.ts';
import type { ByteSink } from './sink.ts';
import { writeTable } from './table.ts';
import { storedText, writePairs, writeSection } from './text-sections.ts';
import type { Theme } from './theme.ts';

/** A MANIFEST for people: each edit with a line a field, then the live files as tables. */
export class ManifestText {
  constructor(
    private readonly sink: ByteSink,
    private readonly bytes: BytesMode,
    private readonly theme: Theme,
  ) {}

  head(path: string, size: number): void {
    this.sink.writeLine(`${this.theme.heading(path)}: MANIFEST, ${size} bytes`);
    this.section('Edits');
  }

  edit({ offset, size, edit }: EditRecord): void {
    const family = edit.columnFamily === 0 ? '' : `, column family ${edit.columnFamily}`;
    this.sink.writeLine(`  ${this.theme.label(`edit at ${offset}, size ${size}${family}`)}`);
    const lines = this.fields(edit);
    if (lines.length === 0) this.sink.writeLine('    empty');
    for (const line of lines) this.sink.writeLine(`    ${line}`);
  }

  live({ families, state, end }: LiveSet): void {
    const { sink, theme } = this;
    for (const { family, levels } of families) {
      const comparator = family.comparator === undefined ? 'no comparator' : storedText(family.comparator);
      this.section(`Column family ${storedText(family.name)} (${family.id}), ${comparator}`);
      const rows = levels.flatMap(({ level, files }) =>
        files.map((file) => [
          level,
          file.number,
          file.size,
          file.smallestSeqno,
          file.largestSeqno,
          this.bound(file.smallest),
          this.bound(file.largest),
        ]),
      );
      if (rows.length === 0) sink.writeLine('  no files');
      else {
        const columns = ['level', 'file', 'size', 'from seqno', 'to seqno', 'smallest', 'largest'];
        writeTable(
          sink,
          columns.map((title) => ({ title })),
          rows,
          { indent: 2, heading: theme.dim },
        );
      }
      for (const { number, blobCount, blobBytes, garbageCount, garbageBytes } of family.blobFiles.values()) {
        sink.writeLine(
          `  blob file ${number}: ${blobCount} blobs, ${blobBytes} bytes; garbage: ${garbageCount}, ${garbageBytes} bytes`,
        );
      }
    }
    this.section('Counters');
    writePairs(sink, theme, [
      ['DB id', state.dbId === undefined ? undefined : storedText(state.dbId)],
      ['next file number', state.nextFileNumber],
      ['last sequence number', state.lastSequence],
      ['previous log number', state.previousLogNumber],
      ['smallest log number to keep', state.minLogNumberToKeep],
      ['largest column family', state.maxColumnFamily],
      ['end of the log', `${end.state}, at ${end.offset}`],
    ]);
  }

  private fields(edit: EditView): string[] {
    const lines: string[] = [];
    const add = (name: string, value: string | number | bigint | boolean | undefined): void => {
      if (value !== undefined) lines.push(`${name} ${value}`);
    };
    const text = (value: string | undefined): string | undefined =>
      value === undefined ? undefined : storedText(value);
    add('DB id', text(edit.dbId));
    add('comparator', text(edit.comparator));
    add('log number', edit.logNumber);
    add('previous log number', edit.previousLogNumber);
    add('next file number', edit.nextFileNumber);
    add('largest column family', edit.maxColumnFamily);
    add('smallest log number to keep', edit.minLogNumberToKeep);
    add('last sequence number', edit.lastSequence);
    for (const { level, key } of edit.compactCursors ?? [])
      add('compact cursor', `level ${level}, ${this.bound(key)}`);
    for (const { level, number } of edit.deletedFiles ?? []) add('deleted file', `${number}, level ${level}`);
    for (const file of edit.newFiles ?? []) add('new file', this.newFile(file));
    for (const { number, blobCount, blobBytes } of edit.blobFileAdditions ?? []) {
      add('new blob file', `${number}, ${blobCount} blobs, ${blobBytes} bytes`);
    }
    for (const { number, garbageCount, garbageBytes } of edit.blobFileGarbage ?? []) {
      add('garbage in blob file', `${number}, ${garbageCount} blobs, ${garbageBytes} bytes`);
    }
    for (const { number, syncedSize } of edit.walAdditions ?? []) {
      add('WAL', syncedSize === undefined ? number : `${number}, ${syncedSize} bytes`);
    }
    add('WALs are gone below', edit.walDeletion);
    add('column family added:', text(edit.columnFamilyAdd));
    if (edit.columnFamilyDrop) lines.push('column family dropped');
    add('atomic group, edits to follow:', edit.atomicGroupRemaining);
    if (edit.fullHistoryTsLow !== undefined) add('full_history_ts_low', formatHex(edit.fullHistoryTsLow));
    add('user-defined timestamps persisted:', edit.persistUserDefinedTimestamps);
    if (edit.subcompactionProgress !== undefined) {
      add('subcompaction progress', `${edit.subcompactionProgress.length} bytes`);
    }
    add('size of the last compacted MANIFEST', edit.lastCompactedManifestSize);
    for (const { tag, bytes } of edit.unknown ?? []) add(`unknown tag ${tag}:`, formatHex(bytes));
    return lines;
  }

  private newFile(file: FileView): string {
    const parts = [
      `${file.number}, level ${file.level}, ${file.size} bytes, ${this.bound(file.smallest)} .. ${this.bound(file.largest)}`,
    ];
    const add = (name: string, value: string | number | undefined): void => {
      if (value !== undefined) parts.push(`${name} ${value}`);
    };
    if (file.smallestSeqno !== undefined) add('seqnos', `${file.smallestSeqno} .. ${file.largestSeqno}`);
    add('epoch', file.epochNumber);
    add('path', file.pathId);
    add('oldest blob file', file.oldestBlobFile);
    if (file.fileChecksum !== undefined && file.fileChecksum.length > 0) {
      add(storedText(file.fileChecksumFunction ?? 'checksum'), formatHex(file.fileChecksum));
    }
    for (const { tag, bytes } of file.unknown ?? []) add(`unknown field ${tag}:`, formatHex(bytes));
    return parts.join(', ');
  }

  private bound({ userKey, seqno, type }: KeyView): string {
    return `${formatKey(userKey, this.bytes)} (${seqno}, ${type})`;
  }

  private section(title: string): void {
    writeSection(this.sink, this.theme, title);
  }
}
