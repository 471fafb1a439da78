/**
 * Random damage to tables in which nothing hides anything else: what is salvaged verifies, has every entry of every
 * block that was left whole, and its holes lie around what is missing and around nothing else.
 */

import { describe, expect, it } from 'vitest';
import { readFixed32 } from '../../src/bytes/fixed.ts';
import { memorySource } from '../../src/bytes/source.ts';
import { withPending } from '../../src/errors.ts';
import { BlockIterator } from '../../src/format/block/block-iterator.ts';
import { BLOCK_TRAILER_SIZE, type BlockHandle } from '../../src/format/block-handle.ts';
import { visitBlocks } from '../../src/format/block-pipeline.ts';
import { parseFilterPolicy } from '../../src/format/filter/filter-policy.ts';
import { listDataBlocks } from '../../src/format/index/data-blocks.ts';
import type { TableOptions } from '../../src/format/table-builder/table-options.ts';
import { openTable } from '../../src/format/table-reader.ts';
import { compactTables } from '../../src/tools/compact.ts';
import { verifyPaths } from '../../src/tools/verify.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { environment, QUIET } from './compact-here.ts';
import { makeTable, type Version } from './history.ts';
import { MemoryFiles, request } from './memory-files.ts';

/** SSTKIT_SALVAGES=500 damages so many tables. */
const CASES = Number(process.env.SSTKIT_SALVAGES ?? 40 * TEST_SCALE);

function makeOptions(random: SeededRandom): TableOptions {
  const compression = random.pick(['none', 'none', 'snappy', 'zstd', 'lz4', 'zlib'] as const);
  return {
    formatVersion: 2 + random.below(6),
    checksum: random.pick(['crc32c', 'xxh32', 'xxh64', 'xxh3']),
    blockSize: 100 + random.below(500),
    compression,
    compressionOptions: { maxDictBytes: compression !== 'none' && random.chance(0.3) ? 400 : 0 },
    indexType: random.pick(['binary_search', 'two_level', 'first_key']),
    metadataBlockSize: 200,
    ...(random.chance(0.3) ? { filterPolicy: parseFilterPolicy('bloom:10')! } : {}),
  };
}

/** Each key once, and tombstones between them. */
function makeVersions(random: SeededRandom): Version[] {
  const versions: Version[] = [];
  const count = 20 + random.below(400);
  for (let i = 0; i < count; i++) {
    const key = `key${String(i).padStart(4, '0')}`;
    const seqno = 1 + random.below(10_000);
    const type = random.pick(['put', 'put', 'put', 'delete', 'merge'] as const);
    const value = type === 'delete' ? '' : `value ${random.below(100)} `.repeat(1 + random.below(5));
    versions.push({ key, seqno, type, value, end: '' });
    if (random.chance(0.02)) {
      versions.push({ key: `${key}+`, end: `${key}~`, seqno: seqno + 1, type: 'range_delete', value: '' });
    }
  }
  return versions;
}

const DAMAGES: readonly ((bytes: Uint8Array, random: SeededRandom) => Uint8Array)[] = [
  (bytes, random) => {
    for (let n = 1 + random.below(3); n > 0; n--) bytes[random.below(bytes.length)]! ^= 1 << random.below(8);
    return bytes;
  },
  (bytes, random) => {
    const start = random.below(bytes.length);
    return bytes.fill(0, start, start + 1 + random.below(2000));
  },
  (bytes, random) => {
    const start = random.below(bytes.length);
    bytes.set(random.bytes(Math.min(1 + random.below(600), bytes.length - start)), start);
    return bytes;
  },
  (bytes, random) => bytes.slice(0, 1 + random.below(bytes.length - 1)),
];

/** A block of the whole table, by what is in it. */
interface WholeBlock extends BlockHandle {
  keys: string[];
  compressed: boolean;
}

async function blocksOf(bytes: Uint8Array): Promise<{ data: WholeBlock[]; meta: Map<string, BlockHandle> }> {
  const table = await withPending(() => openTable(memorySource(bytes, 'whole'), environment));
  const list = await listDataBlocks(table);
  const dictionary = await withPending(() => table.readDictionary());
  const data: WholeBlock[] = [];
  const entries = new BlockIterator();
  await visitBlocks(table.blocks, list, { blockType: 'data', dictionary }, (block) => {
    entries.reset(block.contents);
    const keys: string[] = [];
    while (entries.next()) keys.push(Buffer.from(entries.key.slice(0, entries.keyLength - 8)).toString());
    const { offset, size, compressionType } = block;
    data.push({ offset, size, keys, compressed: compressionType !== 0 });
    return true;
  });
  return { data, meta: new Map((table.metaindex ?? []).map((entry) => [entry.name, entry])) };
}

function isSame(a: Uint8Array, b: Uint8Array, { offset, size }: BlockHandle): boolean {
  const end = offset + size + BLOCK_TRAILER_SIZE;
  return end <= b.length && Buffer.compare(a.subarray(offset, end), b.subarray(offset, end)) === 0;
}

