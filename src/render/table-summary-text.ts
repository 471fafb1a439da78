import type { MetaindexEntry } from '../format/metaindex.ts';
import type { FilterSummary } from '../tools/dump/describe-filter.ts';
import type { Json, PropertyView } from '../tools/dump/describe-properties.ts';
import type { KindTotals } from '../tools/dump/survey-blocks.ts';
import type { TableDump } from '../tools/dump.ts';
import { checksumText } from './dump-document.ts';
import { formatHex, formatKey } from './key-format.ts';
import type { ByteSink } from './sink.ts';
import { type Cell, writeTable } from './table.ts';
import { handleText, storedText, writePairs, writeSection } from './text-sections.ts';
import type { Theme } from './theme.ts';

/** Filters by what they are, in words. */
export const FILTER_NAMES: Readonly<Record<FilterSummary['kind'], string>> = {
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

/** What a table is made of, for people: a section each for footer, meta blocks, properties and what follows. */
export class TableSummaryText {
  constructor(
    private readonly sink: ByteSink,
    private readonly theme: Theme,
  ) {}

  write(dump: TableDump): void {
    const { sink, theme } = this;
    const version = dump.footer === undefined ? '' : `, format_version ${dump.footer.formatVersion}`;
    const format = dump.format === 'leveldb' ? 'LevelDB table' : `${dump.format} table${version}`;
    sink.writeLine(`${theme.heading(dump.path)}: ${format}, ${dump.size} bytes`);
    this.footer(dump);
    this.section('Meta blocks');
    this.metaindex(dump.metaindex);
    this.section('Properties');
    this.properties(dump.properties);
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
      ['metaindex', handleText(footer.metaindex)],
      ['index', indexHandle === undefined ? null : handleText(indexHandle)],
      ['footer', handleText(footer)],
      ['bytes behind it', appendedBytes === 0 ? null : appendedBytes],
      ['data blocks', recovered ? 'found by their checksums: the index is lost' : null],
    ]);
  }

  /** The meta blocks by name. */
  metaindex(metaindex: readonly MetaindexEntry[] | undefined, indent = 2): void {
    if (metaindex === undefined) {
      this.sink.writeLine(`${' '.repeat(indent)}cannot be read`);
      return;
    }
    const rows = metaindex.map(({ name, type, offset, size }) => [storedText(name), type, offset, size]);
    const columns = [{ title: 'name' }, { title: 'kind' }, { title: 'offset' }, { title: 'size' }];
    writeTable(this.sink, columns, rows, { indent, heading: this.theme.label });
  }

  /** Known properties, then those of the user. */
  properties({ known, user, malformed, missing }: PropertyView, indent = 2): void {
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
    const userRows = user.map(([name, value]) => [storedText(name), formatHex(value), formatKey(value)]);
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
      ['place', handleText(dictionary)],
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
    writeSection(this.sink, this.theme, title);
  }

  private pairs(pairs: readonly (readonly [string, Cell])[]): void {
    writePairs(this.sink, this.theme, pairs);
  }
}

function totalsCells({ count, bytes, rawBytes }: Pick<KindTotals, 'count' | 'bytes' | 'rawBytes'>): Cell[] {
  const ratio = rawBytes === null || bytes === 0 ? '' : (rawBytes / bytes).toFixed(2);
  return [count, bytes, rawBytes ?? 'unknown', ratio];
}

function propertyText(value: Json): string {
  if (value === null) return 'unknown';
  if (typeof value === 'string') return storedText(value);
  return JSON.stringify(value);
}
