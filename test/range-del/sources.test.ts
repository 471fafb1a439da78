/**
 * Many files with bounds, against a model that takes section by section what a bound lets count; and the cases of
 * public bug reports.
 */
import { describe, expect, it } from 'vitest';
import { comparableSeqno, seqnoOfComparable } from '../../src/engine/range-del/comparable-seqno.ts';
import { fileTombstones } from '../../src/engine/range-del/file-tombstones.ts';
import type { FragmentedTombstones } from '../../src/engine/range-del/fragmented-tombstones.ts';
import { fragmentTombstones } from '../../src/engine/range-del/fragmenter.ts';
import {
  CompactionRangeDelAggregator,
  type PositioningMode,
  ReadRangeDelAggregator,
} from '../../src/engine/range-del/range-del-aggregator.ts';
import { TombstoneSet, tombstoneSetOf } from '../../src/engine/range-del/tombstone-set.ts';
import { bytewiseComparator } from '../../src/operators/comparator.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';

const SEED = 77_001;
const MAX = 2n ** 56n - 1n;
const RANGE_DELETION = 0x0f;

interface ModelFile {
  tombstones: { start: string; end: string; seqno: bigint }[];
  bounds?: { smallest: [string, bigint, number]; largest: [string, bigint, number] };
}

describe(`files with bounds, seed ${SEED}`, () => {
  it('delete what the model says, in every mode', () => {
    for (let i = 0; i < 300 * TEST_SCALE; i++) {
      const random = new SeededRandom(SEED + i);
      const files = randomFiles(random);
      for (const mode of ['forward', 'backward', 'fullScan'] as PositioningMode[]) {
        const read = new ReadRangeDelAggregator();
        const snapshots = [5n, 12n, 25n].filter(() => random.chance(0.5));
        const compaction = new CompactionRangeDelAggregator(
          bytewiseComparator,
          snapshots.map(comparableSeqno),
        );
        for (const file of files) {
          read.addTombstones(listOf(file), boundsOf(file));
          compaction.addTombstones(listOf(file), boundsOf(file));
        }
        const keys = Array.from({ length: 26 }, (_, k) => String.fromCharCode(97 + k));
        for (const key of mode === 'backward' ? keys.reverse() : keys) {
          const seqno = BigInt(random.below(32));
          const ask = [bytes(key), 0, key.length, comparableSeqno(seqno), mode] as const;
          const context = `seed ${SEED + i} ${mode} ${key}#${seqno}`;
          expect(read.shouldDelete(...ask), context).toBe(
            files.some((file) => deletes(file, key, seqno, MAX)),
          );
          const upper = snapshots.find((snapshot) => snapshot >= seqno) ?? MAX;
          expect(compaction.shouldDelete(...ask), context).toBe(
            files.some((file) => deletes(file, key, seqno, upper)),
          );
        }
      }
    }
  });

  it('go back to the beginning when a forward walk is broken off', () => {
    const aggregator = new ReadRangeDelAggregator();
    for (let i = 0; i < 20; i++) {
      const key = String.fromCharCode(97 + i);
      aggregator.addTombstones(listOf({ tombstones: [{ start: key, end: `${key}z`, seqno: 9n }] }));
    }
    for (const key of ['bb', 'tt', 'bb', 'aa', 'zz', 'cc']) {
      expect(aggregator.shouldDelete(bytes(key), 0, key.length, 1)).toBe(key !== 'zz');
    }
  });
});