async function statusOf(files: MemoryFiles, paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  await verifyPaths(
    files.environment,
    { paths, recursive: false, checksumsOnly: false, order: true, maxFindings: 100, strict: false },
    {
      report: ({ status, findings }) =>
        found.push(status, ...findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code)),
      skipped: () => undefined,
      progress: () => undefined,
    },
  );
  return found;
}

const text = (key: Uint8Array | null): string | null => (key === null ? null : Buffer.from(key).toString());

interface Salvaged {
  holes: number;
  missing: number;
  kept: number;
}

/** Salvages the damaged table and compares; undefined where there was nothing to be found. */
async function expectSalvaged(
  label: string,
  versions: readonly Version[],
  whole: Uint8Array,
  damaged: Uint8Array,
): Promise<Salvaged | undefined> {
  const { data, meta } = await blocksOf(whole);
  const files = new MemoryFiles();
  files.contents.set('damaged.sst', damaged);
  const asked = { salvage: true, mergeOperator: { status: 'none' as const } };
  let result: Awaited<ReturnType<typeof compactTables>>;
  try {
    result = await compactTables(files.environment, request(['damaged.sst'], asked), files.openOutput, QUIET);
  } catch (error) {
    // Nothing to be found: then no block may have been left whole.
    expect(String(error), label).toMatch(/no table|not a single block|cannot be read|no block/i);
    const dictionaryLost = meta.has('rocksdb.compression_dict');
    // From format_version 6 on it takes two blocks to tell the context that is in their checksums.
    const formatVersion = whole[whole.length - 12]!;
    // A version that is too new for what is known here is not read at all.
    const isTooNew = damaged.length === whole.length && readFixed32(damaged, whole.length - 12) > 7;
    if (!dictionaryLost && !isTooNew)
      expect(data.filter((block) => isSame(whole, damaged, block)).length, label).toBeLessThan(
        formatVersion < 6 ? 1 : 2,
      );
    return undefined;
  }
  const { outputs, holes } = result;
  if (outputs.length > 0) {
    expect(
      await statusOf(
        files,
        outputs.map(({ path }) => path),
      ),
      label,
    ).toEqual(['ok']);
  }
  const rows = await files.versions(outputs.map(({ path }) => path));
  const kept = new Set(rows.filter(({ type }) => type !== 'range_delete').map(({ key }) => key));
  const dictionary = meta.get('rocksdb.compression_dict');
  const hasDictionary = dictionary === undefined || isSame(whole, damaged, dictionary);
  for (const block of data) {
    if (!isSame(whole, damaged, block) || (block.compressed && !hasDictionary)) continue;
    const lost = block.keys.filter((key) => !kept.has(key));
    expect(lost, `${label}, block at ${block.offset}`).toEqual([]);
  }
  const ranges = holes.map(({ after, before, lostTombstones }) => ({
    after: text(after),
    before: text(before),
    lostTombstones,
  }));
  const pointHoles = ranges.filter(({ lostTombstones }) => !lostTombstones);
  const points = versions.filter(({ type }) => type !== 'range_delete');
  const missing = points.filter(({ key }) => !kept.has(key));
  for (const { key } of missing) {
    const named = pointHoles.some(
      ({ after, before }) => (after === null || after <= key) && (before === null || key <= before),
    );
    expect(named, `${label}: ${key} is missing, and in no hole of ${JSON.stringify(ranges)}`).toBe(true);
  }
  for (const { after, before } of pointHoles) {
    const inside = [...kept].filter(
      (key) => (after === null || after < key) && (before === null || key < before),
    );
    expect(inside, `${label}: kept, and in the hole ${after} to ${before}`).toEqual([]);
  }
  const tombstones = (list: readonly Version[]) =>
    list
      .filter(({ type }) => type === 'range_delete')
      .map(({ key, end, seqno }) => `${key} ${end} ${seqno}`)
      .sort();
  if (!ranges.some(({ lostTombstones }) => lostTombstones)) {
    expect(tombstones(rows), label).toEqual(tombstones(versions));
  }
  return { holes: holes.length, missing: missing.length, kept: kept.size };
}

async function salvageSeed(seed: number): Promise<Salvaged | undefined> {
  const random = new SeededRandom(seed);
  const versions = makeVersions(random);
  const whole = await makeTable(versions, makeOptions(random));
  const damaged = random.pick(DAMAGES)(whole.slice(), random);
  return expectSalvaged(`seed ${seed}`, versions, whole, damaged);
}

it.each([
  ['a partition of a lost index has the last keys of good blocks', 758],
  ['the top of an index, whose partitions are lost', 1503],
])('%s (seed %i)', async (_, seed) => {
  expect((await salvageSeed(seed))!.kept).toBeGreaterThan(0);
});

