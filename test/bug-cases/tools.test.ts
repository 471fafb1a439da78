/** Keys and values on the command line and in the output. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BytesMode, parseKey } from '../../src/render/key-format.ts';
import { runHere } from './run-here.ts';
import { blockOf, bytesOf, type Entry, hexOf, writeTable } from './table-by-hand.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-tools-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makeTable(name: string, entries: readonly Entry[], properties = {}): string {
  writeFileSync(path.join(folder, name), writeTable({ data: [blockOf(entries)], properties }).bytes);
  return name;
}

async function scan(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await runHere(['scan', ...args], { cwd: folder });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return stdout.toString('latin1');
}

describe('TL-01: any byte may stand in a key or a value', () => {
  const entries: (Entry & { key: Uint8Array; value: Uint8Array })[] = [
    { key: bytesOf([]), seqno: 1, value: bytesOf('text with -> and\nnew\tline') },
    { key: bytesOf([0x0a]), seqno: 2, value: bytesOf([0x76, 0x00, 0xff]) },
    { key: bytesOf([0x5c, 0x78]), seqno: 3, value: bytesOf('\\x41') },
    { key: bytesOf([0x61, 0x00, 0xff]), seqno: 4, value: bytesOf([]) },
    { key: bytesOf('hex:6162'), seqno: 5, value: bytesOf('0x6162') },
  ];

  /** Escape and utf8 read themselves back; the others are marked. */
  const PREFIX: Record<BytesMode, (text: string) => Uint8Array> = {
    escape: (text) => parseKey(text, 'key'),
    utf8: (text) => parseKey(Buffer.from(text, 'latin1').toString('utf8'), 'key'),
    hex: (text) => parseKey(`hex:${text}`, 'key'),
    base64: (text) => bytesOf(Buffer.from(text, 'base64')),
  };

  it.each(['escape', 'hex', 'base64', 'utf8'] as const)('text by --bytes %s reads back', async (mode) => {
    const file = makeTable('binary.sst', entries);
    const lines = (await scan(file, '--bytes', mode)).split('\n');
    expect(lines.pop()).toBe('');
    const rows = lines.map((line) => line.split('\t'));
    expect(rows.map(([key]) => hexOf(PREFIX[mode](key!)))).toEqual(entries.map(({ key }) => hexOf(key)));
    expect(rows.map(([, , , value]) => hexOf(PREFIX[mode](value!)))).toEqual(
      entries.map(({ value }) => hexOf(value)),
    );
  });

  it('JSON has all of them', async () => {
    const file = makeTable('binary.sst', entries);
    const rows = (await scan(file, '--format', 'ndjson')).trimEnd().split('\n');
    expect(rows.map((row) => JSON.parse(row)).map(({ key, value }) => [key, value])).toEqual(
      entries.map(({ key, value }) => [hexOf(key), hexOf(value)]),
    );
  });

  it('what is printed can be asked for', async () => {
    const file = makeTable('binary.sst', entries);
    const lines = (await scan(file)).trimEnd().split('\n');
    for (const line of lines.slice(1)) {
      const [key] = line.split('\t');
      expect(await scan(file, `--key=${key}`)).toBe(`${line}\n`);
    }
    expect(await scan(file, '--key=')).toBe(`${lines[0]}\n`);
  });
});

describe('TL-07, TL-11: --from and --to of a single file', () => {
  it('key6 to key9: three keys', async () => {
    const keys = Array.from({ length: 9 }, (_, i) => `key${i + 1}`);
    const file = makeTable(
      'nine.sst',
      keys.map((key, i) => ({ key, seqno: i + 1 })),
    );
    const text = await scan(file, '--from', 'key6', '--to', 'key9');
    expect(
      text
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[0]),
    ).toEqual(['key6', 'key7', 'key8']);
  });

  it('a value with an equals sign is not cut', async () => {
    const file = makeTable(
      'equals.sst',
      ['a', 'a=b', 'a=c'].map((key, i) => ({ key, seqno: i + 1 })),
    );
    const keys = async (...args: string[]): Promise<string[]> =>
      (await scan(file, ...args))
        .trimEnd()
        .split('\n')
        .map((line) => line.split('\t')[0]!);
    expect(await keys('--from=a=b')).toEqual(['a=b', 'a=c']);
    expect(await keys('--from', 'a=b')).toEqual(['a=b', 'a=c']);
  });
});

describe('TL-13: the rows are in another column family', () => {
  it('the families that are there are named', async () => {
    const file = makeTable('family.sst', [{ key: 'k', seqno: 1 }], { 'rocksdb.column.family.name': 'col4' });
    const counted = JSON.parse(await scan(file, '--cf', 'col4', '--count', '--json'));
    expect(counted).toMatchObject({ entries: 1, byCf: { col4: 1 } });
    const { status, stderr } = await runHere(['scan', file, '--cf', 'default'], { cwd: folder });
    expect(status).toBe(2);
    expect(stderr).toContain('no table of column family default: there are col4');
  });
});
