import { readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv from 'ajv';
import { describe, expect, it } from 'vitest';
import { openNodeEnvironment } from '../../src/node/environment.ts';
import { FILTER_BENCH_DEFAULTS, type FilterBenchParams } from '../../src/tools/bench/filter-params.ts';
import { Random32 } from '../../src/tools/bench/random32.ts';
import { benchFilter, compareFilterReaders } from '../../src/tools/bench-filter.ts';
import { PROJECT_ROOT, runCli } from '../support/cli.ts';

const environment = await openNodeEnvironment();
const silent = {
  building: () => undefined,
  built: () => undefined,
  verifying: () => undefined,
  verified: () => undefined,
  phase: () => undefined,
  mode: () => undefined,
  done: () => undefined,
};
const ajv = new Ajv({ strict: true, strictTypes: false, strictRequired: false });
const isDocument = ajv.compile(
  JSON.parse(readFileSync(path.join(PROJECT_ROOT, 'schema/bench-filter.schema.json'), 'utf8')),
);

// biome-ignore lint/suspicious/noExplicitAny: the schema says what is in it
function parseDocument(text: Buffer): any {
  const document = JSON.parse(text.toString());
  if (!isDocument(document)) expect.fail(ajv.errorsText(isDocument.errors));
  return document;
}

const SMALL = { workingMemSizeMb: 0.25, averageKeysPerFilter: 300, mQueries: 0.02, seed: 5 };

function run(params: Partial<FilterBenchParams>) {
  return benchFilter(environment, { ...FILTER_BENCH_DEFAULTS, ...params }, silent);
}

/** Figures of RocksDB 7.8.3's filter_bench that do not depend on time, with its six digits. */
describe("the filters, hashes and false positives of RocksDB's filter_bench", () => {
  it.each([
    {
      impl: 0,
      filters: 582,
      mb: 0.25009,
      bits: 11.9073,
      prelim: 0.677178,
      average: 0.645026,
      worst: 11.7647,
    },
    {
      impl: 1,
      filters: 632,
      mb: 0.250206,
      bits: 10.9828,
      prelim: 0.648224,
      average: 0.765641,
      worst: 13.0435,
    },
    { impl: 2, filters: 792, mb: 0.250206, bits: 8.81308, prelim: 0.676768, average: 0.844302, worst: 12 },
  ])('--impl $impl, all phases', ({ impl, filters, mb, bits, prelim, average, worst }) => {
    const [{ build, verification, phases, fpRates, filterMetadataParses }] = run({ ...SMALL, impl }) as [
      ReturnType<typeof run>[0],
    ];
    expect(build.filters).toBe(filters);
    expect(digits(build.bytes / 2 ** 20)).toBe(mb);
    expect(digits(build.bitsPerKey)).toBe(bits);
    expect(digits(verification!.prelimFpPercent)).toBe(prelim);
    expect(digits(fpRates.averagePercent)).toBe(average);
    expect(digits(fpRates.worstPercent)).toBe(worst);
    expect(fpRates.bestPercent).toBe(0);
    expect(phases.map(({ phase, modes }) => [phase, modes.length])).toEqual([
      ['mixed', 6],
      ['inside', 6],
      ['outside', 6],
    ]);
    // Once for the bits reader and once for the block reader of each filter; never for a query.
    expect(filterMetadataParses).toBe(2 * filters);
  });

  it('the hashes of dry runs', () => {
    const runs = run({ impl: 1, bestCase: true, workingMemSizeMb: 1, mQueries: 0.2, runs: 2 });
    const hashes = runs.map(({ phases }) => phases.map(({ modes }) => modes[0]!.dryRunHash));
    expect(hashes).toEqual([
      ['4bc9d', 'd42e9', '76627'],
      ['c93f3', '75bc4', '4e5e1'],
    ]);
    expect(runs.map(({ fpRates }) => digits(fpRates.averagePercent))).toEqual([1.14331, 1.08364]);
    expect(digits(runs[0]!.build.predictedFpPercent!)).toBe(0.942095);
  });

  it('keys of one size and alignment, bits that are no whole number, a number of keys', () => {
    const [only] = run({
      quick: true,
      impl: 1,
      varyKeyAlignment: false,
      varyKeySizeLog2Interval: 30,
      seed: 7,
      mKeysTotalMax: 0.05,
      averageKeysPerFilter: 700,
      varyKeyCountRatio: 0,
      bitsPerKey: 6.5,
      mQueries: 0.07,
      keySize: 12,
    });
    expect(only!.build).toMatchObject({ filters: 72, keys: 50_000 });
    expect(digits(only!.build.bitsPerKey)).toBe(6.64192);
    expect(digits(only!.fpRates.averagePercent)).toBe(4.55645);
    expect(only!.verification).toBeNull();
    expect(only!.phases).toHaveLength(1);
  });

  it('full block reader, batches of four, modes that need more filters', () => {
    const [only] = run({
      useFullBlockReader: true,
      impl: 1,
      workingMemSizeMb: 0.1,
      mQueries: 0.01,
      batchSize: 4,
    });
    expect(only!.phases.map(({ modes }) => modes.map(({ dryRunHash }) => dryRunHash))).toEqual([
      ['22e83', 'f2e3d', 'f2e3d', null, '34c18', 'f3405'],
      ['bd0a4', 'b3a5e', 'b3a5e', null, '96d70', '17c28'],
      ['2495c', 'f0789', 'f0789', null, 'cf5c3', '10efa'],
    ]);
    expect(digits(only!.fpRates.averagePercent)).toBe(1.02963);
  });
});

it('metadata is parsed once a filter by the cached reader, once a query by the other', () => {
  const params = { ...FILTER_BENCH_DEFAULTS, ...SMALL, impl: 1 };
  const { modes, queriesPerRound } = compareFilterReaders(environment, params, 3);
  for (const { ways } of modes) {
    expect(ways.map(({ way, filterMetadataParses }) => [way, filterMetadataParses])).toEqual([
      ['bits', 0],
      ['block', 0],
      ['reparse', 3 * queriesPerRound],
    ]);
  }
});

it('Random32 is the 32-bit Mersenne Twister of the C++ library', () => {
  const random = new Random32(5489);
  let last = 0;
  for (let i = 0; i < 10_000; i++) last = random.uint32();
  // The value that the standard gives for the ten thousandth draw.
  expect(last).toBe(4123659995);
  for (let i = 0; i < 1000; i++) expect(random.below(7)).toBeLessThan(7);
  expect(random.below(0)).toBe(0);
});

describe('the command', () => {
  it('prints the lines of filter_bench, with its flags', async () => {
    const { status, stdout } = await runCli(
      'filter_bench -impl=1 -quick -working_mem_size_mb=1 -average_keys_per_filter=1000 -m_queries=0.7'.split(
        ' ',
      ),
    );
    expect(status).toBe(0);
    const number = '-?[\\d.]+(?:e-\\d\\d)?';
    expect(stdout.toString()).toMatch(
      new RegExp(
        [
          'Building\\.\\.\\.',
          `Build avg ns/key: ${number}`,
          'Number of filters: 809',
          'Total size \\(MB\\): 1\\.0002',
          'Bits/key stored: 10\\.2939',
          '-{28}',
          'Mixed inside/outside queries\\.\\.\\.',
          `  Single filter net ns/op: ${number}`,
          `  Random filter net ns/op: ${number}`,
          '    Average FP rate %: 0\\.84498',
          '-{28}',
          'Done\\. \\(For more info, run with -legend or -help\\.\\)',
          '$',
        ].join('\n'),
      ),
    );
  });

  it('compares the cached reader with one that is parsed each time', async () => {
    const { status, stdout } = await runCli(
      'bench-filter --compare --impl 1 --working-mem-size-mb 0.1 --m-queries 0.05'.split(' '),
    );
    expect(status).toBe(0);
    expect(stdout.toString()).toMatch(/full block reader, parsed each time/);
  });

  it("benches a file's own filter", async () => {
    const { status, stdout } = await runCli([
      'bench-filter',
      '--file',
      'test/fixtures/filter/ribbon.sst',
      '--file',
      'test/fixtures/filter/partitioned-ribbon.sst',
      '--json',
    ]);
    expect(status).toBe(0);
    const { files } = parseDocument(stdout);
    expect(files).toMatchObject([
      { path: 'test/fixtures/filter/ribbon.sst', kind: 'ribbon', filters: 1, keys: 1000 },
      { path: 'test/fixtures/filter/partitioned-ribbon.sst', kind: 'ribbon' },
    ]);
    for (const { insideNs, batchedNs, reparseNs, falsePositivePercent } of files) {
      for (const value of [insideNs, batchedNs, reparseNs]) expect(value).toBeGreaterThan(0);
      expect(falsePositivePercent).toBeLessThan(5);
    }
  });

  it('its documents keep to their schema', async () => {
    const small = '--working-mem-size-mb 0.1 --m-queries 0.02 --json'.split(' ');
    for (const way of [['--quick'], ['--impl=2'], ['--best-case'], ['--compare', '--rounds=2']]) {
      const { status, stdout } = await runCli(['bench-filter', ...small, ...way]);
      expect({ way, status }).toEqual({ way, status: 0 });
      parseDocument(stdout);
    }
  });

  it('refuses what cannot be meant', async () => {
    expect((await runCli(['bench-filter', '--impl', '3'])).status).toBe(2);
    expect((await runCli(['bench-filter', '--vary-key-count-ratio', '1.5'])).status).toBe(2);
    for (const flag of [
      '--working-mem-size-mb=1e9',
      '--m-keys-total-max=1e12',
      '--m-keys-total-max=-1',
      '--key-size=99999999999',
      '--average-keys-per-filter=2000000000',
      '--rounds=0',
      '--rounds=-3',
    ]) {
      const { status } = await runCli(['bench-filter', '--compare', flag]);
      expect({ flag, status }).toEqual({ flag, status: 2 });
    }
    expect((await runCli(['bench-filter', '--use_plain_table_bloom'])).status).toBe(4);
    expect((await runCli(['bench-filter', '--legend'])).stdout.toString()).toMatch(/^Legend:/);
  });
});

function digits(value: number): number {
  return Number(value.toPrecision(6));
}
