import {
  bytewiseComparator,
  type Comparator,
  reverseBytewiseComparator,
} from '../../operators/comparator.ts';

/** Bytes of a key that a double holds as an integer. */
const PREFIX_BYTES = 6;
/** Keys one behind the other in one buffer: key k is `bytes[offsets[k], offsets[k + 1])`. */
export interface KeyColumn {
  readonly bytes: Uint8Array;
  readonly offsets: Int32Array;
  readonly count: number;
}

/**
 * Compares the keys of one column among each other, and with keys from outside, mostly by one subtraction: of what
 * follows the bytes that all keys share, up to six are kept as an integer (`prefixes[k]`). Two keys with
 * equal prefixes are compared byte by byte, unless their length leaves no bytes to compare.
 * Comparators other than the bytewise ones have all prefixes 0, and always compare byte by byte.
 */
export class KeyOrder {
  readonly prefixes: Float64Array;
  /** Equal prefixes mean equal keys within the column. */
  readonly exact: boolean;
  private readonly compare: Comparator['compare'];
  /** 1 bytewise, -1 reversed, 0 any other order. */
  private readonly direction: number;
  /** Bytes that all keys begin with. */
  private readonly sharedLength: number;
  /** Length of all keys, or -1. */
  private readonly uniformLength: number;
  /** Bytes that a prefix stands for: as many as the longest key has, at most six. */
  private readonly width: number;

  /** `comparator` is that of user keys without timestamps. */
  constructor(
    private readonly keys: KeyColumn,
    comparator: Comparator,
  ) {
    this.compare = comparator.compare;
    this.direction =
      comparator === bytewiseComparator ? 1 : comparator === reverseBytewiseComparator ? -1 : 0;
    this.prefixes = new Float64Array(keys.count);
    const shape = this.direction === 0 ? NO_PREFIXES : fillPrefixes(keys, this.prefixes, this.direction);
    this.sharedLength = shape.sharedLength;
    this.uniformLength = shape.uniformLength;
    this.width = shape.width;
    this.exact =
      this.direction !== 0 &&
      shape.uniformLength >= 0 &&
      shape.uniformLength <= shape.sharedLength + shape.width;
  }

  /** Order of two keys of the column. */
  compareKeys(a: number, b: number): number {
    const difference = this.prefixes[a]! - this.prefixes[b]!;
    return difference !== 0 || this.exact ? difference : this.compareTies(a, b);
  }

  /**
   * The prefix of a key from outside: infinite where the key lies before or behind all keys of the column already
   * by the bytes that these share.
   */
  prefixOf(key: Uint8Array, start: number, end: number): number {
    if (this.direction === 0 || this.keys.count === 0) return 0;
    const { bytes } = this.keys;
    const shared = this.sharedLength;
    const length = end - start;
    for (let i = 0; i < shared; i++) {
      const difference = i < length ? key[start + i]! - bytes[i]! : -1;
      if (difference !== 0) return difference * this.direction * Number.POSITIVE_INFINITY;
    }
    const from = start + shared;
    if (this.width === 4 && end - from >= 4) {
      const value = (key[from]! << 24) | (key[from + 1]! << 16) | (key[from + 2]! << 8) | key[from + 3]!;
      return this.direction * (value >>> 0);
    }
    return this.direction * integerAt(key, from, end, this.width);
  }

  /** Order of key k of the column against one from outside, whose `prefixOf` is `prefix`. */
  compareWith(k: number, key: Uint8Array, start: number, end: number, prefix: number): number {
    const difference = this.prefixes[k]! - prefix;
    if (difference !== 0 || (this.exact && end - start === this.uniformLength)) return difference;
    const { bytes, offsets } = this.keys;
    return this.compare(bytes, offsets[k]!, offsets[k + 1]!, key, start, end);
  }

  private compareTies(a: number, b: number): number {
    const { bytes, offsets } = this.keys;
    return this.compare(bytes, offsets[a]!, offsets[a + 1]!, bytes, offsets[b]!, offsets[b + 1]!);
  }
}

/** How prefixes were taken from keys. */
interface PrefixShape {
  readonly sharedLength: number;
  readonly uniformLength: number;
  readonly width: number;
}

