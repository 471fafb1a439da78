import { describe, expect, it } from 'vitest';
import { baseName, formatFileName, parseFileName } from './file-name.ts';

describe('parseFileName', () => {
  it.each([
    ['000012.sst', { type: 'table', number: 12 }],
    ['12.ldb', { type: 'table', number: 12 }],
    ['/1234567.sst', { type: 'table', number: 1234567 }],
    ['000010.log', { type: 'wal', number: 10 }],
    ['archive/000010.log', { type: 'wal', number: 10 }],
    ['000010.blob', { type: 'blob', number: 10 }],
    ['000000.dbtmp', { type: 'temp', number: 0 }],
    ['MANIFEST-000005', { type: 'manifest', number: 5 }],
    ['OPTIONS-000007', { type: 'options', number: 7 }],
    ['OPTIONS-000007 (copy)', { type: 'options', number: 7 }],
    ['OPTIONS-000007.dbtmp', { type: 'temp', number: 7 }],
    ['COMPACTION_PROGRESS-1700000000000000', { type: 'compaction_progress', number: 1700000000000000 }],
    ['COMPACTION_PROGRESS-17.dbtmp', { type: 'temp', number: 17 }],
    ['METADB-3', { type: 'metadb', number: 3 }],
    ['CURRENT', { type: 'current' }],
    ['IDENTITY', { type: 'identity' }],
    ['LOCK', { type: 'lock' }],
    ['LOG', { type: 'info_log', number: 0 }],
    ['LOG.old', { type: 'info_log', number: 0 }],
    ['LOG.old.1700000000000000', { type: 'info_log', number: 1700000000000000 }],
    ['var_lib_db_LOG', { type: 'info_log', number: 0 }],
    ['var_lib_db_LOG.old.17', { type: 'info_log', number: 17 }],
  ])('%s', (name, expected) => {
    expect(parseFileName(name)).toEqual(expected);
  });

  it.each([
    '',
    '/',
    'sst',
    '12',
    '12.',
    '12.txt',
    '12.constructor',
    'a12.sst',
    '12.sst.bak',
    'archive/12.sst',
    'MANIFEST-',
    'MANIFEST-5.tmp',
    'METADB-5x',
    'OPTIONS-x',
    'CURRENT.bak',
    'LOG.txt',
    'CATALOG',
    '99999999999999999999.sst',
  ])('no name of a DB: %j', (name) => {
    expect(parseFileName(name)).toBeUndefined();
  });
});

describe('formatFileName', () => {
  it.each(['wal', 'table', 'blob', 'manifest', 'options', 'temp'] as const)('reads back %s', (type) => {
    for (const number of [0, 7, 999999, 1000000, Number.MAX_SAFE_INTEGER]) {
      expect(parseFileName(formatFileName(type, number))).toEqual({ type, number });
    }
  });

  it('writes six digits', () => {
    expect(formatFileName('table', 12)).toBe('000012.sst');
    expect(formatFileName('manifest', 1234567)).toBe('MANIFEST-1234567');
  });
});

it('baseName takes both separators', () => {
  expect(['a/b/000012.sst', 'C:\\db\\CURRENT', 'LOG', 'a/'].map(baseName)).toEqual([
    '000012.sst',
    'CURRENT',
    'LOG',
    '',
  ]);
});
