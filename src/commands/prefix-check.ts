import { string as pathArgument } from '@oclif/core/args';
import { custom, integer, string } from '@oclif/core/flags';
import { SstkitCommand } from '../base-command.ts';
import { ExitStatus, worstStatus } from '../exit-status.ts';
import { bytesFlag, commonFlags, formatFlag, recursiveFlag, switchFlag, tsSizeFlag } from '../flags.ts';
import { prefixExtractorOf } from '../operators/prefix-extractor.ts';
import type { PrefixReport } from '../tools/prefix-check.ts';
import { faultEvents } from './fault-events.ts';

const extractor = custom<{ text: string }>({
  parse: async (text) => {
    prefixExtractorOf(text);
    return { text };
  },
});

export default class PrefixCheck extends SstkitCommand {
  static override summary = 'is the extractor that wrote a file the one that you read with?';

  static override description =
    'Says for each file which prefix extractor it has and whether the given one fits, what lookups may ask its filter and ' +
    'why not, how its keys fall into prefix groups, whether the filter denies what the file has, its rate of false ' +
    'positives, and a seek key for which prefix mode and total order give different rows. Range tombstones are not ' +
    'looked at. Of a database directory the extractor is read from its OPTIONS file. Ends with 1 for an incompatible ' +
    'extractor, and for a filter that denies what the file has.';

  static override args = {
    path: pathArgument({ description: 'table files and directories', required: true, multiple: true }),
  };

  static override flags = {
    ...commonFlags,
    bytes: bytesFlag,
    format: formatFlag(['text', 'json']),
    'prefix-extractor': extractor({
      description:
        "extractor of lookups: fixed:<bytes>, capped:<bytes>, noop, RocksDB's own names, none; before:<characters> for " +
        'what stands before the first of them; NAME=... for one of your own by that name [default: that of OPTIONS in a ' +
        'database directory, otherwise none]',
      helpValue: 'EXTRACTOR',
    }),
    prefix: string({
      description: 'seek this in both modes [default: a seek key is looked for]',
      helpValue: 'KEY',
    }),
    bench: switchFlag('prefix lookups a second with each kind of extractor [default: off]'),
    lookups: integer({
      description: 'lookups that --bench times with each extractor',
      helpValue: 'COUNT',
      default: 100_000,
      min: 1,
    }),
    comparator: string({
      description: "order of the user keys, by its RocksDB name [default: the name in the file's properties]",
      helpValue: 'NAME',
    }),
    'ts-size': tsSizeFlag,
    recursive: recursiveFlag,
  };

  static override examples = [
    '<%= config.bin %> <%= command.id %> demo:basic.sst --prefix-extractor capped:5',
    '<%= config.bin %> <%= command.id %> demo:basic.sst --prefix-extractor before:: --prefix user --json',
  ];

  override async run(): Promise<ExitStatus> {
    const { args, flags } = await this.parse(PrefixCheck);
    const asJson = flags.json || flags.format === 'json';
    const { openNodeEnvironment } = await import('../node/environment.ts');
    const { openTheme } = await import('../render/theme.ts');
    const { parseKey } = await import('../render/key-format.ts');
    const { comparatorOf } = await import('../operators/comparator.ts');
    const { checkPrefixes } = await import('../tools/prefix-check.ts');
    const render = await import('../render/prefix-check.ts');
    const environment = await openNodeEnvironment();
    const given = flags['prefix-extractor'];
    const theme = await openTheme(this.stdoutIsTerminal, process.env);
    const bytes = flags.bytes ?? (asJson ? 'hex' : 'escape');
    const reports: PrefixReport[] = [];
    const statuses: ExitStatus[] = [];
    await checkPrefixes(
      environment,
      {
        paths: args.path,
        recursive: flags.recursive,
        extractor: given === undefined ? undefined : (prefixExtractorOf(given.text) ?? null),
        seek: flags.prefix === undefined ? undefined : parseKey(flags.prefix, 'prefix'),
        benchLookups: flags.bench ? flags.lookups : 0,
        table: {
          ...(flags.comparator === undefined ? {} : { comparator: comparatorOf(flags.comparator) }),
          ...(flags['ts-size'] === undefined ? {} : { timestampSize: flags['ts-size'] }),
        },
      },
      {
        report: (report) => {
          if (report.match === 'incompatible' || (report.falseNegatives ?? 0) > 0)
            statuses.push(ExitStatus.damage);
          if (asJson) reports.push(report);
          else render.writePrefixReport(this.stdout, report, { bytes, theme });
        },
        ...faultEvents((text) => this.complain(text), statuses),
        skipped: (path, kind) => {
          if (flags.verbose) this.note(`${path}: skipped (${kind})`);
        },
        note: (text) => this.note(text),
      },
    );
    if (asJson) render.writePrefixDocument(this.stdout, reports, bytes);
    return worstStatus(ExitStatus.ok, ...statuses);
  }
}
