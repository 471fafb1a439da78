import type { Comparator } from '../../operators/comparator.ts';
import { BorderSweep } from './border-sweep.ts';
import type { Borders } from './borders.ts';
import type { ComparableSeqno } from './comparable-seqno.ts';
import { FragmentBuilder } from './fragment-columns.ts';
import { FragmentScratch } from './fragment-scratch.ts';
import { FragmentedTombstones, type RangeDelStatistics } from './fragmented-tombstones.ts';
import { KeyOrder } from './key-order.ts';
import { sortKeys } from './sort-keys.ts';
import type { TombstoneSet } from './tombstone-set.ts';

export interface FragmentOptions {
  /**
   * For a flush or compaction: ascending sequence numbers of the snapshots. Of the sequence numbers of a fragment
   * only the newest in each snapshot's stripe is kept. Left out for reads; ignored with timestamps.
   */
  readonly snapshots?: readonly ComparableSeqno[];
  readonly statistics?: RangeDelStatistics;
  /** Memory for the work, kept by whoever fragments many lists. */
  readonly scratch?: FragmentScratch;
}

/**
 * Cuts range tombstones at each other's borders.
 *
 *   a---------e 10          a--c 10
 *      c---------g 8   ->      c--e 10, 8
 *           e--f 12               e--f 12, 8
 *                                    f--g 8
 *
 * Borders cut also where the sequence numbers on both sides are equal. Tombstones whose start is not before their end
 * are ignored; one with the end and sequence number of another that covers its start adds nothing.
 *
 * Tables and memtables hold tombstones in start order: the set is swept over as it is (border-sweep.ts), and sorted
 * only when that shows that it is not so, or has empty tombstones. n log n for the borders at worst, and for each the
 * tombstones that cover it. The set must not change afterwards.
 * Source: RocksDB db/range_tombstone_fragmenter.cc for the result; the way there is our own.
 */
export function fragmentTombstones(
  set: TombstoneSet,
  comparator: Comparator,
  options: FragmentOptions = {},
): FragmentedTombstones {
  const keyComparator = comparator.withoutTimestamp;
  const scratch = options.scratch ?? new FragmentScratch();
  scratch.reserve(set.size);
  const order = new KeyOrder(set, keyComparator, scratch.prefixes);
  const snapshots = set.timestampSize > 0 ? undefined : options.snapshots;
  const out = set.timestampSize > 0 ? new FragmentBuilder(set.size, set.size, true) : scratch.fragments;
  out.clear();
  const asStored = {
    count: set.size,
    startKeys: scratch.evenNumbers,
    startPrefixes: scratch.prefixes.starts,
    endPrefixes: scratch.prefixes.ends,
    seqnos: set.seqnos,
  };
  if (!new BorderSweep(set, order, asStored, snapshots, scratch, out).run()) {
    out.clear();
    new BorderSweep(set, order, sortedByStart(set, order, scratch), snapshots, scratch, out).run();
  }
  const columns = out.copiedColumns(options.scratch?.pool);
  return new FragmentedTombstones(set, order, keyComparator, columns, options.statistics);
}

/** The tombstones that are not empty, with what the sweep reads of them side by side, in the order of their starts. */
function sortedByStart(set: TombstoneSet, order: KeyOrder, scratch: FragmentScratch): Borders {
  scratch.reserveSorted(set.size);
  const { starts, endPrefixes, seqnos, prefixes } = scratch;
  const { ids, prefixes: startPrefixes } = starts;
  let count = 0;
  for (let t = 0; t < set.size; t++) {
    const start = prefixes.starts[t]!;
    const end = prefixes.ends[t]!;
    if (start > end || (start === end && order.compareTies(2 * t, 2 * t + 1) >= 0)) continue;
    ids[count] = 2 * t;
    startPrefixes[count++] = start;
  }
  sortKeys(order, starts, count);
  for (let place = 0; place < count; place++) {
    const t = starts.ids[place]! >> 1;
    seqnos[place] = set.seqnos[t]!;
    endPrefixes[place] = prefixes.ends[t]!;
  }
  return { count, startKeys: starts.ids, startPrefixes: starts.prefixes, endPrefixes, seqnos };
}
