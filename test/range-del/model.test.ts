/** Fragmenting, lookups and aggregators against the model, over seeded random sets of tombstones. */
import { describe, expect, it } from 'vitest';
import {
  comparableSeqno,
  MAX_SEQNO,
  seqnoOfComparable,
} from '../../src/engine/range-del/comparable-seqno.ts';
import { FragmentIterator, snapshotStripes } from '../../src/engine/range-del/fragment-iterator.ts';
import type { FragmentedTombstones } from '../../src/engine/range-del/fragmented-tombstones.ts';
import { fragmentTombstones } from '../../src/engine/range-del/fragmenter.ts';
import {
  CompactionRangeDelAggregator,
  type PositioningMode,
  ReadRangeDelAggregator,
} from '../../src/engine/range-del/range-del-aggregator.ts';
import { TombstoneSet } from '../../src/engine/range-del/tombstone-set.ts';
import {
  bytewiseComparator,
  type Comparator,
  comparatorOf,
  reverseBytewiseComparator,
} from '../../src/operators/comparator.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { Model, type ModelTombstone, visibleToSnapshots } from './model.ts';

const SEED = 20_261_130;
const SETS = 150 * TEST_SCALE;

/** An order of the application's own: by length, then bytewise. */
const byLength: Comparator = {
  name: 'test.ByLength',
  timestampSize: 0,
  get withoutTimestamp() {
    return this;
  },
  compare(a, aStart, aEnd, b, bStart, bEnd) {
    return aEnd - aStart - (bEnd - bStart) || bytewiseComparator.compare(a, aStart, aEnd, b, bStart, bEnd);
  },
};

const COMPARATORS = [
  bytewiseComparator,
  bytewiseComparator,
  bytewiseComparator,
  reverseBytewiseComparator,
  comparatorOf('leveldb.BytewiseComparator.u64ts'),
  byLength,
];

describe(`random sets of tombstones, seed ${SEED}`, () => {
  for (let part = 0; part < 10; part++) {
    it(`agree with the model, part ${part}`, () => {
      for (let i = part; i < SETS; i += 10) {
        const seed = SEED + i;
        try {
          checkSet(new SeededRandom(seed));
        } catch (error) {
          throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
        }
      }
    });
  }
});

function checkSet(random: SeededRandom): void {
  const comparator = random.pick(COMPARATORS);
  const tombstones = randomTombstones(random, comparator);
  const keyComparator = comparator.withoutTimestamp;
  const model = new Model(tombstones, keyComparator);
  const statistics = { seqnoSetsBuilt: 0 };
  const list = fragmentTombstones(setOf(tombstones, comparator), comparator, { statistics });
  expect(fragmentsOf(list)).toEqual(
    model.fragments().map(({ start, end, stack }) => [hex(start), hex(end), stack.map(({ seqno }) => seqno)]),
  );

  const keys = probeKeys(random, tombstones, keyComparator);
  const snapshots = randomSnapshots(random, tombstones);
  checkLookups(list, model, keys, snapshots, comparator);
  checkIterator(list, model, keys);
  checkReads(list, model, keys, snapshots, random);
  expect(statistics.seqnoSetsBuilt).toBe(0);
  if (comparator.timestampSize === 0) {
    checkSnapshots(tombstones, model, snapshots, comparator);
    checkCompaction(list, model, keys, snapshots, comparator, random);
    expect(statistics.seqnoSetsBuilt).toBeLessThanOrEqual(1);
  }
}

function checkLookups(
  list: FragmentedTombstones,
  model: Model,
  keys: readonly Uint8Array[],
  snapshots: readonly bigint[],
  comparator: Comparator,
): void {
  for (const key of keys) {
    for (const upper of [...snapshots, 2n ** 56n - 1n]) {
      const found = list.maxCoveringSeqno(key, 0, key.length, comparableSeqno(upper));
      expect(found < 0 ? undefined : seqnoOfComparable(found)).toBe(model.newest(key, upper));
    }
    if (comparator.timestampSize === 0) continue;
    for (const timestamp of [0n, 3n, 1000n]) {
      const bytes = fixed64(timestamp);
      const found = list.maxCoveringSeqno(key, 0, key.length, MAX_SEQNO, bytes);
      expect(found < 0 ? undefined : seqnoOfComparable(found)).toBe(
        model.newest(key, 2n ** 56n - 1n, timestamp),
      );
    }
  }
}

