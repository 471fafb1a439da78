import { copyBytes } from '../../bytes/copy.ts';
import type { ByteSource } from '../../bytes/source.ts';
import { CorruptionError } from '../../errors.ts';
import { TRAILER_SIZE } from '../internal-key.ts';
import { ValueType } from '../value-type.ts';

/** Property `rocksdb.plain.table.encoding.type`. */
export const PlainEncoding = { plain: 0, prefix: 1 } as const;

export type PlainEncoding = (typeof PlainEncoding)[keyof typeof PlainEncoding];

/**
 * In place of a trailer: a value with sequence number 0. No value type has this number.
 * The comment in RocksDB's plain_table_factory.h says 80; its constant, and every file, has ff.
 */
const SEQNO_ZERO_VALUE = 0xff;

/** Kinds of key records, the two highest bits of their first byte. */
const FULL_KEY = 0;
const KEY_PREFIX = 1;
const KEY_SUFFIX = 2;
const SIZE_BITS = 0x3f;

/** No prefix record since the last full key. */
const NO_PREFIX = -1;

/** Longest key record head: a prefix record and a suffix record, each with a five-byte varint. */
const KEY_HEAD_MAX = 12;
const VARINT32_MAX = 5;
const WINDOW_BYTES = 1024 * 1024;

/**
 * Walks the rows of a plain table in stored order.
 *
 *   row:     key, trailer, varint32 value length, value
 *   trailer: type (1), sequence number (7); or ff, which stands for a value with sequence number 0
 *
 *   plain encoding:   [varint32 user key length], user key      without the length where all keys have the same
 *   prefix encoding:  record(0, length), user key               a full key
 *                     record(1, p), record(2, length), suffix   the first p bytes of the key before it, then these
 *                     record(2, length), suffix                 the same p again
 *     record(kind, size): one byte kind << 6 | size; from 63 on kind << 6 | 63, then varint32 size - 63
 *
 * The file is read in windows of 1 MiB; a longer row has a window of its own. The current entry is given by
 * positions, as by BlockIterator: the internal key is `key[0, keyLength)`, trailer written out; the value is
 * `data[valueStart, valueEnd)`; both are valid until the next move. When a source throws the signal that a
 * range is not here yet, `next` can be called again: it moves only when the whole row is there.
 * Source: RocksDB table/plain/plain_table_key_coding.cc, plain_table_factory.h.
 */
export class PlainTableIterator {
  /** The window. */
  data: Uint8Array = new Uint8Array(0);
  key: Uint8Array = new Uint8Array(256);
  keyLength = 0;
  valueStart = 0;
  valueEnd = 0;
  /** Where the current row begins in the file. */
  entryOffset = 0;
  /** Rows passed, the current one included. */
  count = 0;
  /** Where the next row begins in the file. */
  private nextOffset = 0;
  private windowOffset = 0;
  private windowLength = 0;
  /** Bytes of the key before it that a suffix record goes on from. */
  private prefixLength = NO_PREFIX;
  /** Set by `readVarint` and `readKeyHead`: where in the window they ended, and the size of a key record. */
  private position = 0;
  private size = 0;

  constructor(
    private readonly source: ByteSource,
    private readonly encoding: PlainEncoding,
    /** Bytes of each user key; 0: every row tells its own. Prefix encoding always tells it. */
    private readonly fixedKeyLength: number,
    /** The rows are [0, rowsEnd) of the file. */
    private readonly rowsEnd: number,
  ) {}

  /**
   * Moves to the next row; false behind the last one. Throws CorruptionError `entry_malformed`; no row behind a
   * malformed one can be found, and `next` is false from then on.
   */
  next(): boolean {
    const start = this.nextOffset;
    if (start >= this.rowsEnd) return false;
    let row = this.hold(start, KEY_HEAD_MAX);
    let prefixLength = NO_PREFIX;
    if (this.encoding === PlainEncoding.prefix) {
      prefixLength = this.readKeyHead(row);
    } else if (this.fixedKeyLength > 0) {
      this.position = row;
      this.size = this.fixedKeyLength;
    } else {
      this.size = this.readVarint(row);
    }
    const shared = Math.max(prefixLength, 0);
    const stored = this.size;
    const headLength = this.position - row;
    this.requireInside(start, headLength + stored + 2, 'key');
    row = this.hold(start, headLength + stored + TRAILER_SIZE + VARINT32_MAX);
    const keyStart = row + headLength;
    const keyEnd = keyStart + stored;
    const short = this.data[keyEnd] === SEQNO_ZERO_VALUE;
    const trailerLength = short ? 1 : TRAILER_SIZE;
    this.requireInside(start, headLength + stored + trailerLength + 1, 'trailer');
    const valueLength = this.readVarint(keyEnd + trailerLength);
    const valuePosition = this.position - row;
    const rowLength = valuePosition + valueLength;
    this.requireInside(start, rowLength, 'value');
    const held = this.hold(start, rowLength);

    // The whole row is there: from here on nothing is thrown.
    const { data } = this;
    const keyFrom = held + headLength;
    const userKeyLength = shared + stored;
    if (userKeyLength + TRAILER_SIZE > this.key.length) this.growKey(userKeyLength + TRAILER_SIZE);
    const { key } = this;
    if (short) {
      copyBytes(data, keyFrom, keyFrom + stored, key, shared);
      key[userKeyLength] = ValueType.value;
      key.fill(0, userKeyLength + 1, userKeyLength + TRAILER_SIZE);
    } else {
      copyBytes(data, keyFrom, keyFrom + stored + TRAILER_SIZE, key, shared);
    }
    this.keyLength = userKeyLength + TRAILER_SIZE;
    this.prefixLength = prefixLength;
    this.valueStart = held + valuePosition;
    this.valueEnd = held + rowLength;
    this.entryOffset = start;
    this.nextOffset = start + rowLength;
    this.count++;
    return true;
  }

