import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { toHex } from '../../src/bytes/text.ts';
import { withPending } from '../../src/errors.ts';
import { BlockIterator } from '../../src/format/block/block-iterator.ts';
import type { FilterContent } from '../../src/format/filter/added-keys.ts';
import { fillFastLocalBloom } from '../../src/format/filter/bloom-fill.ts';
import { fastLocalBloomProbes } from '../../src/format/filter/bloom-math.ts';
import { createFilterBuilder } from '../../src/format/filter/create-filter-builder.ts';
import { findFilterBlock } from '../../src/format/filter/filter-block.ts';
import type { FilterBuilder } from '../../src/format/filter/filter-builder.ts';
import { FilterPartitionIndex } from '../../src/format/filter/filter-partition-index.ts';
import { parseFilterPolicy } from '../../src/format/filter/filter-policy.ts';
import type { FilterReader } from '../../src/format/filter/filter-reader.ts';
import { filterProbeEnd, filterUse } from '../../src/format/filter/filter-use.ts';
import { FullFilterBuilder } from '../../src/format/filter/full-filter-builder.ts';
import { HashCollector } from '../../src/format/filter/hash-collector.ts';
import { openFilter } from '../../src/format/filter/open-filter.ts';
import {
  filterPartitionBytes,
  PartitionedFilterBuilder,
} from '../../src/format/filter/partitioned-filter-builder.ts';
import { ribbonSlots } from '../../src/format/filter/ribbon-math.ts';
import { solveRibbon } from '../../src/format/filter/ribbon-solve.ts';
import { listDataBlocks } from '../../src/format/index/data-blocks.ts';
import { IndexBlockIterator } from '../../src/format/index/index-block-iterator.ts';
import { TRAILER_SIZE } from '../../src/format/internal-key.ts';
import { openTable, type TableReader } from '../../src/format/table-reader.ts';
import { openNodeEnvironment } from '../../src/node/environment.ts';
import { fixtures, sharedFixtures } from '../support/fixtures.ts';

const environment = await openNodeEnvironment();
const { keyHash } = environment;

interface OpenFile {
  table: TableReader;
  /** Internal keys, by data block. */
  blocks: Uint8Array[][];
  separators: Uint8Array[];
  /** The data blocks that begin an index partition. */
  partitionStarts: Set<number>;
}

interface OpenFilters {
  readers: FilterReader[];
  /** Stored contents: of the full filter, or of all partitions. */
  contents: Uint8Array[];
  /** Which filter knows the internal key. */
  find(key: Uint8Array): number;
}

async function openFile(path: string): Promise<OpenFile> {
  const table = await withPending(() =>
    openTable(memorySource(new Uint8Array(readFileSync(path)), path), environment),
  );
  const list = await listDataBlocks(table);
  const dictionary = await withPending(() => table.readDictionary());
  const blocks: Uint8Array[][] = [];
  for (let i = 0; i < list.count; i++) {
    const handle = { offset: list.offsets[i]!, size: list.sizes[i]! };
    blocks.push(keysOf(await withPending(() => table.blocks.read(handle, 'data', dictionary))));
  }
  const partitionStarts = new Set<number>();
  let before = 0;
  for (let i = 0; i < list.partitions.count; i++) {
    const handle = { offset: list.partitions.offsets[i]!, size: list.partitions.sizes[i]! };
    const contents = await withPending(() => table.blocks.read(handle, 'index_partition'));
    partitionStarts.add(before);
    const entries = new IndexBlockIterator(contents, table.index!);
    while (entries.next()) before++;
  }
  const separators = blocks.map((_, i) => list.separators.at(i).slice());
  return { table, blocks, separators, partitionStarts };
}

function keysOf(contents: Uint8Array): Uint8Array[] {
  const block = new BlockIterator();
  block.reset(contents);
  const keys: Uint8Array[] = [];
  while (block.next()) keys.push(block.key.slice(0, block.keyLength));
  return keys;
}

