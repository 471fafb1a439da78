/**
 * Seeded workloads with snapshots, compacted by librocksdb 7.8.3 and by us: the same entries are left over, with the
 * same sequence numbers, types and values, and the same range tombstones.
 */

import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringAppendOperator } from '../../src/operators/merge-operator.ts';
import { buildGenerator, canBuildGenerators } from '../support/librocksdb.ts';
import { makeRamFolder } from '../support/ram-folder.ts';
import { TEST_SCALE } from '../support/random.ts';
import { scanRows } from '../support/scan.ts';
import { compactHere } from './compact-here.ts';

const GENERATOR = new URL('./make-workloads.cc', import.meta.url);
const available = canBuildGenerators('compaction with librocksdb 7.8.3');

/** SSTKIT_WORKLOADS=1000 runs so many, from SSTKIT_WORKLOAD_SEED (default 1) on. */
const FIRST_SEED = Number(process.env.SSTKIT_WORKLOAD_SEED ?? 1);
const COUNT = Number(process.env.SSTKIT_WORKLOADS ?? 40 * TEST_SCALE);

/** A line of the generator. */
interface Workload {
  seed: number;
  bottommost: boolean;
  snapshots: string[];
  inputs: string[];
  outputs: string[];
}

const COMMA = Uint8Array.of(0x2c);

interface Versions {
  points: string[];
  tombstones: { start: string; end: string; seqno: string }[];
}

async function versionsIn(paths: readonly string[]): Promise<Versions> {
  if (paths.length === 0) return { points: [], tombstones: [] };
  const { rows, damaged } = await scanRows(paths);
  expect(damaged).toBe(false);
  const points = rows.filter(({ type }) => type !== 'range_delete');
  return {
    points: points.map(({ file: _, ...row }) => JSON.stringify(row)),
    tombstones: rows.flatMap(({ type, start, end, seqno }) =>
      type === 'range_delete' ? [{ start: start!, end: end!, seqno }] : [],
    ),
  };
}

/**
 * Where outputs are cut, fragments depend on which tombstones reach into a file, and one file may show a tombstone
 * that a newer one hides in another. So they are compared piece by piece, between all borders that any of them has:
 * the newest of each stripe.
 */
function pieces(
  { tombstones }: Versions,
  borders: readonly string[],
  snapshots: readonly string[],
): string[] {
  const newest = new Map<string, number>();
  for (const { start, end, seqno } of tombstones) {
    const stripe = snapshots.filter((snapshot) => Number(snapshot) < Number(seqno)).length;
    for (const border of borders) {
      if (border < start || border >= end) continue;
      const place = `${border} ${stripe}`;
      newest.set(place, Math.max(newest.get(place) ?? 0, Number(seqno)));
    }
  }
  return [...newest].map(([place, seqno]) => `${place} ${seqno}`).sort();
}

describe.skipIf(!available)('compaction of librocksdb 7.8.3', () => {
  let folder: string;
  let workloads: Workload[];

  beforeAll(() => {
    folder = makeRamFolder('sstkit-workloads-');
    const generator = path.join(folder, 'make-workloads');
    buildGenerator(GENERATOR, generator);
    const lines = execFileSync(generator, [folder, String(FIRST_SEED), String(COUNT)], {
      encoding: 'utf8',
      maxBuffer: 1 << 28,
    });
    workloads = lines
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Workload);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('leaves over what we leave over', async () => {
    expect(workloads).toHaveLength(COUNT);
    for (const { seed, bottommost, snapshots, inputs, outputs } of workloads) {
      const { result } = await compactHere(path.join(folder, `${seed}.sst`), {
        paths: inputs,
        snapshots: snapshots.map(BigInt),
        bottommost,
        mergeOperator: { status: 'known', operator: stringAppendOperator(COMMA) },
      });
      const ours = await versionsIn(result.outputs.map((output) => output.path));
      const theirs = await versionsIn(outputs);
      expect(ours.points, `seed ${seed}`).toEqual(theirs.points);
      const all = [...ours.tombstones, ...theirs.tombstones];
      const borders = [...new Set(all.flatMap(({ start, end }) => [start, end]))];
      const ourPieces = pieces(ours, borders, snapshots);
      expect(ourPieces, `seed ${seed}`).toEqual(pieces(theirs, borders, snapshots));
      if (outputs.length === 1) expect(ours.tombstones, `seed ${seed}`).toEqual(theirs.tombstones);
    }
  });
});
