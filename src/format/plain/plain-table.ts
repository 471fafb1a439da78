import type { ByteSource } from '../../bytes/source.ts';
import { CorruptionError, type SstError, UnsupportedError } from '../../errors.ts';
import type { Footer } from '../footer.ts';
import type { MetaindexEntry } from '../metaindex.ts';
import type { TableProperties } from '../properties.ts';
import { readBareMetaBlocks } from './bare-meta-blocks.ts';
import { PlainEncoding, PlainTableIterator } from './plain-table-iterator.ts';

/**
 * An open plain table: rows one behind the other from the start of the file, no blocks, no checksums. Index and
 * bloom filter, where they are stored, only speed up lookups; the rows are read from first to last.
 * Only the properties tell how a row is encoded: without them no row can be read.
 */
export class PlainTable {
  /** Bytes of each user key; 0 where every row tells its own. Undefined without properties. */
  readonly keyLength: number | undefined;
  /** A number of `PlainEncoding`, or one that is not known here. Undefined without properties. */
  readonly encoding: number | undefined;

  constructor(
    readonly source: ByteSource,
    readonly footer: Footer,
    /** Undefined where the block cannot be read. */
    readonly metaindex: readonly MetaindexEntry[] | undefined,
    readonly properties: TableProperties | undefined,
    /** The rows are [0, rowsEnd) of the file; undefined without a metaindex. */
    readonly rowsEnd: number | undefined,
    /** What was found while opening, each with its place. */
    readonly problems: readonly SstError[],
  ) {
    if (properties === undefined) return;
    // Neither is missing in what RocksDB writes; its own reader takes these values where they are.
    this.encoding = properties.get('rocksdb.plain.table.encoding.type') ?? PlainEncoding.plain;
    this.keyLength = properties.count('rocksdb.fixed.key.length') ?? 0;
  }

  /**
   * The rows in stored order. Throws CorruptionError when the properties cannot be read, UnsupportedError for an
   * encoding that is not known here.
   */
  rows(): PlainTableIterator {
    const { encoding, keyLength, rowsEnd } = this;
    if (encoding === undefined || keyLength === undefined || rowsEnd === undefined) throw this.undecodable();
    if (encoding !== PlainEncoding.plain && encoding !== PlainEncoding.prefix) {
      throw new UnsupportedError(
        'plain table encoding',
        encoding,
        `rows of a plain table with encoding ${encoding} are not known here`,
        { file: this.source.name },
      );
    }
    return new PlainTableIterator(this.source, encoding, keyLength, rowsEnd);
  }

  private undecodable(): CorruptionError {
    const [cause] = this.problems;
    const why = cause instanceof CorruptionError ? ` (${cause.reason})` : '';
    return new CorruptionError(
      'properties_missing',
      `the rows of this plain table cannot be read: its properties, which say how, are missing or damaged${why}`,
      { file: this.source.name },
      { cause },
    );
  }
}

/** Opens a plain table. What is wrong with its meta blocks stands in `problems`; nothing of it is thrown. */
export function openPlainTable(source: ByteSource, footer: Footer): PlainTable {
  const { metaindex, properties, rowsEnd, problems } = readBareMetaBlocks(source, footer);
  const dataSize = properties?.count('rocksdb.data.size');
  if (dataSize !== undefined && dataSize !== rowsEnd) {
    problems.push(
      new CorruptionError(
        'properties_mismatch',
        `property rocksdb.data.size is ${dataSize}, but the first block behind the rows begins at ${rowsEnd}`,
        { file: source.name, blockType: 'properties' },
      ),
    );
  }
  return new PlainTable(source, footer, metaindex, properties, rowsEnd, problems);
}
