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
  readonly offsets: Uint32Array;
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
    const [shortest, longest] = lengthRange(keys);
    this.sharedLength = this.direction === 0 || keys.count === 0 ? 0 : sharedPrefixLength(keys, shortest);
    this.uniformLength = shortest === longest ? longest : -1;
    this.width = Math.min(PREFIX_BYTES, longest - this.sharedLength);
    this.exact = this.direction !== 0 && shortest === longest && longest - this.sharedLength <= PREFIX_BYTES;
    if (this.direction !== 0) this.fillPrefixes();
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
    return this.direction * integerAt(key, start + shared, end, this.width);
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

  private fillPrefixes(): void {
    const { bytes, offsets, count } = this.keys;
    const { prefixes, direction, sharedLength: shared, width, uniformLength } = this;
    const view = viewOf(bytes);
    if (uniformLength - shared === 4) {
      for (let k = 0; k < count; k++) prefixes[k] = direction * view.getUint32(offsets[k]! + shared);
    } else if (uniformLength - shared >= PREFIX_BYTES) {
      for (let k = 0; k < count; k++) {
        const pos = offsets[k]! + shared;
        prefixes[k] = direction * (view.getUint16(pos) * 2 ** 32 + view.getUint32(pos + 2));
      }
    } else {
      for (let k = 0; k < count; k++) {
        prefixes[k] = direction * integerAt(bytes, offsets[k]! + shared, offsets[k + 1]!, width);
      }
    }
  }
}

/** `width` bytes from `start` as an integer, with zeros for those behind `end`. */
function integerAt(bytes: Uint8Array, start: number, end: number, width: number): number {
  let value = 0;
  for (let i = start; i < start + width; i++) value = value * 256 + (i < end ? bytes[i]! : 0);
  return value;
}

/** The shortest and the longest length. */
function lengthRange({ offsets, count }: KeyColumn): [number, number] {
  let shortest = count === 0 ? 0 : 0xffffffff;
  let longest = 0;
  for (let k = 0; k < count; k++) {
    const length = offsets[k + 1]! - offsets[k]!;
    if (length < shortest) shortest = length;
    if (length > longest) longest = length;
  }
  return [shortest, longest];
}

/** How many bytes all keys begin with alike: each is compared with the first, four bytes at a time. */
function sharedPrefixLength({ bytes, offsets, count }: KeyColumn, shortest: number): number {
  const view = viewOf(bytes);
  const words = shortest >> 2;
  let sharedWords = words;
  for (let k = 1; k < count && sharedWords > 0; k++) {
    const start = offsets[k]!;
    for (let w = 0; w < sharedWords; w++) {
      if (view.getUint32(start + 4 * w) !== view.getUint32(4 * w)) sharedWords = w;
    }
  }
  // Up to three bytes more: of the word that differs somewhere, or of what is left behind the last whole one.
  let shared = Math.min(shortest, 4 * sharedWords + 3);
  for (let k = 1; k < count && shared > 4 * sharedWords; k++) {
    const start = offsets[k]!;
    for (let i = 4 * sharedWords; i < shared; i++) if (bytes[start + i] !== bytes[i]) shared = i;
  }
  return shared;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
