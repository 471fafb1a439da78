import type { KeyOrder } from './key-order.ts';

/** Up to this insertion is cheaper than distributing. */
const MAX_INSERTION_COUNT = 24;
const MAX_BUCKETS = 1 << 16;

/** Keys of one column in their order, with their prefixes beside them. */
export interface SortedKeys {
  readonly ids: Int32Array;
  readonly prefixes: Float64Array;
}

/**
 * The keys `ids[0, count)` of one column in their order. Keys that are sorted already cost one comparison each and
 * stay where they are. Otherwise they are distributed over about as many buckets as there are keys, by where their
 * prefix lies between the smallest and the largest, and what fell together is put right by insertion: n for keys
 * that are spread evenly. A bucket with many keys is distributed again over its own range; keys with equal
 * prefixes are sorted by comparison: n log n at worst.
 */
export function sortKeys(order: KeyOrder, ids: Int32Array): SortedKeys {
  const count = ids.length;
  const prefixes = new Float64Array(count);
  const all = order.prefixes;
  let lowest = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < count; i++) {
    const prefix = all[ids[i]!]!;
    prefixes[i] = prefix;
    if (prefix < lowest) lowest = prefix;
    if (prefix > highest) highest = prefix;
  }
  if (isSorted(order, ids, prefixes)) return { ids, prefixes };
  return new KeySorter(order, ids, prefixes).sortAll(lowest, highest);
}

function isSorted(order: KeyOrder, ids: Int32Array, prefixes: Float64Array): boolean {
  for (let i = 1; i < ids.length; i++) {
    const difference = prefixes[i - 1]! - prefixes[i]!;
    if (difference > 0) return false;
    if (difference === 0 && !order.exact && order.compareKeys(ids[i - 1]!, ids[i]!) > 0) return false;
  }
  return true;
}

class KeySorter {
  constructor(
    private readonly order: KeyOrder,
    /** The keys as they are at the moment, and their prefixes. Distributing exchanges them with the spare ones. */
    private ids: Int32Array,
    private prefixes: Float64Array,
    private spareIds: Int32Array = new Int32Array(ids.length),
    private sparePrefixes: Float64Array = new Float64Array(ids.length),
  ) {}

  /** Sorts everything; the prefixes' range is known. */
  sortAll(lowest: number, highest: number): SortedKeys {
    const count = this.ids.length;
    if (count <= MAX_INSERTION_COUNT) this.insert(0, count);
    else if (lowest === highest) this.sortTies(0, count);
    else {
      const bucketEnds = this.distribute(0, count, lowest, highest - lowest);
      // Everything has been moved: what was spare holds the keys now, and nothing is copied back.
      [this.ids, this.spareIds] = [this.spareIds, this.ids];
      [this.prefixes, this.sparePrefixes] = [this.sparePrefixes, this.prefixes];
      this.sortBuckets(0, count, bucketEnds);
    }
    return { ids: this.ids, prefixes: this.prefixes };
  }

  private sort(start: number, end: number): void {
    if (end - start <= MAX_INSERTION_COUNT) {
      this.insert(start, end);
      return;
    }
    const { prefixes } = this;
    let lowest = prefixes[start]!;
    let highest = lowest;
    for (let i = start + 1; i < end; i++) {
      const prefix = prefixes[i]!;
      if (prefix < lowest) lowest = prefix;
      if (prefix > highest) highest = prefix;
    }
    if (lowest === highest) {
      this.sortTies(start, end);
      return;
    }
    const bucketEnds = this.distribute(start, end, lowest, highest - lowest);
    prefixes.set(this.sparePrefixes.subarray(start, end), start);
    this.ids.set(this.spareIds.subarray(start, end), start);
    this.sortBuckets(start, end, bucketEnds);
  }

  /** Puts [start, end) into the spare arrays, bucket after bucket; returns where each bucket ends. */
  private distribute(start: number, end: number, lowest: number, range: number): Int32Array {
    const { ids, prefixes, spareIds, sparePrefixes } = this;
    const buckets = Math.min(MAX_BUCKETS, 2 ** (32 - Math.clz32(end - start - 1)));
    const scale = (buckets - 1) / range;
    // First how many fall into each bucket, then where it begins; scattering moves that to where it ends.
    const places = new Int32Array(buckets);
    for (let i = start; i < end; i++) places[((prefixes[i]! - lowest) * scale) | 0]!++;
    let place = start;
    for (let bucket = 0; bucket < buckets; bucket++) {
      const size = places[bucket]!;
      places[bucket] = place;
      place += size;
    }
    for (let i = start; i < end; i++) {
      const prefix = prefixes[i]!;
      const bucket = ((prefix - lowest) * scale) | 0;
      const to = places[bucket]!;
      places[bucket] = to + 1;
      sparePrefixes[to] = prefix;
      spareIds[to] = ids[i]!;
    }
    return places;
  }

  private sortBuckets(start: number, end: number, bucketEnds: Int32Array): void {
    let largest = 0;
    let from = start;
    for (let bucket = 0; bucket < bucketEnds.length; bucket++) {
      const to = bucketEnds[bucket]!;
      if (to - from > largest) largest = to - from;
      from = to;
    }
    if (largest <= MAX_INSERTION_COUNT) {
      this.insert(start, end);
      return;
    }
    from = start;
    for (let bucket = 0; bucket < bucketEnds.length; bucket++) {
      const to = bucketEnds[bucket]!;
      if (to - from > 1) this.sort(from, to);
      from = to;
    }
  }

  private insert(start: number, end: number): void {
    const { ids, prefixes, order } = this;
    const { exact } = order;
    let before = prefixes[start]!;
    for (let i = start + 1; i < end; i++) {
      const prefix = prefixes[i]!;
      if (before < prefix || (before === prefix && exact)) {
        before = prefix;
        continue;
      }
      const id = ids[i]!;
      let to = i;
      while (to > start) {
        const difference = prefixes[to - 1]! - prefix;
        if (difference < 0 || (difference === 0 && (exact || order.compareKeys(ids[to - 1]!, id) <= 0))) break;
        prefixes[to] = prefixes[to - 1]!;
        ids[to] = ids[to - 1]!;
        to--;
      }
      prefixes[to] = prefix;
      ids[to] = id;
      before = prefixes[i]!;
    }
  }

  private sortTies(start: number, end: number): void {
    if (!this.order.exact) this.ids.subarray(start, end).sort((a, b) => this.order.compareKeys(a, b));
  }
}
