import type { DumpSubject } from '../tools/dump/open-subject.ts';
import type { BlockRow } from '../tools/dump/walk-blocks.ts';
import { checksumText } from './dump-document.ts';
import { type BytesMode, formatKey } from './key-format.ts';
import type { Theme } from './theme.ts';

/** Columns of `--blocks` whose widths are known before the first row, so that rows can be streamed. */
export class BlockColumns {
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

/** The stored checksum of a block, and whether it is the wrong one; null where there is none. */
export function checksumCell({ storedChecksum, checksumHolds }: BlockRow): string | null {
  if (storedChecksum === null) return null;
  return `${checksumText(storedChecksum)}${checksumHolds === false ? ' bad' : ''}`;
}