it(`${CASES} damaged tables`, async () => {
  const counts = { unreadable: 0, whole: 0, holes: 0, missing: 0, kept: 0 };
  for (let seed = 1; seed <= CASES; seed++) {
    const salvaged = await salvageSeed(seed);
    if (salvaged === undefined) {
      counts.unreadable++;
      continue;
    }
    counts.whole += salvaged.holes === 0 ? 1 : 0;
    counts.holes += salvaged.holes;
    counts.missing += salvaged.missing;
    counts.kept += salvaged.kept;
  }
  expect(counts.holes).toBeGreaterThan(CASES / 4);
  if (process.env.SSTKIT_SALVAGES !== undefined) console.warn(JSON.stringify({ CASES, ...counts }));
});

/** Nothing tells that a block is damaged then but its entries, which may look like any others. */
it('without checksums, a damaged block does not cost the others anything', async () => {
  let holes = 0;
  for (let seed = 1; seed <= CASES; seed++) {
    const random = new SeededRandom(seed);
    const versions = makeVersions(random);
    const options = { ...makeOptions(random), checksum: 'none', compression: 'none' } as const;
    const whole = await makeTable(versions, options);
    const { data } = await blocksOf(whole);
    const damagedBlock = random.pick(data);
    const damaged = whole.slice();
    for (let n = 1 + random.below(3); n > 0; n--) {
      damaged[damagedBlock.offset + random.below(damagedBlock.size)] = random.below(256);
    }
    const files = new MemoryFiles();
    files.contents.set('damaged.sst', damaged);
    const asked = { salvage: true, mergeOperator: { status: 'none' as const } };
    const result = await compactTables(
      files.environment,
      request(['damaged.sst'], asked),
      files.openOutput,
      QUIET,
    );
    const paths = result.outputs.map(({ path }) => path);
    expect(await statusOf(files, paths), `seed ${seed}`).toEqual(['ok']);
    const rows = await files.versions(paths);
    const kept = new Set(rows.map(({ key }) => key));
    const others = data.filter((block) => block !== damagedBlock).flatMap(({ keys }) => keys);
    expect(
      others.filter((key) => !kept.has(key)),
      `seed ${seed}`,
    ).toEqual([]);
    // A key that has become another one may fit in: only what is left out is known to be missing.
    if (rows.length < versions.length) expect(result.holes, `seed ${seed}`).not.toEqual([]);
    holes += result.holes.length;
  }
  expect(holes).toBeGreaterThan(CASES / 4);
});

/** Damage of public bug reports, to tables of 300 entries in small blocks. */
describe('damage that was reported', () => {
  const random = new SeededRandom(1);
  const versions = makeVersions(random).filter(({ type }) => type === 'put' || type === 'range_delete');
  const tables: [string, TableOptions][] = [
    ['format_version 5', { formatVersion: 5, blockSize: 300, compression: 'none' }],
    ['format_version 7, zstd', { formatVersion: 7, blockSize: 300, compression: 'zstd' }],
    ['LevelDB', { writerProfile: 'leveldb', blockSize: 300, compression: 'snappy' }],
  ];

  describe.each(tables)('%s', (name, options) => {
    const own = name === 'LevelDB' ? versions.filter(({ type }) => type === 'put') : versions;

    it.each([1, 48, 53, 100])('the last %i bytes are gone', async (count) => {
      const whole = await makeTable(own, options);
      const salvaged = await expectSalvaged(name, own, whole, whole.slice(0, -count));
      expect(salvaged).toMatchObject({ missing: 0 });
    });

    it('text is appended', async () => {
      const whole = await makeTable(own, options);
      const longer = new Uint8Array([...whole, ...new TextEncoder().encode('seventeen letters')]);
      expect(await expectSalvaged(name, own, whole, longer)).toMatchObject({ missing: 0 });
    });

    it('zeros lie across the border of two blocks', async () => {
      const whole = await makeTable(own, options);
      const { data } = await blocksOf(whole);
      const border = data[4]!.offset;
      const salvaged = await expectSalvaged(
        name,
        own,
        whole,
        whole.slice().fill(0, border - 40, border + 40),
      );
      expect(salvaged).toMatchObject({ missing: data[3]!.keys.length + data[4]!.keys.length });
    });

    it('one bit of a value is another', async () => {
      const whole = await makeTable(own, options);
      const { data } = await blocksOf(whole);
      const damaged = whole.slice();
      damaged[data[2]!.offset + 60]! ^= 1;
      expect(await expectSalvaged(name, own, whole, damaged)).toMatchObject({
        missing: data[2]!.keys.length,
      });
    });

    it('the first three blocks are good, and zeros follow', async () => {
      const whole = await makeTable(own, options);
      const { data } = await blocksOf(whole);
      const keys = data.slice(0, 3).flatMap((block) => block.keys);
      const damaged = whole.slice().fill(0, data[3]!.offset);
      expect(await expectSalvaged(name, own, whole, damaged)).toMatchObject({ kept: keys.length });
    });
  });
});
