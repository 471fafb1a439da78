import { integer, string } from '@oclif/core/flags';
import { gflagsWords } from '../argv.ts';
import { SstkitCommand } from '../base-command.ts';
import { ExitStatus, worstStatus } from '../exit-status.ts';
import {
  commonFlags,
  comparatorFlag,
  formatFlag,
  numberFlag,
  switchFlag,
  tsSizeFlag,
  withDefault,
} from '../flags.ts';
import {
  RANGE_DEL_BENCH_DEFAULTS as DEFAULTS,
  type RangeDelBenchParams,
} from '../tools/bench/range-del-params.ts';
import { faultEvents } from './fault-events.ts';

function count(description: string, value: number) {
  return integer({ description: withDefault(description, value), default: value, helpValue: 'COUNT' });
}

export default class BenchRangeDel extends SstkitCommand {
  static override summary = 'time range tombstones: fragmenting, AddTombstones, ShouldDelete';

  static override description =
    "The flags, defaults and lines of RocksDB's range_del_aggregator_bench; underscores may stand for hyphens.";

  static override flags = {
    ...commonFlags,
    format: formatFlag(['text', 'json']),
    'num-range-tombstones': count('range tombstones a list', DEFAULTS.numRangeTombstones),
    'num-runs': count('runs', DEFAULTS.numRuns),
    'tombstone-start-upper-bound': count('exclusive bound of start keys', DEFAULTS.tombstoneStartUpperBound),
    'should-delete-upper-bound': count('exclusive bound of keys asked for', DEFAULTS.shouldDeleteUpperBound),
    'tombstone-width-mean': numberFlag({
      description: 'mean width, in keys',
      default: DEFAULTS.tombstoneWidthMean,
      helpValue: 'KEYS',
    }),
    'tombstone-width-stddev': numberFlag({
      description: 'standard deviation of the width, in keys [default: 0]',
      default: DEFAULTS.tombstoneWidthStddev,
      helpValue: 'KEYS',
    }),
    seed: integer({ description: 'seed of the draws [default: 0]', default: DEFAULTS.seed }),
    'should-deletes-per-run': count('keys asked for in a run', DEFAULTS.shouldDeletesPerRun),
    'add-tombstones-per-run': count('lists added in a run', DEFAULTS.addTombstonesPerRun),
    'use-compaction-range-del-aggregator': switchFlag(
      'as a compaction, with snapshots {0} [default: off, as a read]',
    ),
    'eager-seq-set': switchFlag(
      'build the set of sequence numbers with each list, counted as fragmenting [default: off]',
    ),
    compare: switchFlag('run with the set built early and late, in turns, and print both with ratios'),
    keys: string({ description: 'shape of the keys', options: ['fixed', 'variable'], default: 'fixed' }),
    order: string({ description: 'order of the keys', options: ['bytewise', 'custom'], default: 'bytewise' }),
    input: string({
      description: 'tombstones come in the order of their keys, or as drawn: sorting them is then timed too',
      options: ['key', 'drawn'],
      default: 'key',
    }),
    file: string({
      description: "bench this file's own tombstones in place of made ones; may be repeated",
      multiple: true,
      multipleNonGreedy: true,
      helpValue: 'SST',
    }),
    comparator: comparatorFlag,
    'ts-size': tsSizeFlag,
  };

  static override examples = [
    '<%= config.bin %> <%= command.id %> --num-runs 20',
    '<%= config.bin %> <%= command.id %> --num_range_tombstones=100 --num_runs=50 --tombstone_start_upper_bound=50000000 --should_deletes_per_run=10 --compare',
    '<%= config.bin %> <%= command.id %> --file demo:tombstones.sst',
  ];

  override async run(): Promise<ExitStatus> {
    const { flags } = await this.parse(BenchRangeDel, gflagsWords(this.argv));
    const asJson = flags.json || flags.format === 'json';
    const { openNodeEnvironment } = await import('../node/environment.ts');
    const { machineFacts } = await import('../node/machine.ts');
    const { writeJsonDocument } = await import('../render/json.ts');
    const render = await import('../render/bench-range-del.ts');
    const environment = await openNodeEnvironment();

    if (flags.file !== undefined) {
      const { benchFileTombstones } = await import('../tools/bench-range-del-files.ts');
      const { comparatorOf } = await import('../operators/comparator.ts');
      const statuses: ExitStatus[] = [];
      const events = faultEvents((text) => this.complain(text), statuses);
      const table = {
        ...(flags.comparator === undefined ? {} : { comparator: comparatorOf(flags.comparator) }),
        ...(flags['ts-size'] === undefined ? {} : { timestampSize: flags['ts-size'] }),
      };
      const files = await benchFileTombstones(environment, flags.file, table, events);
      if (asJson && files.length === 0) events.throwFailure();
      if (asJson) writeJsonDocument(this.stdout, { schema: 1, files, machine: machineFacts() });
      else if (files.length > 0) render.writeFileTombstones(this.stdout, files);
      return worstStatus(ExitStatus.ok, ...statuses);
    }

    const { benchRangeDel, compareSeqnoSets } = await import('../tools/bench-range-del.ts');
    const params: RangeDelBenchParams = {
      numRangeTombstones: flags['num-range-tombstones'],
      numRuns: flags['num-runs'],
      tombstoneStartUpperBound: flags['tombstone-start-upper-bound'],
      shouldDeleteUpperBound: flags['should-delete-upper-bound'],
      tombstoneWidthMean: flags['tombstone-width-mean'],
      tombstoneWidthStddev: flags['tombstone-width-stddev'],
      seed: flags.seed,
      shouldDeletesPerRun: flags['should-deletes-per-run'],
      addTombstonesPerRun: flags['add-tombstones-per-run'],
      useCompactionRangeDelAggregator: flags['use-compaction-range-del-aggregator'],
      eagerSeqSet: flags['eager-seq-set'],
      keyShape: flags.keys as RangeDelBenchParams['keyShape'],
      keyOrder: flags.order as RangeDelBenchParams['keyOrder'],
      inputOrder: flags.input as RangeDelBenchParams['inputOrder'],
    };
    const comparison = flags.compare ? compareSeqnoSets(environment, params) : undefined;
    const report = comparison?.lazy ?? benchRangeDel(environment, params);
    if (asJson) {
      const { eager } = comparison ?? {};
      writeJsonDocument(this.stdout, { schema: 1, params, ...report, eager, machine: machineFacts() });
    } else if (comparison === undefined) {
      render.writeRangeDelResults(this.stdout, report.results);
    } else {
      render.writeRangeDelComparison(this.stdout, comparison.lazy, comparison.eager);
    }
    for (const line of render.rangeDelNotes(report, params, flags.compare === true)) this.note(line);
    return ExitStatus.ok;
  }
}
