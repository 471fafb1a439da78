import type { SstError } from '../errors.ts';
import type { BlobFileFooter } from '../format/blob/blob-file.ts';
import type { BlockHandle } from '../format/block-handle.ts';
import type { MetaindexEntry } from '../format/metaindex.ts';
import type { BlobHeaderView, BlobRecordView } from '../tools/dump/blob-dump.ts';
import type { EntryPlace } from '../tools/dump/block-entries.ts';
import type { BlockDescription } from '../tools/dump/describe-block.ts';
import type { FilterSummary } from '../tools/dump/describe-filter.ts';
import type { Json, PropertyView } from '../tools/dump/describe-properties.ts';
import type { DumpOutput, DumpParts } from '../tools/dump/dump-files.ts';
import type { EditRecord, LiveSet } from '../tools/dump/manifest-dump.ts';
import type { DumpSubject } from '../tools/dump/open-subject.ts';
import type { KindTotals } from '../tools/dump/survey-blocks.ts';
import type { BatchView, ControlView, WalSummary } from '../tools/dump/wal-dump.ts';
import type { BlockRow } from '../tools/dump/walk-blocks.ts';
import type { TableDump } from '../tools/dump.ts';
import type { Finding } from '../tools/finding.ts';
import type { Row } from '../tools/row.ts';
import { BlobText } from './blob-text.ts';
import { checksumText } from './dump-document.ts';
import { ScanRowText, writeHexLines } from './dump-entries.ts';
import { type BytesMode, formatHex, formatKey } from './key-format.ts';
import { ManifestText } from './manifest-text.ts';
import type { ByteSink } from './sink.ts';
import { type Cell, writeTable } from './table.ts';
import type { Theme } from './theme.ts';
import { WalText } from './wal-text.ts';

const FILTER_NAMES: Readonly<Record<FilterSummary['kind'], string>> = {
  fast_local_bloom: 'FastLocalBloom',
  legacy_bloom: 'legacy Bloom',
  ribbon: 'Ribbon',
  block_based: 'block-based, one part for each stretch of the file',
  always_true: 'always true: lets every key pass',
  always_false: 'empty: no key was added',
  unreadable: 'cannot be read',
  mixed: 'partitions of more than one kind',
};

const CODEC_NAMES: Readonly<Record<string, string>> = {
  deflate_raw: 'raw deflate',
  zlib_stream: 'zlib stream',
};

