import { string as pathArgument } from '@oclif/core/args';
import { string } from '@oclif/core/flags';
import { SstkitCommand } from '../base-command.ts';
import { InvalidArgumentError, type SstError } from '../errors.ts';
import { ExitStatus, statusOfError, worstStatus } from '../exit-status.ts';
import {
  atSeqnoFlag,
  bytesFlag,
  commonFlags,
  comparatorFlag,
  formatFlag,
  mergeOperatorFlag,
  noFilterFlag,
  recursiveFlag,
  strictFlag,
  switchFlag,
  tsSizeFlag,
} from '../flags.ts';
import { parseKey } from '../render/key-format.ts';
import { parseMergeOperator } from './parse-merge-operator.ts';
import { parseReadPoint } from './parse-read-point.ts';

export default class Get extends SstkitCommand {
  static override summary = 'look keys up in table files';

  static override description =
    'The tables of PATH are read as one, newest first: deletions, range tombstones and merges apply. Of a DB ' +
    'directory the table files alone are read, without MANIFEST and logs.';

  static override args = {
    path: pathArgument({ description: 'a table file or a directory', required: true }),
    key: pathArgument({ description: 'keys, as scan prints them', required: true, multiple: true }),
  };

  static override flags = {
    ...commonFlags,
    format: formatFlag(['text', 'json', 'ndjson']),
    bytes: bytesFlag,
    'at-seqno': atSeqnoFlag,
    'all-versions': switchFlag(
      'every stored version, with file, block and covering tombstone [default: off]',
    ),
    'prefix-extractor': string({
      description: 'extractor to ask prefix filters with [default: that of each file]',
      helpValue: 'fixed:N|capped:N|noop',
    }),
    cf: string({ description: 'column family [default: default]', helpValue: 'NAME' }),
    comparator: comparatorFlag,
    'ts-size': tsSizeFlag,
    'merge-operator': mergeOperatorFlag,
    'no-filter': noFilterFlag,
    strict: strictFlag,
    recursive: recursiveFlag,
  };

  static override examples = [
    '<%= config.bin %> <%= command.id %> demo:basic.sst user:0001 nobody',
    '<%= config.bin %> <%= command.id %> demo:basic.sst user:0001 --json',
    '<%= config.bin %> <%= command.id %> demo:basic.sst user:0003:tags --all-versions --format ndjson',
  ];

  override async run(): Promise<ExitStatus> {
    const { args, flags } = await this.parse(Get);
    const format = flags.json ? 'json' : flags.format;
    if (format === 'ndjson' && !flags['all-versions']) {
      throw new InvalidArgumentError('format', 'ndjson', '--format ndjson is for --all-versions');
    }
    const { openNodeEnvironment } = await import('../node/environment.ts');
    const { comparatorOf } = await import('../operators/comparator.ts');
    const { prefixExtractorOf } = await import('../operators/prefix-extractor.ts');
    const { getKeys, getVersions } = await import('../tools/get.ts');
    const { openLookup } = await import('../tools/lookup-inputs.ts');
    const render = await import('../render/get.ts');

    const keys = args.key.map((text: string) => parseKey(text));
    const point = parseReadPoint(flags['at-seqno']);
    const extractor = flags['prefix-extractor'];
    const failures: SstError[] = [];
    const failure = (error: SstError): void => {
      this.complain(error.message);
      failures.push(error);
    };
    const lookup = await openLookup(
      await openNodeEnvironment(),
      {
        paths: [args.path],
        recursive: flags.recursive,
        columnFamily: flags.cf,
        mergeOperator: await parseMergeOperator(flags['merge-operator']),
        prefixExtractor: extractor === undefined ? undefined : prefixExtractorOf(extractor),
        table: {
          ignoreFilter: flags['no-filter'],
          ...(flags.comparator === undefined ? {} : { comparator: comparatorOf(flags.comparator) }),
          ...(flags['ts-size'] === undefined ? {} : { timestampSize: flags['ts-size'] }),
        },
      },
      {
        failure,
        note: (text) => this.note(text),
        skipped: (paths) => this.noteSkipped(paths, flags.verbose),
      },
    );
    const options = { point, strict: flags.strict };
    try {
      if (flags['all-versions']) {
        const rows = await getVersions(lookup, keys, options, failure);
        if (format === 'text') render.writeVersionsText(this.stdout, rows, flags.bytes ?? 'escape');
        else if (format === 'json') render.writeVersionsJson(this.stdout, rows, flags.bytes ?? 'hex');
        else render.writeVersionsNdjson(this.stdout, rows, flags.bytes ?? 'hex');
      } else {
        const results = await getKeys(lookup, keys, options);
        for (const result of results) if (!result.found && result.error) failure(result.error);
        if (format === 'text') render.writeGetText(this.stdout, results, flags.bytes ?? 'escape');
        else render.writeGetJson(this.stdout, results, flags.bytes ?? 'hex');
      }
      // Partitions are read when they are asked.
      for (const { filter } of lookup.set?.tables ?? []) {
        if (filter?.problem !== undefined) this.complain(`${filter.problem.message}; not asked`);
      }
    } finally {
      lookup.close();
    }
    return worstStatus(ExitStatus.ok, ...failures.map(statusOfError));
  }
}
