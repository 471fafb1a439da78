/** Compactions of seeded workloads against a model that keeps every version in an array. */

import { describe, expect, it } from 'vitest';
import { SstError } from '../../src/errors.ts';
import type { NamedMergeOperator } from '../../src/operators/merge-operator.ts';
import { type CompactResult, compactTables } from '../../src/tools/compact.ts';
import { verifyPaths } from '../../src/tools/verify.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { QUIET } from './compact-here.ts';
import { APPEND, KEYS, makeHistory, makeTable, type Version, valueAt, viewAt } from './history.ts';
import { MemoryFiles, request } from './memory-files.ts';

interface Run {
  files: MemoryFiles;
  result: CompactResult;
  inputs: Version[];
  below: Version[];
  output: Version[];
  snapshots: number[];
}

/** The newer part of a history in several files, compacted; the older part lies below, unless at the bottom. */
async function compactHistory(
  random: SeededRandom,
  options: { bottommost: boolean; operator: NamedMergeOperator; targetFileBytes: number },
): Promise<Run> {
  const history = makeHistory(random, KEYS, 20 + random.below(120));
  const split = options.bottommost ? 0 : random.below(history.length / 2);
  const below = history.slice(0, split);
  const inputs = history.slice(split);
  const files = new MemoryFiles();
  const parts: Version[][] = Array.from({ length: 1 + random.below(5) }, () => []);
  for (const version of inputs) random.pick(parts).push(version);
  const formatVersion = random.pick([2, 3, 4, 5]);
  const compression = random.pick(['none', 'snappy', 'zstd', 'lz4'] as const);
  for (let i = 0; i < parts.length; i++) {
    files.contents.set(
      `in-${i}.sst`,
      await makeTable(parts[i]!, { formatVersion, compression, blockSize: 64 }),
    );
  }
  const last = history.at(-1)!.seqno;
  const snapshots = Array.from({ length: random.below(4) }, () => 1 + random.below(last));
  const result = await compactTables(
    files.environment,
    request([...files.contents.keys()], {
      snapshots: snapshots.map(BigInt),
      bottommost: options.bottommost,
      mergeOperator: options.operator,
      targetFileBytes: options.targetFileBytes,
      table: { blockSize: 64 },
    }),
    files.openOutput,
    QUIET,
  );
  const output = await files.versions(result.outputs.map(({ path }) => path));
  return { files, result, inputs, below, output, snapshots };
}

const CASES = [
  { name: 'above other levels', bottommost: false },
  { name: 'at the bottom', bottommost: true },
].flatMap((level) => [
  { ...level, name: `${level.name}, operator known`, operator: APPEND },
  { ...level, name: `${level.name}, operator unknown`, operator: { status: 'none' } as const },
]);

describe.each(CASES)('random workloads, $name', ({ bottommost, operator }) => {
  it('readers at every snapshot and at the end see what they saw', async () => {
    for (let seed = 1; seed <= 60 * TEST_SCALE; seed++) {
      const random = new SeededRandom(seed);
      const targetFileBytes = random.pick([Number.POSITIVE_INFINITY, 150, 400]);
      const run = await compactHistory(random, { bottommost, operator, targetFileBytes });
      const { below, inputs, output, snapshots } = run;
      for (const seqno of [...snapshots, Number.MAX_SAFE_INTEGER]) {
        const before = viewAt([...below, ...inputs], KEYS, seqno);
        const after = viewAt([...below, ...output], KEYS, seqno);
        expect(after, `seed ${seed} at ${seqno}`).toEqual(before);
      }
      if (bottommost && snapshots.length === 0) expectMinimal(output, operator, seed);
      expectOrderedFiles(run, seed);
    }
  });
});

/** One value a key, with the sequence number 0, and nothing else. */
function expectMinimal(output: readonly Version[], operator: NamedMergeOperator, seed: number): void {
  expect(
    output.filter(({ type }) => type === 'range_delete'),
    `seed ${seed}`,
  ).toEqual([]);
  expect(
    output.filter(({ type }) => type === 'delete' || type === 'single_delete'),
    `seed ${seed}`,
  ).toEqual([]);
  if (operator.status !== 'known') return;
  expect(new Set(output.map(({ key }) => key)).size, `seed ${seed}`).toBe(output.length);
  expect(
    output.every(({ type, seqno }) => type === 'put' && seqno === 0),
    `seed ${seed}`,
  ).toBe(true);
}

/** Files part the key space: versions of a user key are never in two. */
function expectOrderedFiles({ result }: Run, seed: number): void {
  for (let i = 1; i < result.outputs.length; i++) {
    const largest = Buffer.from(result.outputs[i - 1]!.largest).toString();
    const smallest = Buffer.from(result.outputs[i]!.smallest).toString();
    expect(largest <= smallest, `seed ${seed}: ${largest} and ${smallest}`).toBe(true);
  }
}

