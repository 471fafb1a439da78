import type { BlobFileFooter, ExpirationRange } from '../format/blob/blob-file.ts';
import type { BlobHeaderView, BlobRecordView } from '../tools/dump/blob-dump.ts';
import { type BytesMode, bytesWriter } from './key-format.ts';
import type { ByteSink } from './sink.ts';
import { writePairs, writeSection } from './text-sections.ts';
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
      this.section('Header', [
        ['version', header.version],
        ['column family', header.columnFamily],
        ['compression', header.compression],
        ['expires', expiresText(header.hasTtl, header.expiration)],
      ]);
    }
    writeSection(this.sink, this.theme, 'Records');
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
    this.section('Footer', [
      ['records', footer === undefined ? 'not there, or damaged' : String(footer.blobCount)],
    ]);
  }

  private section(title: string, rows: Parameters<typeof writePairs>[2]): void {
    writeSection(this.sink, this.theme, title);
    writePairs(this.sink, this.theme, rows);
  }

  private put(field: Uint8Array): void {
    bytesWriter(this.bytes)(this.sink, field, 0, field.length);
  }
}

function expiresText(hasTtl: boolean, { from, to }: ExpirationRange): string {
  return hasTtl ? `between ${from} and ${to} (seconds since 1970)` : 'no';
}
