import { copyBytes } from '../../bytes/copy.ts';
import { readFixed64 } from '../../bytes/fixed.ts';
import { toHex } from '../../bytes/text.ts';
import { compressionName } from '../../codec/resolve-codec.ts';
import { CorruptionError, SstError } from '../../errors.ts';
import {
  type BlobIndex,
  decodeBlobIndex,
  decodePreferredSeqno,
  decodeWideColumns,
  PREFERRED_SEQNO_SIZE,
} from '../../format/entry-value.ts';
import { seqnoText, TRAILER_SIZE, trailerSeqno, trailerType } from '../../format/internal-key.ts';
import type { EntryShape, EntrySource } from '../../format/table-entry.ts';
import { isPointType, ValueType } from '../../format/value-type.ts';
import type { TextKernel } from '../../kernels/text-kernel.ts';
import { writeHexUpper } from '../../render/key-format.ts';
import { putAscii, putBytes, putDecimal } from '../../render/put.ts';
import { type ByteSink, MemorySink } from '../../render/sink.ts';
import { TextPutter } from '../../render/text-putter.ts';
import type { KeyFilter } from '../../tools/key-range.ts';
import type { Compat } from './arguments.ts';

export interface RowShape extends EntryShape {
  /** Bytes of timestamp in a user key, and whether they are stored. */
  readonly timestampSize: number;
  readonly timestampsPersisted: boolean;
}

export interface ScanRowsOptions {
  /** Off: entries are only counted and judged. */
  readonly print: boolean;
  readonly hex: boolean;
  readonly decodeBlobIndex: boolean;
  readonly compat: Compat;
  readonly shape: RowShape;
  /** Undefined: every key is asked for. */
  readonly filter: KeyFilter | undefined;
  readonly limit: number;
  /** A line about an entry that is not shown as it should be. */
  readonly complain: (text: string) => void;
  readonly textKernel: TextKernel | undefined;
}

/** How an entry of a value type is shown. */
const INVALID = 0;
const PLAIN = 1;
const STRUCTURED = 2;

/** Beyond this a row is written in pieces: the sink's buffer does not have to grow for it. */
const MAX_ROW_BYTES = 64 * 1024;
/** `'` `' seq:` 20 digits `, type:` 3 digits ` => ` line feed. */
const FIXED_ROW_BYTES = 48;
const LINE_FEED = 0x0a;
const QUOTE = 0x27;

const ENCODER = new TextEncoder();

/**
 * Writes entries as `scan` of sst_dump prints them: `'key' seq:N, type:N => value`.
 * The bytes of a plain row go through tables straight into the sink's buffer, with room for all of it reserved once.
 */
export class ScanRows {
  /** Entries that were asked for. */
  rows = 0;
  /** One more entry came after the limit. */
  overLimit = false;
  private readonly kinds = new Uint8Array(256);
  /** `, type:N => ` of each type. */
  private readonly typeTexts: Uint8Array[] = [];
  private readonly globalSeqno: Uint8Array | undefined;
  private readonly hasTimestamps: boolean;
  private readonly putter: TextPutter;

  constructor(
    private readonly sink: ByteSink,
    private readonly options: ScanRowsOptions,
  ) {
    this.putter = new TextPutter(sink, options.textKernel);
    const modern = options.compat === '11';
    for (let type = 0; type < 256; type++) {
      this.typeTexts.push(ENCODER.encode(`, type:${type} => `));
      if (isPointType(type) || type === ValueType.rangeDeletion) this.kinds[type] = PLAIN;
    }
    if (options.print) {
      if (options.decodeBlobIndex) this.kinds[ValueType.blobIndex] = STRUCTURED;
      if (modern) this.kinds[ValueType.wideColumnEntity] = STRUCTURED;
      if (modern) this.kinds[ValueType.valuePreferredSeqno] = STRUCTURED;
    }
    const { globalSeqno } = options.shape;
    this.globalSeqno = globalSeqno === undefined ? undefined : ENCODER.encode(String(globalSeqno));
    // Release 7.8 prints a timestamp as what it is in the file: the end of the key.
    this.hasTimestamps = modern && options.shape.timestampSize > 0;
  }

