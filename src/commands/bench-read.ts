import { string as pathArgument } from '@oclif/core/args';
import { boolean, integer, string } from '@oclif/core/flags';
import { SstkitCommand } from '../base-command.ts';
import type { BlockCacheOptions } from '../engine/cache/block-cache.ts';
import type { LookupHooks } from '../engine/table/block-store.ts';
import type { LookupTableOptions } from '../engine/table/lookup-table.ts';
import { IoError, type SstError } from '../errors.ts';
import { ExitStatus, statusOfError, worstStatus } from '../exit-status.ts';
import {
  byteCountFlag,
  commonFlags,
  comparatorFlag,
  formatFlag,
  mergeOperatorFlag,
  noFilterFlag,
  recursiveFlag,
  switchFlag,
  tsSizeFlag,
  withDefault,
} from '../flags.ts';
import type { ReadBenchParams } from '../tools/bench-read.ts';
import type { LookupRequest } from '../tools/lookup-inputs.ts';
import { parseMergeOperator } from './parse-merge-operator.ts';

const MAX_COUNT = Number.MAX_SAFE_INTEGER;

function count(description: string, value: number, min = 1) {
  return integer({
    description: withDefault(description, value),
    default: value,
    helpValue: 'COUNT',
    min,
  });
}

export default class BenchRead extends SstkitCommand {
  static override summary = 'time look-ups and iterators on table files, with the lines of db_bench';

  static override description =
    'Keys are drawn from those of the tables. Tables are read as one, newest first; of a DB directory the table files ' +
    'alone, without MANIFEST and logs. Names take [X<runs>-W<warm-ups>] behind them.';

  static override args = {
    path: pathArgument({ description: 'table files and directories', required: true, multiple: true }),
  };

  static override flags = {
    ...commonFlags,
    format: formatFlag(['text', 'json']),
    benchmarks: string({
      description:
        'what to run, parted by commas: readrandom, readmissing, multireadrandom, seekrandom, readseq',
      default: 'readrandom,readseq',
      helpValue: 'NAME[X<n>],...',
    }),
    reads: count('operations of a run', 100_000),
    num: integer({ description: 'keys to draw from [default: all]', helpValue: 'COUNT', min: 1 }),
    seed: integer({ description: 'seed of the draws [default: 0]', default: 0 }),
    'batch-size': count('keys of a multireadrandom', 32),
    'seek-nexts': count('rows after each seekrandom', 0, 0),
    'cache-size': byteCountFlag({
      description: 'bytes of the block cache',
      default: 32 * 1024 * 1024,
    }),
    'cache-policy': string({
      description: 'which block goes',
      options: ['lru', 's3fifo'],
      default: 'lru',
    }),
    'strict-capacity-limit': switchFlag('refuse pins beyond the cache size [default: off]'),
    'cache-index-and-filter-blocks': switchFlag(
      'index, filter and dictionary go through the cache [default: off]',
    ),
    'pin-top-level-index': boolean({
      description: 'with that: the top of the index stays in the cache [default: on]',
      default: true,
      allowNo: true,
    }),
    'pin-filter': switchFlag('with that: the filter, or its top level, stays [default: off]'),
    'pin-dictionary': switchFlag('with that: the dictionary stays [default: off]'),
    'pin-partitions': switchFlag('partitions of index and filter are read at once, and stay [default: off]'),
    'prefix-extractor': string({
      description: 'extractor to read with [default: that of the file, for point look-ups alone]',
      helpValue: 'fixed:N|capped:N|noop',
    }),
    cf: string({ description: 'column family [default: default]', helpValue: 'NAME' }),
    comparator: comparatorFlag,
    'ts-size': tsSizeFlag,
    'merge-operator': mergeOperatorFlag,
    'no-filter': noFilterFlag,
    recursive: recursiveFlag,
    zstd: string({
      description: 'who decodes zstd: auto takes zstd-napi where it is installed',
      options: ['auto', 'wasm'],
      default: 'auto',
    }),
    statistics: switchFlag("print the counters, by RocksDB's ticker names [default: off]"),
    'compare-dict-fetch': switchFlag(
      'readrandom with the dictionary fetched for data blocks alone and for every block, in turns [default: off]',
    ),
    'compare-extractor': switchFlag(
      'gets of missing prefixes with --prefix-extractor, another instance, another extractor, none, and with names ' +
        'compared at each [default: off]',
    ),
    rounds: count('rounds of a comparison', 10),
  };

  static override examples = [
    '<%= config.bin %> <%= command.id %> demo:basic.sst --reads 1000',
    '<%= config.bin %> <%= command.id %> demo:basic.sst --benchmarks=readrandom[-X3],seekrandom --reads=1000 --statistics',
    '<%= config.bin %> <%= command.id %> demo:basic.sst demo:tombstones.sst --benchmarks multireadrandom,readmissing --reads 1000 --json',
  ];