function checkIterator(list: FragmentedTombstones, model: Model, keys: readonly Uint8Array[]): void {
  const iterator = new FragmentIterator(list);
  const fragments = model.fragments();
  const forward: string[] = [];
  for (iterator.seekToFirst(); iterator.valid; iterator.next()) forward.push(hex(iterator.startKey));
  expect(forward).toEqual(fragments.map(({ start }) => hex(start)));
  const backward: string[] = [];
  for (iterator.seekToLast(); iterator.valid; iterator.prev()) backward.push(hex(iterator.startKey));
  expect(backward).toEqual([...forward].reverse());
  for (const key of keys) {
    iterator.seek(key);
    const next = fragments.find(({ end }) => model.order(key, end) < 0);
    expect(iterator.valid ? hex(iterator.startKey) : undefined).toBe(next && hex(next.start));
    iterator.seekForPrev(key);
    const before = fragments.filter(({ start }) => model.order(start, key) <= 0).at(-1);
    expect(iterator.valid ? hex(iterator.startKey) : undefined).toBe(before && hex(before.start));
  }
}

function checkReads(
  list: FragmentedTombstones,
  model: Model,
  keys: readonly Uint8Array[],
  snapshots: readonly bigint[],
  random: SeededRandom,
): void {
  for (const upper of [...snapshots.slice(0, 2), 2n ** 56n - 1n]) {
    for (const mode of ['forward', 'backward', 'fullScan'] as PositioningMode[]) {
      const aggregator = new ReadRangeDelAggregator(0, comparableSeqno(upper));
      aggregator.addTombstones(list);
      const walk =
        mode === 'backward' ? [...keys].reverse() : mode === 'forward' ? keys : shuffled(keys, random);
      for (const key of walk) {
        const seqno = BigInt(random.below(40));
        const newest = model.newest(key, upper);
        expect(aggregator.shouldDelete(key, 0, key.length, comparableSeqno(seqno), mode)).toBe(
          seqno <= upper && newest !== undefined && newest > seqno,
        );
      }
    }
  }
  const aggregator = new ReadRangeDelAggregator();
  aggregator.addTombstones(list);
  for (let i = 0; i < 10; i++) {
    const [a, b] = [random.pick(keys), random.pick(keys)];
    const [low, high] = model.order(a, b) <= 0 ? [a, b] : [b, a];
    const overlaps = model.tombstones.some(
      ({ start, end }) => model.order(end, low) > 0 && model.order(start, high) <= 0,
    );
    expect(aggregator.isRangeOverlapped(low, high)).toBe(overlaps);
  }
}

function checkSnapshots(
  tombstones: readonly ModelTombstone[],
  model: Model,
  snapshots: readonly bigint[],
  comparator: Comparator,
): void {
  const list = fragmentTombstones(setOf(tombstones, comparator), comparator, {
    snapshots: snapshots.map(comparableSeqno),
  });
  expect(fragmentsOf(list)).toEqual(
    model.fragments().map(({ start, end, stack }) => [
      hex(start),
      hex(end),
      visibleToSnapshots(
        stack.map(({ seqno }) => seqno),
        snapshots,
      ),
    ]),
  );
}

function checkCompaction(
  list: FragmentedTombstones,
  model: Model,
  keys: readonly Uint8Array[],
  snapshots: readonly bigint[],
  comparator: Comparator,
  random: SeededRandom,
): void {
  const comparable = snapshots.map(comparableSeqno);
  for (const { lower, upper } of snapshotStripes(comparable)) {
    const holds = model.tombstones.some(
      ({ seqno }) => comparableSeqno(seqno) >= lower && comparableSeqno(seqno) <= upper,
    );
    expect(list.containsRange(lower, upper)).toBe(holds);
  }
  const seen: string[] = [];
  for (const iterator of new FragmentIterator(list).splitBySnapshots(comparable)) {
    for (iterator.seekToFirst(); iterator.valid; iterator.next()) {
      do {
        expect(iterator.seqno >= iterator.lower && iterator.seqno <= iterator.upper).toBe(true);
        seen.push(`${hex(iterator.startKey)} ${seqnoOfComparable(iterator.seqno)}`);
      } while (iterator.nextInStack());
    }
  }
  const all = model
    .fragments()
    .flatMap(({ start, stack }) => stack.map(({ seqno }) => `${hex(start)} ${seqno}`));
  expect(seen.sort()).toEqual(all.sort());

  const aggregator = new CompactionRangeDelAggregator(comparator, comparable);
  aggregator.addTombstones(list);
  for (const key of keys) {
    const seqno = BigInt(random.below(40));
    expect(aggregator.shouldDelete(key, 0, key.length, comparableSeqno(seqno))).toBe(
      model.deletedInCompaction(key, seqno, snapshots),
    );
  }
}