  /** Takes one entry, whose key has been found long enough for its trailer; false when no more are wanted. */
  entry(entry: EntrySource): boolean {
    const { filter, limit, print } = this.options;
    if (filter !== undefined) {
      const end = entry.keyLength - TRAILER_SIZE - this.options.shape.storedTimestampSize;
      if (!filter.accepts(entry.key, end)) return true;
    }
    if (this.rows >= limit) {
      this.overLimit = true;
      return false;
    }
    this.rows++;
    const type = trailerType(entry.key, entry.keyLength);
    const kind = this.kinds[type]!;
    if (kind === INVALID) this.reportInvalidType(entry, type);
    else if (print) {
      if (kind === PLAIN) this.plainRow(entry, type);
      else this.structuredRow(entry, type);
    }
    return true;
  }

  private plainRow(entry: EntrySource, type: number): void {
    const { key, data, valueStart, valueEnd } = entry;
    const keyEnd = entry.keyLength - TRAILER_SIZE;
    const size = FIXED_ROW_BYTES + 2 * (keyEnd + valueEnd - valueStart);
    if (size > MAX_ROW_BYTES || this.hasTimestamps) {
      this.writeHead(this.sink, entry, type);
      this.writeBytes(this.sink, data, valueStart, valueEnd);
      this.sink.writeByte(LINE_FEED);
      return;
    }
    const sink = this.sink;
    let pos = sink.reserve(size);
    const { buffer, view } = sink;
    const hex = this.options.hex;
    buffer[pos++] = QUOTE;
    pos = hex ? this.putter.keyHexUpper(pos, key, 0, keyEnd) : copyBytes(key, 0, keyEnd, buffer, pos);
    // "' seq:"
    view.setInt32(pos, 0x65732027, true);
    view.setInt16(pos + 4, 0x3a71, true);
    pos += 6;
    if (this.globalSeqno !== undefined) {
      pos = putBytes(buffer, pos, this.globalSeqno);
    } else {
      const seqno = trailerSeqno(key, entry.keyLength);
      pos =
        seqno <= Number.MAX_SAFE_INTEGER
          ? putDecimal(buffer, pos, seqno)
          : putAscii(buffer, pos, seqnoText(key, entry.keyLength));
    }
    const typeText = this.typeTexts[type]!;
    pos = putBytes(buffer, pos, typeText);
    pos = hex
      ? this.putter.hexUpper(pos, data, valueStart, valueEnd)
      : copyBytes(data, valueStart, valueEnd, buffer, pos);
    buffer[pos++] = LINE_FEED;
    sink.length = pos;
  }

  /** Everything of a row before its value. */
  private writeHead(sink: ByteSink, entry: EntrySource, type: number): void {
    const { storedTimestampSize, timestampSize, timestampsPersisted } = this.options.shape;
    const keyEnd = entry.keyLength - TRAILER_SIZE;
    sink.writeByte(QUOTE);
    if (this.hasTimestamps) {
      const end = keyEnd - storedTimestampSize;
      this.writeBytes(sink, entry.key, 0, end);
      sink.writeText('|timestamp:');
      // Not stored means the smallest one. All timestamps that are known here are fixed64.
      if (!timestampsPersisted) sink.writeText('0');
      else if (timestampSize === 8) sink.writeText(String(readFixed64(entry.key, end)));
    } else {
      this.writeBytes(sink, entry.key, 0, keyEnd);
    }
    sink.writeText("' seq:");
    if (this.globalSeqno === undefined) sink.writeText(seqnoText(entry.key, entry.keyLength));
    else sink.writeBytes(this.globalSeqno);
    sink.writeBytes(this.typeTexts[type]!);
  }

  private structuredRow(entry: EntrySource, type: number): void {
    const { sink } = this;
    const { data, valueStart, valueEnd } = entry;
    let write: () => void;
    try {
      write = this.valueWriter(data, valueStart, valueEnd, type);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      const head = new MemorySink();
      this.writeHead(head, entry, type);
      const what = type === ValueType.blobIndex ? 'decoding blob index' : 'deserializing wide columns';
      this.options.complain(`${head.toString()}error ${what}`);
      return;
    }
    this.writeHead(sink, entry, type);
    write();
    sink.writeByte(LINE_FEED);
  }

