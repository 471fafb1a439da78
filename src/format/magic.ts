/**
 * Table magic numbers, the last eight bytes of a file. 64 bits are kept as a hexadecimal text of the number:
 * they are compared and printed, never computed with.
 */
export const TableMagic = {
  blockBased: '88e241b785f4cff7',
  /** LevelDB's, and format_version 0 of RocksDB. */
  levelDb: 'db4775248b80fb57',
  plain: '8242229663bf9564',
  plainLegacy: '4f3418eb7a8f13b8',
  cuckoo: '926789d0c5f17873',
} as const;

/** Pebble's own tables, row-based and columnar: bytes f0 9f aa b3 twice. */
export const PEBBLE_MAGIC = 'b3aa9ff0b3aa9ff0';

/** Bytes 1 to 4 of a footer of format_version 6 and above: 3e 00 7a 00. */
export const EXTENDED_FOOTER_MAGIC = 0x007a003e;

/** First four bytes of a blob file, and of its footer. */
export const BLOB_FILE_MAGIC = 2395959;

export type TableFormat = 'block-based' | 'leveldb' | 'plain' | 'cuckoo';

/** The table format of a magic number; undefined for what is no table of this family. */
export function tableFormatOf(magic: string): TableFormat | undefined {
  switch (magic) {
    case TableMagic.blockBased:
      return 'block-based';
    case TableMagic.levelDb:
      return 'leveldb';
    case TableMagic.plain:
    case TableMagic.plainLegacy:
      return 'plain';
    case TableMagic.cuckoo:
      return 'cuckoo';
    default:
      return undefined;
  }
}
