/** Look-ups in every fixture, and in tables made for it, against a naive sorted list. */

import { beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { BlockCache } from '../../src/engine/cache/block-cache.ts';
import type { DecodedBlock } from '../../src/engine/table/block-store.ts';
import { LookupTable, type LookupTableOptions } from '../../src/engine/table/lookup-table.ts';
import { TableSet } from '../../src/engine/table/table-set.ts';
import { withPending } from '../../src/errors.ts';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import { comparatorByName } from '../../src/operators/comparator.ts';
import { stringAppendOperator } from '../../src/operators/merge-operator.ts';
import {
  cappedPrefix,
  fixedPrefix,
  type PrefixExtractor,
  prefixExtractorByName,
} from '../../src/operators/prefix-extractor.ts';
import { fixtures } from '../support/fixtures.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { Model } from './model.ts';
import { runOperations } from './operations.ts';

const OPERATIONS = 1000 * TEST_SCALE;
const APPEND = stringAppendOperator(Uint8Array.of(0x2c));
const WRONG = fixedPrefix(2);

let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
  for (const codec of ['snappy', 'deflate_raw', 'zlib_stream', 'bzip2', 'lz4', 'zstd'] as const)
    await environment.codecs.load(codec);
});

/** The ways in which a table is opened: what is kept where must not change a row. */
function variants(): LookupTableOptions[] {
  const cache = (capacityBytes: number, policy: 'lru' | 's3fifo') =>
    new BlockCache<DecodedBlock>({ capacityBytes, policy });
  return [
    {},
    { blockCache: cache(1e6, 'lru') },
    { blockCache: cache(0, 'lru'), cacheIndexAndFilterBlocks: true, pinTopLevelIndex: false },
    { blockCache: cache(20_000, 's3fifo'), cacheIndexAndFilterBlocks: true, pinPartitions: true },
  ];
}

function extractorOfFile(name: string | undefined): PrefixExtractor | undefined {
  const named = prefixExtractorByName(name);
  return named.status === 'known' ? named.extractor : undefined;
}

const readable = fixtures().filter(
  ({ format, comparator, expected }) =>
    expected !== undefined &&
    (format === 'block-based' || format === 'leveldb') &&
    comparatorByName(comparator) !== undefined,
);

describe('rows of the fixture', () => {
  it('there are many', () => expect(readable.length).toBeGreaterThan(100));

  it.each(readable.map((fixture) => [fixture.name, fixture] as const))(
    '%s, seed 5',
    async (name, fixture) => {
      const bytes = fixture.bytes();
      const comparator = comparatorByName(fixture.comparator)!;
      const model = new Model(fixture.expected!(), comparator.withoutTimestamp, APPEND);
      const probe = await withPending(() => LookupTable.open(memorySource(bytes, name), environment));
      const stored = probe.reader.properties?.get('rocksdb.prefix.extractor.name');
      const right = extractorOfFile(stored) ?? cappedPrefix(3);
      const equal = extractorOfFile(stored) ?? cappedPrefix(3);
      const sets = variants().map((options) => {
        const table = LookupTable.open(memorySource(bytes, name), environment, {
          ...options,
          prefixExtractor: right,
        });
        return new TableSet([table], { mergeOperator: APPEND });
      });
      runOperations(
        { sets, model, extractors: [right, equal, WRONG, undefined] },
        new SeededRandom(5),
        OPERATIONS,
      );
    },
  );
});