  /** Decodes first, so that a value that does not decode leaves no half a row. */
  private valueWriter(data: Uint8Array, start: number, end: number, type: number): () => void {
    const { sink } = this;
    switch (type) {
      case ValueType.blobIndex: {
        const blob = decodeBlobIndex(data, start, end);
        return () => this.writeBlob(blob);
      }
      case ValueType.valuePreferredSeqno: {
        const preferred = decodePreferredSeqno(data, start, end);
        return () => {
          this.writeBytes(sink, data, start, end - PREFERRED_SEQNO_SIZE);
          sink.writeText(`, ${preferred}`);
        };
      }
      default: {
        const columns = decodeWideColumns(data, start, end);
        return () => {
          columns.forEach(({ name, value, blob }, i) => {
            if (i > 0) sink.writeByte(0x20);
            this.writePrefixed(name);
            sink.writeByte(0x3a);
            if (blob === undefined) this.writePrefixed(value);
            else this.writeBlob(blob);
          });
        };
      }
    }
  }

  private writeBlob(blob: BlobIndex): void {
    const { sink } = this;
    if (blob.kind === 'inlined_ttl') {
      sink.writeText('[inlined blob] value:');
      this.writeBytes(sink, blob.value, 0, blob.value.length);
    } else {
      const file = blob.fileNumber === 0 && this.options.compat === '11' ? 'same' : String(blob.fileNumber);
      sink.writeText(
        `[blob ref] file:${file} offset:${blob.offset} size:${blob.size} ` +
          `compression: ${displayedCompression(blob.compressionType)}`,
      );
    }
    if (blob.expirationSeconds !== undefined) sink.writeText(` exp:${blob.expirationSeconds}`);
  }

  /** Column names and values: nothing for no bytes, `0x` before hex digits. */
  private writePrefixed(bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    if (this.options.hex) this.sink.writeText('0x');
    this.writeBytes(this.sink, bytes, 0, bytes.length);
  }

  private writeBytes(sink: ByteSink, bytes: Uint8Array, start: number, end: number): void {
    if (this.options.hex) writeHexUpper(sink, bytes, start, end);
    else sink.writeBytes(bytes, start, end);
  }

  private reportInvalidType(entry: EntrySource, type: number): void {
    const key = toHex(entry.key.subarray(0, entry.keyLength - TRAILER_SIZE)).toUpperCase();
    this.options.complain(
      `Corrupted Key: '${key}' seq:${seqnoText(entry.key, entry.keyLength)}, type:${type}`,
    );
  }
}

/** As RocksDB's CompressionTypeToString. */
export function displayedCompression(type: number): string {
  const names: Readonly<Record<number, string>> = {
    0: 'NoCompression',
    1: 'Snappy',
    2: 'Zlib',
    3: 'BZip2',
    4: 'LZ4',
    5: 'LZ4HC',
    6: 'Xpress',
    7: 'ZSTD',
    255: 'DisableOption',
  };
  if (names[type] !== undefined) return names[type];
  const digits = type.toString(16).padStart(2, '0').toUpperCase();
  return `${compressionName(type).startsWith('custom') ? 'Custom' : 'Reserved'}${digits}`;
}

/** `key='HEX' seq:N, type:N` of a key on the command line; `fault` when it is no internal key. */
export function internalKeyText(key: Uint8Array): { text: string; fault: CorruptionError | undefined } {
  if (key.length < TRAILER_SIZE) {
    const reason = `Corrupted Key: Internal Key too small. Size=${key.length}. `;
    return {
      text: "key='' seq:72057594037927935, type:0",
      fault: new CorruptionError('entry_malformed', reason),
    };
  }
  const type = trailerType(key, key.length);
  const userKey = toHex(key.subarray(0, key.length - TRAILER_SIZE)).toUpperCase();
  const text = `'${userKey}' seq:${seqnoText(key, key.length)}, type:${type}`;
  const known = isPointType(type) || type === ValueType.rangeDeletion;
  const fault = known ? undefined : new CorruptionError('entry_malformed', `Corrupted Key: ${text}`);
  return { text: `key=${text}`, fault };
}
