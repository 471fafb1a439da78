/** What the dumps for people are made of: sections, labelled values, and text that comes from a file. */

import type { BlockHandle } from '../format/block-handle.ts';
import { formatKey } from './key-format.ts';
import type { ByteSink } from './sink.ts';
import { type Cell, writeTable } from './table.ts';
import type { Theme } from './theme.ts';

/** The title of a section, with an empty line above it. */
export function writeSection(sink: ByteSink, theme: Theme, title: string): void {
  sink.writeLine('');
  sink.writeLine(theme.heading(title));
}

/** Labels and values; a line without a value is left out. */
export function writePairs(sink: ByteSink, theme: Theme, pairs: readonly (readonly [string, Cell])[]): void {
  const rows = pairs.filter(([, value]) => value !== null && value !== undefined);
  const columns = [
    { title: '', paint: theme.label },
    { title: '', align: 'left' as const },
  ];
  writeTable(sink, columns, rows, { indent: 2 });
}

/** Text from a file on one line, whatever it holds. */
export function storedText(text: string): string {
  return formatKey(new TextEncoder().encode(text), 'utf8');
}

/** Where a block lies. */
export function handleText({ offset, size }: BlockHandle): string {
  return `at ${offset}, ${size} bytes`;
}
