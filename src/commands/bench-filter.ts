import { boolean, integer, string } from '@oclif/core/flags';
import { gflagsWords } from '../argv.ts';
import { SstkitCommand } from '../base-command.ts';
import { InvalidArgumentError, UnsupportedError } from '../errors.ts';
import { ExitStatus, worstStatus } from '../exit-status.ts';
import { commonFlags, formatFlag, numberFlag, switchFlag, withDefault } from '../flags.ts';
import { FILTER_BENCH_DEFAULTS as DEFAULTS, type FilterBenchParams } from '../tools/bench/filter-params.ts';
import { faultEvents } from './fault-events.ts';

function count(description: string, value: number, helpValue = 'COUNT', min = 0) {
  return integer({ description: withDefault(description, value), default: value, helpValue, min });
}

function decimal(description: string, value: number, helpValue: string) {
  return numberFlag({ description: withDefault(description, value), default: value, helpValue });
}

/** Flags of RocksDB's bench that change nothing here: there is no allocator, and no cache to charge. */
const WITHOUT_EFFECT = [
  'optimize-filters-for-memory',
  'charge-filter-construction',
  'strict-capacity-limit',
] as const;

export default class BenchFilter extends SstkitCommand {
  static override summary = 'time Bloom and Ribbon filters: building and asking them';

  static override description =
    "The flags, defaults, phases and lines of RocksDB's filter_bench; flags may begin with one hyphen, and underscores " +
    'may stand for hyphens. Filters, keys and draws are those of filter_bench: sizes, hashes of the dry run and rates of ' +
    'false positives are equal, times can be compared. --legend explains the lines.';

  static override flags = {
    ...commonFlags,
    format: formatFlag(['text', 'json']),
    impl: integer({
      description: '0 legacy Bloom, 1 fast local Bloom (format_version 5), 2 Ribbon [default: 0]',
      default: DEFAULTS.impl,
      helpValue: '<0|1|2>',
    }),
    quick: switchFlag('a seventh of the queries, modes single and random, mixed keys alone, no verification'),
    'best-case': switchFlag('a third of the queries, a tenth of the memory, mode single alone'),
    'use-full-block-reader': switchFlag(
      "ask as a lookup does, through the filter block that the cache has with its parsed reader [default: off, the filter's bits alone]",
    ),
    reparse: switchFlag(
      'with --use-full-block-reader: decode the metadata at each query, as before RocksDB 6.6',
    ),
    compare: switchFlag(
      'bits reader, full block reader, and one that is parsed each time, in turns, with ratios',
    ),
    rounds: count('rounds of --compare', 11, 'COUNT', 1),
    seed: integer({
      description: 'seed of the draws [default: 0]',
      default: DEFAULTS.seed,
      helpValue: 'SEED',
    }),
    'working-mem-size-mb': decimal('MiB of filters', DEFAULTS.workingMemSizeMb, 'MIB'),
    'average-keys-per-filter': count('keys a filter', DEFAULTS.averageKeysPerFilter),
    'vary-key-count-ratio': decimal('by how much that varies, 0 to 1', DEFAULTS.varyKeyCountRatio, 'RATIO'),
    'key-size': count('bytes of a key, on average', DEFAULTS.keySize, 'BYTES'),
    'vary-key-alignment': boolean({
      description: 'keys begin at positions 0 to 3 of their buffer [default: on]',
      default: DEFAULTS.varyKeyAlignment,
      allowNo: true,
    }),
    'vary-key-size-log2-interval': count(
      'the same size for 2^N keys, then another; 30 and more for one size',
      DEFAULTS.varyKeySizeLog2Interval,
      'N',
    ),
    'batch-size': count('keys of a batch', DEFAULTS.batchSize),
    'bits-per-key': decimal('bits a key', DEFAULTS.bitsPerKey, 'BITS'),
    'm-queries': decimal('millions of queries a mode', DEFAULTS.mQueries, 'MILLIONS'),
    'm-keys-total-max': decimal(
      'millions of keys in all filters, in place of --working-mem-size-mb; 0 for no bound',
      DEFAULTS.mKeysTotalMax,
      'MILLIONS',
    ),
    'new-builder': switchFlag('a new builder for each filter [default: off]'),
    'net-includes-hashing': switchFlag('net times include the hash of the key [default: off]'),
    'detect-filter-construct-corruption': switchFlag('ask each new filter for its keys [default: off]'),
    'allow-bad-fp-rate': switchFlag('go on with more false positives than tolerable [default: off]'),
    runs: count('how often to build and ask anew', DEFAULTS.runs),
    legend: switchFlag('explain the lines, and do nothing else'),
    file: string({
      description: "bench this file's own filter in place of made ones; may be repeated",
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'SST',
    }),
    'use-plain-table-bloom': switchFlag('not supported: the Bloom filter of plain tables'),
    'optimize-filters-for-memory': switchFlag(
      'accepted, without effect: there is no allocator to fit sizes to',
    ),
    'block-cache-capacity-MB': integer({
      description: 'accepted, without effect',
      default: 8,
      helpValue: 'MIB',
    }),
    'charge-filter-construction': switchFlag('accepted, without effect'),
    'strict-capacity-limit': switchFlag('accepted, without effect'),
  };

