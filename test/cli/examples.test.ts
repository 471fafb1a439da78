/** The examples that `--help` shows run as they stand, wherever the user is. */

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Ajv from 'ajv';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli.ts';
import { runHere } from '../bug-cases/run-here.ts';
import { PROJECT_ROOT } from '../support/cli.ts';
import { fixtures } from '../support/fixtures.ts';
import { scanRows } from '../support/scan.ts';

interface Example {
  name: string;
  line: string;
  words: string[];
}

/** oclif takes a text, or an object with the command line in it. */
function examplesOf(name: string): Example[] {
  const examples = (COMMANDS[name]!.examples ?? []) as (string | { command: string })[];
  return examples.map((example) => {
    const template = typeof example === 'string' ? example : example.command;
    const line = template
      .replaceAll('<%= config.bin %>', 'sstkit')
      .replaceAll('<%= command.id %>', name)
      .replace(/^\$ /, '');
    const [program, ...words] = shellWords(line);
    if (program !== 'sstkit') throw new Error(`an example of ${name} runs ${program}, not sstkit: ${line}`);
    return { name, line, words };
  });
}

/** Blanks part words; quotes keep them together. Pipes and redirections are no part of an example. */
function shellWords(line: string): string[] {
  const words = [...line.matchAll(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g)].map(([word]) =>
    word.replace(/["']/g, ''),
  );
  expect(words.filter((word) => /^([|<>&]|\d>)/.test(word))).toEqual([]);
  return words;
}

const readSchema = (name: string): object =>
  JSON.parse(readFileSync(path.join(PROJECT_ROOT, 'schema', name), 'utf8'));
/** A union of types is written as `anyOf`; `required` may name what only a neighbour defines. */
const ajv = new Ajv({ allErrors: true, strict: true, strictRequired: false, strictTypes: false });
const isScanRow = ajv.compile(readSchema('scan-row.schema.json'));
const isScanDocument = ajv.compile(readSchema('scan.schema.json'));

function expectValid(isValid: typeof isScanRow, value: unknown): void {
  if (!isValid(value))
    expect.fail(`${ajv.errorsText(isValid.errors)}: ${JSON.stringify(value).slice(0, 500)}`);
}

let cwd: string;
beforeAll(() => {
  cwd = mkdtempSync(path.join(tmpdir(), 'sstkit-examples-'));
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

const VISIBLE = Object.keys(COMMANDS).filter((name) => COMMANDS[name]!.hidden !== true);

it.each(VISIBLE)('%s has examples', (name) => {
  expect(examplesOf(name).length).toBeGreaterThan(0);
});

describe('the example', () => {
  it.each(VISIBLE.flatMap(examplesOf))('$line', async ({ name, line, words }) => {
    const { status, stdout, stderr } = await runHere(words, { cwd });
    const wanted = line.includes('damaged') ? 1 : 0;
    expect({ line, status, stderr: status === wanted ? '' : stderr }).toEqual({
      line,
      status: wanted,
      stderr: '',
    });
    expect(stdout.length).toBeGreaterThan(0);
    if (/--json|--format[ =]json/.test(line)) {
      const document = JSON.parse(stdout.toString());
      expect(document).toMatchObject({ schema: 1 });
      if (name === 'scan') expectValid(isScanDocument, document);
    }
    if (/--format[ =]ndjson/.test(line)) {
      for (const row of stdout.toString().trimEnd().split('\n')) {
        expect(JSON.parse(row)).toBeTypeOf('object');
        if (name === 'scan') expectValid(isScanRow, JSON.parse(row));
      }
    }
  });
});

it('the examples leave nothing behind but what they name', () => {
  const named = VISIBLE.flatMap(examplesOf).flatMap(({ words }) => words);
  const left = readdirSync(cwd).filter((file) => !named.some((word) => word.includes(file)));
  // A raw dump of sst_dump is written into the working directory, under the name of its file.
  expect(left.filter((file) => !file.endsWith('_dump.txt'))).toEqual([]);
});

describe('the schema of rows', () => {
  const tables = fixtures().filter(({ format, expected }) => format !== 'cuckoo' && expected !== undefined);

  it('holds for every fixture', async () => {
    const { rows, failures } = await scanRows(tables.map(({ path: file }) => file));
    expect(failures).toEqual([]);
    expect(rows.length).toBeGreaterThan(1000);
    for (const row of rows) expectValid(isScanRow, row);
    expectValid(isScanDocument, { schema: 1, entries: rows });
    const hex = /^([0-9a-f]{2})*$/;
    for (const { key, start, end, value } of rows) {
      for (const bytes of [key, start, end, value]) if (bytes !== undefined) expect(bytes).toMatch(hex);
    }
  });

  it('refuses what is no row', () => {
    const row = { file: 'a.sst', key: '61', seqno: '1', type: 'put', value: '' };
    expect(isScanRow(row)).toBe(true);
    for (const wrong of [
      { ...row, seqno: 1 },
      { ...row, type: 'insert' },
      { ...row, type: 'range_delete' },
      { ...row, colour: 'red' },
      { ...row, columns: [{ name: '' }] },
      { ...row, blob: { kind: 'inlined' } },
    ]) {
      expect(isScanRow(wrong)).toBe(false);
    }
  });
});
