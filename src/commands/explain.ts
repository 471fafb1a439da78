import { string as pathArgument } from '@oclif/core/args';
import { integer, string } from '@oclif/core/flags';
import { SstkitCommand } from '../base-command.ts';
import { InvalidArgumentError, type SstError } from '../errors.ts';
import { ExitStatus, statusOfError, worstStatus } from '../exit-status.ts';
import {
  atSeqnoFlag,
  bytesFlag,
  commonFlags,
  comparatorFlag,
  formatFlag,
  noFilterFlag,
  tsSizeFlag,
} from '../flags.ts';
import { findingLine } from '../render/finding-line.ts';
import { parseKey } from '../render/key-format.ts';
import { parseReadPoint } from './parse-read-point.ts';

export default class Explain extends SstkitCommand {
  static override summary = 'one look-up step by step, or what a byte means';

  static override description =
    'Shows each byte range that a look-up touches and what it says: footer, filter with its hash and bits, index ' +
    'comparisons, block, restart, entries, and why the key is visible or not. --at OFFSET: what that byte is part of.';

  static override args = {
    path: pathArgument({ description: 'a table file, or a directory of them', required: true }),
    key: pathArgument({ description: 'the key, as scan prints it' }),
  };

  static override flags = {
    ...commonFlags,
    format: formatFlag(['text', 'json']),
    bytes: bytesFlag,
    at: integer({
      description: 'say what the byte at this offset of the file means',
      helpValue: 'OFFSET',
      min: 0,
    }),
    'at-seqno': atSeqnoFlag,
    'prefix-extractor': string({
      description: 'extractor of the reader [default: that of the file]',
      helpValue: 'fixed:N|capped:N|noop',
    }),
    comparator: comparatorFlag,
    'ts-size': tsSizeFlag,
    'no-filter': noFilterFlag,
  };

  static override examples = [
    '<%= config.bin %> <%= command.id %> demo:basic.sst user:0001',
    '<%= config.bin %> <%= command.id %> demo:tombstones.sst nobody --json',
    '<%= config.bin %> <%= command.id %> demo:basic.sst --at 100',
  ];

  override async run(): Promise<ExitStatus> {
    const { args, flags } = await this.parse(Explain);
    const asJson = flags.json || flags.format === 'json';
    if ((args.key === undefined) === (flags.at === undefined)) {
      throw new InvalidArgumentError('key', args.key ?? '', 'give a KEY to look up, or --at OFFSET');
    }
    const { openNodeEnvironment } = await import('../node/environment.ts');
    const { comparatorOf } = await import('../operators/comparator.ts');
    const { prefixExtractorOf } = await import('../operators/prefix-extractor.ts');
    const { openTheme } = await import('../render/theme.ts');
    const { explainByte, explainKeyIn } = await import('../tools/explain.ts');
    const render = await import('../render/explain.ts');

    const environment = await openNodeEnvironment();
    const theme = await openTheme(this.stdoutIsTerminal && !asJson, process.env);
    const bytes = flags.bytes ?? (asJson ? 'hex' : 'escape');
    const statuses: ExitStatus[] = [];
    const events = {
      failure: (error: SstError) => {
        this.complain(error.message);
        statuses.push(statusOfError(error));
      },
      finding: (path: string, finding: Parameters<typeof findingLine>[1]) => {
        this.complain(findingLine(path, finding));
        if (finding.severity === 'damage') statuses.push(ExitStatus.damage);
      },
    };
    const open = {
      ...(flags.comparator === undefined ? {} : { comparator: comparatorOf(flags.comparator) }),
      ...(flags['ts-size'] === undefined ? {} : { timestampSize: flags['ts-size'] }),
    };
    if (flags.at !== undefined) {
      const meaning = await explainByte(environment, args.path, flags.at, open, events);
      if (asJson) render.writeOffsetMeaningJson(this.stdout, meaning, bytes);
      else render.writeOffsetMeaning(this.stdout, meaning, theme, bytes);
      return worstStatus(ExitStatus.ok, ...statuses);
    }
    const extractor = flags['prefix-extractor'];
    const explanations = await explainKeyIn(
      environment,
      args.path,
      parseKey(args.key!),
      {
        ...open,
        point: parseReadPoint(flags['at-seqno']),
        ignoreFilter: flags['no-filter'],
        prefixExtractor: extractor === undefined ? undefined : prefixExtractorOf(extractor),
      },
      events,
    );
    if (asJson) render.writeExplanationsJson(this.stdout, explanations, bytes);
    else render.writeExplanations(this.stdout, explanations, theme, bytes);
    for (const { verdict } of explanations) {
      if (verdict.code === 'damage') statuses.push(ExitStatus.damage);
      if (verdict.code === 'unsupported') statuses.push(ExitStatus.unsupported);
    }
    return worstStatus(ExitStatus.ok, ...statuses);
  }
}
