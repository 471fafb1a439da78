import { expect, test } from 'vitest';
import { columnFamilyOption, parseOptionsFile } from './options-file.ts';

const TEXT = `# of RocksDB
[Version]
  rocksdb_version=11.9.0
[DBOptions]
  wal_dir=a\\#b\\:c   # where
[CFOptions "default"]
  prefix_extractor={id=rocksdb.FixedPrefix;length=8;}
  no option
[TableOptions/BlockBasedTable "default"]
  block_size=4096
[CFOptions "a \\"b\\""]
  prefix_extractor=nullptr
`;

test('sections, options, comments and escapes', () => {
  const sections = parseOptionsFile(TEXT);
  expect(sections.map(({ type, name }) => [type, name])).toEqual([
    ['Version', ''],
    ['DBOptions', ''],
    ['CFOptions', 'default'],
    ['TableOptions/BlockBasedTable', 'default'],
    ['CFOptions', 'a "b"'],
  ]);
  expect(sections[1]!.options.get('wal_dir')).toBe('a#b:c');
  expect([...sections[2]!.options]).toEqual([['prefix_extractor', '{id=rocksdb.FixedPrefix;length=8;}']]);
  expect(columnFamilyOption(sections, 'a "b"', 'prefix_extractor')).toBe('nullptr');
  expect(columnFamilyOption(sections, 'other', 'prefix_extractor')).toBeUndefined();
  expect(parseOptionsFile('')).toEqual([]);
});