function randomTombstones(random: SeededRandom, comparator: Comparator): ModelTombstone[] {
  const count = random.chance(0.2) ? 1 + random.below(300) : 1 + random.below(30);
  const shape = random.below(5);
  // Of keys of one length: bytes that they share, and how many follow.
  const shared = random.below(8);
  const own = 1 + random.below(7);
  const makeKey = (): Uint8Array => {
    switch (shape) {
      case 0:
        return Uint8Array.of(97 + random.below(12));
      case 1:
        return random.bytes(random.below(41));
      case 2:
        return Uint8Array.of(
          0,
          0,
          0,
          0,
          random.below(2),
          random.below(256),
          random.below(256),
          random.below(256),
        );
      case 3: {
        const key = new Uint8Array(shared + own).fill(7);
        for (let i = shared; i < key.length; i++) key[i] = random.below(random.chance(0.5) ? 3 : 256);
        return key;
      }
      default: {
        const key = new Uint8Array(1 + random.below(12)).fill(120);
        for (let i = random.below(8); i < key.length; i++) key[i] = random.below(3);
        return key;
      }
    }
  };
  const large = random.chance(0.1);
  // Each its own, as a writer gives them; otherwise as in files that were ingested, many alike.
  const distinct = random.chance(0.4);
  const drawn = shuffled(
    Array.from({ length: count }, (_, i) => i),
    random,
  );
  const tombstones: ModelTombstone[] = [];
  for (let i = 0; i < count; i++) {
    let start = makeKey();
    let end = makeKey();
    const previous = tombstones.at(-1);
    const relation = previous === undefined ? 100 : random.below(100);
    if (relation < 15) start = previous!.start;
    else if (relation < 28) end = previous!.end;
    else if (relation < 39) start = previous!.end;
    const order = comparator.withoutTimestamp.compare(start, 0, start.length, end, 0, end.length);
    if (order > 0 && random.chance(0.9)) [start, end] = [end, start];
    const number = BigInt(distinct ? drawn[i]! : random.below(40));
    const seqno = large ? 2n ** 56n - 1n - number : number;
    tombstones.push({
      start,
      end,
      seqno,
      ...(comparator.timestampSize > 0 ? { timestamp: BigInt(random.below(8)) } : {}),
    });
  }
  return random.chance(0.5) ? tombstones : tombstones.sort((a, b) => bytewise(a.start, b.start));
}

function randomSnapshots(random: SeededRandom, tombstones: readonly ModelTombstone[]): bigint[] {
  const chosen = new Set<bigint>();
  for (let i = random.below(5); i > 0; i--)
    chosen.add(random.pick(tombstones).seqno + BigInt(random.below(3)) - 1n);
  return [...chosen].filter((seqno) => seqno >= 0n && seqno < 2n ** 56n).sort((a, b) => (a < b ? -1 : 1));
}

/** Every border, and keys around and between them, in order. */
function probeKeys(
  random: SeededRandom,
  tombstones: readonly ModelTombstone[],
  comparator: Comparator,
): Uint8Array[] {
  const keys = tombstones
    .slice(0, 40)
    .flatMap(({ start, end }) => [start, end, Uint8Array.of(...start, 0), start.subarray(0, -1)]);
  for (let i = 0; i < 10; i++) keys.push(random.bytes(random.below(10)));
  return keys.sort((a, b) => comparator.compare(a, 0, a.length, b, 0, b.length));
}

function setOf(tombstones: readonly ModelTombstone[], comparator: Comparator): TombstoneSet {
  const set = new TombstoneSet(comparator.timestampSize, 1);
  for (const { start, end, seqno, timestamp } of tombstones) {
    const bytes = timestamp === undefined ? undefined : fixed64(timestamp);
    set.add(start, 0, start.length, end, 0, end.length, comparableSeqno(seqno), bytes);
  }
  return set;
}

function fragmentsOf(list: FragmentedTombstones): [string, string, bigint[]][] {
  return Array.from({ length: list.count }, (_, f) => [
    hex(list.startKey(f)),
    hex(list.endKey(f)),
    [...list.seqnos.subarray(list.stackStarts[f]!, list.stackStarts[f + 1]!)].map(seqnoOfComparable),
  ]);
}

function shuffled<T>(values: readonly T[], random: SeededRandom): T[] {
  return [...values]
    .map((value) => ({ value, at: random.uint32() }))
    .sort((a, b) => a.at - b.at)
    .map(({ value }) => value);
}

function fixed64(value: bigint): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, value, true);
  return bytes;
}

function bytewise(a: Uint8Array, b: Uint8Array): number {
  return bytewiseComparator.compare(a, 0, a.length, b, 0, b.length);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