async function openFilters({ table }: OpenFile): Promise<OpenFilters | undefined> {
  const found = findFilterBlock(table.metaindex ?? []);
  if (found === undefined || found.layout === 'per_block') return undefined;
  const { layout, entry } = found;
  if (layout === 'full') {
    const contents = await withPending(() => table.blocks.read(entry, 'filter'));
    return { readers: [openFilter(contents)], contents: [contents], find: () => 0 };
  }
  const top = await withPending(() => table.blocks.read(entry, 'filter_index'));
  const index = new FilterPartitionIndex(top, table.index!, table.storedComparator!);
  const contents: Uint8Array[] = [];
  for (let i = 0; i < index.count; i++) {
    const handle = { offset: index.offsets[i]!, size: index.sizes[i]! };
    contents.push(await withPending(() => table.blocks.read(handle, 'filter_partition')));
  }
  return {
    readers: contents.map((bytes) => openFilter(bytes)),
    contents,
    find: (key) => index.find(key, 0, key.length),
  };
}

/** Where the user key ends that filters know: without timestamp. */
function keyEnd(table: TableReader, key: Uint8Array): number {
  return key.length - TRAILER_SIZE - table.storedTimestampSize;
}

interface Probes {
  asked: number;
  passed: number;
}

function probe({ table }: OpenFile, filters: OpenFilters, keys: Iterable<Uint8Array>): Probes {
  const use = filterUse(table.properties);
  const probes = { asked: 0, passed: 0 };
  for (const key of keys) {
    const end = filterProbeEnd(use, key, 0, keyEnd(table, key));
    if (end < 0) continue;
    probes.asked++;
    if (filters.readers[filters.find(key)]!.mayContain(keyHash, key, 0, end)) probes.passed++;
  }
  return probes;
}

const ownTables = fixtures()
  .filter(({ format, expected }) => format === 'block-based' && expected !== undefined)
  .map(({ name, path }) => ({ name, path }));
const shared = sharedFixtures().tables.filter(({ name }) => !/^(plain|leveldb_)/.test(name));
const tables = [...ownTables, ...shared.map(({ name, path }) => ({ name: `shared ${name}`, path }))];

describe('every key of a real file passes its filter, others do not', () => {
  const total = { asked: 0, passed: 0 };
  const kinds = new Map<string, number>();

  test.each(tables)('$name', async ({ path }) => {
    const file = await openFile(path);
    const filters = await openFilters(file);
    if (filters === undefined) return;
    for (const { kind } of filters.readers) kinds.set(kind, (kinds.get(kind) ?? 0) + 1);
    const keys = file.blocks.flat();
    const present = probe(file, filters, keys);
    expect(present.passed).toBe(present.asked);

    // Keys that differ in the first byte: in what a prefix extractor takes, too.
    const absent = keys
      .filter((key) => key.length > TRAILER_SIZE)
      .map((key) => {
        const other = key.slice();
        other[0] = other[0]! ^ 0x80;
        return other;
      });
    const refused = probe(file, filters, absent);
    total.asked += refused.asked;
    total.passed += refused.passed;
    if (filters.readers[0]!.facts.probes !== 1) {
      expect(refused.passed).toBeLessThanOrEqual(3 + 0.06 * refused.asked);
    }
  });

  test('rate over all files', () => {
    expect([...kinds.keys()]).toEqual(expect.arrayContaining(['fast_local_bloom', 'legacy_bloom', 'ribbon']));
    expect(total.asked).toBeGreaterThan(2000);
    // 10 bits a key give about 1 %; few files have fewer bits, and prefixes are asked for again and again.
    expect(total.passed / total.asked).toBeLessThan(0.03);
  });
});

