import { ActiveSeqnos } from './active-seqnos.ts';
import { BufferPool, FragmentBuilder } from './fragment-columns.ts';
import type { FragmentedTombstones } from './fragmented-tombstones.ts';
import type { PrefixColumns } from './key-order.ts';
import { SortScratch } from './sort-keys.ts';

/**
 * Room for the work of `fragmentTombstones`, used again by the next call: half of the time for a list of a thousand
 * tombstones would go into fresh memory. Not for two calls at once.
 */
export class FragmentScratch {
  /** Prefixes of the set's keys, by tombstone, with one place more than tombstones. */
  prefixes: PrefixColumns = { starts: new Float64Array(1), ends: new Float64Array(1) };
  /** The start keys of a set in which starts are in order: 0, 2, 4 ... */
  evenNumbers = new Int32Array(0);
  readonly starts = new SortScratch();
  /** By place in start order, where the set has another. */
  endPrefixes = new Float64Array(0);
  seqnos = new Float64Array(0);
  readonly ends = new SortScratch();
  /** Needed only where ends come in another order than starts. */
  endPlaces = new Int32Array(0);
  placeOf = new Int32Array(0);
  readonly active = new ActiveSeqnos();
  /** Fragments as they come out, before they are cut to size. */
  readonly fragments = new FragmentBuilder(0, 0, false);
  readonly pool = new BufferPool();

  reserve(count: number): void {
    if (count <= this.evenNumbers.length) return;
    const capacity = capacityFor(count);
    this.prefixes = { starts: new Float64Array(capacity + 1), ends: new Float64Array(capacity + 1) };
    this.evenNumbers = new Int32Array(capacity);
    for (let i = 0; i < capacity; i++) this.evenNumbers[i] = 2 * i;
  }

  reserveSorted(count: number): void {
    this.starts.reserve(count + 1);
    if (count <= this.seqnos.length) return;
    const capacity = capacityFor(count);
    this.endPrefixes = new Float64Array(capacity);
    this.seqnos = new Float64Array(capacity);
  }

  reserveEnds(count: number): void {
    this.ends.reserve(count);
    if (count <= this.endPlaces.length) return;
    const capacity = capacityFor(count);
    this.endPlaces = new Int32Array(capacity);
    this.placeOf = new Int32Array(capacity);
  }

  /** Takes the memory of a list that nobody asks any more, for the next one; the list is empty then. */
  recycle(list: FragmentedTombstones): void {
    this.pool.give(list.release());
  }
}

/** A power of two: lists of about one size share their room. */
function capacityFor(count: number): number {
  return Math.max(64, 2 ** (32 - Math.clz32(count - 1)));
}
