import { ByteReader } from '../bytes/byte-reader.ts';
import { readFixed32, readFixed64 } from '../bytes/fixed.ts';
import { toHex, utf8 } from '../bytes/text.ts';
import { CorruptionError } from '../errors.ts';
import { BlockIterator } from './block/block-iterator.ts';

/**
 * The properties block: names in strictly increasing bytewise order, each with a raw value.
 * This table has every name that RocksDB itself writes, by its on-disk spelling, with the value's encoding:
 *
 *   varint    varint64 -> number (above 2^53 - 1: bigint; 2^64 - 1 means "unknown")
 *   text      the bytes as they are
 *   flag      text `1` or `0` -> boolean
 *   fixed32, fixed64  little-endian
 *   bytes     opaque
 *   stats     a list of varint64
 *
 * What is not here was written by a collector of the application and stays as bytes.
 * Source: RocksDB table/table_properties.cc, table/meta_blocks.cc, block_based_table_factory.cc,
 * plain_table_factory.cc, cuckoo_table_builder.cc.
 */
const PROPERTIES = {
  'rocksdb.original.file.number': 'varint',
  'rocksdb.raw.key.size': 'varint',
  'rocksdb.raw.value.size': 'varint',
  'rocksdb.data.size': 'varint',
  'rocksdb.index.size': 'varint',
  'rocksdb.index.partitions': 'varint',
  'rocksdb.top-level.index.size': 'varint',
  'rocksdb.index.key.is.user.key': 'varint',
  'rocksdb.index.value.is.delta.encoded': 'varint',
  'rocksdb.udi.is.primary.index': 'varint',
  'rocksdb.filter.size': 'varint',
  'rocksdb.num.entries': 'varint',
  'rocksdb.num.filter_entries': 'varint',
  'rocksdb.deleted.keys': 'varint',
  'rocksdb.merge.operands': 'varint',
  'rocksdb.num.range-deletions': 'varint',
  'rocksdb.num.data.blocks': 'varint',
  'rocksdb.num.data.blocks.compression.rejected': 'varint',
  'rocksdb.num.data.blocks.compression.bypassed': 'varint',
  'rocksdb.num.uniform.blocks': 'varint',
  'rocksdb.format.version': 'varint',
  'rocksdb.fixed.key.length': 'varint',
  'rocksdb.column.family.id': 'varint',
  'rocksdb.column.family.name': 'text',
  'rocksdb.creation.time': 'varint',
  'rocksdb.oldest.key.time': 'varint',
  'rocksdb.newest.key.time': 'varint',
  'rocksdb.file.creation.time': 'varint',
  'rocksdb.tail.start.offset': 'varint',
  'rocksdb.sample_for_compression.slow.data.size': 'varint',
  'rocksdb.sample_for_compression.fast.data.size': 'varint',
  'rocksdb.data.block.restart.interval': 'varint',
  'rocksdb.index.block.restart.interval': 'varint',
  'rocksdb.separate.key.value.in.data.block': 'varint',
  'rocksdb.user.defined.timestamps.persisted': 'varint',
  'rocksdb.key.largest.seqno': 'varint',
  'rocksdb.key.smallest.seqno': 'varint',
  'rocksdb.creating.db.identity': 'text',
  'rocksdb.creating.session.identity': 'text',
  'rocksdb.creating.host.identity': 'text',
  'rocksdb.filter.policy': 'text',
  'rocksdb.comparator': 'text',
  'rocksdb.merge.operator': 'text',
  'rocksdb.prefix.extractor.name': 'text',
  'rocksdb.property.collectors': 'text',
  'rocksdb.compression': 'text',
  'rocksdb.compression_options': 'text',
  'rocksdb.seqno.time.map': 'bytes',
  'rocksdb.timestamp_min': 'bytes',
  'rocksdb.timestamp_max': 'bytes',
  'rocksdb.embedded.blob.stats': 'stats',
  'rocksdb.block.based.table.index.type': 'fixed32',
  'rocksdb.block.based.table.whole.key.filtering': 'flag',
  'rocksdb.block.based.table.prefix.filtering': 'flag',
  'rocksdb.block.based.table.decoupled.partitioned.filters': 'flag',
  'rocksdb.external_sst_file.version': 'fixed32',
  'rocksdb.external_sst_file.global_seqno': 'fixed64',
  'rocksdb.eligible.last.level.entries': 'text',
  'rocksdb.data.unix.write.time.average': 'text',
  'rocksdb.data.unix.write.time.max': 'text',
  'rocksdb.data.unix.write.time.min': 'text',
  'rocksdb.num.infinitely.old.entries': 'text',
  'rocksdb.plain.table.encoding.type': 'fixed32',
  'rocksdb.plain.table.bloom.version': 'text',
  'rocksdb.plain.table.bloom.numblocks': 'varint',
  'rocksdb.cuckoo.bucket.empty.key': 'bytes',
  'rocksdb.cuckoo.file.islastlevel': 'bytes',
  'rocksdb.cuckoo.hash.num': 'fixed32',
  'rocksdb.cuckoo.hash.size': 'fixed64',
  'rocksdb.cuckoo.hash.cuckooblocksize': 'fixed32',
  'rocksdb.cuckoo.hash.identityfirst': 'bytes',
  'rocksdb.cuckoo.hash.usemodule': 'bytes',
  'rocksdb.cuckoo.hash.userkeylength': 'fixed32',
  'rocksdb.cuckoo.value.length': 'fixed32',
} as const satisfies Record<string, Encoding>;

