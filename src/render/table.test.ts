import { expect, it } from 'vitest';
import { formatTable } from './table.ts';

it('puts numbers to the right and text to the left', () => {
  const columns = [{ title: 'kind' }, { title: 'size' }, { title: 'first key' }];
  const rows = [
    ['data', 4096, 'a'],
    ['range_del', 17, null],
    ['index', 123456789n, 'grün'],
  ];
  expect(formatTable(columns, rows, { indent: 2 })).toEqual([
    '  kind            size  first key',
    '  data            4096  a',
    '  range_del         17',
    '  index      123456789  grün',
  ]);
});

it('gives colour codes no width, and leaves empty titles out', () => {
  const paint = (text: string): string => `\u001b[31m${text}\u001b[39m`;
  expect(
    formatTable(
      [{ title: '', paint }, { title: '' }],
      [
        ['a', 'x'],
        ['bbb', 'y'],
      ],
    ),
  ).toEqual(['\u001b[31ma\u001b[39m    x', '\u001b[31mbbb\u001b[39m  y']);
  expect(formatTable([{ title: 'n' }], [])).toEqual(['n']);
});
