/** Several overlapping tables, drawn from a seed, with options drawn too: rows against the naive list. */

import { beforeAll, describe, expect, it } from 'vitest';
import { RangeCache } from '../../src/bytes/async-source.ts';
import { memorySource } from '../../src/bytes/source.ts';
import { toHex } from '../../src/bytes/text.ts';
import { BlockCache } from '../../src/engine/cache/block-cache.ts';
import type { DecodedBlock } from '../../src/engine/table/block-store.ts';
import { LookupTable, type LookupTableOptions } from '../../src/engine/table/lookup-table.ts';
import { TableSet } from '../../src/engine/table/table-set.ts';
import { withPending } from '../../src/errors.ts';
import type { TableOptions } from '../../src/format/table-builder/table-options.ts';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import { bytewiseComparator, reverseBytewiseComparator } from '../../src/operators/comparator.ts';
import { stringAppendOperator } from '../../src/operators/merge-operator.ts';
import { cappedPrefix, fixedPrefix, noopPrefix } from '../../src/operators/prefix-extractor.ts';
import type { Expected, ExpectedEntry, ExpectedTombstone } from '../support/fixtures.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { makeTable, openMade } from './made-tables.ts';
import { bytesOf, Model, modelRow } from './model.ts';
import { runOperations } from './operations.ts';

const APPEND = stringAppendOperator(Uint8Array.of(0x2c));
const SEEDS = Array.from({ length: 12 * TEST_SCALE }, (_, i) => i + 1);

let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
  await environment.codecs.load('zstd');
});

/** Few keys over a small alphabet, so that tables, versions, tombstones and prefixes meet often. */
function drawData(random: SeededRandom, tables: number): Expected[] {
  const parts: { entries: ExpectedEntry[]; rangeTombstones: ExpectedTombstone[] }[] = [];
  for (let i = 0; i < tables; i++) parts.push({ entries: [], rangeTombstones: [] });
  const drawKey = (): string =>
    toHex(Uint8Array.from({ length: random.below(6) }, () => 0x61 + random.below(4)));
  const count = 50 + random.below(600);
  for (let seqno = 1; seqno <= count; seqno++) {
    // Mostly the newer tables have the newer versions, as compactions leave them; not always.
    const newest = Math.floor((seqno * tables) / (count + 1));
    const part = parts[random.chance(0.8) ? newest : random.below(tables)]!;
    const kind = random.below(20);
    if (kind === 0) {
      const [start, end] = [drawKey(), drawKey()].sort();
      if (start !== end) part.rangeTombstones.push({ start: start!, end: end!, seqno: String(seqno) });
      continue;
    }
    const type = kind < 4 ? 'delete' : kind < 9 ? 'merge' : 'put';
    const value = type === 'delete' ? '' : toHex(random.bytes(random.below(30)));
    part.entries.push({ key: drawKey(), seqno: String(seqno), type, value });
  }
  return parts;
}

function drawOptions(random: SeededRandom): TableOptions {
  const indexType = random.pick(['binary_search', 'two_level', 'first_key', 'hash'] as const);
  const filter = random.pick([
    'bloomfilter',
    'ribbonfilter',
    'rocksdb.internal.LegacyBloomFilter',
    'none',
  ] as const);
  const extractor = random.pick([fixedPrefix(2), cappedPrefix(3), noopPrefix, undefined]);
  const prefixExtractor = indexType === 'hash' ? (extractor ?? fixedPrefix(1)) : extractor;
  const formatVersion = random.pick([2, 3, 4, 5, 6, 7]);
  const writerProfile = formatVersion <= 5 && random.chance(0.5) ? '7.8' : '11.9';
  return {
    writerProfile,
    formatVersion,
    indexType,
    blockSize: random.pick([40, 200, 1000]),
    blockRestartInterval: random.pick([1, 2, 16]),
    indexBlockRestartInterval: indexType === 'hash' ? 1 : random.pick([1, 3]),
    metadataBlockSize: random.pick([50, 300]),
    partitionFilters: indexType === 'two_level' && random.chance(0.7),
    wholeKeyFiltering: prefixExtractor === undefined || random.chance(0.5),
    dataBlockIndexType: random.pick(['binary_search', 'binary_and_hash'] as const),
    separateKeyValueInDataBlock: writerProfile === '11.9' && random.chance(0.3),
    indexShortening: random.pick(['none', 'separators', 'separators_and_successor'] as const),
    compression: random.pick(['none', 'zstd'] as const),
    mergeOperatorName: 'StringAppendOperator',
    ...(prefixExtractor === undefined ? {} : { prefixExtractor }),
    ...(filter === 'none' ? {} : { filterPolicy: { name: filter, bitsPerKey: 10, bloomBeforeLevel: 0 } }),
  };
}

