/** Known answers, made by RocksDB 11.9's own fragmenter and aggregators. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { comparableSeqno, seqnoOfComparable } from '../../src/engine/range-del/comparable-seqno.ts';
import type { FragmentedTombstones } from '../../src/engine/range-del/fragmented-tombstones.ts';
import { fragmentTombstones } from '../../src/engine/range-del/fragmenter.ts';
import {
  CompactionRangeDelAggregator,
  type PositioningMode,
  ReadRangeDelAggregator,
} from '../../src/engine/range-del/range-del-aggregator.ts';
import { TombstoneSet } from '../../src/engine/range-del/tombstone-set.ts';
import type { FileBounds } from '../../src/engine/range-del/tombstone-source.ts';
import { bytewiseComparator } from '../../src/operators/comparator.ts';

type Tombstone = [start: string, end: string, seqno: number];
type Bound = [key: string, seqno: number | string, type: number];

interface Vectors {
  range_fragment: {
    vectors: {
      what: string;
      tombstones: Tombstone[];
      for_compaction: boolean;
      snapshots: number[];
      fragments: [string, string, number[]][];
    }[];
  };
  range_should_delete: {
    vectors: {
      what: string;
      files: { tombstones: Tombstone[]; bounds: [Bound, Bound] | null }[];
      snapshots: number[];
      read_upper_bound: string;
      queries: [string, number, boolean][];
    }[];
  };
  range_max_covering: {
    vectors: { tombstones: Tombstone[]; '[read_seq,key,max_covering_seq]': [string, string, number][] }[];
  };
}

const vectors = JSON.parse(
  readFileSync(new URL('../fixtures/vectors-range-del.json', import.meta.url), 'utf8'),
) as Vectors;

describe('fragments', () => {
  for (const { what, tombstones, for_compaction, snapshots, fragments } of vectors.range_fragment.vectors) {
    it(what, () => {
      const list = fragmentTombstones(
        setOf(tombstones),
        bytewiseComparator,
        for_compaction ? { snapshots } : {},
      );
      expect(rowsOf(list)).toEqual(fragments);
    });
  }
});

describe('the newest covering tombstone', () => {
  for (const vector of vectors.range_max_covering.vectors) {
    const list = fragmentTombstones(setOf(vector.tombstones), bytewiseComparator);
    for (const [upper, text, expected] of vector['[read_seq,key,max_covering_seq]']) {
      it(`of "${text}" at ${upper}`, () => {
        const key = bytes(text);
        const found = list.maxCoveringSeqno(key, 0, key.length, comparableSeqno(BigInt(upper)));
        expect(Math.max(0, found)).toBe(expected);
      });
    }
  }
});

describe('shouldDelete', () => {
  for (const { what, files, snapshots, read_upper_bound, queries } of vectors.range_should_delete.vectors) {
    for (const mode of ['forward', 'backward', 'fullScan'] as PositioningMode[]) {
      it(`${what} (${mode})`, () => {
        const aggregator = what.startsWith('compaction')
          ? new CompactionRangeDelAggregator(bytewiseComparator, snapshots)
          : new ReadRangeDelAggregator(0, comparableSeqno(BigInt(read_upper_bound)));
        for (const file of files) {
          const list = fragmentTombstones(setOf(file.tombstones), bytewiseComparator);
          aggregator.addTombstones(list, file.bounds === null ? undefined : boundsOf(file.bounds));
        }
        const answers = (mode === 'backward' ? [...queries].reverse() : queries).map(([text, seqno]) => {
          const key = bytes(text);
          return [text, seqno, aggregator.shouldDelete(key, 0, key.length, seqno, mode)];
        });
        expect(mode === 'backward' ? answers.reverse() : answers).toEqual(queries);
      });
    }
  }
});

function setOf(tombstones: readonly Tombstone[]): TombstoneSet {
  const set = new TombstoneSet();
  for (const [start, end, seqno] of tombstones) {
    set.add(bytes(start), 0, start.length, bytes(end), 0, end.length, seqno);
  }
  return set;
}

function rowsOf(list: FragmentedTombstones): [string, string, number[]][] {
  return Array.from({ length: list.count }, (_, f) => [
    text(list.startKey(f)),
    text(list.endKey(f)),
    [...list.seqnos.subarray(list.stackStarts[f]!, list.stackStarts[f + 1]!)].map((seqno) =>
      Number(seqnoOfComparable(seqno)),
    ),
  ]);
}

function boundsOf([smallest, largest]: [Bound, Bound]): FileBounds {
  return { smallest: internalKey(smallest), largest: internalKey(largest) };
}

/** JSON holds 2^56 - 1 as the double next to it. */
function internalKey([key, seqno, type]: Bound): Uint8Array {
  const exact = Number(seqno) >= 2 ** 55 ? 2n ** 56n - 1n : BigInt(seqno);
  const result = new Uint8Array(key.length + 8);
  result.set(bytes(key));
  new DataView(result.buffer).setBigUint64(key.length, (exact << 8n) | BigInt(type), true);
  return result;
}

function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function text(value: Uint8Array): string {
  return new TextDecoder().decode(value);
}
