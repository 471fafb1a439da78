import { compareBytes } from '../bytes/compare.ts';
import { readFixed32 } from '../bytes/fixed.ts';

/**
 * The order of keys in the LevelDB databases of Chrome's IndexedDB, comparator `idb_cmp1`.
 *
 *   key:     prefix, then what the prefix asks for
 *   prefix:  lengths (1): database id 3 bits, object store id 3 bits, index id 2 bits, each length - 1;
 *            database id, object store id, index id, little-endian; compared in this order, as numbers
 *
 *   database 0               type (1), fields       global metadata
 *   object store 0           type (1), fields       metadata of one database
 *   index 1, 2, 3            IDB key                records, exists entries, blob entries
 *   index from 30 on         IDB key, varint sequence number, IDB key of the record     index data;
 *                            compared: index key, then record key, then sequence number
 *
 *   IDB key: type (1), then  00 null (the largest of all), 05 the smallest of all: nothing
 *                            01 string: varint count of characters, UTF-16BE
 *                            02 date, 03 number: double, little-endian
 *                            04 array: varint count, IDB keys
 *                            06 binary: varint length, bytes
 *     order of types: smallest, number, date, string, binary, array, null
 *
 * Where a key cannot be decoded, the bytes from there on are compared as they are.
 * Source: Chromium content/browser/indexed_db/indexed_db_leveldb_coding.cc, leveldb_coding_scheme.md.
 */
export function compareIndexedDbKeys(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): number {
  const x = new KeyCursor(a, aStart, aEnd);
  const y = new KeyCursor(b, bStart, bEnd);
  if (!x.readPrefix() || !y.readPrefix()) return compareBytes(a, aStart, aEnd, b, bStart, bEnd);
  if (x.databaseId !== y.databaseId) return x.databaseId - y.databaseId;
  if (x.objectStoreId !== y.objectStoreId) return x.objectStoreId - y.objectStoreId;
  if (x.indexId !== y.indexId) return x.indexId - y.indexId;
  const order = compareSuffixes(x, y);
  // 0 and "cannot be decoded" leave both where the bytes decide; a whole key has none left.
  return order < 0 || order > 0 ? order : compareBytes(a, x.pos, aEnd, b, y.pos, bEnd);
}

/** The first index that an application made. */
const MIN_INDEX_ID = 30;
const BLOB_ENTRY_INDEX_ID = 3;

/**
 * Fields of metadata keys by their type, a letter each: v varint, b byte, s string. Types that are not here
 * have no fields, or bytes that are compared as they are (50 in database 0).
 */
const GLOBAL_FIELDS: ReadonlyMap<number, string> = new Map([
  [100, 'v'],
  [201, 'ss'],
]);
const DATABASE_FIELDS: ReadonlyMap<number, string> = new Map([
  [50, 'vb'],
  [100, 'vvb'],
  [150, 'v'],
  [151, 'vv'],
  [200, 's'],
  [201, 'vs'],
]);

/** Place of each IDB key type, by its number, in their order. */
const TYPE_ORDER = [6, 3, 2, 1, 5, 0, 4] as const;
const STRING = 1;
const DATE = 2;
const NUMBER = 3;
const ARRAY = 4;
const BINARY = 6;

const SIGN_BIT = 0x80000000;
/** Chrome accepts no deeper arrays. */
const MAX_DEPTH = 2000;
/** A field that cannot be decoded; both cursors stand where it begins. */
const UNDECODABLE = Number.NaN;

/** What the comparison of one key has read of it. */
class KeyCursor {
  databaseId = 0;
  objectStoreId = 0;
  indexId = 0;

  constructor(
    readonly bytes: Uint8Array,
    public pos: number,
    readonly end: number,
  ) {}

  readPrefix(): boolean {
    if (this.pos >= this.end) return false;
    const lengths = this.bytes[this.pos]!;
    const databaseLength = (lengths >> 5) + 1;
    const objectStoreLength = ((lengths >> 2) & 7) + 1;
    const indexLength = (lengths & 3) + 1;
    if (databaseLength + objectStoreLength + indexLength > this.end - this.pos - 1) return false;
    this.pos++;
    this.databaseId = this.readInteger(databaseLength);
    this.objectStoreId = this.readInteger(objectStoreLength);
    this.indexId = this.readInteger(indexLength);
    return true;
  }

  /** Exact below 2^53, which no id reaches. */
  private readInteger(length: number): number {
    let value = 0;
    for (let i = length - 1; i >= 0; i--) value = value * 256 + this.bytes[this.pos + i]!;
    this.pos += length;
    return value;
  }

  /** A varint64, exact below 2^53; NaN where none can be decoded. */
  readVarint(): number {
    const last = Math.min(this.end, this.pos + 10);
    let value = 0;
    let scale = 1;
    for (let i = this.pos; i < last; i++) {
      const byte = this.bytes[i]!;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) {
        this.pos = i + 1;
        return value;
      }
      scale *= 128;
    }
    return UNDECODABLE;
  }
}

function compareSuffixes(x: KeyCursor, y: KeyCursor): number {
  if (x.databaseId === 0) return compareMetadata(x, y, GLOBAL_FIELDS);
  if (x.objectStoreId === 0) return compareMetadata(x, y, DATABASE_FIELDS);
  if (x.indexId >= MIN_INDEX_ID) return compareIndexData(x, y);
  if (x.indexId > 0 && x.indexId <= BLOB_ENTRY_INDEX_ID) return compareIdbKeys(x, y, 0);
  return UNDECODABLE;
}

