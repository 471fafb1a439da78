import { ByteWriter } from '../../bytes/byte-writer.ts';
import { joinBytes } from '../../bytes/copy.ts';
import { InvalidArgumentError } from '../../errors.ts';
import {
  type BlobIndex,
  encodeBlobIndex,
  encodeWideColumns,
  PREFERRED_SEQNO_SIZE,
  type WideColumn,
} from '../../format/entry-value.ts';
import { entryTypeName, isPointType, ValueType } from '../../format/value-type.ts';
import { parseSeqno, type WriteEntry } from './write-entry.ts';

/** Value of a hex digit by its code unit, -1 for any other. */
export const HEX_VALUES = hexValues();

function hexValues(): Int8Array {
  const values = new Int8Array(256).fill(-1);
  for (let digit = 0; digit < 16; digit++) {
    const text = digit.toString(16);
    values[text.charCodeAt(0)] = digit;
    values[text.toUpperCase().charCodeAt(0)] = digit;
  }
  return values;
}

const TYPE_NUMBERS: ReadonlyMap<string, number> = new Map(
  Object.values(ValueType)
    .filter((type) => isPointType(type) || type === ValueType.rangeDeletion)
    .map((type) => [entryTypeName(type), type]),
);

/** What rows may hold: the fields of `scan`, and those that other commands add to the same rows. */
const FIELDS: ReadonlySet<string> = new Set([
  ...['file', 'cf', 'key', 'start', 'end', 'timestamp', 'seqno', 'type', 'value', 'columns', 'blob'],
  ...['preferredSeqno', 'storedSeqno', 'covered', 'level', 'blockOffset', 'coveredBy'],
]);

export interface RowEncoderOptions {
  /** Bytes of timestamp behind each user key. */
  readonly timestampSize: number;
  /** A row without a timestamp has one of zeros: for tables that do not keep them. */
  readonly fillTimestamps: boolean;
  /** How rows spell bytes; hexadecimal when left out. Throws InvalidArgumentError. */
  readonly parseBytes?: ((text: string, field: string) => Uint8Array) | undefined;
  /** Timestamps are hexadecimal whatever form keys and values have: so ndjson has them. */
  readonly hexTimestamps: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Turns rows of any shape that `scan` prints into entries. Defaults for rows written by hand: sequence number 0, type
 * `put`, no value. Of a file with a global sequence number the effective one is taken; `storedSeqno` is passed over.
 */
export class RowEncoder {
  readonly isHex: boolean;
  readonly timestampSize: number;
  private readonly parseBytes: (text: string, field: string) => Uint8Array;
  private readonly scratch = new ByteWriter(1024);
  private family: string | undefined;

  constructor(private readonly options: RowEncoderOptions) {
    this.isHex = options.parseBytes === undefined;
    this.parseBytes = options.parseBytes ?? parseHex;
    this.timestampSize = options.timestampSize;
  }

  encodeJson(text: string, entry: WriteEntry): void {
    let row: unknown;
    try {
      row = JSON.parse(text);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw new InvalidArgumentError('in', '', `no JSON object: ${error.message}`);
    }
    if (!isObject(row)) throw new InvalidArgumentError('in', '', 'a row is a JSON object');
    this.encode(row, entry);
  }

  /** The row with these fields. Throws InvalidArgumentError. */
  encode(row: Fields, entry: WriteEntry): void {
    for (const name in row) {
      if (FIELDS.has(name)) continue;
      throw new InvalidArgumentError(name, '', `a row has no field ${JSON.stringify(name)}`);
    }
    this.checkFamily(row.cf);
    const type = row.type === undefined ? ValueType.value : typeNumber(row.type);
    const seqno = row.seqno === undefined ? 0n : parseSeqno(row.seqno);
    const isTombstone = type === ValueType.rangeDeletion;
    const key = this.bytesOf(row, isTombstone && row.key === undefined ? 'start' : 'key');
    const timestamp = this.timestampOf(row.timestamp);
    const value = isTombstone ? this.endOf(row, timestamp) : this.valueOf(row, type);

    entry.reserve(key.length + timestamp.length, value.length);
    entry.key.set(key);
    entry.key.set(timestamp, key.length);
    entry.value.set(value);
    entry.valueStart = 0;
    entry.valueEnd = value.length;
    entry.sealBig(key.length + timestamp.length, seqno, type);
  }

