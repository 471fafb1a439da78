/** Files for ingestion: on top of older data a reader sees what the inputs had made of it. ldb 7.8.3 takes them. */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compactTables } from '../../src/tools/compact.ts';
import { runTool, toolVersion } from '../support/oracles.ts';
import { makeRamFolder } from '../support/ram-folder.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { scanRows } from '../support/scan.ts';
import { compactHere, QUIET } from './compact-here.ts';
import { APPEND, KEYS, makeHistory, makeTable, type Version, viewAt } from './history.ts';
import { MemoryFiles, request } from './memory-files.ts';

const NEWEST = Number.MAX_SAFE_INTEGER;
/** The bytewise order of keys is that of the text. */
const covers = (tombstone: Version, key: string): boolean => tombstone.key <= key && key < tombstone.end;

interface Split {
  history: Version[];
  below: Version[];
  newer: Version[];
}

/** Without single deletes, whose versions have to stay apart. */
function makeSplit(seed: number, types: readonly Version['type'][]): Split {
  const random = new SeededRandom(seed);
  const keys = KEYS.filter((key) => !key.startsWith('s'));
  const history = makeHistory(random, keys, 20 + random.below(100), types);
  const split = 5 + random.below(history.length / 2);
  return { history, below: history.slice(0, split), newer: history.slice(split) };
}

describe.each([
  ['above other data', false],
  ['at the bottom', true],
])('outputs %s', (_, bottommost) => {
  it('hold each key once under 0, beside the range tombstones, and read as the inputs did', async () => {
    let refused = 0;
    let kept = 0;
    for (let seed = 1; seed <= 60 * TEST_SCALE; seed++) {
      const { history, below, newer } = makeSplit(seed, ['put', 'put', 'delete', 'merge']);
      const inputs = bottommost ? history : newer;
      const files = new MemoryFiles();
      files.contents.set('in.sst', await makeTable(inputs, { blockSize: 64 }));
      const asked = { bottommost, mergeOperator: APPEND, ingestable: true, table: { external: true } };
      try {
        await compactTables(files.environment, request(['in.sst'], asked), files.openOutput, QUIET);
      } catch (error) {
        // An operand that stays over a tombstone has no form in such a file.
        expect(String(error), `seed ${seed}`).toContain('a merge operand over a range tombstone');
        refused++;
        continue;
      }
      if (!files.contents.has('out-0.sst')) continue;
      const output = await files.versions(['out-0.sst']);
      const points = output.filter(({ type }) => type !== 'range_delete');
      const tombstones = output.filter(({ type }) => type === 'range_delete');
      kept += tombstones.length;
      expect(
        output.every(({ seqno }) => seqno === 0),
        `seed ${seed}`,
      ).toBe(true);
      expect(new Set(points.map(({ key }) => key)).size, `seed ${seed}`).toBe(points.length);
      expect(tombstones.some((each) => points.some(({ key }) => covers(each, key)))).toBe(false);
      const ingested = output.map((version) => ({ ...version, seqno: NEWEST }));
      const stack = bottommost ? ingested : [...below, ...ingested];
      expect(viewAt(stack, KEYS, NEWEST), `seed ${seed}`).toEqual(viewAt(history, KEYS, NEWEST));
    }
    expect(refused).toBeLessThan(60 * TEST_SCALE);
    expect(kept > 0).toBe(!bottommost);
  });
});

it('what has several versions that stay is refused by its key', async () => {
  const files = new MemoryFiles();
  const version = { end: '', value: 'v' };
  const versions: Version[] = [
    { ...version, key: 's', seqno: 1, type: 'single_delete' },
    { ...version, key: 's', seqno: 2, type: 'put' },
  ];
  files.contents.set('in.sst', await makeTable(versions, {}));
  const run = compactTables(
    files.environment,
    request(['in.sst'], { ingestable: true }),
    files.openOutput,
    QUIET,
  );
  await expect(run).rejects.toThrow('key hex:73 has more than one version');
  expect([...files.contents.keys()]).toEqual(['in.sst']);
});

const hasLdb = toolVersion('ldb') === '7.8.3';
if (!hasLdb) console.warn('SKIPPED: ingestion by ldb 7.8.3');

describe.skipIf(!hasLdb)('ldb 7.8.3', () => {
  let folder: string;
  beforeAll(() => {
    folder = makeRamFolder('sstkit-ingest-');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function ingest(db: string, name: string, versions: readonly Version[]): Promise<void> {
    const input = path.join(folder, `${name}-in.sst`);
    const file = path.join(folder, `${name}.sst`);
    writeFileSync(input, await makeTable(versions, { formatVersion: 5 }));
    const table = { external: true, formatVersion: 5 };
    const { result } = await compactHere(file, { paths: [input], ingestable: true, table });
    if (result.outputs.length === 0) return;
    const { rows } = await scanRows([file]);
    expect(rows.every(({ seqno }) => seqno === '0')).toBe(true);
    const ingested = runTool('ldb', [`--db=${db}`, 'ingest_extern_sst', '--create_if_missing', file]);
    expect(ingested.stdout + ingested.stderr).not.toMatch(/fail|error|corrupt|invalid/i);
    expect(ingested.status).toBe(0);
  }

  it('ingests them one over the other, and shows what the history says', async () => {
    for (let seed = 1; seed <= 5 * TEST_SCALE; seed++) {
      const { history, below, newer } = makeSplit(seed, ['put', 'put', 'delete']);
      const db = path.join(folder, `db-${seed}`);
      mkdirSync(db);
      await ingest(db, `${seed}-below`, below);
      await ingest(db, `${seed}-newer`, newer);
      const shown = runTool('ldb', [`--db=${db}`, 'scan'])
        .stdout.trim()
        .split('\n');
      const expected = viewAt(history, KEYS, NEWEST).map((line) => line.replace('=', ' : '));
      expect(
        shown.filter((line) => line !== ''),
        `seed ${seed}`,
      ).toEqual(expected);
    }
  });
});