describe('output of a compaction', () => {
  it('is cut at files as RocksDB cuts it', () => {
    // The first compaction of the real case: one tombstone over three files, written whole to each.
    const compaction = new CompactionRangeDelAggregator(bytewiseComparator, []);
    compaction.addTombstones(listOf({ tombstones: [{ start: 'k005', end: 'k035', seqno: 41n }] }));
    const output = compaction.outputTombstones();
    const cuts = [
      { lower: undefined, upper: internal('k017', MAX, RANGE_DELETION) },
      { lower: internal('k017', 0n, 1), upper: internal('k034', MAX, RANGE_DELETION) },
      { lower: internal('k034', 0n, 1), upper: undefined },
    ];
    const files = cuts.map((cut) => fileTombstones(output, bytewiseComparator, cut, () => false));
    for (const { rows } of files) expect(rows).toEqual([{ fragment: 0, position: 0 }]);
    expect(files.map(({ smallest, largest }) => [shown(smallest!), shown(largest!)])).toEqual([
      ['k005#41/15', `k017#${MAX}/15`],
      // The start is raised to the file's first key, and with it sorts before that key.
      ['k017#0/1', `k034#${MAX}/15`],
      ['k034#0/1', `k035#${MAX}/15`],
    ]);
  });

  it('takes truncated tombstones of the next generation apart', () => {
    const compaction = new CompactionRangeDelAggregator(bytewiseComparator, []);
    const whole = { tombstones: [{ start: 'k005', end: 'k035', seqno: 41n }] };
    const files: ModelFile[] = [
      { ...whole, bounds: { smallest: ['k000', 0n, 1], largest: ['k017', MAX, RANGE_DELETION] } },
      { ...whole, bounds: { smallest: ['k017', 0n, 1], largest: ['k034', MAX, RANGE_DELETION] } },
      { ...whole, bounds: { smallest: ['k034', 0n, 1], largest: ['k039', 0n, 1] } },
    ];
    for (const file of files) compaction.addTombstones(listOf(file), boundsOf(file));
    expect(rowsOf(compaction.outputTombstones())).toEqual([
      ['k005', 'k017', [41n]],
      ['k017', 'k034', [41n]],
      ['k034', 'k035', [41n]],
    ]);
  });

  it('leaves out what nobody needs, and what lies outside of the file', () => {
    const list = fragmentTombstones(
      setOf([
        { start: 'a', end: 'c', seqno: 3n },
        { start: 'd', end: 'f', seqno: 9n },
        { start: 'x', end: 'z', seqno: 9n },
      ]),
      bytewiseComparator,
    );
    const cut = { lower: internal('b', 5n, 1), upper: internal('g', MAX, RANGE_DELETION) };
    const { rows } = fileTombstones(list, bytewiseComparator, cut, (_, seqno) => seqno <= 3);
    expect(rows.map(({ fragment }) => fragment)).toEqual([1]);
    expect(fileTombstones(list, bytewiseComparator, cut, () => true)).toEqual({
      rows: [],
      smallest: undefined,
      largest: undefined,
    });
  });
});

describe('cases of public bug reports', () => {
  it('RT-01: tombstones come out in order, and the bounds begin at the first', () => {
    const compaction = new CompactionRangeDelAggregator(bytewiseComparator, [6]);
    compaction.addTombstones(
      listOf({
        tombstones: [
          { start: 'm', end: 'p', seqno: 5n },
          { start: 'b', end: 'd', seqno: 9n },
        ],
      }),
    );
    const output = compaction.outputTombstones();
    expect(rowsOf(output)).toEqual([
      ['b', 'd', [9n]],
      ['m', 'p', [5n]],
    ]);
    const file = fileTombstones(
      output,
      bytewiseComparator,
      { lower: undefined, upper: undefined },
      () => false,
    );
    expect(shown(file.smallest!)).toBe('b#9/15');
  });

  it('RT-03: an entry is hidden by a tombstone of its own file', () => {
    const list = listOf({ tombstones: [{ start: 'a', end: 'z', seqno: 2n }] });
    expect(list.maxCoveringSeqno(bytes('k'))).toBe(2);
    const aggregator = new ReadRangeDelAggregator();
    aggregator.addTombstones(list);
    expect(aggregator.shouldDelete(bytes('k'), 0, 1, 1)).toBe(true);
    expect(aggregator.shouldDelete(bytes('k2'), 0, 2, 3)).toBe(false);
  });

  it('RT-05: the cut is made on internal keys', () => {
    const tombstones = [{ start: 'g', end: 'p', seqno: 7n }];
    const aggregator = new ReadRangeDelAggregator();
    const first: ModelFile = {
      tombstones,
      bounds: { smallest: ['g', 7n, RANGE_DELETION], largest: ['k', 9n, 1] },
    };
    const second: ModelFile = {
      tombstones,
      bounds: { smallest: ['k', 4n, 1], largest: ['p', MAX, RANGE_DELETION] },
    };
    for (const file of [first, second]) aggregator.addTombstones(listOf(file), boundsOf(file));
    expect(aggregator.shouldDelete(bytes('k'), 0, 1, 4)).toBe(true);
    expect(aggregator.shouldDelete(bytes('k'), 0, 1, 9)).toBe(false);
  });

  it('RT-09: a read at an old snapshot does not see a later range delete', () => {
    const list = listOf({ tombstones: [{ start: 'k', end: 'l', seqno: 2n }] });
    for (const [upper, deleted] of [
      [1, false],
      [2, true],
    ] as const) {
      const aggregator = new ReadRangeDelAggregator(0, upper);
      aggregator.addTombstones(list);
      expect(aggregator.shouldDelete(bytes('k'), 0, 1, 1)).toBe(deleted);
    }
  });

  it('RT-11: a global sequence number stands for the stored one', () => {
    const set = tombstoneSetOf([{ startKey: internal('a', 0n, RANGE_DELETION), end: bytes('c') }], {
      storedTimestampSize: 0,
      globalSeqno: 10n,
    });
    expect(fragmentTombstones(set, bytewiseComparator).maxCoveringSeqno(bytes('a'))).toBe(10);
  });

  it('RT-15: overlapping tombstones in write order become fragments', () => {
    const list = listOf({
      tombstones: [
        { start: 'a', end: 'm', seqno: 3n },
        { start: 'c', end: 'f', seqno: 9n },
        { start: 'b', end: 'd', seqno: 5n },
      ],
    });
    expect(rowsOf(list)).toEqual([
      ['a', 'b', [3n]],
      ['b', 'c', [5n, 3n]],
      ['c', 'd', [9n, 5n, 3n]],
      ['d', 'f', [9n, 3n]],
      ['f', 'm', [3n]],
    ]);
  });
});

