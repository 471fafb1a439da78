/**
 * Tombstones numbered by their place in start order, as columns by place: the sweep goes through memory forward only.
 * Arrays are longer than `count`, `startPrefixes` by one at least.
 */
export interface Borders {
  readonly count: number;
  /** Start key of the set; the end key is the one behind it. */
  readonly startKeys: Int32Array;
  readonly startPrefixes: Float64Array;
  readonly endPrefixes: Float64Array;
  readonly seqnos: Float64Array;
}

/** The borders of a group of tombstones of which each overlaps or touches another. */
export interface BorderGroup extends Borders {
  /** Places [first, last). */
  readonly first: number;
  readonly last: number;
  /** In end order: end prefixes and places, from index `endsFrom` on. The places are left out where i is at i. */
  readonly sortedEnds: Float64Array;
  readonly endPlaces: Int32Array | undefined;
  readonly endsFrom: number;
}