  /** A table holds the keys of one column family. */
  private checkFamily(family: unknown): void {
    if (family === undefined) return;
    const name = textOf(family, 'cf');
    this.family ??= name;
    if (this.family === name) return;
    throw new InvalidArgumentError(
      'cf',
      name,
      `a row of column family ${JSON.stringify(name)} after one of ${JSON.stringify(this.family)}: ` +
        'a table holds one (scan --cf)',
    );
  }

  private timestampOf(value: unknown): Uint8Array {
    const { timestampSize, fillTimestamps } = this.options;
    if (value === undefined) {
      if (timestampSize === 0 || fillTimestamps) return new Uint8Array(timestampSize);
      throw new InvalidArgumentError(
        'timestamp',
        '',
        'a timestamp is missing, which the comparator asks for',
      );
    }
    const parse = this.options.hexTimestamps ? parseHex : this.parseBytes;
    const timestamp = parse(textOf(value, 'timestamp'), 'timestamp');
    if (timestamp.length === timestampSize) return timestamp;
    const wanted =
      timestampSize === 0 ? 'but the comparator has none' : `the comparator has ${timestampSize}`;
    throw new InvalidArgumentError(
      'timestamp',
      String(value),
      `a timestamp of ${timestamp.length} bytes: ${wanted}`,
    );
  }

  private endOf(row: Fields, timestamp: Uint8Array): Uint8Array {
    return joinBytes(
      this.bytesOf(row, row.end === undefined && row.value !== undefined ? 'value' : 'end'),
      timestamp,
    );
  }

  private valueOf(row: Fields, type: number): Uint8Array {
    switch (type) {
      case ValueType.wideColumnEntity:
        if (row.columns !== undefined) return this.entityOf(row.columns);
        break;
      case ValueType.blobIndex:
        if (row.blob !== undefined) return this.blobBytes(row.blob);
        break;
      case ValueType.valuePreferredSeqno:
        return this.preferredOf(row);
    }
    // Of an entity or a blob reference that could not be decoded, `scan` shows the bytes.
    const needsMore = type === ValueType.wideColumnEntity || type === ValueType.blobIndex;
    if (row.value === undefined && needsMore) {
      const field = type === ValueType.blobIndex ? 'blob' : 'columns';
      throw new InvalidArgumentError(field, '', `a row of type ${entryTypeName(type)} needs ${field}`);
    }
    return row.value === undefined ? new Uint8Array(0) : this.bytesOf(row, 'value');
  }

  /** The preferred sequence number stands behind the value. */
  private preferredOf(row: Fields): Uint8Array {
    const value = row.value === undefined ? new Uint8Array(0) : this.bytesOf(row, 'value');
    if (row.preferredSeqno === undefined) {
      // Too short to have one: `scan` shows such a value as it is.
      if (row.value !== undefined && value.length < PREFERRED_SEQNO_SIZE) return value;
      throw new InvalidArgumentError(
        'preferredSeqno',
        '',
        'a row of type put_preferred_seqno needs preferredSeqno, which csv has no column for: ndjson has it',
      );
    }
    const { scratch } = this;
    scratch.truncate(0);
    scratch.append(value);
    scratch.fixed64(parseFixed64(row.preferredSeqno));
    return scratch.view();
  }

  private entityOf(columns: unknown): Uint8Array {
    if (!Array.isArray(columns)) throw new InvalidArgumentError('columns', '', 'columns is a list');
    const decoded = columns.map((column): WideColumn => {
      if (!isObject(column)) throw new InvalidArgumentError('columns', '', 'a column is an object');
      const name = this.bytesOf(column, 'name');
      if (column.blob === undefined) return { name, value: this.bytesOf(column, 'value') };
      const blob = this.blobOf(column.blob);
      const bytes = new ByteWriter(64);
      encodeBlobIndex(blob, bytes);
      return { name, value: bytes.copy(), blob };
    });
    this.scratch.truncate(0);
    encodeWideColumns(decoded, this.scratch);
    return this.scratch.view();
  }

