import type { BlockHandle } from '../format/block-handle.ts';
import type { EntryPlace } from '../tools/dump/block-entries.ts';
import type { BlockDescription } from '../tools/dump/describe-block.ts';
import type { Row } from '../tools/row.ts';
import { type BytesMode, formatHex, formatKey } from './key-format.ts';
import { openRowWriter, type RowWriter } from './rows.ts';
import { type ByteSink, MemorySink } from './sink.ts';

const NEWLINE = 0x0a;
const CLOSING_BRACE = 0x7d;

/** The rows of a scan as pieces of text, to which a dump adds where each entry stands. */
export class ScanRowText {
  private readonly line = new MemorySink(4096);
  private readonly writer: RowWriter;
  /** What each row begins with that is not wanted here: the file, in JSON and in csv. */
  private readonly prefix: string;

  constructor(
    readonly format: 'text' | 'ndjson' | 'csv',
    path: string,
    bytes: BytesMode | undefined,
    keepsFile: boolean,
  ) {
    const plan = { files: [{ path, named: true }], families: new Map<string, string>() };
    const options = { format, bytes, withValues: true, count: false, digest: undefined } as const;
    this.writer = openRowWriter(this.line, plan, options);
    if (format === 'csv') this.writer.finish();
    this.prefix = format === 'ndjson' && !keepsFile ? `"file":${JSON.stringify(path)},` : '';
  }

  /** Writes the row without its end: the line feed, and the closing brace of JSON. */
  write(sink: ByteSink, row: Row): void {
    const { line } = this;
    line.length = 0;
    this.writer.row(row);
    let end = line.length;
    if (line.buffer[end - 1] === NEWLINE) end--;
    if (this.format === 'ndjson' && line.buffer[end - 1] === CLOSING_BRACE) end--;
    if (this.prefix === '') {
      sink.writeBytes(line.buffer, 0, end);
      return;
    }
    sink.writeText('{');
    sink.writeBytes(line.buffer, 1 + new TextEncoder().encode(this.prefix).length, end);
  }
}

/** Members of an entry's JSON object that say where it stands. */
export function placeJson(place: EntryPlace): string {
  const { block, offset, shared, unshared, valueLength } = place;
  return `"block":${block},"offset":${offset},"shared":${shared},"unshared":${unshared},"valueLength":${valueLength}`;
}

export function handleEntryJson(
  key: Uint8Array,
  handle: BlockHandle,
  firstKey: Uint8Array | undefined,
  bytes: BytesMode,
): { [name: string]: unknown } {
  return {
    key: formatKey(key, bytes),
    handle: { offset: handle.offset, size: handle.size },
    ...(firstKey === undefined ? {} : { firstKey: formatKey(firstKey, bytes) }),
  };
}

export function namedEntryJson(
  name: Uint8Array,
  value: BlockHandle | Uint8Array,
): { [name: string]: unknown } {
  const text = formatKey(name, 'utf8');
  return value instanceof Uint8Array
    ? { name: text, value: formatHex(value) }
    : { name: text, handle: { offset: value.offset, size: value.size } };
}

export function descriptionJson(description: BlockDescription): { [name: string]: unknown } {
  const { filter, prefixes, zstdId, bytes, decoded } = description;
  return {
    decoded,
    ...(filter === undefined ? {} : { filter }),
    ...(prefixes === undefined ? {} : { prefixes }),
    ...(zstdId === undefined ? {} : { zstdId }),
    ...(bytes === undefined ? {} : { contents: formatHex(bytes) }),
  };
}

/** `000010  6b 65 79 ...  key...`, sixteen bytes a line. */
export function writeHexLines(sink: ByteSink, bytes: Uint8Array, indent: number): void {
  const margin = ' '.repeat(indent);
  for (let start = 0; start < bytes.length; start += 16) {
    const line = bytes.subarray(start, start + 16);
    let digits = '';
    let text = '';
    for (const byte of line) {
      digits += `${byte.toString(16).padStart(2, '0')} `;
      text += byte >= 0x20 && byte <= 0x7e ? String.fromCharCode(byte) : '.';
    }
    sink.writeLine(`${margin}${start.toString(16).padStart(8, '0')}  ${digits.padEnd(48)} ${text}`);
  }
}