type Encoding = 'varint' | 'text' | 'flag' | 'fixed32' | 'fixed64' | 'bytes' | 'stats';

interface Decoded {
  varint: number | bigint;
  text: string;
  flag: boolean;
  fixed32: number;
  fixed64: bigint;
  bytes: Uint8Array;
  stats: number[];
}

export type PropertyName = keyof typeof PROPERTIES;

export type PropertyValue = Decoded[Encoding];

/** "Unknown" of a sequence number or a time, 2^64 - 1. */
export const UNKNOWN_UINT64 = 0xffffffffffffffffn;

/** The properties of a table: all of them as stored, and those that RocksDB writes decoded. */
export class TableProperties {
  /** The bytes of every property, as stored and in stored order, collectors' ones included. */
  readonly raw: ReadonlyMap<string, Uint8Array>;
  /** Names whose value does not decode: they are left out of `values`, as RocksDB's reader leaves them out. */
  readonly malformed: readonly string[];
  private readonly values = new Map<string, PropertyValue>();

  constructor(raw: ReadonlyMap<string, Uint8Array>) {
    this.raw = raw;
    const malformed: string[] = [];
    for (const [name, bytes] of raw) {
      const encoding = encodingOf(name);
      if (encoding === undefined) continue;
      const value = decodeValue(encoding, bytes);
      if (value === undefined) malformed.push(name);
      else this.values.set(name, value);
    }
    this.malformed = malformed;
  }

  get<Name extends PropertyName>(name: Name): Decoded[(typeof PROPERTIES)[Name]] | undefined {
    return this.values.get(name) as Decoded[(typeof PROPERTIES)[Name]] | undefined;
  }

  /** A count or size; undefined when absent, malformed or "unknown". */
  count(name: PropertyName): number | undefined {
    const value = this.values.get(name);
    return typeof value === 'number' ? value : undefined;
  }

  /** The properties that RocksDB itself writes, decoded, in stored order. */
  known(): IterableIterator<[string, PropertyValue]> {
    return this.values.entries();
  }

  /** What collectors of the application wrote, and what a newer release may write. */
  userCollected(): [string, Uint8Array][] {
    return [...this.raw].filter(([name]) => encodingOf(name) === undefined);
  }
}

/** Throws CorruptionError `block_format` or `entry_malformed`. */
export function decodeProperties(contents: Uint8Array): TableProperties {
  const raw = new Map<string, Uint8Array>();
  const block = new BlockIterator();
  block.reset(contents);
  while (block.next()) {
    const name = utf8(block.key.subarray(0, block.keyLength));
    raw.set(name, contents.slice(block.valueStart, block.valueEnd));
  }
  return new TableProperties(raw);
}

/** `rocksdb.num.range-deletions` as reports name it: `numRangeDeletions`. */
export function propertyJsonName(name: string): string {
  return name.replace(/^rocksdb\./, '').replace(/[._-]+(.)/g, (_, letter: string) => letter.toUpperCase());
}

/**
 * Property `rocksdb.seqno.time.map`: pairs of (sequence number, seconds since 1970), ascending.
 * Layout: varint64 number of pairs, then for each varint64 and varint64, the differences from the pair before; or nothing.
 * Throws CorruptionError `block_format`. Source: RocksDB db/seqno_to_time_mapping.cc.
 */
export function decodeSeqnoTimeMap(bytes: Uint8Array): [number, number][] {
  if (bytes.length === 0) return [];
  const reader = new ByteReader(bytes, 'block_format');
  const count = reader.varint64();
  if (count > reader.remaining / 2) {
    throw new CorruptionError('block_format', `${count} pairs do not fit into ${toHex(bytes)}`);
  }
  const pairs: [number, number][] = [];
  let seqno = 0;
  let time = 0;
  for (let i = 0; i < count; i++) {
    seqno += reader.varint64();
    time += reader.varint64();
    pairs.push([seqno, time]);
  }
  return pairs;
}

function encodingOf(name: string): Encoding | undefined {
  return Object.hasOwn(PROPERTIES, name) ? PROPERTIES[name as PropertyName] : undefined;
}

function decodeValue(encoding: Encoding, bytes: Uint8Array): PropertyValue | undefined {
  switch (encoding) {
    case 'text':
      return utf8(bytes);
    case 'flag':
      return bytes.length === 1 && bytes[0] === 0x31;
    case 'bytes':
      return bytes;
    case 'fixed32':
      return bytes.length >= 4 ? readFixed32(bytes, 0) : undefined;
    case 'fixed64':
      return bytes.length >= 8 ? readFixed64(bytes, 0) : undefined;
    case 'varint':
    case 'stats':
      return decodeVarints(encoding, bytes);
  }
}

function decodeVarints(encoding: 'varint' | 'stats', bytes: Uint8Array): PropertyValue | undefined {
  const reader = new ByteReader(bytes, 'block_format');
  try {
    if (encoding === 'varint') {
      const value = reader.varint64Big();
      return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
    }
    const values: number[] = [];
    while (reader.remaining > 0) values.push(reader.varint64());
    return values;
  } catch (error) {
    if (error instanceof CorruptionError) return undefined;
    throw error;
  }
}