  private blobBytes(blob: unknown): Uint8Array {
    this.scratch.truncate(0);
    encodeBlobIndex(this.blobOf(blob), this.scratch);
    return this.scratch.view();
  }

  private blobOf(blob: unknown): BlobIndex {
    if (!isObject(blob)) throw new InvalidArgumentError('blob', '', 'a blob reference is an object');
    const { kind } = blob;
    if (kind === 'inlined_ttl') {
      return { kind, expirationSeconds: numberOf(blob, 'expiration'), value: this.bytesOf(blob, 'value') };
    }
    if (kind !== 'blob' && kind !== 'blob_ttl') {
      throw new InvalidArgumentError(
        'blob',
        String(kind),
        `the kind of a blob reference is blob, blob_ttl or inlined_ttl, not ${JSON.stringify(kind)}`,
      );
    }
    const compressionType = numberOf(blob, 'compression');
    if (compressionType > 255) {
      throw new InvalidArgumentError('compression', String(compressionType), 'compression is 0 to 255');
    }
    if (numberOf(blob, 'file') === 0) {
      throw new InvalidArgumentError(
        'blob',
        '0',
        'a blob reference with file 0 points into the table that it comes from: its value is not in the row',
      );
    }
    return {
      kind,
      expirationSeconds: kind === 'blob' ? undefined : numberOf(blob, 'expiration'),
      fileNumber: numberOf(blob, 'file'),
      offset: numberOf(blob, 'offset'),
      size: numberOf(blob, 'size'),
      compressionType,
    };
  }

  private bytesOf(row: Fields, field: string): Uint8Array {
    if (row[field] === undefined) {
      throw new InvalidArgumentError(field, '', `${field} is missing`);
    }
    return this.parseBytes(textOf(row[field], field), field);
  }
}

function typeNumber(type: unknown): number {
  const number = typeof type === 'string' ? TYPE_NUMBERS.get(type) : undefined;
  if (number !== undefined) return number;
  throw new InvalidArgumentError(
    'type',
    String(type),
    `entries of type ${JSON.stringify(type)} cannot be written: there are ${[...TYPE_NUMBERS.keys()].join(', ')}`,
  );
}

/** All 64 bits: unlike other sequence numbers this one has no type beside it. */
function parseFixed64(value: unknown): bigint {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string' && /^\d{1,20}$/.test(text) && BigInt(text) < 1n << 64n) return BigInt(text);
  throw new InvalidArgumentError(
    'preferredSeqno',
    String(value),
    `preferredSeqno ${JSON.stringify(value)} is no sequence number`,
  );
}

function numberOf(row: Fields, field: string): number {
  const value = row[field];
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  const text =
    value === undefined ? 'is missing' : `${JSON.stringify(value)} is no number of a blob reference`;
  throw new InvalidArgumentError(field, String(value), `${field} ${text}`);
}

function textOf(value: unknown, field: string): string {
  if (typeof value === 'string') return value;
  throw new InvalidArgumentError(field, String(value), `${field} is a string`);
}

function parseHex(text: string, field: string): Uint8Array {
  const bytes = new Uint8Array(text.length >> 1);
  let valid = text.length % 2 === 0;
  for (let i = 0; i < bytes.length && valid; i++) {
    const [high, low] = [text.charCodeAt(2 * i), text.charCodeAt(2 * i + 1)];
    const byte = high > 255 || low > 255 ? -1 : (HEX_VALUES[high]! << 4) | HEX_VALUES[low]!;
    valid = byte >= 0;
    bytes[i] = byte;
  }
  if (valid) return bytes;
  const shown = text.length > 40 ? `${text.slice(0, 40)}...` : text;
  throw new InvalidArgumentError(field, shown, `${field} ${JSON.stringify(shown)} is not hexadecimal`);
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