const NO_PREFIXES: PrefixShape = { sharedLength: 0, uniformLength: -1, width: 0 };

function fillPrefixes(keys: KeyColumn, prefixes: Float64Array, direction: number): PrefixShape {
  if (keys.count === 0) return NO_PREFIXES;
  return fillUniform(keys, prefixes, direction) ?? fillAny(keys, prefixes, direction);
}

/**
 * Keys of one length, as integers are: what they share is guessed from three of them and checked, and the prefixes
 * are taken word by word. Undefined when the keys are not so.
 */
function fillUniform(
  { bytes, offsets, count }: KeyColumn,
  prefixes: Float64Array,
  direction: number,
): PrefixShape | undefined {
  const length = offsets[1]! - offsets[0]!;
  const view = viewOf(bytes);
  let sharedWords = 0;
  const [middle, last] = [offsets[count >> 1]!, offsets[count - 1]!];
  while (
    4 * sharedWords + 8 <= length &&
    view.getUint32(4 * sharedWords) === view.getUint32(middle + 4 * sharedWords) &&
    view.getUint32(4 * sharedWords) === view.getUint32(last + 4 * sharedWords)
  ) {
    sharedWords++;
  }
  const shared = 4 * sharedWords;
  const width = length - shared === 4 ? 4 : PREFIX_BYTES;
  if (length - shared < width) return undefined;
  if (!haveOneShape(offsets, view, count, length, sharedWords)) return undefined;
  if (width === 4) {
    for (let k = 0, from = shared; k < count; k++, from += length) prefixes[k] = view.getUint32(from);
  } else {
    for (let k = 0, from = shared; k < count; k++, from += length) {
      prefixes[k] = view.getUint16(from) * 2 ** 32 + view.getUint32(from + 2);
    }
  }
  if (direction < 0) for (let k = 0; k < count; k++) prefixes[k] = -prefixes[k]!;
  return { sharedLength: shared, uniformLength: length, width };
}

/** Whether all keys have the length, and the first four-byte words of the first. */
function haveOneShape(
  offsets: Int32Array,
  view: DataView,
  count: number,
  length: number,
  sharedWords: number,
): boolean {
  for (let k = 0, pos = 0; k < count; k++, pos += length) if (offsets[k] !== pos) return false;
  if (offsets[count] !== count * length) return false;
  for (let w = 0; w < sharedWords; w++) {
    const word = view.getUint32(4 * w);
    for (let k = 0, pos = 4 * w; k < count; k++, pos += length)
      if (view.getUint32(pos) !== word) return false;
  }
  return true;
}

function fillAny(keys: KeyColumn, prefixes: Float64Array, direction: number): PrefixShape {
  const { bytes, offsets, count } = keys;
  const [shortest, longest] = lengthRange(keys);
  const sharedLength = sharedPrefixLength(keys, shortest);
  const width = Math.min(PREFIX_BYTES, longest - sharedLength);
  for (let k = 0; k < count; k++) {
    prefixes[k] = direction * integerAt(bytes, offsets[k]! + sharedLength, offsets[k + 1]!, width);
  }
  return { sharedLength, uniformLength: shortest === longest ? longest : -1, width };
}

/** `width` bytes from `start` as an integer, with zeros for those behind `end`. */
function integerAt(bytes: Uint8Array, start: number, end: number, width: number): number {
  let value = 0;
  for (let i = start; i < start + width; i++) value = value * 256 + (i < end ? bytes[i]! : 0);
  return value;
}

/** The shortest and the longest length. */
function lengthRange({ offsets, count }: KeyColumn): [number, number] {
  let shortest = Number.MAX_SAFE_INTEGER;
  let longest = 0;
  for (let k = 0; k < count; k++) {
    const length = offsets[k + 1]! - offsets[k]!;
    if (length < shortest) shortest = length;
    if (length > longest) longest = length;
  }
  return [shortest, longest];
}

/** How many bytes all keys begin with alike. */
function sharedPrefixLength({ bytes, offsets, count }: KeyColumn, shortest: number): number {
  let shared = shortest;
  for (let k = 1; k < count && shared > 0; k++) {
    const start = offsets[k]!;
    for (let i = 0; i < shared; i++) if (bytes[start + i] !== bytes[i]) shared = i;
  }
  return shared;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