function compareMetadata(x: KeyCursor, y: KeyCursor, layouts: ReadonlyMap<number, string>): number {
  const type = x.bytes[x.pos]!;
  const order = compareByte(x, y);
  if (order !== 0) return order;
  for (const field of layouts.get(type) ?? '') {
    const fieldOrder = compareField(x, y, field);
    if (fieldOrder !== 0) return fieldOrder;
  }
  return 0;
}

function compareField(x: KeyCursor, y: KeyCursor, field: string): number {
  switch (field) {
    case 'v':
      return compareVarints(x, y);
    case 'b':
      return compareByte(x, y);
    default:
      return compareCounted(x, y, 2);
  }
}

function compareByte(x: KeyCursor, y: KeyCursor): number {
  if (x.pos >= x.end || y.pos >= y.end) return UNDECODABLE;
  return x.bytes[x.pos++]! - y.bytes[y.pos++]!;
}

function compareVarints(x: KeyCursor, y: KeyCursor): number {
  const xStart = x.pos;
  const yStart = y.pos;
  const order = x.readVarint() - y.readVarint();
  return Number.isNaN(order) ? undecodable(x, xStart, y, yStart) : order;
}

function compareIndexData(x: KeyCursor, y: KeyCursor): number {
  const order = compareIdbKeys(x, y, 0);
  if (order !== 0) return order;
  // Sequence number and record key may be missing; the shorter key then comes first.
  if (x.pos === x.end || y.pos === y.end) return UNDECODABLE;
  const sequenceOrder = compareVarints(x, y);
  if (Number.isNaN(sequenceOrder)) return UNDECODABLE;
  if (x.pos === x.end || y.pos === y.end) return x.end - x.pos - (y.end - y.pos);
  const recordOrder = compareIdbKeys(x, y, 0);
  return recordOrder === 0 ? sequenceOrder : recordOrder;
}

function compareIdbKeys(x: KeyCursor, y: KeyCursor, depth: number): number {
  const xStart = x.pos;
  const yStart = y.pos;
  if (xStart >= x.end || yStart >= y.end || depth > MAX_DEPTH) return UNDECODABLE;
  const type = x.bytes[x.pos++]!;
  const xOrder = TYPE_ORDER[type];
  const yOrder = TYPE_ORDER[y.bytes[y.pos++]!];
  if (xOrder === undefined || yOrder === undefined) return undecodable(x, xStart, y, yStart);
  if (xOrder !== yOrder) return xOrder - yOrder;
  switch (type) {
    case STRING:
      return compareCounted(x, y, 2);
    case BINARY:
      return compareCounted(x, y, 1);
    case DATE:
    case NUMBER:
      return compareDoubles(x, y);
    case ARRAY:
      return compareIdbArrays(x, y, depth);
    default:
      return 0;
  }
}

function compareIdbArrays(x: KeyCursor, y: KeyCursor, depth: number): number {
  const xStart = x.pos;
  const yStart = y.pos;
  const xCount = x.readVarint();
  const yCount = y.readVarint();
  if (Number.isNaN(xCount - yCount)) return undecodable(x, xStart, y, yStart);
  // Each key takes a byte at least: a count that is a lie ends with the bytes.
  const common = Math.min(xCount, yCount);
  for (let i = 0; i < common; i++) {
    const order = compareIdbKeys(x, y, depth + 1);
    if (order !== 0) return order;
  }
  return xCount - yCount;
}

/** varint count, then as many units of `unitLength` bytes, in bytewise order. */
function compareCounted(x: KeyCursor, y: KeyCursor, unitLength: number): number {
  const xStart = x.pos;
  const yStart = y.pos;
  const xLength = x.readVarint() * unitLength;
  const yLength = y.readVarint() * unitLength;
  // NaN is not within either.
  if (!(xLength <= x.end - x.pos && yLength <= y.end - y.pos)) return undecodable(x, xStart, y, yStart);
  const order = compareBytes(x.bytes, x.pos, x.pos + xLength, y.bytes, y.pos, y.pos + yLength);
  x.pos += xLength;
  y.pos += yLength;
  return order;
}

/** By their bits, as IEEE 754 orders them; -0 is 0. */
function compareDoubles(x: KeyCursor, y: KeyCursor): number {
  if (x.end - x.pos < 8 || y.end - y.pos < 8) return UNDECODABLE;
  const xLow = readFixed32(x.bytes, x.pos);
  const yLow = readFixed32(y.bytes, y.pos);
  const xHigh = readFixed32(x.bytes, x.pos + 4);
  const yHigh = readFixed32(y.bytes, y.pos + 4);
  x.pos += 8;
  y.pos += 8;
  const xNegative = xHigh > SIGN_BIT || (xHigh === SIGN_BIT && xLow > 0);
  const yNegative = yHigh > SIGN_BIT || (yHigh === SIGN_BIT && yLow > 0);
  if (xNegative !== yNegative) return xNegative ? -1 : 1;
  const order = (xHigh & ~SIGN_BIT) - (yHigh & ~SIGN_BIT) || xLow - yLow;
  return xNegative ? -order : order;
}

function undecodable(x: KeyCursor, xStart: number, y: KeyCursor, yStart: number): number {
  x.pos = xStart;
  y.pos = yStart;
  return UNDECODABLE;
}
