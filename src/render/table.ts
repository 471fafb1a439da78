/** A small column printer: columns parted by two spaces, numbers to the right, no lines drawn. */

import type { ByteSink } from './sink.ts';
import type { Paint } from './theme.ts';

export interface Column {
  title: string;
  /** Default: right when every cell of the column is a number (or empty), else left. */
  align?: 'left' | 'right';
  paint?: Paint;
}

/** `null` and `undefined` print as an empty cell. Text may be painted: colour codes take no width. */
export type Cell = string | number | bigint | null | undefined;

export interface TableOptions {
  /** Spaces in front of each line. */
  indent?: number;
  /** Paints the line of titles. Without any title that line is left out. */
  heading?: Paint;
}

export function writeTable(
  sink: ByteSink,
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions = {},
): void {
  for (const line of formatTable(columns, rows, options)) sink.writeLine(line);
}

export function formatTable(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
  options: TableOptions = {},
): string[] {
  const texts = rows.map((row) => columns.map((_, i) => cellText(row[i])));
  const widths = columns.map(({ title }, i) =>
    texts.reduce((width, row) => Math.max(width, displayWidth(row[i]!)), displayWidth(title)),
  );
  const rights = columns.map(({ align }, i) =>
    align === undefined ? rows.length > 0 && rows.every((row) => isNumber(row[i])) : align === 'right',
  );
  const indent = ' '.repeat(options.indent ?? 0);
  const lineOf = (cells: readonly string[], paints: readonly (Paint | undefined)[]): string => {
    const parts = cells.map((text, i) => {
      const padding = ' '.repeat(widths[i]! - displayWidth(text));
      const painted = paints[i]?.(text) ?? text;
      if (rights[i]!) return padding + painted;
      return i === cells.length - 1 ? painted : painted + padding;
    });
    return (indent + parts.join('  ')).trimEnd();
  };

  const lines = texts.map((row) =>
    lineOf(
      row,
      columns.map(({ paint }) => paint),
    ),
  );
  if (columns.some(({ title }) => title !== '')) {
    const titles = columns.map(({ title }) => title);
    lines.unshift(
      lineOf(
        titles,
        titles.map(() => options.heading),
      ),
    );
  }
  return lines;
}

function cellText(cell: Cell): string {
  return cell === null || cell === undefined ? '' : String(cell);
}

function isNumber(cell: Cell): boolean {
  return typeof cell !== 'string' || cell === '';
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: an SGR sequence starts with ESC
const COLOR_CODES = /\u001b\[[0-9;]*m/g;

/** Columns that a text takes on a terminal; wide and combining characters are not told apart. */
function displayWidth(text: string): number {
  let width = 0;
  for (const _ of text.replace(COLOR_CODES, '')) width++;
  return width;
}
