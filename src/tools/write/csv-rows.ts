import { InvalidArgumentError } from '../../errors.ts';
import type { RowEncoder } from './row-encoder.ts';
import type { WriteEntry } from './write-entry.ts';

/** The columns that `scan --format csv` prints. */
const COLUMNS = ['file', 'key', 'timestamp', 'seqno', 'type', 'value'];

/**
 * Rows as `scan --format csv` prints them: RFC 4180, a header first. Columns may stand in any order, and all but `key`
 * may be missing. The value of a tombstone is its end key; those of entities and blob references are JSON. Two things
 * csv has no place for: preferred sequence numbers, and which columns of an entity are blob references.
 */
export class CsvRows {
  private readonly decoder = new TextDecoder();
  private columns: readonly string[] | undefined;

  constructor(
    private readonly encoder: RowEncoder,
    private readonly entry: WriteEntry,
  ) {}

  /** The record in `bytes[start, end)`; false for the header. Throws InvalidArgumentError. */
  parse(bytes: Uint8Array, start: number, end: number): boolean {
    const fields = splitRecord(this.decoder.decode(bytes.subarray(start, end)));
    if (this.columns === undefined) {
      this.columns = checkHeader(fields);
      return false;
    }
    if (fields.length !== this.columns.length) {
      throw new InvalidArgumentError(
        'in',
        '',
        `${fields.length} fields where the header has ${this.columns.length}`,
      );
    }
    const row: Record<string, unknown> = {};
    for (let i = 0; i < fields.length; i++) {
      const column = this.columns[i]!;
      const field = fields[i]!;
      if (field !== '' || column === 'key') row[column] = field;
    }
    this.encoder.encode(withStructure(row), this.entry);
    return true;
  }
}

function checkHeader(fields: readonly string[]): readonly string[] {
  const unknown = fields.find((field) => !COLUMNS.includes(field));
  const twice = fields.find((field, i) => fields.indexOf(field) !== i);
  if (unknown === undefined && twice === undefined && fields.includes('key')) return fields;
  const problem =
    unknown !== undefined
      ? `no column is called ${JSON.stringify(unknown)}`
      : twice !== undefined
        ? `column ${twice} comes twice`
        : 'column key is missing';
  throw new InvalidArgumentError(
    'in',
    '',
    `${problem}: csv begins with a header, ${COLUMNS.join(',')}; ndjson with {`,
  );
}

/** Values that are JSON become the fields that ndjson has for them. */
function withStructure(row: Record<string, unknown>): Record<string, unknown> {
  const { type, value } = row;
  if (type === 'range_delete') {
    const { key, ...rest } = row;
    return { ...rest, start: key, ...(value === undefined ? { value: '' } : {}) };
  }
  if (type === 'entity' && typeof value === 'string' && value.startsWith('[')) {
    const columns = parseJson(value);
    if (!Array.isArray(columns) || !columns.every((pair) => Array.isArray(pair) && pair.length === 2)) {
      throw new InvalidArgumentError('value', '', 'the value of an entity is a list of [name, value]');
    }
    return { ...row, columns: columns.map(([name, text]) => ({ name, value: text })) };
  }
  if (type === 'blob_index' && typeof value === 'string' && value.startsWith('{')) {
    return { ...row, blob: parseJson(value) };
  }
  return row;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new InvalidArgumentError('value', '', `the value is no JSON: ${error.message}`);
  }
}

/** One record into its fields. Throws InvalidArgumentError where a quote is not closed. */
function splitRecord(text: string): string[] {
  if (!text.includes('"')) return text.split(',');
  const fields: string[] = [];
  for (let pos = 0; ; ) {
    if (text[pos] !== '"') {
      const comma = text.indexOf(',', pos);
      fields.push(comma < 0 ? text.slice(pos) : text.slice(pos, comma));
      if (comma < 0) return fields;
      pos = comma + 1;
      continue;
    }
    let field = '';
    let from = pos + 1;
    for (;;) {
      const quote = text.indexOf('"', from);
      if (quote < 0) throw new InvalidArgumentError('in', '', 'a quoted field has no end');
      field += text.slice(from, quote);
      if (text[quote + 1] !== '"') {
        pos = quote + 1;
        break;
      }
      field += '"';
      from = quote + 2;
    }
    fields.push(field);
    if (pos === text.length) return fields;
    if (text[pos] !== ',') throw new InvalidArgumentError('in', '', 'text follows a quoted field');
    pos++;
  }
}