/** The policies of test/fixtures/make/filters.cc; other files of the folder have bloom:10. */
const POLICIES: Record<string, string> = {
  'filter/bloom-2-bits.sst': 'bloom:2',
  'filter/bloom-20-bits.sst': 'bloom:20',
  'filter/bloom-fractional.sst': 'bloom:9.55',
  'filter/ribbon.sst': 'ribbon:10:-1',
  'filter/ribbon-fv2.sst': 'ribbon:10:-1',
  'filter/partitioned-ribbon.sst': 'ribbon:10:-1',
  'filter/ribbon-flush-bloom.sst': 'ribbon:10',
};

describe('filters of RocksDB 7.8.3, built again', () => {
  test.each(fixtures().filter(({ name }) => name.startsWith('filter/')))('$name', async ({ name, path }) => {
    const file = await openFile(path);
    const filters = (await openFilters(file))!;
    const builder = builderFor(file, POLICIES[name] ?? 'bloom:10');
    const content: FilterContent = { ...contentOf(file), rules: 'before_9_6' };
    // The small files of few keys have a metadata_block_size of 96, those of many 512.
    const size = name.includes('ribbon') && !name.includes('flush') ? 512 : 96;
    const built =
      findFilterBlock(file.table.metaindex!)!.layout === 'full'
        ? fullFilter(file, builder, content)
        : partitions(file, builder, content, size);
    expect(built.filters.map(toHex)).toEqual(filters.contents.map(toHex));
    expect(built.entries).toBe(file.table.properties!.count('rocksdb.num.filter_entries'));
  });
});

/**
 * Later releases fit the size of a filter to their allocator (`optimize_filters_for_memory`): what is in it, and how
 * many bits a key has, can be built again for the size that it got.
 */
describe('filters of RocksDB 9.7 to 11.9, built again at their size', () => {
  const modern = fixtures()
    .filter(({ name, format }) => name.startsWith('modern/') && format === 'block-based')
    .map(({ name, path }) => ({ name, path }));
  const later = shared
    .filter(({ name }) => !name.startsWith('old_'))
    .map(({ name, path }) => ({ name: `shared ${name}`, path }));
  let built = 0;

  test.each([...modern, ...later])('$name', async ({ path }) => {
    const file = await openFile(path);
    const filters = await openFilters(file);
    if (filters === undefined) return;
    const { formatVersion } = file.table.footer;
    const { policy, metadataBlockSize } = optionsBeside(path, filters.readers[0]!);
    const own = createFilterBuilder(parseFilterPolicy(policy)!, { formatVersion, level: -1 }, keyHash)!;
    const builder = new ResizedBuilder(own, filters.readers);
    const isFull = findFilterBlock(file.table.metaindex!)!.layout === 'full';
    const again = isFull
      ? fullFilter(file, builder, contentOf(file))
      : partitions(file, builder, contentOf(file), metadataBlockSize);
    expect(again.entries).toBe(file.table.properties!.count('rocksdb.num.filter_entries'));
    expect(again.filters.map(toHex)).toEqual(filters.contents.map(toHex));
    built += filters.contents.length;
  });

  test('there were some', () => expect(built).toBeGreaterThanOrEqual(2));
});

/** Gives each filter the size of the stored one, and the probes that RocksDB then takes. */
class ResizedBuilder implements FilterBuilder {
  readonly kind: FilterBuilder['kind'];
  private readonly collector = new HashCollector(keyHash);
  private finished = 0;

  constructor(
    private readonly own: FilterBuilder,
    private readonly stored: readonly FilterReader[],
  ) {
    this.kind = own.kind;
  }

  addKey(bytes: Uint8Array, start: number, end: number): void {
    this.own.addKey(bytes, start, end);
    this.collector.addKey(bytes, start, end);
  }

  addKeyAndPrefix(bytes: Uint8Array, start: number, prefixEnd: number, end: number): void {
    this.own.addKeyAndPrefix(bytes, start, prefixEnd, end);
    this.collector.addKeyAndPrefix(bytes, start, prefixEnd, end);
  }