describe('outputs', () => {
  it('are whole tables to verify, and count what they hold', async () => {
    for (let seed = 500; seed < 500 + 25 * TEST_SCALE; seed++) {
      const random = new SeededRandom(seed);
      const bottommost = random.chance(0.5);
      const { files, result, output, inputs } = await compactHistory(random, {
        bottommost,
        operator: APPEND,
        targetFileBytes: random.pick([Number.POSITIVE_INFINITY, 200]),
      });
      expect(result.inputs.reduce((sum, { entries }) => sum + entries, 0)).toBe(inputs.length);
      expect(result.outputs.reduce((sum, { entries }) => sum + entries, 0)).toBe(output.length);
      const points = (versions: readonly Version[]): number =>
        versions.filter(({ type }) => type !== 'range_delete').length;
      const { overwritten, deleted, rangeDeleted, mergedOperands, tombstones } = result.dropped;
      const dropped = overwritten + deleted + rangeDeleted + mergedOperands;
      const missing = points(inputs) - points(output);
      expect(missing >= dropped && missing <= dropped + tombstones, `seed ${seed}`).toBe(true);
      const reports: string[] = [];
      await verifyPaths(
        files.environment,
        {
          paths: result.outputs.map(({ path }) => path),
          recursive: false,
          checksumsOnly: false,
          order: true,
          maxFindings: 100,
          strict: false,
        },
        {
          report: ({ status, findings }) =>
            reports.push(
              status,
              ...findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code),
            ),
          skipped: () => undefined,
          progress: () => undefined,
        },
      );
      expect(reports, `seed ${seed}`).toEqual(result.outputs.map(() => 'ok'));
    }
  });
});

/** Ways in which a file loses bytes. */
const DAMAGES: Readonly<Record<string, (bytes: Uint8Array, random: SeededRandom) => Uint8Array>> = {
  'a flipped bit': (bytes, random) => {
    bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
    return bytes;
  },
  zeros: (bytes, random) => bytes.fill(0, random.below(bytes.length), random.below(bytes.length)),
  'a lost end': (bytes, random) => bytes.slice(0, 1 + random.below(bytes.length)),
};

describe.each(Object.keys(DAMAGES))('salvage after %s', (damage) => {
  it('names the range of every key that reads otherwise than before; without --salvage nothing is written', async () => {
    let readable = 0;
    for (let seed = 1000; seed < 1000 + 80 * TEST_SCALE; seed++) {
      const random = new SeededRandom(seed);
      const history = makeHistory(random, KEYS, 40 + random.below(80));
      const files = new MemoryFiles();
      const options = { formatVersion: random.pick([4, 5, 6, 7]), blockSize: 64 };
      const [older, newer] = [history.slice(0, 20), history.slice(20)];
      files.contents.set('older.sst', await makeTable(older, options));
      const whole = await makeTable(newer, options);
      files.contents.set('newer.sst', DAMAGES[damage]!(whole.slice(), random));
      const bottommost = random.chance(0.5);
      const asked = { bottommost, mergeOperator: APPEND };
      const warnings: string[] = [];
      const compact = (salvage: boolean): Promise<CompactResult> =>
        compactTables(
          files.environment,
          request(['newer.sst', 'older.sst'], { ...asked, salvage }),
          files.openOutput,
          { ...QUIET, warning: (text) => warnings.push(text) },
        );
      const before = viewAt(history, KEYS, Number.MAX_SAFE_INTEGER);
      const refused = await compact(false).then(
        () => false,
        (error: Error) => {
          expect(error, `seed ${seed}: ${error.stack}`).toBeInstanceOf(SstError);
          return true;
        },
      );
      if (!refused) {
        const rows = await files.versions(['out-0.sst']);
        expect(viewAt(rows, KEYS, Number.MAX_SAFE_INTEGER), `seed ${seed}`).toEqual(before);
        continue;
      }
      expect([...files.contents.keys()], `seed ${seed}`).toEqual(['older.sst', 'newer.sst']);
      const { holes, outputs } = await compact(true);
      readable++;
      const rows = await files.versions(outputs.map(({ path }) => path));
      expect(warnings.length >= holes.length, `seed ${seed}`).toBe(true);
      for (const key of KEYS) {
        const [old, now] = [
          valueAt(history, key, Number.MAX_SAFE_INTEGER),
          valueAt(rows, key, Number.MAX_SAFE_INTEGER),
        ];
        const isNamed = holes.some(
          ({ after, before: end }) =>
            (after === null || Buffer.from(after).toString() <= key) &&
            (end === null || key <= Buffer.from(end).toString()),
        );
        if (!isNamed) expect(now, `seed ${seed}, key ${key}, holes ${JSON.stringify(holes)}`).toBe(old);
      }
    }
    expect(readable).toBeGreaterThan(0);
  });
});