/** The parts of a dump for people: aligned, coloured on a terminal alone. */
export class TextDump implements DumpOutput {
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
  ) {}

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
    const { sink, theme } = this;
    const version = dump.footer === undefined ? '' : `, format_version ${dump.footer.formatVersion}`;
    const format = dump.format === 'leveldb' ? 'LevelDB table' : `${dump.format} table${version}`;
    sink.writeLine(`${theme.heading(dump.path)}: ${format}, ${dump.size} bytes`);
    this.footer(dump);
    this.section('Meta blocks');
    this.metaindexTable(dump.metaindex);
    this.section('Properties');
    this.propertyTables(dump.properties);
    this.index(dump);
    this.blockCounts(dump);
    this.filter(dump.filter);
    this.dictionary(dump);
    this.section('Range tombstones');
    this.pairs([['count', dump.rangeTombstones ?? 'unknown']]);
    this.sequenceNumbers(dump);
    this.timestamps(dump);
    this.otherFormats(dump);
    this.compatibility(dump);
  }

  properties(view: PropertyView): void {
    if (!this.parts.summary) this.propertyTables(view, 0);
  }

  metaBlocks(entries: readonly MetaindexEntry[] | undefined): void {
    if (!this.parts.summary) this.metaindexTable(entries, 0);
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
    const { sink } = this;
    const name = row.name === null ? '' : ` ${row.name}`;
    sink.writeLine(this.theme.heading(`${row.type} block ${row.ordinal} at ${row.offset}${name}`));
    const { filter, prefixes, zstdId, bytes, decoded } = description;
    this.pairs([
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
      writeTable(sink, columns, rows, { indent: 2, heading: this.theme.label });
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
    const target = `at ${handle.offset}, ${handle.size} bytes`;
    this.sink.writeLine(`${placeText(place)}${formatKey(key, this.bytes)}\t${target}${first}`);
  }

  named(name: Uint8Array, value: BlockHandle | Uint8Array, place: EntryPlace): void {
    const text =
      value instanceof Uint8Array ? formatKey(value, this.bytes) : `at ${value.offset}, ${value.size} bytes`;
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
    this.section('Notes');
    for (const { message } of notes) this.sink.writeLine(`  ${this.theme.warning(message)}`);
  }

  failure(_path: string, _error: SstError): void {
    // Said on stderr.
  }

  finish(): void {
    // Every file is complete in itself.
  }

  private footer({ footer, checksum, indexHandle, appendedBytes, recovered }: TableDump): void {
    this.section('Footer');
    if (footer === undefined) {
      this.sink.writeLine('  lost: the blocks were found by their checksums');
      return;
    }
    this.pairs([
      ['magic', footer.magic],
      ['format version', footer.formatVersion],
      ['checksum', checksum],
      [
        'context checksum',
        footer.baseContextChecksum === 0 ? null : checksumText(footer.baseContextChecksum),
      ],
      ['metaindex', placeOf(footer.metaindex)],
      ['index', indexHandle === undefined ? null : placeOf(indexHandle)],
      ['footer', placeOf(footer)],
      ['bytes behind it', appendedBytes === 0 ? null : appendedBytes],
      ['data blocks', recovered ? 'found by their checksums: the index is lost' : null],
    ]);
  }

  private metaindexTable(metaindex: readonly MetaindexEntry[] | undefined, indent = 2): void {
    if (metaindex === undefined) {
      this.sink.writeLine(`${' '.repeat(indent)}cannot be read`);
      return;
    }
    const rows = metaindex.map(({ name, type, offset, size }) => [nameText(name), type, offset, size]);
    const columns = [{ title: 'name' }, { title: 'kind' }, { title: 'offset' }, { title: 'size' }];
    writeTable(this.sink, columns, rows, { indent, heading: this.theme.label });
  }

  private propertyTables({ known, user, malformed, missing }: PropertyView, indent = 2): void {
    const { sink, theme } = this;
    const margin = ' '.repeat(indent);
    if (missing !== undefined) {
      sink.writeLine(`${margin}${missing === 'absent' ? 'none' : 'cannot be read'}`);
      return;
    }
    const rows = known.map(({ name, value, note }) => [
      name,
      note === undefined ? propertyText(value) : `${propertyText(value)} (${note})`,
    ]);
    for (const [name] of malformed) rows.push([name.replace(/^rocksdb\./, ''), 'does not decode']);
    writeTable(
      sink,
      [
        { title: '', paint: theme.label },
        { title: '', align: 'left' },
      ],
      rows,
      { indent },
    );
    if (user.length === 0) return;
    sink.writeLine('');
    sink.writeLine(`${margin}${theme.heading('User-collected properties')}`);
    const columns = [{ title: '', paint: theme.label }, { title: '' }, { title: '' }];
    const userRows = user.map(([name, value]) => [nameText(name), formatHex(value), formatKey(value)]);
    writeTable(sink, columns, userRows, { indent });
  }

  private index({ index }: TableDump): void {
    if (index === undefined) return;
    this.section('Index');
    this.pairs([
      ['type', index.type],
      ['entries', index.entries],
      ['partitions', index.partitions === 0 ? null : index.partitions],
      ['keys', index.userKeys ? 'user keys' : 'internal keys'],
      ['values', index.deltaValues ? 'delta-encoded handles' : 'handles'],
      ['first keys', index.firstKeys ? 'yes' : null],
      ['uniform keys', index.uniformKeys ? 'yes' : null],
      ['encoding', index.guessed ? 'told by its own bytes: the properties do not say it' : null],
    ]);
  }

  private blockCounts({ blocks }: TableDump): void {
    this.section('Blocks');
    const rows: Cell[][] = [];
    for (const [type, kind] of blocks) {
      rows.push([type, '', ...totalsCells(kind)]);
      if (kind.compressions.size < 2 && !kind.compressions.has('none')) rows.pop();
      if (kind.compressions.size === 1 && kind.compressions.has('none')) continue;
      for (const [name, totals] of kind.compressions) {
        const single = kind.compressions.size === 1;
        const codecs = [...totals.codecs]
          .map((codec) => CODEC_NAMES[codec])
          .filter((codec) => codec !== undefined);
        const bytes = [...totals.typeBytes].join(', ');
        const detail = codecs.length === 0 ? name : `${name} (byte ${bytes}, ${codecs.join(', ')})`;
        rows.push([single ? type : '', detail, ...totalsCells(totals)]);
      }
    }
    const columns = [
      { title: 'kind' },
      { title: 'compression' },
      { title: 'count', align: 'right' as const },
      { title: 'bytes', align: 'right' as const },
      { title: 'raw bytes', align: 'right' as const },
      { title: 'ratio', align: 'right' as const },
    ];
    writeTable(this.sink, columns, rows, { indent: 2, heading: this.theme.label });
  }

  private filter(filter: FilterSummary | null): void {
    this.section('Filter');
    if (filter === null) {
      this.sink.writeLine('  none');
      return;
    }
    const added = [
      ...(filter.wholeKeys ? ['whole keys'] : []),
      ...(filter.prefixExtractor === undefined ? [] : [`prefixes by ${filter.prefixExtractor}`]),
    ];
    this.pairs([
      ['kind', FILTER_NAMES[filter.kind]],
      ['name', `${filter.metaindexName}${filter.isRead ? '' : ' (no reader looks for it)'}`],
      ['bytes', filter.bytes],
      ['entries', filter.entries],
      ['bits per key', filter.bitsPerKey?.toFixed(2)],
      ['partitions', filter.partitions === 0 ? null : filter.partitions],
      ['probes', filter.probes],
      ['lines', filter.lines],
      ['blocks of 128 slots', filter.slotBlocks],
      ['hash seed', filter.seed],
      ['holds', filter.entries === undefined ? null : added.join(', ')],
    ]);
  }

  private dictionary({ dictionary }: TableDump): void {
    if (dictionary === null) return;
    this.section('Compression dictionary');
    this.pairs([
      ['place', placeOf(dictionary)],
      ['kind', dictionary.zstdId === undefined ? 'raw' : `trained, number ${dictionary.zstdId}`],
      ['used', dictionary.used ? 'yes' : 'no: unused dictionary'],
    ]);
  }

  private sequenceNumbers({ globalSeqno }: TableDump): void {
    if (globalSeqno === null) return;
    this.section('Global sequence number');
    this.pairs([
      ['stored', globalSeqno.stored],
      ['effective', globalSeqno.effective],
    ]);
  }

  private timestamps({ timestamps }: TableDump): void {
    if (timestamps === null) return;
    this.section('User-defined timestamps');
    this.pairs([
      ['bytes', timestamps.sizeBytes],
      ['persisted', timestamps.persisted ? 'yes' : 'no: the keys are stored without'],
      ['smallest', timestamps.min === undefined ? null : formatHex(timestamps.min)],
      ['largest', timestamps.max === undefined ? null : formatHex(timestamps.max)],
    ]);
  }

  private otherFormats({ plain, cuckoo }: TableDump): void {
    if (plain !== null) {
      this.section('Rows');
      const { encoding, isPrefixEncoded, keyLength, rowsEnd } = plain;
      this.pairs([
        ['bytes', rowsEnd],
        ['encoding', isPrefixEncoded ? 'prefix' : encoding === 0 ? 'plain' : encoding],
        ['key length', keyLength === 0 ? 'variable' : keyLength],
      ]);
    }
    if (cuckoo === null) return;
    this.section('Hash table');
    this.pairs([
      ['places', cuckoo.tableSize],
      ['entries', cuckoo.entries],
      ['buckets a place', cuckoo.blockSize],
      ['hash functions', cuckoo.hashFunctions],
      ['key length', cuckoo.keyLength],
      ['value length', cuckoo.valueLength],
      ['last level', cuckoo.lastLevel ? 'yes' : 'no'],
      ['empty key', formatHex(cuckoo.emptyKey)],
    ]);
  }

  private compatibility({ compatibility, sample }: TableDump): void {
    const { first, before, leveldb, requirements } = compatibility;
    this.section('Compatibility');
    const releases = before === null ? `${first} and newer` : `from ${first} on, before ${before}`;
    this.sink.writeLine(`  RocksDB ${releases}${leveldb ? '; LevelDB' : ''}`);
    const rows = requirements.map(({ feature, description, first: since, before: until }) => [
      since,
      feature,
      until === undefined ? description : `${description}; refused since ${until}`,
    ]);
    const columns = [{ title: 'since', align: 'right' as const }, { title: 'feature' }, { title: '' }];
    writeTable(this.sink, columns, rows, { indent: 2, heading: this.theme.label });
    if (sample.blocks < sample.of) {
      const text = `entry types were looked for in ${sample.blocks} of ${sample.of} data blocks`;
      this.sink.writeLine(`  ${this.theme.dim(text)}`);
    }
  }

  private section(title: string): void {
    this.sink.writeLine('');
    this.sink.writeLine(this.theme.heading(title));
  }

  /** Labels and values; a line without a value is left out. */
  private pairs(pairs: readonly (readonly [string, Cell])[]): void {
    const rows = pairs.filter(([, value]) => value !== null && value !== undefined);
    const columns = [
      { title: '', paint: this.theme.label },
      { title: '', align: 'left' as const },
    ];
    writeTable(this.sink, columns, rows, { indent: 2 });
  }
}

function totalsCells({ count, bytes, rawBytes }: Pick<KindTotals, 'count' | 'bytes' | 'rawBytes'>): Cell[] {
  const ratio = rawBytes === null || bytes === 0 ? '' : (rawBytes / bytes).toFixed(2);
  return [count, bytes, rawBytes ?? 'unknown', ratio];
}

function placeOf({ offset, size }: BlockHandle): string {
  return `at ${offset}, ${size} bytes`;
}

function checksumCell({ storedChecksum, checksumHolds }: BlockRow): string | null {
  if (storedChecksum === null) return null;
  return `${checksumText(storedChecksum)}${checksumHolds === false ? ' bad' : ''}`;
}

const PLACE_WIDTHS = [10, 6, 8, 6] as const;
const ENTRY_TITLE = `${placeCells(['offset', 'shared', 'unshared', 'value'])}  key, seqno, type, value`;

function placeText({ offset, shared, unshared, valueLength }: EntryPlace): string {
  return `${placeCells([offset, shared ?? '-', unshared ?? '-', valueLength ?? '-'])}  `;
}

function placeCells(cells: readonly (string | number)[]): string {
  return cells.map((cell, i) => String(cell).padStart(PLACE_WIDTHS[i]!)).join(' ');
}

function propertyText(value: Json): string {
  if (value === null) return 'unknown';
  if (typeof value === 'string') return nameText(value);
  return JSON.stringify(value);
}

/** Text from a file on one line, whatever it holds. */
function nameText(text: string): string {
  return formatKey(new TextEncoder().encode(text), 'utf8');
}

/** Columns of `--blocks` whose widths are known before the first row, so that rows can be streamed. */
class BlockColumns {
  private readonly widths: readonly number[];

  constructor({ order, source }: DumpSubject) {
    const digits = String(source.size).length;
    let types = 'type'.length;
    for (let i = 0; i < order.count; i++) types = Math.max(types, order.typeAt(i).length);
    const ordinals = Math.max('ordinal'.length, String(order.count).length);
    const sizes = Math.max('size'.length, digits);
    this.widths = [
      ordinals,
      types,
      Math.max('offset'.length, digits),
      sizes,
      Math.max(8, digits),
      11,
      12,
      7,
      8,
    ];
  }

  title(): string {
    return this.join(
      ['ordinal', 'type', 'offset', 'size', 'raw', 'compression', 'checksum', 'entries', 'restarts'],
      'first key',
      'last key',
    );
  }

  line(row: BlockRow, bytes: BytesMode, theme: Theme): string {
    const { ordinal, type, offset, size, rawSize, compression, entries, restarts, firstKey, lastKey } = row;
    const cells = [ordinal, type, offset, size, rawSize, compression, checksumCell(row), entries, restarts];
    const isBad = row.checksumHolds === false;
    const line = this.join(
      cells.map((cell) => (cell === null ? '-' : String(cell))),
      firstKey === null ? '' : formatKey(firstKey, bytes),
      lastKey === null ? '' : formatKey(lastKey, bytes),
    );
    return isBad ? theme.damage(line) : line;
  }

  private join(cells: readonly string[], first: string, last: string): string {
    const isLeft = (i: number): boolean => i === 1 || i === 5 || i === 6;
    const padded = cells.map((cell, i) =>
      isLeft(i) ? cell.padEnd(this.widths[i]!) : cell.padStart(this.widths[i]!),
    );
    return `${padded.join('  ')}  ${first.padEnd(20)}  ${last}`.trimEnd();
  }
}
