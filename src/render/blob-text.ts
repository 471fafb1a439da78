import type { BlobFileFooter, ExpirationRange } from '../format/blob/blob-file.ts';
import type { BlobHeaderView, BlobRecordView } from '../tools/dump/blob-dump.ts';
import { type BytesMode, bytesWriter } from './key-format.ts';
import type { ByteSink } from './sink.ts';
import { writeTable } from './table.ts';
import type { Theme } from './theme.ts';

/** A blob file for people: header, each record in a line, footer. */
export class BlobText {
  constructor(
    private readonly sink: ByteSink,
    private readonly bytes: BytesMode,
    private readonly theme: Theme,
  ) {}

  head(path: string, size: number, header: BlobHeaderView | undefined): void {
    this.sink.writeLine(`${this.theme.heading(path)}: blob file, ${size} bytes`);
    if (header !== undefined) {
      this.table('Header', [
        ['version', header.version],
        ['column family', header.columnFamily],
        ['compression', header.compression],
        ['expires', expiresText(header.hasTtl, header.expiration)],
      ]);
    }
    this.heading('Records');
  }

  /** Value's offset, its stored size, key, value, parted by TABs. */
  record({ valueOffset, size, key, value, expiration }: BlobRecordView): void {
    const { sink } = this;
    sink.writeText(`  ${this.theme.label(`value at ${valueOffset}, size ${size}`)}\t`);
    this.put(key);
    sink.writeText('\t');
    if (value === undefined) sink.writeText('(cannot be read)');
    else this.put(value);
    sink.writeLine(expiration === 0n ? '' : `\texpiration=${expiration}`);
  }

  end(footer: BlobFileFooter | undefined): void {
    this.table('Footer', [
      ['records', footer === undefined ? 'not there, or damaged' : String(footer.blobCount)],
    ]);
  }

  private put(field: Uint8Array): void {
    bytesWriter(this.bytes)(this.sink, field, 0, field.length);
  }

  private table(title: string, rows: readonly (readonly [string, string | number])[]): void {
    this.heading(title);
    const columns = [
      { title: '', paint: this.theme.label },
      { title: '', align: 'left' as const },
    ];
    writeTable(this.sink, columns, rows, { indent: 2 });
  }

  private heading(title: string): void {
    this.sink.writeLine('');
    this.sink.writeLine(this.theme.heading(title));
  }
}

function expiresText(hasTtl: boolean, { from, to }: ExpirationRange): string {
  return hasTtl ? `between ${from} and ${to} (seconds since 1970)` : 'no';
}
