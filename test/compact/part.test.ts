/** A part of the keys, cut out: what a reader sees of it is what is there before, and nothing else is in the file. */

import { describe, expect, it } from 'vitest';
import type { TableOptions } from '../../src/format/table-builder/table-options.ts';
import { reverseBytewiseComparator } from '../../src/operators/comparator.ts';
import { type CompactResult, compactTables } from '../../src/tools/compact.ts';
import type { KeyRange } from '../../src/tools/key-range.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { QUIET } from './compact-here.ts';
import { APPEND, KEYS, makeHistory, makeTable, viewAt } from './history.ts';
import { MemoryFiles, request } from './memory-files.ts';

const NEWEST = Number.MAX_SAFE_INTEGER;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

async function cut(
  files: MemoryFiles,
  range: KeyRange,
  rest: Partial<Parameters<typeof request>[1]> = {},
): Promise<CompactResult> {
  const asked = { range, mergeOperator: APPEND, ...rest };
  return compactTables(
    files.environment,
    request([...files.contents.keys()], asked),
    files.openOutput,
    QUIET,
  );
}

const PARTS: { name: string; range: KeyRange; holds: (key: string) => boolean; end: string }[] = [
  { name: 'from b', range: { from: bytes('b') }, holds: (key) => key >= 'b', end: '~' },
  { name: 'to c', range: { to: bytes('c') }, holds: (key) => key < 'c', end: 'c' },
  {
    name: 'from aa to d',
    range: { from: bytes('aa'), to: bytes('d') },
    holds: (key) => key >= 'aa' && key < 'd',
    end: 'd',
  },
  { name: 'prefix a', range: { prefix: bytes('a') }, holds: (key) => key.startsWith('a'), end: 'b' },
  {
    name: 'prefix s, from sb',
    range: { prefix: bytes('s'), from: bytes('sb') },
    holds: (key) => key.startsWith('s') && key >= 'sb',
    end: 't',
  },
];

describe.each(PARTS)('$name', ({ range, holds, end }) => {
  it('reads as before, and range tombstones end with it', async () => {
    for (let seed = 1; seed <= 20 * TEST_SCALE; seed++) {
      const random = new SeededRandom(seed);
      const history = makeHistory(random, KEYS, 20 + random.below(100));
      const files = new MemoryFiles();
      const middle = random.below(history.length);
      for (const [i, versions] of [history.slice(0, middle), history.slice(middle)].entries())
        files.contents.set(`in-${i}.sst`, await makeTable(versions, { blockSize: 64 }));
      const snapshot = random.below(NEWEST) % history.length;
      const { outputs } = await cut(files, range, { snapshots: [BigInt(snapshot)] });
      const rows = await files.versions(outputs.map(({ path }) => path));
      expect(
        rows.filter(({ key }) => !holds(key)),
        `seed ${seed}`,
      ).toEqual([]);
      expect(
        rows.filter((row) => row.type === 'range_delete' && row.end > end),
        `seed ${seed}`,
      ).toEqual([]);
      for (const at of [snapshot, NEWEST]) {
        const keys = KEYS.filter(holds);
        expect(viewAt(rows, keys, at), `seed ${seed} at ${at}`).toEqual(viewAt(history, keys, at));
      }
    }
  });
});

it('a prefix is no range where keys are not in bytewise order', async () => {
  const files = new MemoryFiles();
  const options: TableOptions = { comparator: reverseBytewiseComparator };
  files.contents.set('in.sst', await makeTable([], options));
  await expect(cut(files, { prefix: bytes('a') })).rejects.toThrow('--prefix needs keys in bytewise order');
});
