import { ByteReader } from '../../bytes/byte-reader.ts';
import { compareArrays } from '../../bytes/compare.ts';
import { utf8, utf8Bytes } from '../../bytes/text.ts';
import { CorruptionError } from '../../errors.ts';
import { decodeSeqnoTimeMap, type TableProperties } from '../../format/properties.ts';
import { writeHexUpper } from '../../render/key-format.ts';
import type { ByteSink } from '../../render/sink.ts';
import type { Compat } from './arguments.ts';
import { tableUniqueId } from './unique-id.ts';

/** Properties that a release holds in fields of their own; whatever else is in a file counts as user collected. */
const NUMBERS = [
  'rocksdb.original.file.number',
  'rocksdb.data.size',
  'rocksdb.index.size',
  'rocksdb.index.partitions',
  'rocksdb.top-level.index.size',
  'rocksdb.index.key.is.user.key',
  'rocksdb.index.value.is.delta.encoded',
  'rocksdb.filter.size',
  'rocksdb.raw.key.size',
  'rocksdb.raw.value.size',
  'rocksdb.num.data.blocks',
  'rocksdb.num.entries',
  'rocksdb.num.filter_entries',
  'rocksdb.deleted.keys',
  'rocksdb.merge.operands',
  'rocksdb.num.range-deletions',
  'rocksdb.format.version',
  'rocksdb.fixed.key.length',
  'rocksdb.column.family.id',
  'rocksdb.creation.time',
  'rocksdb.oldest.key.time',
  'rocksdb.file.creation.time',
  'rocksdb.sample_for_compression.slow.data.size',
  'rocksdb.sample_for_compression.fast.data.size',
];
const NUMBERS_SINCE_7_8 = [
  'rocksdb.udi.is.primary.index',
  'rocksdb.num.data.blocks.compression.rejected',
  'rocksdb.num.data.blocks.compression.bypassed',
  'rocksdb.num.uniform.blocks',
  'rocksdb.newest.key.time',
  'rocksdb.tail.start.offset',
  'rocksdb.user.defined.timestamps.persisted',
  'rocksdb.key.largest.seqno',
  'rocksdb.key.smallest.seqno',
  'rocksdb.data.block.restart.interval',
  'rocksdb.index.block.restart.interval',
  'rocksdb.separate.key.value.in.data.block',
];
const TEXTS = [
  'rocksdb.creating.db.identity',
  'rocksdb.creating.session.identity',
  'rocksdb.creating.host.identity',
  'rocksdb.filter.policy',
  'rocksdb.column.family.name',
  'rocksdb.comparator',
  'rocksdb.merge.operator',
  'rocksdb.prefix.extractor.name',
  'rocksdb.property.collectors',
  'rocksdb.compression',
  'rocksdb.compression_options',
  'rocksdb.seqno.time.map',
];
/** Held in fields, and listed with the user collected ones all the same. */
const LISTED_TWICE: readonly string[] = ['rocksdb.deleted.keys', 'rocksdb.merge.operands'];

const PREDEFINED: Readonly<Record<Compat, ReadonlySet<string>>> = {
  '7.8': new Set([...NUMBERS, ...TEXTS]),
  '11': new Set([...NUMBERS, ...NUMBERS_SINCE_7_8, ...TEXTS]),
};

const UNKNOWN_UINT64 = 0xffffffffffffffffn;
const UNKNOWN_COLUMN_FAMILY = 0x7fffffffn;
const NOT_AVAILABLE = 'N/A';

/** One line: its label, and its value as text or as the file's own bytes. */
type PropertyLine = readonly [label: string, value: string | Uint8Array];

/** `  label: value` lines of all table properties, in the order of the release. */
export function writePropertyLines(sink: ByteSink, properties: TableProperties, compat: Compat): void {
  for (const [label, value] of propertyLines(properties, compat)) {
    sink.writeText(`  ${label}: `);
    if (typeof value === 'string') sink.writeText(value);
    else sink.writeBytes(value);
    sink.writeByte(0x0a);
  }
}

/** The same as one text, for regular expressions to look at. */
export function propertiesText(properties: TableProperties, compat: Compat): string {
  return propertyLines(properties, compat)
    .map(([label, value]) => `${label}: ${typeof value === 'string' ? value : utf8(value)}\n  `)
    .join('');
}

/** `  # name: 0xHEX` lines of what the release does not know. */
export function writeUserCollectedLines(sink: ByteSink, properties: TableProperties, compat: Compat): void {
  const known = PREDEFINED[compat];
  const names = [...properties.raw.keys()]
    .filter((name) => !known.has(name) || LISTED_TWICE.includes(name))
    .map((name) => ({ name, bytes: utf8Bytes(name) }))
    .sort((a, b) => compareArrays(a.bytes, b.bytes));
  for (const { name, bytes } of names) {
    sink.writeText('  # ');
    sink.writeBytes(bytes);
    sink.writeText(': 0x');
    const value = properties.raw.get(name)!;
    writeHexUpper(sink, value, 0, value.length);
    sink.writeByte(0x0a);
  }
}

/** A varint property; `missing` where it is absent or does not decode. */
export function propertyNumber(properties: TableProperties, name: string, missing = 0n): bigint {
  const bytes = properties.raw.get(name);
  if (bytes === undefined) return missing;
  try {
    return new ByteReader(bytes, 'block_format').varint64Big();
  } catch (error) {
    if (error instanceof CorruptionError) return missing;
    throw error;
  }
}

