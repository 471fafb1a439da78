/** Range tombstones as scan and dump show them. */

import { describe, expect, it } from 'vitest';
import { fixture } from '../support/fixtures.ts';
import { blockOf, bytesOf, fixed64, hexOf, scanBytes, writeTable } from './table-by-hand.ts';

describe('RT-03: a tombstone between two entries of one file', () => {
  const { bytes } = writeTable({
    data: [
      blockOf([
        { key: 'k', seqno: 1, value: 'old' },
        { key: 'k2', seqno: 3, value: 'new' },
      ]),
    ],
    tombstones: [{ start: 'a', end: 'z', seqno: 2 }],
  });

  it('all three are listed', async () => {
    const { rows, findings } = await scanBytes(bytes);
    expect(findings).toEqual([]);
    expect(rows.map(({ key, start, end, seqno, type }) => [key ?? start, end, seqno, type])).toEqual([
      ['61', '7a', '2', 'range_delete'],
      ['6b', undefined, '1', 'put'],
      ['6b32', undefined, '3', 'put'],
    ]);
  });

  it('k alone is marked as covered', async () => {
    const { rows } = await scanBytes(bytes, { covered: true });
    expect(rows.filter((row) => 'covered' in row)).toMatchObject([{ key: '6b', covered: true }]);
  });

  it('the tombstone shows for each key that it covers, and for no other', async () => {
    const types = async (key: string): Promise<string[]> =>
      (await scanBytes(bytes, { key: bytesOf(key) })).rows.map(({ type }) => type);
    expect(await types('k')).toEqual(['range_delete', 'put']);
    expect(await types('b')).toEqual(['range_delete']);
    expect(await types('a')).toEqual(['range_delete']);
    expect(await types('z')).toEqual([]);
    expect(await types('A')).toEqual([]);
  });

  it('a range shows it where it overlaps', async () => {
    const count = async (from: string, to: string): Promise<number> =>
      (await scanBytes(bytes, { from: bytesOf(from), to: bytesOf(to) })).rows.length;
    expect(await count('y', 'zz')).toBe(1);
    expect(await count('z', 'zz')).toBe(0);
    expect(await count('A', 'a')).toBe(0);
    expect(await count('A', 'a\0')).toBe(1);
  });
});

describe('RT-11: a global sequence number counts for tombstones too', () => {
  const ingested = (globalSeqno: bigint): Uint8Array =>
    writeTable({
      data: [blockOf([{ key: 'b', seqno: 0, value: 'v' }])],
      tombstones: [{ start: 'a', end: 'c', seqno: 0 }],
      properties: {
        'rocksdb.external_sst_file.version': [2, 0, 0, 0],
        'rocksdb.external_sst_file.global_seqno': fixed64(globalSeqno),
      },
    }).bytes;

  it('stored 0, effective 10', async () => {
    const { rows } = await scanBytes(ingested(10n));
    expect(rows).toEqual([
      { file: 'table.sst', start: '61', end: '63', seqno: '10', type: 'range_delete', storedSeqno: '0' },
      { file: 'table.sst', key: '62', seqno: '10', type: 'put', value: '76', storedSeqno: '0' },
    ]);
  });

  it('0 stands for none: the MANIFEST alone has it', async () => {
    const { rows } = await scanBytes(ingested(0n));
    expect(rows.map(({ seqno, storedSeqno }) => [seqno, storedSeqno])).toEqual([
      ['0', undefined],
      ['0', undefined],
    ]);
  });

  it('above 2^53 it stays exact', async () => {
    const { rows } = await scanBytes(ingested(2n ** 56n - 1n));
    expect(rows.map(({ seqno }) => seqno)).toEqual(['72057594037927935', '72057594037927935']);
  });
});