  addHash(): void {
    throw new Error('not called');
  }

  get entries(): number {
    return this.own.entries;
  }

  hasEntries(count: number): boolean {
    return this.own.hasEntries(count);
  }

  entriesFor(size: number): number {
    return this.own.entriesFor(size);
  }

  finish(): Uint8Array {
    const { kind, facts } = this.stored[this.finished++]!;
    const filter = this.own.finish();
    const { entries, hashes } = this.collector;
    this.collector.reset();
    expect(openFilter(filter).kind).toBe(kind);
    if (kind === 'fast_local_bloom') {
      const probes = fastLocalBloomProbes(Math.trunc((facts.dataBytes * 8000) / entries));
      return fillFastLocalBloom(hashes, entries, facts.dataBytes, probes);
    }
    if (kind === 'ribbon') return solveRibbon(hashes, entries, ribbonSlots(entries), facts.dataBytes)!;
    return filter;
  }
}

/** What the OPTIONS file of the table's database says; loose tables were made with 10 bits a key. */
function optionsBeside(path: string, { kind }: FilterReader): { policy: string; metadataBlockSize: number } {
  const folder = dirname(path);
  const file = readdirSync(folder).find((name) => name.startsWith('OPTIONS-'));
  if (file === undefined) {
    return { policy: kind === 'ribbon' ? 'ribbon:10:-1' : 'bloom:10', metadataBlockSize: 4096 };
  }
  const text = readFileSync(join(folder, file), 'utf8');
  const value = (name: string) => new RegExp(`^  ${name}=(.*)$`, 'm').exec(text)![1]!;
  return { policy: value('filter_policy'), metadataBlockSize: Number(value('metadata_block_size')) };
}

function builderFor({ table }: OpenFile, policy: string): FilterBuilder {
  const { formatVersion } = table.footer;
  return createFilterBuilder(parseFilterPolicy(policy)!, { formatVersion, level: -1 }, keyHash)!;
}

function contentOf({ table }: OpenFile): FilterContent {
  return filterUse(table.properties);
}

function fullFilter(file: OpenFile, builder: FilterBuilder, content: FilterContent) {
  const full = new FullFilterBuilder(builder, content);
  for (const key of file.blocks.flat()) full.addKey(key, 0, keyEnd(file.table, key));
  const { entries } = full;
  return { filters: [full.finish()!], entries };
}

/** Cut where the file's index is cut: before the entry of the block that has ended. */
function partitions(file: OpenFile, builder: FilterBuilder, content: FilterContent, size: number) {
  const { table, blocks, separators, partitionStarts } = file;
  const decoupled = table.properties!.get('rocksdb.block.based.table.decoupled.partitioned.filters') === true;
  const partitioned = new PartitionedFilterBuilder(builder, {
    ...content,
    partitionBytes: filterPartitionBytes(size, 10),
    decoupled,
  });
  const asked: number[] = [];
  for (const [i, keys] of blocks.entries()) {
    for (const [j, key] of keys.entries()) {
      if (!decoupled) {
        if (partitioned.isFull) asked.push(i);
        // Block i - 1 has ended, and its entry was the first of a partition.
        const cut = j === 0 && i > 1 && partitionStarts.has(i - 1);
        if (cut) partitioned.cut(separators[i - 1]!, key, 0, keyEnd(table, key));
      }
      partitioned.addKey(key, 0, keyEnd(table, key));
    }
  }
  if (!decoupled) partitioned.cut(separators.at(-1)!, undefined, 0, 0);
  // Whoever asked was answered at the next entry.
  for (const block of asked) {
    const answered = block === blocks.length - 1 || partitionStarts.has(block);
    expect(answered, `cut asked for in block ${block} of ${blocks.length}`).toBe(true);
  }
  const { entries } = partitioned;
  return { filters: partitioned.finish().map(({ contents }) => contents), entries };
}
