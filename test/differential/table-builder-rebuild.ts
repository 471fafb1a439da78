/** Reads a table with our reader and writes its entries again with our builder: the same options, the same file. */
import { memorySource } from '../../src/bytes/source.ts';
import { utf8Bytes } from '../../src/bytes/text.ts';
import { withPending } from '../../src/errors.ts';
import { BlockIterator } from '../../src/format/block/block-iterator.ts';
import { visitBlocks } from '../../src/format/block-pipeline.ts';
import { listDataBlocks } from '../../src/format/index/data-blocks.ts';
import { IndexBlockIterator, IndexType } from '../../src/format/index/index-block-iterator.ts';
import { decodeProperties, type TableProperties } from '../../src/format/properties.ts';
import type { PropertyCollector } from '../../src/format/table-builder/property-collector.ts';
import { openTableBuilder, type TableResult } from '../../src/format/table-builder/table-builder.ts';
import type { TableIdentity, TableOptions } from '../../src/format/table-builder/table-options.ts';
import { MemorySink } from '../../src/format/table-builder/table-sink.ts';
import { openTable, type TableReader } from '../../src/format/table-reader.ts';
import { NodeEncoderRegistry } from '../../src/node/encoders.ts';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';

export interface Entry {
  key: Uint8Array;
  value: Uint8Array;
}

export interface TableContents {
  entries: Entry[];
  tombstones: { startKey: Uint8Array; end: Uint8Array }[];
}

export async function readTable(
  bytes: Uint8Array,
  environment: NodeEnvironment,
): Promise<{ table: TableReader; contents: TableContents }> {
  const table = await withPending(() => openTable(memorySource(bytes, 'table'), environment));
  if (table.problems.length > 0) throw table.problems[0];
  const dictionary = table.readDictionary();
  const list = await listDataBlocks(table);
  if (list.problems.length > 0) throw list.problems[0]!.error;
  const entries: Entry[] = [];
  const iterator = new BlockIterator();
  await visitBlocks(table.blocks, list, { blockType: 'data', dictionary }, (block) => {
    if (block.error !== undefined) throw block.error;
    iterator.reset(block.contents);
    while (iterator.next()) {
      entries.push({
        key: iterator.key.slice(0, iterator.keyLength),
        value: iterator.data.slice(iterator.valueStart, iterator.valueEnd),
      });
    }
    return true;
  });
  return { table, contents: { entries, tombstones: table.readRangeTombstones() } };
}

/** What a table says of its writer. */
export function identityOf(properties: TableProperties): TableIdentity {
  const count = (name: Parameters<TableProperties['count']>[0]) => properties.count(name) ?? 0;
  return {
    dbId: properties.get('rocksdb.creating.db.identity') ?? '',
    dbSessionId: properties.get('rocksdb.creating.session.identity') ?? '',
    dbHostId: properties.get('rocksdb.creating.host.identity') ?? '',
    originalFileNumber: count('rocksdb.original.file.number'),
    columnFamilyId: count('rocksdb.column.family.id'),
    columnFamilyName: properties.get('rocksdb.column.family.name') ?? '',
    creationTime: count('rocksdb.creation.time'),
    oldestKeyTime: count('rocksdb.oldest.key.time'),
    newestKeyTime: count('rocksdb.newest.key.time'),
    fileCreationTime: count('rocksdb.file.creation.time'),
    seqnoTimeMap: properties.get('rocksdb.seqno.time.map') ?? new Uint8Array(0),
  };
}

export async function writeTable(
  contents: TableContents,
  options: TableOptions,
  environment: NodeEnvironment,
  /** Base of the context checksums. */
  random = 12345,
): Promise<{ bytes: Uint8Array; result: TableResult }> {
  const sink = new MemorySink();
  const builder = await openTableBuilder(options, sink, {
    hashes: environment.hashes,
    encoders: new NodeEncoderRegistry(environment.hashes),
    keyHash: environment.keyHash,
    clock: { nowMicros: () => 1.7e15 },
    random: { uint32: () => random },
  });
  for (const { key, value } of contents.entries) {
    builder.add(key, 0, key.length, value, 0, value.length);
    if (builder.isSaturated) await builder.settle();
  }
  for (const { startKey, end } of contents.tombstones) {
    builder.addRangeTombstone(startKey, 0, startKey.length, end, 0, end.length);
  }
  const result = await builder.finish();
  return { bytes: sink.contents(), result };
}

/** Counts entries by kind, as the generator's collector does. */
export class CountingCollector implements PropertyCollector {
  readonly name = 'sstkit.Counter';
  private readonly counts = new Map<number, number>();
  /** EntryType of include/rocksdb/types.h by value type. */
  private static readonly KINDS: Readonly<Record<number, number>> = {
    0: 1,
    1: 0,
    2: 3,
    7: 2,
    15: 4,
    17: 5,
    20: 6,
    22: 7,
  };

  add(key: Uint8Array, _start: number, end: number): void {
    const kind = CountingCollector.KINDS[key[end - 8]!] ?? 8;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
  }

  finish(): [string, Uint8Array][] {
    return [...this.counts].map(([kind, count]) => [`sstkit.count.${kind}`, utf8Bytes(String(count))]);
  }
}

/** Contents of every block that is not data, uncompressed, by a name of its own. */
export async function metaBlocks(
  bytes: Uint8Array,
  environment: NodeEnvironment,
): Promise<Map<string, Uint8Array>> {
  const table = await withPending(() => openTable(memorySource(bytes, 'table'), environment));
  const blocks = new Map<string, Uint8Array>();
  const { metaindex, index } = table;
  for (const entry of metaindex ?? []) {
    if (entry.type === 'index') continue;
    blocks.set(entry.name, await withPending(() => table.blocks.read(entry, entry.type)));
  }
  if (index === undefined) return blocks;
  const top = await withPending(() => table.blocks.read(index.handle, 'index'));
  blocks.set('index', top);
  if (index.type !== IndexType.twoLevel) return blocks;
  const iterator = new IndexBlockIterator(top, index);
  while (iterator.next()) {
    const handle = { offset: iterator.offset, size: iterator.size };
    const contents = await withPending(() => table.blocks.read(handle, 'index_partition'));
    blocks.set(`index_partition ${blocks.size}`, contents);
  }
  return blocks;
}

/** Uncompressed contents of the data blocks. */
export async function dataBlocks(bytes: Uint8Array, environment: NodeEnvironment): Promise<Uint8Array[]> {
  const table = await withPending(() => openTable(memorySource(bytes, 'table'), environment));
  const dictionary = table.readDictionary();
  const blocks: Uint8Array[] = [];
  await visitBlocks(table.blocks, await listDataBlocks(table), { blockType: 'data', dictionary }, (block) => {
    if (block.error !== undefined) throw block.error;
    blocks.push(block.contents.slice());
    return true;
  });
  return blocks;
}

export { decodeProperties, openNodeEnvironment };
