/** Look-ups as public bug reports met them: prefixes, filters, hash indexes, range tombstones, merges. */

import { beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { toHex, utf8, utf8Bytes } from '../../src/bytes/text.ts';
import { LookupTable, type LookupTableOptions } from '../../src/engine/table/lookup-table.ts';
import type { IteratorOptions } from '../../src/engine/table/read-options.ts';
import { readPoint } from '../../src/engine/table/read-point.ts';
import { TableSet } from '../../src/engine/table/table-set.ts';
import type { TableOptions } from '../../src/format/table-builder/table-options.ts';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import { stringAppendOperator } from '../../src/operators/merge-operator.ts';
import {
  cappedPrefix,
  fixedPrefix,
  noopPrefix,
  type PrefixExtractor,
} from '../../src/operators/prefix-extractor.ts';
import { makeTable } from '../lookup/made-tables.ts';
import type { Expected } from '../support/fixtures.ts';
import { blockOf, bytesOf, writeTable } from './table-by-hand.ts';

let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
});

const hex = (text: string): string => toHex(utf8Bytes(text));
const bloom = { name: 'bloomfilter', bitsPerKey: 10, bloomBeforeLevel: 0 } as const;

type Version = [key: string, seqno: number, type?: string, value?: string];

function entriesOf(versions: readonly Version[], rangeTombstones: [string, number, string][] = []): Expected {
  return {
    entries: versions.map(([key, seqno, type = 'put', value = `${key}@${seqno}`]) => ({
      key: hex(key),
      seqno: String(seqno),
      type,
      value: type === 'delete' ? '' : hex(value),
    })),
    rangeTombstones: rangeTombstones.map(([start, seqno, end]) => ({
      start: hex(start),
      seqno: String(seqno),
      end: hex(end),
    })),
  };
}

const putsOf = (keys: readonly string[]): Expected => entriesOf(keys.map((key, i): Version => [key, i + 1]));

async function tableOf(
  data: Expected,
  options: TableOptions = {},
  lookup: LookupTableOptions = {},
): Promise<LookupTable> {
  const bytes = await makeTable(environment, options, data);
  return LookupTable.open(memorySource(bytes, 'made.sst'), environment, lookup);
}

function rowsFrom(set: TableSet, seek: string, options: IteratorOptions): string[] {
  const keys: string[] = [];
  const iterator = set.newIterator(options);
  for (iterator.seek(utf8Bytes(seek)); iterator.valid; iterator.next())
    keys.push(utf8(iterator.key.subarray(0, iterator.keyLength)));
  return keys;
}

function lastBefore(set: TableSet, seek: string, options: IteratorOptions): string | undefined {
  const iterator = set.newIterator(options);
  iterator.seekForPrev(utf8Bytes(seek));
  return iterator.valid ? utf8(iterator.key.subarray(0, iterator.keyLength)) : undefined;
}

const readValue = (set: TableSet, key: string, at?: number): string | undefined => {
  const found = set.get(utf8Bytes(key), at === undefined ? {} : { point: readPoint(BigInt(at)) });
  return found === undefined ? undefined : utf8(found.value);
};

/** Cuts before the first of question mark, slash or blank. */
const untilSeparator: PrefixExtractor = {
  name: 'example.UntilSeparator',
  inDomain: () => true,
  prefixEnd: (key, start, end) => {
    for (let i = start; i < end; i++) if (key[i] === 0x3f || key[i] === 0x2f || key[i] === 0x20) return i;
    return end;
  },
};

it('PF-01: in prefix mode the first key at or behind the seek key is of another group, and rows end', async () => {
  const table = await tableOf(
    putsOf(['123:example.com.my/john', '123:example.com/blog']),
    { filterPolicy: bloom, prefixExtractor: untilSeparator },
    { prefixExtractor: untilSeparator },
  );
  const set = new TableSet([table], { prefixExtractor: untilSeparator });
  const seek = '123:example.com';
  const all = ['123:example.com.my/john', '123:example.com/blog'];
  expect(rowsFrom(set, seek, { totalOrderSeek: true })).toEqual(all);
  expect(rowsFrom(set, seek, {})).toEqual(all);
  expect(rowsFrom(set, seek, { prefixSameAsStart: true })).toEqual([]);
  // Groups of such an extractor may be torn apart: no bound shows that the filter can be asked.
  const upperBound = utf8Bytes('123:example.com/z');
  expect(rowsFrom(set, seek, { autoPrefixMode: true, upperBound })).toEqual(all);
});

const PARTITIONS: TableOptions = {
  indexType: 'two_level',
  partitionFilters: true,
  blockSize: 10,
  metadataBlockSize: 10,
  filterPolicy: bloom,
  prefixExtractor: fixedPrefix(2),
};