function union(parts: readonly Expected[]): Expected {
  return {
    entries: parts.flatMap(({ entries }) => entries),
    rangeTombstones: parts.flatMap(({ rangeTombstones }) => rangeTombstones),
  };
}

describe('overlapping tables', () => {
  it.each(SEEDS)('seed %i', async (seed) => {
    const random = new SeededRandom(seed);
    const comparator = random.chance(0.2) ? reverseBytewiseComparator : bytewiseComparator;
    const parts = drawData(random, 1 + random.below(5));
    if (comparator !== bytewiseComparator) {
      for (const part of parts) {
        for (const tombstone of part.rangeTombstones) {
          [tombstone.start, tombstone.end] = [tombstone.end, tombstone.start];
        }
      }
    }
    const made = await Promise.all(
      parts.map((part) => makeTable(environment, { ...drawOptions(random), comparator }, part)),
    );
    const right = fixedPrefix(2);
    const cached = (capacityBytes: number, options: LookupTableOptions = {}): LookupTableOptions => ({
      ...options,
      blockCache: new BlockCache<DecodedBlock>({ capacityBytes, policy: 's3fifo' }),
      cacheIndexAndFilterBlocks: true,
      prefixExtractor: right,
    });
    const variants = [
      {},
      cached(1e6),
      cached(3000, { pinTopLevelIndex: false }),
      cached(5000, { pinPartitions: true }),
    ];
    const sets = variants.map((options) => {
      const tables = made.map((bytes, i) => openMade(environment, bytes, `t${i}`, options));
      return new TableSet(tables, { mergeOperator: APPEND });
    });
    const model = new Model(union(parts), comparator, APPEND);
    const extractors = [right, fixedPrefix(2), cappedPrefix(3), noopPrefix, fixedPrefix(3), undefined];
    runOperations({ sets, model, extractors }, random, 1000);
  });
});

it('over a source that answers later every move is made again until it is done, and nothing is skipped', async () => {
  const random = new SeededRandom(77);
  const parts = drawData(random, 3);
  const model = new Model(union(parts), bytewiseComparator, APPEND);
  let fetches = 0;
  const tables: LookupTable[] = [];
  for (const [i, part] of parts.entries()) {
    const bytes = await makeTable(
      environment,
      { ...drawOptions(random), indexType: 'two_level', blockSize: 60, metadataBlockSize: 60 },
      part,
    );
    const inner = memorySource(bytes, `t${i}`);
    const later = {
      name: inner.name,
      size: inner.size,
      read: (offset: number, length: number) => {
        fetches++;
        return Promise.resolve(inner.read(offset, length));
      },
    };
    const source = new RangeCache(later, 0);
    tables.push(await withPending(() => LookupTable.open(source, environment)));
  }
  const set = new TableSet(tables, { mergeOperator: APPEND });
  const rows = model.rows(2n ** 56n - 1n);
  const iterator = await withPending(() => set.newIterator());
  const seen: unknown[] = [];
  const take = (): void => {
    const { key, keyLength, type, data, valueStart, valueEnd } = iterator;
    seen.push(modelRow(key.slice(0, keyLength), { type, value: data.subarray(valueStart, valueEnd) }));
  };
  await withPending(() => iterator.seekToFirst());
  for (; iterator.valid; await withPending(() => iterator.next())) take();
  expect(seen).toEqual(rows);
  seen.length = 0;
  await withPending(() => iterator.seekToLast());
  for (; iterator.valid; await withPending(() => iterator.previous())) take();
  expect(seen).toEqual(rows.toReversed());
  for (const { key, type, value } of rows) {
    const found = await withPending(() => set.get(bytesOf(key)));
    expect(modelRow(bytesOf(key), found!)).toEqual({ key, type, value });
  }
  expect(fetches).toBeGreaterThan(rows.length);
});
