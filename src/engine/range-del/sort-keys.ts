import type { KeyOrder } from './key-order.ts';

/** Most bits of a digit: its counts fit into the first-level cache. */
const MAX_DIGIT_BITS = 11;
/** Up to this insertion is cheaper than counting digits. */
const MAX_INSERTION_COUNT = 24;

/**
 * Sorts `ids`, keys of one column, by their order. Keys that are sorted already cost one comparison each.
 * Otherwise the most significant 32 bits of the prefixes' range are sorted digit by digit, and runs that tie
 * in them by comparison: n for integer keys, n log n at worst. Returns whether they were sorted before.
 */
export function sortKeys(order: KeyOrder, ids: Int32Array): boolean {
  const count = ids.length;
  if (isSorted(order, ids)) return true;
  if (count <= MAX_INSERTION_COUNT) {
    insertionSort(order, ids, 0, count);
    return false;
  }
  const { prefixes } = order;
  let lowest = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const prefix = prefixes[ids[i]!]!;
    if (prefix < lowest) lowest = prefix;
    if (prefix > highest) highest = prefix;
  }
  const bits = bitLength(highest - lowest);
  const dropped = Math.max(0, bits - 32);
  const scale = 2 ** -dropped;
  const keys = new Uint32Array(count);
  for (let i = 0; i < count; i++) keys[i] = (prefixes[ids[i]!]! - lowest) * scale;
  radixSort(keys, ids, bits - dropped);
  if (dropped > 0 || !order.exact) sortTies(order, keys, ids);
  return false;
}

function isSorted(order: KeyOrder, ids: Int32Array): boolean {
  for (let i = 1; i < ids.length; i++) if (order.compareKeys(ids[i - 1]!, ids[i]!) > 0) return false;
  return true;
}

/** Bits of a whole number up to 2^53. */
function bitLength(value: number): number {
  return value < 2 ** 32 ? 32 - Math.clz32(value) : 64 - Math.clz32(value / 2 ** 32);
}

/** Sorts `keys` and, with them, `ids`, from the least significant digit on. */
function radixSort(keys: Uint32Array, ids: Int32Array, bits: number): void {
  const count = keys.length;
  const passes = Math.ceil(bits / MAX_DIGIT_BITS);
  const digitBits = Math.ceil(bits / passes);
  const radix = 1 << digitBits;
  const mask = radix - 1;
  const places = new Uint32Array(radix);
  let fromKeys = keys;
  let fromIds = ids;
  let toKeys: Uint32Array = new Uint32Array(count);
  let toIds: Int32Array = new Int32Array(count);
  for (let pass = 0; pass < passes; pass++) {
    const shift = pass * digitBits;
    if (pass > 0) places.fill(0);
    for (let i = 0; i < count; i++) places[(fromKeys[i]! >>> shift) & mask]!++;
    let place = 0;
    for (let digit = 0; digit < radix; digit++) {
      const size = places[digit]!;
      places[digit] = place;
      place += size;
    }
    for (let i = 0; i < count; i++) {
      const key = fromKeys[i]!;
      const to = places[(key >>> shift) & mask]!++;
      toKeys[to] = key;
      toIds[to] = fromIds[i]!;
    }
    const [spareKeys, spareIds] = [fromKeys, fromIds];
    fromKeys = toKeys;
    fromIds = toIds;
    toKeys = spareKeys;
    toIds = spareIds;
  }
  if (fromKeys !== keys) {
    keys.set(fromKeys);
    ids.set(fromIds);
  }
}

/** Puts runs of equal digits into their true order. */
function sortTies(order: KeyOrder, keys: Uint32Array, ids: Int32Array): void {
  const count = keys.length;
  for (let start = 0; start < count; ) {
    let end = start + 1;
    while (end < count && keys[end] === keys[start]) end++;
    if (end - start > MAX_INSERTION_COUNT) ids.subarray(start, end).sort((a, b) => order.compareKeys(a, b));
    else if (end - start > 1) insertionSort(order, ids, start, end);
    start = end;
  }
}

function insertionSort(order: KeyOrder, ids: Int32Array, start: number, end: number): void {
  for (let i = start + 1; i < end; i++) {
    const id = ids[i]!;
    let to = i;
    while (to > start && order.compareKeys(ids[to - 1]!, id) > 0) {
      ids[to] = ids[to - 1]!;
      to--;
    }
    ids[to] = id;
  }
}