function deletes(file: ModelFile, key: string, seqno: bigint, upper: bigint): boolean {
  const { bounds } = file;
  if (bounds !== undefined) {
    const [smallest, smallestSeqno] = bounds.smallest;
    const [largest, largestSeqno, largestType] = bounds.largest;
    if (key < smallest || (key === smallest && seqno > smallestSeqno)) return false;
    if (key > largest) return false;
    if (key === largest) {
      if (largestSeqno === MAX && largestType === RANGE_DELETION) return false;
      if (largestSeqno === 0n ? seqno === 0n : seqno < largestSeqno) return false;
    }
  }
  return file.tombstones.some(
    ({ start, end, seqno: tombstone }) =>
      start <= key && key < end && tombstone > seqno && tombstone <= upper,
  );
}

function randomFiles(random: SeededRandom): ModelFile[] {
  const letter = (): string => String.fromCharCode(97 + random.below(26));
  return Array.from({ length: random.chance(0.4) ? 9 + random.below(12) : 1 + random.below(4) }, () => {
    const tombstones = Array.from({ length: 1 + random.below(6) }, () => {
      const [start, end] = [letter(), letter()].sort() as [string, string];
      return { start, end, seqno: BigInt(1 + random.below(30)) };
    });
    if (random.chance(0.3)) return { tombstones };
    const [low, high] = [letter(), letter()].sort() as [string, string];
    const sentinel = random.chance(0.3);
    return {
      tombstones,
      bounds: {
        smallest: [low, BigInt(random.below(30)), 1],
        largest: sentinel ? [high, MAX, RANGE_DELETION] : [high, BigInt(random.below(30)), 1],
      },
    };
  });
}

function boundsOf({ bounds }: ModelFile): { smallest: Uint8Array; largest: Uint8Array } | undefined {
  if (bounds === undefined) return undefined;
  return { smallest: internal(...bounds.smallest), largest: internal(...bounds.largest) };
}

function listOf({ tombstones }: ModelFile): FragmentedTombstones {
  return fragmentTombstones(setOf(tombstones), bytewiseComparator);
}

function setOf(tombstones: ModelFile['tombstones']): TombstoneSet {
  const set = new TombstoneSet();
  for (const { start, end, seqno } of tombstones) {
    set.add(bytes(start), 0, start.length, bytes(end), 0, end.length, comparableSeqno(seqno));
  }
  return set;
}

function rowsOf(list: FragmentedTombstones): [string, string, bigint[]][] {
  return Array.from({ length: list.count }, (_, f) => [
    text(list.startKey(f)),
    text(list.endKey(f)),
    [...list.seqnos.subarray(list.stackStarts[f]!, list.stackStarts[f + 1]!)].map(seqnoOfComparable),
  ]);
}

function internal(key: string, seqno: bigint, type: number): Uint8Array {
  const result = new Uint8Array(key.length + 8);
  result.set(bytes(key));
  new DataView(result.buffer).setBigUint64(key.length, (seqno << 8n) | BigInt(type), true);
  return result;
}

function shown(key: Uint8Array): string {
  const trailer = new DataView(key.buffer, key.byteOffset).getBigUint64(key.length - 8, true);
  return `${text(key.subarray(0, -8))}#${trailer >> 8n}/${trailer & 0xffn}`;
}

function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function text(value: Uint8Array): string {
  return new TextDecoder().decode(value);
}
