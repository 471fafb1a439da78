/** All table files of each real database in one compaction: a reader sees the same as RocksDB shows of them. */

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { type MergeOperator, mergeOperatorByName } from '../../src/operators/merge-operator.ts';
import type { CompactRequest } from '../../src/tools/compact.ts';
import { verifyPaths } from '../../src/tools/verify.ts';
import { readGzipText, sharedFixtures, type UserRow } from '../support/fixtures.ts';
import { findTool, runTool, toolVersion } from '../support/oracles.ts';
import { type JsonRow, scanRows } from '../support/scan.ts';
import { userView } from '../support/user-view.ts';
import { compactHere, node } from './compact-here.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'sstkit-compact-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Delimiters stand in no file. */
const COMMA = Uint8Array.of(0x2c);

const FAMILIES: Readonly<Record<string, readonly string[]>> = { cfs: ['default', 'index', 'meta data'] };

interface Case {
  name: string;
  family: string | undefined;
  paths: string[];
  expected: UserRow[];
}

const cases: Case[] = sharedFixtures().databases.flatMap(({ name, tables, expectedPath }) =>
  (FAMILIES[name] ?? [undefined]).flatMap((family) => {
    const suffix = family === undefined || family === 'default' ? '' : `.${family.replace(' ', '_')}`;
    const file = path.join(expectedPath, `ssts-only${suffix}.ndjson.gz`);
    if (name === 'ingest' || expectedPath === '' || !existsSync(file)) return [];
    const rows = readGzipText(file)
      .split('\n')
      .filter((line) => line !== '');
    const expected = rows.map((line) => JSON.parse(line) as UserRow);
    const label = family === undefined ? name : `${name} (${family})`;
    return [{ name: label, family, paths: tables.map((table) => table.path), expected }];
  }),
);

async function compactInto(out: string, test: Case, rest: Partial<CompactRequest>) {
  const { result, warnings } = await compactHere(path.join(folder, out), {
    paths: test.paths,
    columnFamily: test.family,
    ...rest,
  });
  return { result, warnings, paths: result.outputs.map((output) => output.path) };
}

/** Values in blob files are not compared. */
function comparable(expected: readonly UserRow[], actual: readonly UserRow[]): UserRow[] {
  const blobs = new Set(
    actual.filter(({ value, columns }) => !value && value !== '' && !columns).map(({ key }) => key),
  );
  return expected.map((row) => (blobs.has(row.key) ? { key: row.key } : row));
}

const byKey = (a: UserRow, b: UserRow): number => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0);

async function expectView(
  paths: readonly string[],
  test: Case,
  operator?: MergeOperator,
): Promise<JsonRow[]> {
  const { rows, damaged } = await scanRows(paths);
  expect(damaged).toBe(false);
  const actual = userView(rows, operator).sort(byKey);
  expect(actual).toEqual(comparable([...test.expected].sort(byKey), actual));
  return rows;
}

function operatorOf(name: string): MergeOperator | undefined {
  const operators: Readonly<Record<string, string>> = {
    mrg_append: 'StringAppendOperator',
    'cfs (meta data)': 'StringAppendOperator',
    mrg_max: 'MaxOperator',
    mrg_uint64add: 'UInt64AddOperator',
  };
  const named = mergeOperatorByName(operators[name], COMMA);
  return named.status === 'known' ? named.operator : undefined;
}

async function expectWhole(paths: readonly string[]): Promise<void> {
  const problems: string[] = [];
  await verifyPaths(
    node,
    { paths, recursive: false, checksumsOnly: false, order: true, maxFindings: 100, strict: false },
    {
      report: ({ findings }) =>
        problems.push(
          ...findings.filter(({ severity }) => severity !== 'note').map(({ message }) => message),
        ),
      skipped: () => undefined,
      progress: () => undefined,
    },
  );
  expect(problems).toEqual([]);
}

describe.skipIf(cases.length === 0).each(cases)('$name', (test) => {
  it.each([false, true])('keeps what a reader sees, bottommost: %s', async (bottommost) => {
    const operator = operatorOf(test.name);
    const { paths, result } = await compactInto(`${test.name}-${bottommost}.sst`, test, {
      bottommost,
      ...(operator === undefined ? {} : { mergeOperator: { status: 'known' as const, operator } }),
    });
    const rows = await expectView(paths, test, operator);
    await expectWhole(paths);
    if (bottommost) {
      expect(rows.map(({ seqno }) => seqno).filter((seqno) => seqno !== '0')).toEqual([]);
      expect(rows).toHaveLength(test.expected.length);
    }
    expect(result.holes).toEqual([]);
  });

  it('does so over several outputs, with operands kept', async () => {
    const { paths } = await compactInto(`${test.name}-many`, test, {
      targetFileBytes: 16 * 1024,
      mergeOperator: { status: 'none' },
    });
    expect(paths.length).toBeGreaterThan(0);
    await expectView(paths, test, operatorOf(test.name));
    await expectWhole(paths);
  });
});

const hasTool = findTool('sst_dump') !== undefined && toolVersion('sst_dump') === '7.8.3';

describe.skipIf(cases.length === 0 || !hasTool)('sst_dump 7.8.3', () => {
  it.each(cases)('checks the output of $name', async (test) => {
    const { paths } = await compactInto(`${test.name}-tool.sst`, test, {
      bottommost: true,
      table: { formatVersion: 5, writerProfile: '7.8' },
    });
    const { stdout, stderr, status } = runTool('sst_dump', [
      `--file=${paths[0]}`,
      '--command=check',
      '--verify_checksum',
    ]);
    expect({ status, text: stdout + stderr }).toMatchObject({ status: 0 });
    expect(stdout + stderr).not.toMatch(/corrupt|not ok|error|mismatch/i);
  });
});

it('warns that a file with a stored global sequence number of 0 cannot be ordered', async () => {
  const found = sharedFixtures().databases.find(({ name }) => name === 'ingest');
  if (found === undefined) return;
  const paths = found.tables.map((table) => table.path);
  const { warnings } = await compactInto(
    'ingest.sst',
    { name: 'ingest', family: undefined, paths, expected: [] },
    {},
  );
  expect(warnings.join('\n')).toContain('cannot be ordered');
});