describe.each([3, 5, 7])('format_version %i', (formatVersion) => {
  it.each([true, false])(
    'PF-03: a separator that is the next prefix (whole keys: %s)',
    async (wholeKeyFiltering) => {
      const extractor = fixedPrefix(2);
      const table = await tableOf(
        putsOf(['P1K1', 'P2K2']),
        { ...PARTITIONS, formatVersion, wholeKeyFiltering },
        { prefixExtractor: extractor },
      );
      const set = new TableSet([table], { prefixExtractor: extractor });
      expect(rowsFrom(set, 'P2', { prefixSameAsStart: true })).toEqual(['P2K2']);
      expect(rowsFrom(set, 'P2', { totalOrderSeek: false })).toEqual(['P2K2']);
      expect(readValue(set, 'P2K2')).toBe('P2K2@2');
    },
  );

  it('PF-05: a search backwards from behind the last partition of its prefix', async () => {
    const extractor = fixedPrefix(2);
    for (const indexShortening of ['none', 'separators'] as const) {
      const tables = await Promise.all(
        [
          ['P1K1', 'P1K2'],
          ['P2K1', 'P3K1'],
        ].map((keys) =>
          tableOf(
            putsOf(keys),
            { ...PARTITIONS, formatVersion, indexShortening },
            { prefixExtractor: extractor },
          ),
        ),
      );
      const set = new TableSet(tables, { prefixExtractor: extractor });
      expect(lastBefore(set, 'P1K3', { prefixSameAsStart: true })).toBe('P1K2');
      expect(lastBefore(set, 'P1K3', { totalOrderSeek: false })).toBe('P1K2');
    }
  });
});

it('PF-05: also in a table of before 9.6, whose partitions of prefixes do not know the last prefix before them', async () => {
  const extractor = fixedPrefix(2);
  for (const indexShortening of ['none', 'separators'] as const) {
    const table = await tableOf(
      putsOf(['P1K1', 'P1K2', 'P2K1', 'P3K1', 'P3K2']),
      { ...PARTITIONS, writerProfile: '7.8', formatVersion: 5, indexShortening, wholeKeyFiltering: false },
      { prefixExtractor: extractor },
    );
    const set = new TableSet([table], { prefixExtractor: extractor });
    for (const [seek, last] of [
      ['P1K3', 'P1K2'],
      ['P2K9', 'P2K1'],
      ['P3K9', 'P3K2'],
      ['P2K0', undefined],
    ] as const) {
      expect([seek, lastBefore(set, seek, { prefixSameAsStart: true })]).toEqual([seek, last]);
    }
  }
});

it('PF-07: a table with hash index gives the same rows with every extractor', async () => {
  const keys = ['aaa1', 'aaa2', 'aab1', 'abb1', 'abc', 'b', 'bbb1'];
  const table = await tableOf(putsOf(keys), {
    indexType: 'hash',
    prefixExtractor: fixedPrefix(3),
    filterPolicy: bloom,
    blockSize: 10,
  });
  for (const prefixExtractor of [fixedPrefix(4), fixedPrefix(3), undefined]) {
    const set = new TableSet([table], { prefixExtractor });
    expect(rowsFrom(set, '', {})).toEqual(keys);
    expect(rowsFrom(set, 'aab', {})).toEqual(keys.slice(2));
    for (const [i, key] of keys.entries()) expect(readValue(set, key)).toBe(`${key}@${i + 1}`);
    expect(readValue(set, 'aab')).toBeUndefined();
  }
});

it.each([
  ['fullfilter.rocksdb.BuiltinBloomFilter', true],
  ['fullfilter.bloomfilter', false],
  ['fullfilter.my.filter', false],
])('PF-09: a filter named %s', (name, isAsked) => {
  // A filter that denies every key: who asks it finds nothing.
  const denies = bytesOf(new Uint8Array(64), [0xff, 0, 6, 0, 0]);
  const { bytes } = writeTable({ data: [blockOf([{ key: 'k', seqno: 1 }])], meta: { [name]: denies } });
  const table = LookupTable.open(memorySource(bytes, 'named.sst'), environment);
  expect(table.filter !== undefined).toBe(isAsked);
  expect(readValue(new TableSet([table]), 'k') !== undefined).toBe(!isAsked);
});

it.each([true, false])(
  'PF-11: the empty key and the empty prefix (whole keys: %s)',
  async (wholeKeyFiltering) => {
    const extractor = cappedPrefix(3);
    const table = await tableOf(
      putsOf(['', 'a', 'ab']),
      { filterPolicy: bloom, prefixExtractor: extractor, wholeKeyFiltering },
      { prefixExtractor: extractor },
    );
    const set = new TableSet([table], { prefixExtractor: extractor });
    expect(readValue(set, '')).toBe('@1');
    expect(rowsFrom(set, '', { prefixSameAsStart: true })).toEqual(['']);
    expect(rowsFrom(set, 'a', { prefixSameAsStart: true })).toEqual(['a']);
  },
);

