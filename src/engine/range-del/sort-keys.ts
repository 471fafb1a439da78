/** What decides between keys with equal prefixes. */
export interface TieOrder {
  /** Equal prefixes are equal keys: nothing more is compared. */
  readonly exact: boolean;
  compareTies(a: number, b: number): number;
}

/** Up to this insertion is cheaper than distributing. */
const MAX_INSERTION_COUNT = 24;
const MAX_BUCKETS = 1 << 16;

/**
 * Keys to be sorted, and room for sorting them: kept between calls, since fresh memory costs more than the sorting of
 * a thousand keys. The caller puts keys into `ids` and their prefixes into `prefixes`; sorted, they are there again.
 */
export class SortScratch {
  ids: Int32Array = new Int32Array(0);
  prefixes: Float64Array = new Float64Array(0);
  spareIds: Int32Array = new Int32Array(0);
  sparePrefixes: Float64Array = new Float64Array(0);
  places: Int32Array = new Int32Array(0);

  /** Makes room for `count` keys; forgets what was there. */
  reserve(count: number): void {
    if (count <= this.ids.length) return;
    const capacity = Math.max(64, powerOfTwoFrom(count));
    this.ids = new Int32Array(capacity);
    this.prefixes = new Float64Array(capacity);
  }

  /** Makes room for moving them: keys that are sorted already do not need it. */
  reserveSpare(): void {
    const capacity = this.ids.length;
    if (this.spareIds.length === capacity) return;
    this.spareIds = new Int32Array(capacity);
    this.sparePrefixes = new Float64Array(capacity);
    this.places = new Int32Array(Math.min(MAX_BUCKETS, capacity));
  }

  /** Exchanges the keys for the spare ones. */
  swap(): void {
    const { ids, prefixes } = this;
    this.ids = this.spareIds;
    this.prefixes = this.sparePrefixes;
    this.spareIds = ids;
    this.sparePrefixes = prefixes;
  }
}

/**
 * Sorts the keys `scratch.ids[0, count)` by their prefixes, and those with equal prefixes by `order`. Keys that are
 * sorted already cost one comparison each and stay where they are. Otherwise they are distributed over about as many
 * buckets as there are keys, by where their prefix lies between the smallest and the largest, and what fell together
 * is put right by insertion: n for keys that are spread evenly. A bucket with many keys is distributed again over
 * its own range; keys with equal prefixes are sorted by comparison: n log n at worst.
 */
export function sortKeys(order: TieOrder, scratch: SortScratch, count: number): void {
  if (isSorted(order, scratch, count)) return;
  if (count <= MAX_INSERTION_COUNT) {
    insert(order, scratch, 0, count);
    return;
  }
  const { prefixes } = scratch;
  let lowest = prefixes[0]!;
  let highest = lowest;
  for (let i = 1; i < count; i++) {
    const prefix = prefixes[i]!;
    if (prefix < lowest) lowest = prefix;
    if (prefix > highest) highest = prefix;
  }
  if (lowest === highest) {
    sortTies(order, scratch, 0, count);
    return;
  }
  scratch.reserveSpare();
  const buckets = distribute(scratch, 0, count, lowest, highest - lowest);
  // Everything has been moved: what was spare holds the keys now, and nothing is copied back.
  scratch.swap();
  if (largestBucket(scratch.places, 0, buckets) <= MAX_INSERTION_COUNT) insert(order, scratch, 0, count);
  else sortBuckets(order, scratch, 0, scratch.places.slice(0, buckets));
}

function isSorted(order: TieOrder, { ids, prefixes }: SortScratch, count: number): boolean {
  const { exact } = order;
  let before = prefixes[0]!;
  for (let i = 1; i < count; i++) {
    const prefix = prefixes[i]!;
    if (before > prefix) return false;
    if (before === prefix && !exact && order.compareTies(ids[i - 1]!, ids[i]!) > 0) return false;
    before = prefix;
  }
  return true;
}

function sortRange(order: TieOrder, scratch: SortScratch, start: number, end: number): void {
  if (end - start <= MAX_INSERTION_COUNT) {
    insert(order, scratch, start, end);
    return;
  }
  const { prefixes } = scratch;
  let lowest = prefixes[start]!;
  let highest = lowest;
  for (let i = start + 1; i < end; i++) {
    const prefix = prefixes[i]!;
    if (prefix < lowest) lowest = prefix;
    if (prefix > highest) highest = prefix;
  }
  if (lowest === highest) {
    sortTies(order, scratch, start, end);
    return;
  }
  const buckets = distribute(scratch, start, end, lowest, highest - lowest);
  prefixes.set(scratch.sparePrefixes.subarray(start, end), start);
  scratch.ids.set(scratch.spareIds.subarray(start, end), start);
  sortBuckets(order, scratch, start, scratch.places.slice(0, buckets));
}

/**
 * Puts the keys [start, end) into the spare arrays, bucket after bucket; `places` then says where each bucket ends.
 * Returns the number of buckets.
 */
function distribute(scratch: SortScratch, start: number, end: number, lowest: number, range: number): number {
  const { ids, prefixes, spareIds, sparePrefixes, places } = scratch;
  const buckets = Math.min(MAX_BUCKETS, powerOfTwoFrom(end - start));
  const scale = (buckets - 1) / range;
  places.fill(0, 0, buckets);
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
  return buckets;
}

function largestBucket(ends: Int32Array, start: number, buckets: number): number {
  let largest = 0;
  for (let bucket = 0, from = start; bucket < buckets; bucket++) {
    const to = ends[bucket]!;
    if (to - from > largest) largest = to - from;
    from = to;
  }
  return largest;
}

function sortBuckets(order: TieOrder, scratch: SortScratch, start: number, ends: Int32Array): void {
  let from = start;
  for (let bucket = 0; bucket < ends.length; bucket++) {
    const to = ends[bucket]!;
    if (to - from > 1) sortRange(order, scratch, from, to);
    from = to;
  }
}

function insert(order: TieOrder, { ids, prefixes }: SortScratch, start: number, end: number): void {
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
      if (difference < 0 || (difference === 0 && (exact || order.compareTies(ids[to - 1]!, id) <= 0))) break;
      prefixes[to] = prefixes[to - 1]!;
      ids[to] = ids[to - 1]!;
      to--;
    }
    prefixes[to] = prefix;
    ids[to] = id;
    before = prefixes[i]!;
  }
}

function sortTies(order: TieOrder, { ids }: SortScratch, start: number, end: number): void {
  if (!order.exact) ids.subarray(start, end).sort((a, b) => order.compareTies(a, b));
}

/** The smallest power of two that is not below `count`. */
function powerOfTwoFrom(count: number): number {
  return 2 ** (32 - Math.clz32(count - 1));
}