  /** Where the current row ends in the file. */
  get entryEnd(): number {
    return this.nextOffset;
  }

  /**
   * Reads the key records of prefix encoding at `pos`: sets `size` to the bytes of user key in this row and
   * `position` to where they begin. Returns the bytes taken from the key before it, NO_PREFIX for a full key.
   */
  private readKeyHead(pos: number): number {
    let kind = this.readKeyRecord(pos);
    if (kind === FULL_KEY) return NO_PREFIX;
    let prefixLength = this.prefixLength;
    if (kind === KEY_PREFIX) {
      prefixLength = this.size;
      if (this.count === 0 || prefixLength > this.keyLength - TRAILER_SIZE) {
        const before = this.count === 0 ? 'there is no key' : `the key has ${this.keyLength - TRAILER_SIZE}`;
        throw this.malformed(`a prefix of ${prefixLength} bytes, where ${before} before it`);
      }
      kind = this.readKeyRecord(this.position);
    }
    if (kind !== KEY_SUFFIX) throw this.malformed(`a key record of kind ${kind} where a suffix has to stand`);
    if (prefixLength === NO_PREFIX) throw this.malformed('a key suffix without a prefix before it');
    return prefixLength;
  }

  private readKeyRecord(pos: number): number {
    if (pos >= this.windowLength) throw this.malformed('the rows end inside a key record');
    const first = this.data[pos]!;
    this.position = pos + 1;
    this.size = first & SIZE_BITS;
    if (this.size === SIZE_BITS) this.size += this.readVarint(pos + 1);
    return first >> 6;
  }

  private readVarint(pos: number): number {
    const { data } = this;
    const last = Math.min(this.windowLength, pos + VARINT32_MAX);
    let value = 0;
    let scale = 1;
    for (let i = pos; i < last; i++) {
      const byte = data[i]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.position = i + 1;
        return value;
      }
      scale *= 128;
    }
    throw this.malformed(`no varint32 at ${this.windowOffset + pos}`);
  }

  /**
   * Sees to it that `length` bytes from file offset `start` are in the window, or all up to the end of the rows.
   * Returns the position of `start` in the window.
   */
  private hold(start: number, length: number): number {
    const wanted = Math.min(length, this.rowsEnd - start);
    const position = start - this.windowOffset;
    if (position >= 0 && position + wanted <= this.windowLength) return position;
    const windowLength = Math.min(Math.max(wanted, WINDOW_BYTES), this.rowsEnd - start);
    // Another array object for other bytes, as EntrySource promises; the memory may be the same.
    this.data = windowLength > this.data.length ? new Uint8Array(windowLength) : this.data.subarray();
    this.windowLength = 0;
    this.source.readInto(start, this.data.subarray(0, windowLength));
    this.windowOffset = start;
    this.windowLength = windowLength;
    return 0;
  }

  private requireInside(start: number, length: number, part: string): void {
    if (start + length <= this.rowsEnd) return;
    throw this.malformed(`its ${part} would reach to ${start + length}, the rows end at ${this.rowsEnd}`);
  }

  private growKey(length: number): void {
    const key = new Uint8Array(Math.max(length, 2 * this.key.length));
    key.set(this.key.subarray(0, this.keyLength));
    this.key = key;
  }

  /** Ends the walk. */
  private malformed(reason: string): CorruptionError {
    const offset = this.nextOffset;
    this.nextOffset = this.rowsEnd;
    return new CorruptionError('entry_malformed', `malformed row: ${reason}`, {
      file: this.source.name,
      offset,
      blockType: 'data',
    });
  }
}