describe('RT-15: tombstones that are stored unsorted and overlapping', () => {
  const stored = [
    { start: 'a', end: 'm', seqno: 3 },
    { start: 'c', end: 'f', seqno: 9 },
    { start: 'b', end: 'd', seqno: 5 },
    { start: 'c', end: 'e', seqno: 11 },
  ];
  const entries = ['a', 'b', 'c', 'd', 'z'].map((key) => ({ key, seqno: 1 }));
  const { bytes } = writeTable({ data: [blockOf(entries)], tombstones: stored });
  const show = (row: { key?: string; start?: string; seqno: string }): string =>
    row.start === undefined ? row.key! : `${row.start}@${row.seqno}`;

  it('each stands before the first entry that is not smaller than its start, the newest first', async () => {
    const { rows } = await scanBytes(bytes);
    const wanted = ['61@3', '61', '62@5', '62', '63@11', '63@9', '63', '64', '7a'];
    expect(rows.map(show)).toEqual(wanted);
    const reversed = await scanBytes(bytes, { reverse: true });
    expect(reversed.rows.map(show)).toEqual([...wanted].reverse());
  });

  it('--fragmented: a-b {3}, b-c {5,3}, c-d {9,5,3}, d-f {9,3}, f-m {3}', async () => {
    const three = writeTable({ data: [blockOf(entries)], tombstones: stored.slice(0, 3) });
    const { rows } = await scanBytes(three.bytes, { fragmented: true, types: new Set(['range_delete']) });
    const fragments = new Map<string, string[]>();
    for (const { start, end, seqno } of rows) {
      const range = `${Buffer.from(start!, 'hex')}-${Buffer.from(end!, 'hex')}`;
      fragments.set(range, [...(fragments.get(range) ?? []), seqno]);
    }
    expect([...fragments].map(([range, seqnos]) => `${range} {${seqnos.join()}}`)).toEqual([
      'a-b {3}',
      'b-c {5,3}',
      'c-d {9,5,3}',
      'd-f {9,3}',
      'f-m {3}',
    ]);
  });

  it('as stored, none is cut or merged', async () => {
    const { rows } = await scanBytes(bytes, { types: new Set(['range_delete']) });
    const shown = rows.map(({ start, end, seqno }) => `${start} ${end} ${seqno}`);
    const wanted = stored.map(({ start, end, seqno }) => `${hexOf(start)} ${hexOf(end)} ${seqno}`);
    expect(shown.sort()).toEqual(wanted.sort());
  });

  it('the same in a file of SstFileWriter', async () => {
    const file = fixture('external/overlapping-tombstones.sst');
    const { rows } = await scanBytes(file.bytes());
    const tombstones = rows.filter(({ type }) => type === 'range_delete');
    expect(tombstones.length).toBe(file.expected!().rangeTombstones.length);
    const starts = tombstones.map(({ start }) => start!);
    expect(starts).toEqual([...starts].sort());
  });

  it('with an order that nobody knows all come first, as stored', async () => {
    const foreign = writeTable({
      data: [blockOf(entries)],
      tombstones: stored,
      properties: { 'rocksdb.comparator': 'nobody.knows.this.one' },
    });
    const { rows } = await scanBytes(foreign.bytes);
    expect(rows.map(show)).toEqual(['61@3', '63@9', '62@5', '63@11', '61', '62', '63', '64', '7a']);
  });
});

it('a file of tombstones alone has rows (RT-15, RT-03)', async () => {
  const { bytes } = writeTable({ data: [], tombstones: [{ start: 'a', end: 'c', seqno: 7 }] });
  const { rows, damaged } = await scanBytes(bytes);
  expect(rows).toEqual([{ file: 'table.sst', start: '61', end: '63', seqno: '7', type: 'range_delete' }]);
  expect(damaged).toBe(false);
});

describe('tombstones that are too short for the timestamps of their file', () => {
  const { bytes } = writeTable({
    data: [blockOf([{ key: 'k-timestamp', seqno: 1, value: 'v' }])],
    tombstones: [
      { start: 'a-timestamp', end: 'b-timestamp', seqno: 3 },
      { start: 'a', end: 'b', seqno: 2 },
    ],
  });

  it('are damage, and none is shown with bytes that are not its own', async () => {
    for (const options of [{}, { fragmented: true }, { covered: true }]) {
      const { rows, findings, damaged } = await scanBytes(bytes, { timestampSize: 8, ...options });
      expect(rows.map(({ type }) => type)).toEqual(['put']);
      expect(findings).toMatchObject([{ code: 'range_del_malformed', severity: 'damage' }]);
      expect(damaged).toBe(true);
    }
  });
});

describe('a damaged block of range tombstones', () => {
  const { bytes } = writeTable({
    data: [blockOf([{ key: 'k', seqno: 1, value: 'v' }])],
    tombstones: [{ start: 'a', end: 'b', seqno: 3 }],
  });

  it('is named with its place, and any key may have lost a tombstone', async () => {
    const whole = await scanBytes(bytes);
    expect(whole.findings).toEqual([]);
    const at = Buffer.from(bytes).indexOf(Uint8Array.of(0x61, 15, 3));
    const flipped = bytes.slice();
    flipped[at]! ^= 1;
    const { rows, findings } = await scanBytes(flipped);
    expect(rows).toHaveLength(1);
    expect(findings).toMatchObject([
      {
        code: 'block_checksum',
        block: { type: 'range_del', size: expect.any(Number) },
        lost: { after: null, before: null },
      },
    ]);
  });
});
