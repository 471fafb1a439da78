import {
  bytewiseComparator,
  type Comparator,
  reverseBytewiseComparator,
} from '../../operators/comparator.ts';

/** Bytes of a key that a double holds as an integer. */
const PREFIX_BYTES = 6;

/** Keys one behind the other in one buffer, starts and ends in turns: key k is `bytes[offsets[k], offsets[k + 1])`. */
export interface KeyColumn {
  readonly bytes: Uint8Array;
  readonly offsets: Int32Array;
  readonly count: number;
}

/** Prefixes of the keys 2t and 2t + 1, at t. */
export interface PrefixColumns {
  readonly starts: Float64Array;
  readonly ends: Float64Array;
}

/**
 * The order of the keys of one column among each other, and beside keys from outside, mostly by one subtraction: of
 * what follows the bytes that all keys share, up to six are an integer, the key's prefix. Only keys with equal
 * prefixes are compared byte by byte, unless their length leaves no bytes to compare.
 * Comparators other than the bytewise ones have all prefixes 0, and always compare byte by byte.
 *
 * Prefixes are handed to the caller once and not kept here: whoever needs them keeps them in an order of its own.
 */
export class KeyOrder {
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

  /** `comparator` is that of user keys without timestamps; the prefixes of the keys are stored in `prefixes`. */
  constructor(
    private readonly keys: KeyColumn,
    comparator: Comparator,
    prefixes: PrefixColumns,
  ) {
    this.compare = comparator.compare;
    this.direction =
      comparator === bytewiseComparator ? 1 : comparator === reverseBytewiseComparator ? -1 : 0;
    const shape = fillPrefixes(keys, prefixes, this.direction);
    this.sharedLength = shape.sharedLength;
    this.uniformLength = shape.uniformLength;
    this.width = shape.width;
    this.exact =
      this.direction !== 0 &&
      shape.uniformLength >= 0 &&
      shape.uniformLength <= shape.sharedLength + shape.width;
  }

  /** Order of two keys of the column with equal prefixes. */
  compareTies(a: number, b: number): number {
    if (this.exact) return 0;
    const { bytes, offsets } = this.keys;
    return this.compare(bytes, offsets[a]!, offsets[a + 1]!, bytes, offsets[b]!, offsets[b + 1]!);
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

  /** Whether a key of this length from outside equals each key of the column whose prefix is its own. */
  isExactFor(length: number): boolean {
    return this.exact && length === this.uniformLength;
  }

  /** Order of key k of the column beside one from outside, byte by byte. */
  compareWith(k: number, key: Uint8Array, start: number, end: number): number {
    const { bytes, offsets } = this.keys;
    return this.compare(bytes, offsets[k]!, offsets[k + 1]!, key, start, end);
  }
}

/** How prefixes were taken from keys. */
interface PrefixShape {
  readonly sharedLength: number;
  readonly uniformLength: number;
  readonly width: number;
}

const NO_PREFIXES: PrefixShape = { sharedLength: 0, uniformLength: -1, width: 0 };

function fillPrefixes(keys: KeyColumn, prefixes: PrefixColumns, direction: number): PrefixShape {
  if (keys.count === 0 || direction === 0) {
    prefixes.starts.fill(0, 0, keys.count >> 1);
    prefixes.ends.fill(0, 0, keys.count >> 1);
    return NO_PREFIXES;
  }
  return fillUniform(keys, prefixes, direction) ?? fillAny(keys, prefixes, direction);
}

/**
 * Keys of one length, as integers are: what they share is guessed from three of them, and checked while the prefixes
 * are taken word by word. Undefined when the keys are not so.
 */
function fillUniform(
  { bytes, offsets, count }: KeyColumn,
  { starts, ends }: PrefixColumns,
  direction: number,
): PrefixShape | undefined {
  const length = offsets[1]! - offsets[0]!;
  if (offsets[count] !== count * length) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (length < 4) return undefined;
  const common = Math.min(
    commonLength(bytes, 0, length * (count >> 1), length),
    commonLength(bytes, 0, length * (count - 1), length),
  );
  // If four or six bytes can tell the keys apart, these say all about them.
  const width = common >= length - 4 ? 4 : PREFIX_BYTES;
  const shared = Math.min(common, length - width);
  if (shared < 0) return undefined;
  for (let i = shared - 4; i > 0; i -= 4) {
    const word = view.getInt32(i);
    for (let k = 1; k < count; k++) if (view.getInt32(k * length + i) !== word) return undefined;
  }
  // The shared bytes of the first word.
  const mask = shared >= 4 ? -1 : shared === 0 ? 0 : -1 << (32 - 8 * shared);
  const firstWord = view.getInt32(0) & mask;
  for (let t = 0, pos = 0; 2 * t < count; t++, pos += 2 * length) {
    const endPos = pos + length;
    if (offsets[2 * t] !== pos || offsets[2 * t + 1] !== endPos) return undefined;
    if ((view.getInt32(pos) & mask) !== firstWord || (view.getInt32(endPos) & mask) !== firstWord)
      return undefined;
    if (width === 4) {
      starts[t] = direction * view.getUint32(pos + shared);
      ends[t] = direction * view.getUint32(endPos + shared);
    } else {
      starts[t] = direction * sixBytesAt(view, pos + shared);
      ends[t] = direction * sixBytesAt(view, endPos + shared);
    }
  }
  return { sharedLength: shared, uniformLength: length, width };
}

/** How many of `length` bytes from `a` and from `b` on are the same. */
function commonLength(bytes: Uint8Array, a: number, b: number, length: number): number {
  let common = 0;
  while (common < length && bytes[a + common] === bytes[b + common]) common++;
  return common;
}

function sixBytesAt(view: DataView, pos: number): number {
  return view.getUint16(pos) * 2 ** 32 + view.getUint32(pos + 2);
}

function fillAny(keys: KeyColumn, { starts, ends }: PrefixColumns, direction: number): PrefixShape {
  const { bytes, offsets, count } = keys;
  const [shortest, longest] = lengthRange(keys);
  const sharedLength = sharedPrefixLength(keys, shortest);
  const width = Math.min(PREFIX_BYTES, longest - sharedLength);
  for (let t = 0; 2 * t < count; t++) {
    const middle = offsets[2 * t + 1]!;
    starts[t] = direction * integerAt(bytes, offsets[2 * t]! + sharedLength, middle, width);
    ends[t] = direction * integerAt(bytes, middle + sharedLength, offsets[2 * t + 2]!, width);
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
