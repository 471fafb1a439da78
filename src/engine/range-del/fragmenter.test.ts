/** What the model test (test/range-del) hardly sees: memory that is used again, and very many tombstones over one place. */
import { expect, it } from 'vitest';
import { SeededRandom, TEST_SCALE } from '../../../test/support/random.ts';
import { UnsupportedError } from '../../errors.ts';
import { bytewiseComparator, type Comparator } from '../../operators/comparator.ts';
import { FragmentBuilder } from './fragment-columns.ts';
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

it('a list that is given back is empty, and its memory serves another', () => {
  const scratch = new FragmentScratch();
  const first = fragmentTombstones(setOf(40, 5), bytewiseComparator, { scratch });
  const { buffer } = first.seqnos;
  scratch.recycle(first);
  expect([first.count, first.stackCount, first.isEmpty]).toEqual([0, 0, true]);
  expect(first.maxCoveringSeqno(Uint8Array.of(0, 8))).toBe(-1);
  const second = fragmentTombstones(setOf(39, 5), bytewiseComparator, { scratch });
  expect(second.seqnos.buffer).toBe(buffer);
  expect(shown(second)).toBe(shown(fragmentTombstones(setOf(39, 5), bytewiseComparator)));
});

const SEED = 5150;

it('wide stacks of distinct numbers are those that a flush with a snapshot at each number keeps', () => {
  for (let round = 0; round < 6 * TEST_SCALE; round++) {
    const random = new SeededRandom(SEED + round);
    const count = 2 + random.below(400);
    const starts = Array.from({ length: count }, () => random.below(1000)).sort((a, b) => a - b);
    const set = new TombstoneSet();
    const numbers = Array.from({ length: count }, (_, i) => i);
    for (const start of starts) {
      const [seqno] = numbers.splice(random.below(numbers.length), 1) as [number];
      const end = start + 1 + random.below(round % 2 === 0 ? 900 : 20);
      set.add(fixed32(start), 0, 4, fixed32(end), 0, 4, seqno);
    }
    const snapshots = Array.from({ length: count }, (_, i) => i);
    const all = fragmentTombstones(set, bytewiseComparator);
    const kept = fragmentTombstones(set, bytewiseComparator, { snapshots });
    expect(shown(all), `seed ${SEED + round}`).toBe(shown(kept));
  }
});

it('says the same without prefixes, of numbers and ends that repeat', () => {
  const { compare } = bytewiseComparator;
  const unknown: Comparator = {
    name: 'test.Bytewise',
    timestampSize: 0,
    get withoutTimestamp() {
      return this;
    },
    compare: (...args) => compare(...args),
  };
  for (let round = 0; round < 12 * TEST_SCALE; round++) {
    const random = new SeededRandom(SEED + round);
    const count = 2 + random.below(500);
    const starts = Array.from({ length: count }, () => random.below(3000)).sort((a, b) => a - b);
    const distinct = random.below(3) > 0;
    const set = new TombstoneSet();
    let last = { end: 0, seqno: 0 };
    starts.forEach((start, i) => {
      // The one before once more, while it may still cover this start; few, so that much is swept over before one comes.
      const again = random.chance(0.01) && last.end > start;
      const end = again ? last.end : start + 1 + random.below(round % 2 === 0 ? 2000 : 40);
      last = { end, seqno: again ? last.seqno : distinct ? (i * 7) % 1009 : random.below(200) };
      set.add(fixed32(start), 0, 4, fixed32(end), 0, 4, last.seqno);
    });
    const [fast, slow] = [bytewiseComparator, unknown].map((each) => withKeys(fragmentTombstones(set, each)));
    expect(fast, `seed ${SEED + round}`).toBe(slow);
  }
});

function withKeys(list: FragmentedTombstones): string {
  const keys = Array.from({ length: list.count }, (_, f) => [[...list.startKey(f)], [...list.endKey(f)]]);
  return JSON.stringify([keys, [...list.stackStarts], [...list.seqnos]]);
}

function fixed32(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

it('more sequence numbers than memory is given to are refused before any is taken', () => {
  const builder = new FragmentBuilder(0, 0, false);
  expect(() => builder.reserve(1, 2 ** 27 + 1)).toThrow(UnsupportedError);
  expect(builder.seqnos.length).toBe(0);
});