  override async run(): Promise<ExitStatus> {
    const { args, flags } = await this.parse(BenchRead);
    const asJson = flags.json || flags.format === 'json';
    const { BlockCache } = await import('../engine/cache/block-cache.ts');
    const { Statistics } = await import('../engine/statistics/statistics.ts');
    const { openNodeEnvironment } = await import('../node/environment.ts');
    const { machineFacts } = await import('../node/machine.ts');
    const { comparatorOf } = await import('../operators/comparator.ts');
    const { prefixExtractorOf } = await import('../operators/prefix-extractor.ts');
    const { writeJsonDocument } = await import('../render/json.ts');
    const render = await import('../render/bench-read.ts');
    const tool = await import('../tools/bench-read.ts');
    const { openLookup } = await import('../tools/lookup-inputs.ts');

    const params: ReadBenchParams = {
      benchmarks: tool.parseBenchmarks(flags.benchmarks),
      reads: flags.reads,
      num: flags.num ?? MAX_COUNT,
      seed: flags.seed,
      batchSize: flags['batch-size'],
      seekNexts: flags['seek-nexts'],
    };
    const cacheOptions: BlockCacheOptions = {
      capacityBytes: flags['cache-size'],
      policy: flags['cache-policy'] as 'lru' | 's3fifo',
      strictCapacity: flags['strict-capacity-limit'],
    };
    const extractor = flags['prefix-extractor'];
    const request: LookupRequest = {
      paths: args.path,
      recursive: flags.recursive,
      columnFamily: flags.cf,
      mergeOperator: await parseMergeOperator(flags['merge-operator']),
      prefixExtractor: extractor === undefined ? undefined : prefixExtractorOf(extractor),
    };
    const environment = await openNodeEnvironment({ zstd: flags.zstd as 'auto' | 'wasm' });
    const failures: SstError[] = [];
    /** A set with a cache and counters of its own. */
    const open = (hooks: LookupHooks = {}) => {
      const statistics = new Statistics();
      const blockCache = new BlockCache<never>(cacheOptions);
      const table: LookupTableOptions = {
        blockCache,
        statistics,
        cacheIndexAndFilterBlocks: flags['cache-index-and-filter-blocks'],
        pinTopLevelIndex: flags['pin-top-level-index'],
        pinFilter: flags['pin-filter'],
        pinDictionary: flags['pin-dictionary'],
        pinPartitions: flags['pin-partitions'],
        ignoreFilter: flags['no-filter'],
        ...(flags.comparator === undefined ? {} : { comparator: comparatorOf(flags.comparator) }),
        ...(flags['ts-size'] === undefined ? {} : { timestampSize: flags['ts-size'] }),
      };
      const events = {
        failure: (error: SstError) => {
          this.complain(error.message);
          failures.push(error);
        },
        note: (text: string) => this.note(text),
        skipped: (paths: readonly string[]) => this.note(`${paths.length} other files skipped`),
      };
      return openLookup(environment, { ...request, table }, events, hooks).then(({ set, close }) => {
        if (set === undefined) throw new IoError('no_table', args.path[0]!, 'a database without a table');
        return { set, close, statistics, blockCache };
      });
    };

    const lookup = await open();
    try {
      const keys = await tool.readKeys(lookup.set, params.num);
      lookup.statistics.reset();
      const { clock } = environment;
      const compared = flags['compare-dict-fetch']
        ? 'comparison'
        : flags['compare-extractor']
          ? 'extractors'
          : null;
      if (compared !== null) {
        const hooked = await open(
          compared === 'comparison'
            ? { fetchesDictionary: () => true }
            : { acceptsExtractor: tool.comparesNamesEachTime },
        );
        try {
          const compare = compared === 'comparison' ? tool.compareDictFetch : tool.compareExtractors;
          const document = compare(lookup.set, hooked.set, keys, clock, params, flags.rounds);
          if (asJson) {
            const machine = machineFacts();
            writeJsonDocument(this.stdout, { schema: 1, params, [compared]: document, machine });
          } else if ('dataOnly' in document) {
            render.writeDictFetchComparison(this.stdout, document);
          } else {
            render.writeExtractorComparison(this.stdout, document);
          }
        } finally {
          hooked.close();
        }
        return worstStatus(ExitStatus.ok, ...failures.map(statusOfError));
      }
      const results = tool.benchRead(lookup.set, keys, clock, params, (name, run) => {
        if (!asJson) render.writeReadBenchRun(this.stdout, name, run);
      });
      const statistics = tool.statisticsDocument(lookup.statistics);
      if (asJson) {
        writeJsonDocument(this.stdout, {
          schema: 1,
          params,
          keys: keys.count,
          results,
          cache: tool.cacheFacts(lookup.blockCache),
          statistics,
          machine: machineFacts(),
        });
      } else {
        for (const result of results) render.writeReadBenchSummary(this.stdout, result);
        if (flags.statistics) render.writeStatistics(this.stdout, statistics);
      }
    } finally {
      lookup.close();
    }
    return worstStatus(ExitStatus.ok, ...failures.map(statusOfError));
  }
}