function propertyLines(properties: TableProperties, compat: Compat): PropertyLine[] {
  const number = (name: string, missing = 0n): bigint =>
    propertyNumber(properties, `rocksdb.${name}`, missing);
  const text = (name: string): string | Uint8Array => {
    const bytes = properties.raw.get(`rocksdb.${name}`);
    return bytes === undefined || bytes.length === 0 ? NOT_AVAILABLE : bytes;
  };
  const plain = (name: string): Uint8Array => properties.raw.get(`rocksdb.${name}`) ?? new Uint8Array(0);
  const modern = compat === '11';
  const entries = number('num.entries');
  const rawKeySize = number('raw.key.size');
  const rawValueSize = number('raw.value.size');
  const dataSize = number('data.size');
  const indexSize = number('index.size');
  const filterSize = number('filter.size');
  const columnFamily = number('column.family.id', UNKNOWN_COLUMN_FAMILY);
  const lines: PropertyLine[] = [];
  const add = (label: string, value: string | bigint | Uint8Array): void => {
    lines.push([label, typeof value === 'bigint' ? String(value) : value]);
  };

  add('# data blocks', number('num.data.blocks'));
  if (modern) {
    add('# data blocks compression rejected', number('num.data.blocks.compression.rejected'));
    add('# data blocks compression bypassed', number('num.data.blocks.compression.bypassed'));
    add('# uniform blocks', number('num.uniform.blocks'));
  }
  add('# entries', entries);
  add('# deletions', number('deleted.keys'));
  add('# merge operands', number('merge.operands'));
  add('# range deletions', number('num.range-deletions'));
  add('raw key size', rawKeySize);
  add('raw average key size', sixDecimals(average(rawKeySize, entries)));
  add('raw value size', rawValueSize);
  add('raw average value size', sixDecimals(average(rawValueSize, entries)));
  add('data block size', dataSize);
  // No release stores it: the real tool prints its default.
  if (modern) add('data uncompressed size', 0n);
  const userKey = BigInt.asIntN(32, number('index.key.is.user.key'));
  const deltaValue = BigInt.asIntN(32, number('index.value.is.delta.encoded'));
  add(`index block size (user-key? ${userKey}, delta-value? ${deltaValue})`, indexSize);
  if (number('index.partitions') !== 0n) {
    add('# index partitions', number('index.partitions'));
    add('top-level index size', number('top-level.index.size'));
  }
  add('filter block size', filterSize);
  add('# entries for filter', number('num.filter_entries'));
  add('(estimated) table size', BigInt.asUintN(64, dataSize + indexSize + filterSize));
  add('filter policy name', text('filter.policy'));
  add('prefix extractor name', text('prefix.extractor.name'));
  add('column family ID', columnFamily === UNKNOWN_COLUMN_FAMILY ? NOT_AVAILABLE : columnFamily);
  add('column family name', text('column.family.name'));
  add('comparator name', text('comparator'));
  if (modern) {
    const persisted = number('user.defined.timestamps.persisted', 1n) !== 0n;
    add('user defined timestamps persisted', persisted ? 'true' : 'false');
    add('largest sequence number in file', number('key.largest.seqno', UNKNOWN_UINT64));
    add('smallest sequence number in file', number('key.smallest.seqno', UNKNOWN_UINT64));
  }
  add('merge operator name', text('merge.operator'));
  add('property collectors names', text('property.collectors'));
  add('SST file compression algo', text('compression'));
  add('SST file compression options', text('compression_options'));
  add('creation time', number('creation.time'));
  add('time stamp of earliest key', number('oldest.key.time'));
  if (modern) add('time stamp of newest key', number('newest.key.time'));
  add('file creation time', number('file.creation.time'));
  add('slow compression estimated data size', number('sample_for_compression.slow.data.size'));
  add('fast compression estimated data size', number('sample_for_compression.fast.data.size'));
  add('DB identity', plain('creating.db.identity'));
  add('DB session identity', plain('creating.session.identity'));
  add('DB host id', plain('creating.host.identity'));
  add('original file number', number('original.file.number'));
  const uniqueId = tableUniqueId({
    dbId: utf8(plain('creating.db.identity')),
    sessionId: utf8(plain('creating.session.identity')),
    fileNumber: number('original.file.number'),
  });
  add('unique ID', uniqueId ?? NOT_AVAILABLE);
  add('Sequence number to time mapping', seqnoTimeText(plain('seqno.time.map')));
  return lines;
}

function average(sum: bigint, count: bigint): number {
  return count === 0n ? 0 : Number(sum) / Number(count);
}

/**
 * As C's `%f`. toFixed differs on exact ties, which it rounds up and C to even: at six decimals a tie is an odd
 * multiple of 1/128.
 */
export function sixDecimals(value: number): string {
  const in128ths = value * 128;
  if (!Number.isInteger(in128ths) || in128ths % 2 === 0) return value.toFixed(6);
  const below = (in128ths * 15625 - 1) / 2;
  return ((below + (below % 2)) / 1e6).toFixed(6);
}

function seqnoTimeText(bytes: Uint8Array): string {
  try {
    return decodeSeqnoTimeMap(bytes)
      .map(([seqno, time]) => `${seqno}->${time},`)
      .join('');
  } catch (error) {
    if (error instanceof CorruptionError) return NOT_AVAILABLE;
    throw error;
  }
}
