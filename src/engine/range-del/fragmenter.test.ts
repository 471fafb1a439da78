/** What the model test (test/range-del) does not see: memory that is used again. */
import { expect, it } from 'vitest';
import { bytewiseComparator } from '../../operators/comparator.ts';
import { FragmentScratch } from './fragment-scratch.ts';
import type { FragmentedTombstones } from './fragmented-tombstones.ts';
import { fragmentTombstones } from './fragmenter.ts';
import { TombstoneSet } from './tombstone-set.ts';

/** Tombstones of `width` that start at every second key, so that wide ones overlap. */
function setOf(count: number, width: number): TombstoneSet {
  const set = new TombstoneSet(0, 1);
  for (let i = 0; i < count; i++) {
    const start = Uint8Array.of(0, 2 * i);
    const end = Uint8Array.of(0, 2 * i + width);
    set.add(start, 0, 2, end, 0, 2, i + 1);
  }
  return set;
}

function shown({ count, startKeys, endKeys, stackStarts, seqnos }: FragmentedTombstones): string {
  return JSON.stringify([count, ...[startKeys, endKeys, stackStarts, seqnos].map((column) => [...column])]);
}

for (const snapshots of [undefined, [0], [3, 7, 20]]) {
  it(`lists made with one scratch are as those made with their own, and stay so: snapshots ${snapshots}`, () => {
    const scratch = new FragmentScratch();
    const made: { list: FragmentedTombstones; wanted: string }[] = [];
    for (const width of [1, 5, 2]) {
      for (let count = 0; count <= 70; count++) {
        const own = fragmentTombstones(setOf(count, width), bytewiseComparator, { snapshots });
        const list = fragmentTombstones(setOf(count, width), bytewiseComparator, { snapshots, scratch });
        made.push({ list, wanted: shown(own) });
      }
    }
    for (const { list, wanted } of made) expect(shown(list)).toBe(wanted);
  });
}
