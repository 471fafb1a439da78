/**
 * The hashes and the answers of librocksdb 7.8.3, key by key: for the filters of all fixtures, for filters of our own
 * builders, and for filters whose metadata was drawn at random.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { withPending } from '../../src/errors.ts';
import { createFilterBuilder } from '../../src/format/filter/create-filter-builder.ts';
import { BLOOM_MARKER } from '../../src/format/filter/filter-metadata.ts';
import { parseFilterPolicy } from '../../src/format/filter/filter-policy.ts';
import { openFilter } from '../../src/format/filter/open-filter.ts';
import { openTableFilter } from '../../src/format/filter/table-filter.ts';
import { openTable } from '../../src/format/table-reader.ts';
import { twinKeyHash } from '../../src/hash/key-hash.ts';
import { BLOOM_HASH_SEED, legacyHash32 } from '../../src/hash/legacy-hash.ts';
import { openNodeEnvironment } from '../../src/node/environment.ts';
import { fixtures, sharedFixtures } from '../support/fixtures.ts';
import { buildGenerator, canBuildGenerators } from '../support/librocksdb.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';

const GENERATOR = new URL('./filter-answers.cc', import.meta.url);
const available = canBuildGenerators("answers of librocksdb 7.8.3's filters");

const SEED = 50_917;
const KEYS = 100_000;
const HASH_BYTES = 12;
/** Of the fixtures' filters so many are compared, spread over all of them. */
const FIXTURE_FILTERS = 60 * TEST_SCALE;
/** Of command lines. */
const FILTERS_A_RUN = 200;

