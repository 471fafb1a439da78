/** Look-ups in damaged tables: an SstError or an answer, never another error, never a loop. */

import { beforeAll, expect, it } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { LookupTable } from '../../src/engine/table/lookup-table.ts';
import { TableSet } from '../../src/engine/table/table-set.ts';
import { SstError } from '../../src/errors.ts';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import { stringAppendOperator } from '../../src/operators/merge-operator.ts';
import { fixedPrefix } from '../../src/operators/prefix-extractor.ts';
import { fixture } from '../support/fixtures.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { makeTable } from './made-tables.ts';
import { bytesOf } from './model.ts';

const ROUNDS = 150 * TEST_SCALE;

let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
  // A changed byte may name any of them.
  for (const codec of ['snappy', 'deflate_raw', 'zlib_stream', 'bzip2', 'lz4', 'zstd'] as const)
    await environment.codecs.load(codec);
});

/** Everything that a reader does; more steps than there are entries mean that it goes round in circles. */
function readAll(bytes: Uint8Array, keys: readonly string[], limit: number): void {
  const table = LookupTable.open(memorySource(bytes, 'damaged'), environment, {
    prefixExtractor: fixedPrefix(2),
  });
  const set = new TableSet([table], { mergeOperator: stringAppendOperator(Uint8Array.of(0x2c)) });
  attempt(() => set.multiGet(keys.map(bytesOf)));
  for (const key of keys) attempt(() => set.get(bytesOf(key)));
  for (const prefixSameAsStart of [false, true]) {
    const iterator = set.newIterator({ prefixSameAsStart });
    attempt(() => {
      let steps = 0;
      for (iterator.seekToFirst(); iterator.valid; iterator.next())
        if (++steps > limit) expect.fail('in circles');
    });
    attempt(() => {
      let steps = 0;
      for (iterator.seekForPrev(bytesOf(keys.at(-1)!)); iterator.valid; iterator.previous())
        if (++steps > limit) expect.fail('in circles');
    });
  }
}

function attempt(step: () => unknown): void {
  try {
    step();
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
  }
}

/** Bytes of the file change behind checksums that are absent, so that every decoder meets them. */
async function subjects(): Promise<[string, Uint8Array, string[]][]> {
  const named = ['version/fv2-none.sst', 'version/fv4-none.sst', 'version/fv5-none.sst'].map(
    (name): [string, Uint8Array, string[]] => {
      const { bytes, expected } = fixture(name);
      return [name, bytes(), expected!().entries.map(({ key }) => key)];
    },
  );
  const { entries } = fixture('version/fv5-none.sst').expected!();
  const puts = entries.filter(({ type }) => type === 'put' || type === 'merge' || type === 'delete');
  for (const options of [
    { indexType: 'two_level', partitionFilters: true, metadataBlockSize: 50 },
    { indexType: 'first_key', dataBlockIndexType: 'binary_and_hash' },
    { separateKeyValueInDataBlock: true, indexBlockRestartInterval: 4 },
  ] as const) {
    const bytes = await makeTable(
      environment,
      {
        checksum: 'none',
        formatVersion: 5,
        blockSize: 100,
        filterPolicy: { name: 'bloomfilter', bitsPerKey: 10, bloomBeforeLevel: 0 },
        prefixExtractor: fixedPrefix(2),
        ...options,
      },
      { entries: puts, rangeTombstones: [] },
    );
    named.push([JSON.stringify(options), bytes, puts.map(({ key }) => key)]);
  }
  return named;
}

it(`${ROUNDS} damaged twins of each, seed 9`, async () => {
  const random = new SeededRandom(9);
  for (const [name, bytes, keys] of await subjects()) {
    for (let round = 0; round < ROUNDS; round++) {
      const twin = bytes.slice();
      for (let n = 1 + random.below(3); n > 0; n--) twin[random.below(twin.length)] = random.below(256);
      const asked = Array.from({ length: 5 }, () => random.pick(keys));
      try {
        readAll(twin, asked, 4 * twin.length);
      } catch (error) {
        if (!(error instanceof SstError))
          throw new Error(`${name}, round ${round}: ${error}`, { cause: error });
      }
    }
  }
});