  static override examples = [
    '<%= config.bin %> <%= command.id %> --quick --impl 1 --working-mem-size-mb 1 --m-queries 1',
    '<%= config.bin %> <%= command.id %> --compare --impl 1 --working-mem-size-mb 1 --m-queries 1',
    '<%= config.bin %> <%= command.id %> --file demo:basic.sst',
  ];

  override async run(): Promise<ExitStatus> {
    const { flags } = await this.parse(BenchFilter, gflagsWords(this.argv));
    const asJson = flags.json || flags.format === 'json';
    const render = await import('../render/bench-filter.ts');
    if (flags.legend) {
      this.stdout.writeText(render.FILTER_BENCH_LEGEND);
      return ExitStatus.ok;
    }
    if (flags['use-plain-table-bloom']) {
      throw new UnsupportedError(
        'use_plain_table_bloom',
        'true',
        'the Bloom filter of plain tables is neither built nor asked here',
      );
    }
    for (const name of WITHOUT_EFFECT) {
      if (flags[name]) this.note(`--${name} has no effect here`);
    }
    const { openNodeEnvironment } = await import('../node/environment.ts');
    const { machineFacts } = await import('../node/machine.ts');
    const { writeJsonDocument } = await import('../render/json.ts');
    const environment = await openNodeEnvironment();

    if (flags.file !== undefined) {
      const { benchFileFilters } = await import('../tools/bench-filter-files.ts');
      const statuses: ExitStatus[] = [];
      const events = faultEvents((text) => this.complain(text), statuses);
      const files = await benchFileFilters(environment, flags.file, flags.seed, events);
      if (asJson && files.length === 0) events.throwFailure();
      if (asJson) writeJsonDocument(this.stdout, { schema: 1, files, machine: machineFacts() });
      else if (files.length > 0) render.writeFileFilters(this.stdout, files);
      return worstStatus(ExitStatus.ok, ...statuses);
    }

    const params: FilterBenchParams = {
      seed: flags.seed,
      workingMemSizeMb: flags['working-mem-size-mb'],
      averageKeysPerFilter: flags['average-keys-per-filter'],
      varyKeyCountRatio: flags['vary-key-count-ratio'],
      keySize: flags['key-size'],
      varyKeyAlignment: flags['vary-key-alignment'],
      varyKeySizeLog2Interval: flags['vary-key-size-log2-interval'],
      batchSize: flags['batch-size'],
      bitsPerKey: flags['bits-per-key'],
      mQueries: flags['m-queries'],
      mKeysTotalMax: flags['m-keys-total-max'],
      useFullBlockReader: flags['use-full-block-reader'] || flags.reparse,
      reparse: flags.reparse,
      newBuilder: flags['new-builder'],
      impl: flags.impl,
      netIncludesHashing: flags['net-includes-hashing'],
      detectFilterConstructCorruption: flags['detect-filter-construct-corruption'],
      quick: flags.quick,
      bestCase: flags['best-case'],
      allowBadFpRate: flags['allow-bad-fp-rate'],
      runs: flags.runs,
    };
    const { filterBenchBytes } = await import('../tools/bench/filter-params.ts');
    const { memoryBytes } = machineFacts();
    if (filterBenchBytes(params) > memoryBytes) {
      const name = params.mKeysTotalMax > 0 ? 'm-keys-total-max' : 'working-mem-size-mb';
      const wanted = Math.ceil(filterBenchBytes(params) / 2 ** 20);
      throw new InvalidArgumentError(
        name,
        String(flags[name]),
        `--${name}: filters of ${wanted} MiB do not fit into the ${Math.floor(memoryBytes / 2 ** 20)} MiB of this machine`,
      );
    }
    const { benchFilter, compareFilterReaders } = await import('../tools/bench-filter.ts');
    if (flags.compare) {
      const comparison = compareFilterReaders(environment, params, flags.rounds);
      if (asJson) writeJsonDocument(this.stdout, { schema: 1, params, comparison, machine: machineFacts() });
      else render.writeFilterComparison(this.stdout, comparison);
      this.note(
        `medians of ${comparison.rounds} rounds in turns, ${comparison.queriesPerRound} queries each`,
      );
      return ExitStatus.ok;
    }
    const events = asJson
      ? SILENT
      : render.filterBenchLines(this.stdout, { ...params, flush: () => this.stdout.flush() });
    const runs = benchFilter(environment, params, events);
    if (asJson) writeJsonDocument(this.stdout, { schema: 1, params, runs, machine: machineFacts() });
    return ExitStatus.ok;
  }
}

const SILENT = {
  building: () => undefined,
  built: () => undefined,
  verifying: () => undefined,
  verified: () => undefined,
  phase: () => undefined,
  mode: () => undefined,
  done: () => undefined,
};
