/** `write` of `scan --format ndjson` gives a file whose scan is the same, for every file that there is. */

import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { TableOptions } from '../../src/format/table-builder/table-options.ts';
import { bytewiseComparator, comparatorByName } from '../../src/operators/comparator.ts';
import { openRowWriter } from '../../src/render/rows.ts';
import { MemorySink } from '../../src/render/sink.ts';
import { forEachInput } from '../../src/tools/input.ts';
import { openAnyTable } from '../../src/tools/open-any-table.ts';
import { scanInputs } from '../../src/tools/scan-inputs.ts';
import { verifyPaths } from '../../src/tools/verify.ts';
import { orderAsGiven } from '../../src/tools/write/order-as-given.ts';
import { PROJECT_ROOT } from '../support/cli.ts';
import { fixtures } from '../support/fixtures.ts';
import { findTool, runTool } from '../support/oracles.ts';
import { testEnvironment } from '../support/scan.ts';
import { writeHere } from './write-here.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-write-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function scanText(
  file: string,
  format: 'ndjson' | 'csv' = 'ndjson',
  comparator?: string,
): Promise<string> {
  const sink = new MemorySink(1 << 16);
  const failures: Error[] = [];
  const known = comparator === undefined ? undefined : comparatorByName(comparator);
  let finish = (): void => undefined;
  const { damaged } = await scanInputs(
    await testEnvironment(),
    {
      paths: [file],
      recursive: false,
      databaseFiles: true,
      columnFamily: undefined,
      scan: known === undefined ? {} : { comparator: known },
    },
    {
      finding: () => undefined,
      failure: (error) => failures.push(error),
      gone: () => undefined,
      skipped: () => undefined,
      progress: () => undefined,
    },
    (plan) => {
      const options = { format, bytes: undefined, withValues: true, count: false, digest: undefined };
      const writer = openRowWriter(sink, plan, options);
      finish = () => writer.finish();
      return writer;
    },
  );
  finish();
  expect({ failures, damaged }).toEqual({ failures: [], damaged: false });
  return sink.toString();
}

/** Rows without what belongs to the file and not to its entries. */
function contents(text: string): string {
  return text.replace(/"file":"[^"]*",/g, '').replace(/,"storedSeqno":"\d+"/g, '');
}

async function roundTrip(file: string, table: TableOptions, comparator: string): Promise<void> {
  const rows = await scanText(file);
  const out = path.join(folder, 'written.sst');
  const known = comparatorByName(comparator);
  await writeHere(out, rows, {
    table: { ...table, comparator: known ?? orderAsGiven(comparator, 0) },
    orderIsKnown: known !== undefined,
  });
  expect(contents(await scanText(out))).toBe(contents(rows));
  const summary = await verifyPaths(
    await testEnvironment(),
    { paths: [out], recursive: false, checksumsOnly: false, order: true, maxFindings: 10, strict: false },
    { report: () => undefined, skipped: () => undefined, progress: () => undefined },
  );
  expect(summary).toMatchObject({ ok: 1, damaged: 0, unreadable: 0, unsupported: 0 });
}

describe('a fixture', () => {
  const whole = fixtures().filter(
    ({ expected, format, features }) =>
      expected !== undefined && format !== 'cuckoo' && !features.includes('unsorted'),
  );

  it.each(whole)('$name', async ({ path: file, comparator, features }) => {
    await roundTrip(file, { compression: 'lz4' }, comparator);
    if (!features.includes('entity') && !features.includes('unknown_comparator')) {
      await roundTrip(file, { formatVersion: 5, writerProfile: '7.8', compression: 'none' }, comparator);
    }
  });
});

describe('a file of a whole database', () => {
  const root = path.resolve(PROJECT_ROOT, '../shared/fixtures/db');
  const files = existsSync(root)
    ? (readdirSync(root, { recursive: true }) as string[]).filter((name) => /\.(sst|ldb)$/.test(name)).sort()
    : [];
  // Every fourth: the others differ in what the rows do not show.
  const sample = files.filter((_, i) => i % 4 === 0);

  it.skipIf(files.length === 0)('is there', () => expect(sample.length).toBeGreaterThan(10));

  it.each(sample)('%s', async (name) => {
    const file = path.join(root, name);
    const { comparator, keepsTimestamps } = await tableFacts(file);
    await roundTrip(file, keepsTimestamps ? {} : { persistUserDefinedTimestamps: false }, comparator);
  });
});

/** What its properties say, and its rows do not. */
async function tableFacts(file: string): Promise<{ comparator: string; keepsTimestamps: boolean }> {
  const environment = await testEnvironment();
  let facts = { comparator: bytewiseComparator.name, keepsTimestamps: true };
  await forEachInput(
    environment,
    [{ path: file, named: true }],
    async ({ source, kind }) => {
      const { comparatorName, comparator, shape } = await openAnyTable(environment, source, kind, {});
      facts = {
        comparator: comparatorName ?? facts.comparator,
        keepsTimestamps: (comparator?.timestampSize ?? 0) === shape.storedTimestampSize,
      };
      return true;
    },
    (_, error) => {
      throw error;
    },
  );
  return facts;
}

describe.skipIf(findTool('sst_dump') === undefined)('sst_dump reads what was written', () => {
  const readable = fixtures().filter(
    ({ format, formatVersion, expected, comparator, features }) =>
      format === 'block-based' &&
      (formatVersion ?? 9) <= 5 &&
      expected !== undefined &&
      comparatorByName(comparator)?.timestampSize === 0 &&
      !features.some((feature) => /global_seqno|unsorted|damaged/.test(feature)),
  );
  const entriesOf = (file: string): string[] => {
    const args = [`--file=${file}`, '--command=scan', '--output_hex', '--verify_checksum'];
    const { status, stdout } = runTool('sst_dump', args, { cwd: folder });
    expect(status).toBe(0);
    return stdout.split('\n').filter((line) => line.includes(' => '));
  };

  // Every fifth: each is three processes.
  it.each(readable.filter((_, i) => i % 5 === 0))('$name', async ({ path: file, comparator }) => {
    const out = path.join(folder, 'for-sst-dump.sst');
    const table = {
      comparator: comparatorByName(comparator)!,
      compression: 'zstd',
      formatVersion: 5,
    } as const;
    await writeHere(out, await scanText(file), { table });
    expect(entriesOf(out)).toEqual(entriesOf(file));
  });
});

it('csv gives the same rows', async () => {
  const [basic, tombstones] = ['demo/basic.sst', 'demo/tombstones.sst'].map(
    (name) => fixtures().find((fixture) => fixture.name === name)!.path,
  );
  for (const file of [basic!, tombstones!]) {
    const out = path.join(folder, 'from-csv.sst');
    await writeHere(out, await scanText(file, 'csv'));
    expect(contents(await scanText(out))).toBe(contents(await scanText(file)));
  }
});