describe.skipIf(!available)(`filters against librocksdb, seed ${SEED}`, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'sstkit-filter-answers-'));
  const program = path.join(folder, 'filter-answers');
  const random = new SeededRandom(SEED);
  const keys = drawKeys(random, KEYS);
  let keyHash: Awaited<ReturnType<typeof openNodeEnvironment>>['keyHash'];

  beforeAll(async () => {
    buildGenerator(GENERATOR, program);
    ({ keyHash } = await openNodeEnvironment());
    const stored = Buffer.alloc(4 * KEYS + keys.offsets[KEYS]!);
    for (let i = 0, at = 0; i < KEYS; i++) {
      const key = keys.bytes.subarray(keys.offsets[i], keys.offsets[i + 1]);
      at = stored.writeUInt32LE(key.length, at);
      stored.set(key, at);
      at += key.length;
    }
    writeFileSync(path.join(folder, 'keys'), stored);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  /** Their answers, a row of KEYS bytes a filter. */
  function ask(filters: readonly Uint8Array[]): { hashes: Buffer; answers: Buffer[] } {
    const names = filters.map((contents, i) => {
      const name = path.join(folder, `filter-${i}`);
      writeFileSync(name, contents);
      return name;
    });
    const out = path.join(folder, 'out');
    execFileSync(program, [path.join(folder, 'keys'), out, ...names]);
    const bytes = readFileSync(out);
    const answers = filters.map((_, i) =>
      bytes.subarray(HASH_BYTES * KEYS + i * KEYS, HASH_BYTES * KEYS + (i + 1) * KEYS),
    );
    return { hashes: bytes.subarray(0, HASH_BYTES * KEYS), answers };
  }

  function expectSameAnswers(filters: readonly { name: string; contents: Uint8Array }[]): void {
    const ours = new Uint8Array(KEYS);
    for (let first = 0; first < filters.length; first += FILTERS_A_RUN) {
      const some = filters.slice(first, first + FILTERS_A_RUN);
      const { answers } = ask(some.map(({ contents }) => contents));
      for (const [i, { name, contents }] of some.entries()) {
        const reader = openFilter(contents);
        const found = reader.mayContainMany(keyHash, keys.bytes, keys.offsets, KEYS, ours);
        expect(Buffer.compare(ours, answers[i]!), name).toBe(0);
        expect(found, name).toBe(ours.reduce((sum, each) => sum + each, 0));
        for (let key = 0; key < 100; key++) {
          const may = reader.mayContain(keyHash, keys.bytes, keys.offsets[key]!, keys.offsets[key + 1]!);
          expect(may ? 1 : 0, name).toBe(ours[key]);
        }
      }
    }
  }

  it(`${KEYS} hashes of either kind`, () => {
    const { hashes } = ask([]);
    const twin = twinKeyHash();
    const batch = new Uint32Array(2 * KEYS);
    keyHash.xxph3Batch(keys.bytes, keys.offsets, KEYS, batch);
    const ours = Buffer.alloc(HASH_BYTES * KEYS);
    for (let i = 0; i < KEYS; i++) {
      const [start, end] = [keys.offsets[i]!, keys.offsets[i + 1]!];
      ours.writeUInt32LE(batch[2 * i]!, HASH_BYTES * i);
      ours.writeUInt32LE(batch[2 * i + 1]!, HASH_BYTES * i + 4);
      ours.writeUInt32LE(legacyHash32(keys.bytes, start, end, BLOOM_HASH_SEED), HASH_BYTES * i + 8);
      if (i % 10 > 0) continue;
      expect(twin.xxph3(keys.bytes, start, end)).toBe(batch[2 * i]);
      expect(twin.high()).toBe(batch[2 * i + 1]);
    }
    expect(Buffer.compare(ours, hashes)).toBe(0);
  });

  it('filters of all fixtures', async () => {
    const filters = await fixtureFilters();
    expect(filters.length).toBeGreaterThan(20);
    const kinds = new Set(filters.map(({ contents }) => openFilter(contents).kind));
    expect([...kinds]).toEqual(expect.arrayContaining(['fast_local_bloom', 'legacy_bloom', 'ribbon']));
    expectSameAnswers(filters);
  });

  it('filters of our builders, of 0 to 20,000 keys', () => {
    const filters: { name: string; contents: Uint8Array }[] = [];
    for (let round = 0; round < 12 * TEST_SCALE; round++) {
      const count = [0, 1, 2, 30, 1000, 20_000][round % 6]!;
      const bits = random.pick([1, 4.5, 10, 16, 30]);
      for (const name of ['LegacyBloom', 'FastLocalBloom', 'Standard128Ribbon']) {
        const policy = parseFilterPolicy(`rocksdb.internal.${name}Filter:${bits}`)!;
        const builder = createFilterBuilder(policy, { formatVersion: 5 }, keyHash)!;
        // Every third key of the list: those and no others are in it.
        for (let i = 0; i < count; i++)
          builder.addKey(keys.bytes, keys.offsets[3 * i]!, keys.offsets[3 * i + 1]!);
        filters.push({ name: `${name}, ${bits} bits, ${count} keys`, contents: builder.finish() });
      }
    }
    expectSameAnswers(filters);
  });

  it('bytes and metadata drawn at random', () => {
    const filters: { name: string; contents: Uint8Array }[] = [];
    for (let round = 0; round < 60 * TEST_SCALE; round++) {
      const marker = random.pick([BLOOM_MARKER, 0xfe, 0, 0xfd, 0x80, 1, 6, 30, 100]);
      // Of a Bloom filter without a whole line librocksdb reads the memory behind it.
      const short = marker === BLOOM_MARKER ? [0] : [0, 1, 15, 16];
      const dataBytes = random.pick([...short, 64, 128, 320, 640, 1024]);
      const contents = random.bytes(dataBytes + 5);
      contents[dataBytes] = marker;
      // Mostly metadata with a meaning: of Bloom no reserved bit, of Ribbon few blocks, of legacy few lines.
      const small = random.pick([0, 1, 2, 5, 10, 16, random.below(256)]);
      contents.set(
        random.pick([
          [0, small % 32, 0, 0],
          [small, random.below(12), 0, 0],
          [small, 0, 0, 0],
        ]),
        dataBytes + 1,
      );
      filters.push({
        name: `round ${round}: ${dataBytes} bytes, ${[...contents.subarray(dataBytes)]}`,
        contents,
      });
    }
    expectSameAnswers(filters);
  });

  async function fixtureFilters(): Promise<{ name: string; contents: Uint8Array }[]> {
    const environment = await openNodeEnvironment();
    const own = fixtures().filter(
      ({ format, expected }) => format === 'block-based' && expected !== undefined,
    );
    const shared = sharedFixtures().tables.filter(({ name }) => !/^(plain|leveldb_)/.test(name));
    const filters: { name: string; contents: Uint8Array }[] = [];
    for (const { name, path: file } of [...own, ...shared]) {
      const source = memorySource(new Uint8Array(readFileSync(file)), file);
      const table = await withPending(() => openTable(source, environment));
      const filter = await withPending(() => openTableFilter(table));
      for (let i = 0; i < (filter?.count ?? 0); i++) {
        const contents = await withPending(() => table.blocks.read(filter!.handleOf(i), filter!.blockType));
        filters.push({ name: `${name}, filter ${i}`, contents });
      }
    }
    const step = Math.max(1, filters.length / FIXTURE_FILTERS);
    return filters.filter((_, i) => Math.floor(i / step) !== Math.floor((i - 1) / step));
  }
});

/** Lengths of all branches of the hash; keys that differ in few bits, too. */
function drawKeys(random: SeededRandom, count: number): { bytes: Uint8Array; offsets: Uint32Array } {
  const offsets = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) {
    const length = random.chance(0.97) ? random.below(33) : random.below(random.pick([129, 241, 1500]));
    offsets[i + 1] = offsets[i]! + length;
  }
  const bytes = random.bytes(offsets[count]!);
  for (let i = 0; i < count; i += 7) bytes.fill(i % 251, offsets[i]!, offsets[i + 1]! - 1);
  return { bytes, offsets };
}
