/** Values that have a structure of their own. */

import { describe, expect, it } from 'vitest';
import { blockOf, bytesOf, hexOf, scanBytes, TYPE, varint, writeTable } from './table-by-hand.ts';

/** An entity of version 1: names with the sizes of the values, then the values. */
function entity(columns: readonly (readonly [name: string, value: string])[]): Uint8Array {
  return bytesOf(
    varint(1),
    varint(columns.length),
    ...columns.map(([name, value]) => bytesOf(varint(name.length), name, varint(value.length))),
    ...columns.map(([, value]) => value),
  );
}

describe('BW-05: names of columns that hold separators', () => {
  const columns = [
    ['', 'the default'],
    ['a:b', 'colon'],
    ['c d', 'two\nlines'],
    ['e=f', 'a\\b'],
  ] as const;
  const { bytes } = writeTable({
    data: [blockOf([{ key: 'k', seqno: 1, type: TYPE.entity, value: entity(columns) }])],
  });

  it('JSON has names and values exactly', async () => {
    const { rows } = await scanBytes(bytes);
    expect(rows).toEqual([
      {
        file: 'table.sst',
        key: '6b',
        seqno: '1',
        type: 'entity',
        columns: columns.map(([name, value]) => ({ name: hexOf(name), value: hexOf(value) })),
      },
    ]);
  });
});

describe('values that are cut off are shown as they are, and told', () => {
  it.each([
    ['an entity', TYPE.entity, entity([['name', 'value']]).subarray(0, 6)],
    ['an entity with more columns than bytes', TYPE.entity, bytesOf(varint(1), varint(2 ** 31))],
    ['a blob reference', TYPE.blobIndex, bytesOf([1], varint(7))],
    ['a blob reference of a kind that does not exist', TYPE.blobIndex, bytesOf([9, 9, 9])],
  ])('%s', async (_, type, value) => {
    const { bytes } = writeTable({
      data: [
        blockOf([
          { key: 'a', seqno: 1, type, value },
          { key: 'b', seqno: 2 },
        ]),
      ],
    });
    const { rows, findings, damaged } = await scanBytes(bytes);
    expect(damaged).toBe(true);
    expect(findings).toMatchObject([{ code: 'entry_malformed' }]);
    expect(rows).toMatchObject([{ key: '61', value: hexOf(value) }, { key: '62' }]);
  });

  it('an entity of a version that nobody knows is not supported', async () => {
    const value = bytesOf(varint(3), varint(1));
    const { bytes } = writeTable({ data: [blockOf([{ key: 'a', seqno: 1, type: TYPE.entity, value }])] });
    const { rows, findings, damaged } = await scanBytes(bytes);
    expect(damaged).toBe(false);
    expect(findings).toMatchObject([{ code: 'unsupported' }]);
    expect(rows).toMatchObject([{ key: '61', value: hexOf(value) }]);
  });
});