it('PF-13: a seek key that is longer than the prefix', async () => {
  const extractor = fixedPrefix(1);
  const table = await tableOf(
    putsOf(['0000', '0001', '0101', '0111', '0121', '2000']),
    { filterPolicy: bloom, prefixExtractor: extractor },
    { prefixExtractor: extractor },
  );
  const set = new TableSet([table], { prefixExtractor: extractor });
  expect(rowsFrom(set, '010', { prefixSameAsStart: true })).toEqual(['0101', '0111', '0121']);
  const upperBound = utf8Bytes('011');
  expect(rowsFrom(set, '010', { autoPrefixMode: true, upperBound })).toEqual(['0101']);
});

it('auto prefix mode asks the filter where the bound keeps the prefix, and only there', async () => {
  const extractor = fixedPrefix(2);
  const table = await tableOf(
    putsOf(['aa1', 'bb1', 'bb2', 'cc1']),
    { filterPolicy: bloom, prefixExtractor: extractor },
    { prefixExtractor: extractor },
  );
  const set = new TableSet([table], { prefixExtractor: extractor });
  const checks = (seek: string, upper: string): [string[], number] => {
    const before = table.statistics.get('rocksdb.bloom.filter.prefix.checked');
    const rows = rowsFrom(set, seek, { autoPrefixMode: true, upperBound: utf8Bytes(upper) });
    return [rows, table.statistics.get('rocksdb.bloom.filter.prefix.checked') - before];
  };
  expect(checks('bb1', 'bb2')).toEqual([['bb1'], 1]);
  expect(checks('bb', 'bb9')).toEqual([['bb1', 'bb2'], 1]);
  expect(checks('bb1', 'bc')).toEqual([['bb1', 'bb2'], 1]);
  expect(checks('bb1', 'cc9')).toEqual([['bb1', 'bb2', 'cc1'], 0]);
  expect(checks('ab1', 'ab9')).toEqual([[], 1]);
});

it('an extractor that is not that of the file never asks its prefixes', async () => {
  const table = await tableOf(putsOf(['aa1', 'bb1']), {
    filterPolicy: bloom,
    prefixExtractor: fixedPrefix(2),
    wholeKeyFiltering: false,
  });
  for (const prefixExtractor of [fixedPrefix(1), fixedPrefix(3), cappedPrefix(2), noopPrefix]) {
    const set = new TableSet([table], { prefixExtractor });
    expect(readValue(set, 'aa1')).toBe('aa1@1');
    expect(readValue(set, 'aa2')).toBeUndefined();
    rowsFrom(set, 'zz', { prefixSameAsStart: true });
  }
  expect(table.statistics.get('rocksdb.bloom.filter.prefix.checked')).toBe(0);
});

it('RT-03: the tombstones of a file apply to its own entries', async () => {
  const table = await tableOf(
    entriesOf(
      [
        ['k', 1],
        ['k2', 3],
      ],
      [['a', 2, 'z']],
    ),
  );
  const set = new TableSet([table]);
  expect(readValue(set, 'k')).toBeUndefined();
  expect(readValue(set, 'k2')).toBe('k2@3');
  expect(set.versions(utf8Bytes('k')).map(({ coveredBy }) => coveredBy)).toEqual([2]);
});

it('RT-07: a merge operand above a tombstone stands alone', async () => {
  const tables = await Promise.all([
    tableOf(entriesOf([['k', 9, 'merge', 'y']])),
    tableOf(entriesOf([], [['a', 5, 'z']])),
    tableOf(entriesOf([['k', 2, 'merge', 'x']])),
  ]);
  for (const order of [tables, tables.toReversed()]) {
    const set = new TableSet(order, { mergeOperator: stringAppendOperator(utf8Bytes(',')) });
    expect(readValue(set, 'k')).toBe('y');
    expect(rowsFrom(set, '', {})).toEqual(['k']);
    expect(readValue(set, 'k', 4)).toBe('x');
  }
});

it('RT-09: a read at an old snapshot does not see a later range delete', async () => {
  const tables = await Promise.all([tableOf(entriesOf([['k', 1]])), tableOf(entriesOf([], [['k', 2, 'l']]))]);
  const set = new TableSet(tables);
  expect(readValue(set, 'k', 1)).toBe('k@1');
  expect(readValue(set, 'k', 2)).toBeUndefined();
});

it('IX-03: a handle in the index that leads nowhere is damage, not a huge allocation', () => {
  const { bytes } = writeTable({ data: [blockOf([{ key: 'k', seqno: 1 }])] });
  const table = LookupTable.open(memorySource(bytes.slice(), 'x.sst'), environment);
  expect(() => table.store.data(0, 2 ** 50)).toThrow(/reaches beyond the file/);
  expect(() => table.store.data(2 ** 40, 10)).toThrow(/reaches beyond the file/);
});
