import type { ByteSource } from '../../bytes/source.ts';
import { CorruptionError, type SstError, UnsupportedError } from '../../errors.ts';
import type { Footer } from '../footer.ts';
import { TRAILER_SIZE } from '../internal-key.ts';
import type { MetaindexEntry } from '../metaindex.ts';
import { readBareMetaBlocks } from '../plain/bare-meta-blocks.ts';
import type { PropertyName, TableProperties } from '../properties.ts';

/**
 * What the properties of a cuckoo table say of it.
 *
 *   file: buckets, properties, metaindex, footer;  bucket: key, value, each of a fixed length
 *
 * There are `tableSize + blockSize - 1` buckets. A key hashes to `hashFunctions` places of `blockSize` buckets in
 * a row; the last of them may begin at the end of the table proper.
 * Source: RocksDB table/cuckoo/cuckoo_table_builder.cc, cuckoo_table_reader.cc.
 */
export interface CuckooSummary {
  /** Property `rocksdb.num.entries`. */
  readonly entries: number;
  /** Places that a hash can give; 0 in an empty table that takes hashes modulo its size. */
  readonly tableSize: number;
  /** Buckets that are tried one behind the other. */
  readonly blockSize: number;
  readonly hashFunctions: number;
  /** Bytes of each key as stored: user keys where `lastLevel`, else internal keys. */
  readonly keyLength: number;
  readonly userKeyLength: number;
  readonly valueLength: number;
  /** Every sequence number is 0, and keys are stored without their trailers. */
  readonly lastLevel: boolean;
  /** The first hash function is the key itself. */
  readonly identityFirst: boolean;
  /** Hashes are taken modulo the table's size, which otherwise is a power of two. */
  readonly moduloHash: boolean;
  /** The key of an empty bucket. */
  readonly emptyKey: Uint8Array;
}

/** An open cuckoo table: what its properties say. Its rows stand in no order and are not read. */
export class CuckooTable {
  constructor(
    readonly source: ByteSource,
    readonly footer: Footer,
    /** Undefined where the block cannot be read. */
    readonly metaindex: readonly MetaindexEntry[] | undefined,
    readonly properties: TableProperties | undefined,
    /** The buckets are [0, rowsEnd) of the file; undefined without a metaindex. */
    readonly rowsEnd: number | undefined,
    /** Undefined where a property is missing that it needs. */
    readonly summary: CuckooSummary | undefined,
    /** What was found while opening, each with its place. */
    readonly problems: readonly SstError[],
  ) {}

  /** Throws UnsupportedError: rows of this format are not read. */
  rows(): never {
    throw new UnsupportedError('table format', 'cuckoo', 'rows of cuckoo tables are not read here', {
      file: this.source.name,
    });
  }
}

/**
 * Opens a cuckoo table. What is wrong with its meta blocks, and properties that do not agree with the file,
 * stand in `problems`; nothing of it is thrown.
 */
export function openCuckooTable(source: ByteSource, footer: Footer): CuckooTable {
  const { metaindex, properties, rowsEnd, problems } = readBareMetaBlocks(source, footer);
  const report = (code: string, reason: string): void => {
    problems.push(new CorruptionError(code, reason, { file: source.name, blockType: 'properties' }));
  };
  let summary: CuckooSummary | undefined;
  if (properties !== undefined && rowsEnd !== undefined) {
    const missing: PropertyName[] = [];
    summary = summarize(properties, missing);
    if (missing.length > 0) report('properties_missing', `no readable property ${missing.join(', ')}`);
    if (summary !== undefined)
      for (const reason of disagreements(summary, rowsEnd)) report('properties_mismatch', reason);
  }
  return new CuckooTable(source, footer, metaindex, properties, rowsEnd, summary, problems);
}

function summarize(properties: TableProperties, missing: PropertyName[]): CuckooSummary | undefined {
  const number = (name: PropertyName): number => {
    const value = properties.get(name);
    if (typeof value === 'number') return value;
    // A table size above 2^53 is wrong all the same, and compares as what it is: larger than any file.
    if (typeof value === 'bigint') return Number(value);
    missing.push(name);
    return 0;
  };
  const bytes = (name: PropertyName): Uint8Array => {
    const value = properties.raw.get(name);
    if (value !== undefined) return value;
    missing.push(name);
    return new Uint8Array(0);
  };
  const flag = (name: PropertyName): boolean => bytes(name)[0] === 1;
  const summary: CuckooSummary = {
    entries: number('rocksdb.num.entries'),
    tableSize: number('rocksdb.cuckoo.hash.size'),
    blockSize: number('rocksdb.cuckoo.hash.cuckooblocksize'),
    hashFunctions: number('rocksdb.cuckoo.hash.num'),
    keyLength: number('rocksdb.fixed.key.length'),
    userKeyLength: number('rocksdb.cuckoo.hash.userkeylength'),
    valueLength: number('rocksdb.cuckoo.value.length'),
    lastLevel: flag('rocksdb.cuckoo.file.islastlevel'),
    identityFirst: flag('rocksdb.cuckoo.hash.identityfirst'),
    moduloHash: flag('rocksdb.cuckoo.hash.usemodule'),
    emptyKey: bytes('rocksdb.cuckoo.bucket.empty.key'),
  };
  return missing.length === 0 ? summary : undefined;
}

/** A reader that trusts these numbers divides by them, and reads where they point to. */
function disagreements(summary: CuckooSummary, rowsEnd: number): string[] {
  const { entries, tableSize, blockSize, hashFunctions, keyLength, userKeyLength, valueLength } = summary;
  if (entries === 0) {
    return rowsEnd === 0 ? [] : [`no entries, but ${rowsEnd} bytes of buckets`];
  }
  const reasons: string[] = [];
  if (tableSize === 0) reasons.push(`a hash table of 0 places cannot hold ${entries} entries`);
  if (blockSize === 0) reasons.push('a cuckoo block size of 0');
  if (hashFunctions === 0) reasons.push('0 hash functions');
  if (keyLength === 0) reasons.push('keys of 0 bytes');
  const trailer = summary.lastLevel ? 0 : TRAILER_SIZE;
  if (keyLength !== userKeyLength + trailer) {
    reasons.push(`keys of ${keyLength} bytes, of which ${userKeyLength} are user key and ${trailer} trailer`);
  }
  if (reasons.length > 0) return reasons;
  const buckets = tableSize + blockSize - 1;
  const bytes = buckets * (keyLength + valueLength);
  if (bytes !== rowsEnd) {
    reasons.push(
      `a hash table of ${tableSize} places takes ${bytes} bytes (${buckets} buckets of ` +
        `${keyLength + valueLength}), but the file has ${rowsEnd} bytes of buckets`,
    );
  } else if (entries > buckets) {
    reasons.push(`${entries} entries do not fit into ${buckets} buckets`);
  }
  return reasons;
}
