import { string as pathArgument } from '@oclif/core/args';
import { integer, string } from '@oclif/core/flags';
import { SstkitCommand } from '../base-command.ts';
import { ExitStatus, worstStatus } from '../exit-status.ts';
import {
  bytesFlag,
  commonFlags,
  formatFlag,
  progressFlag,
  recursiveFlag,
  strictFlag,
  switchFlag,
  tsSizeFlag,
} from '../flags.ts';
import type { Progress } from '../node/progress.ts';
import { findingLine } from '../render/finding-line.ts';
import type { FileReport, FileStatus } from '../tools/verify.ts';

const STATUS_OF: Readonly<Record<FileStatus, ExitStatus>> = {
  ok: ExitStatus.ok,
  damaged: ExitStatus.damage,
  unreadable: ExitStatus.unreadable,
  unsupported: ExitStatus.unsupported,
};

/** Lines on stderr for one file: the report has them all. */
const MAX_COMPLAINTS = 20;

export default class Verify extends SstkitCommand {
  static override summary =
    'check table files, WALs and databases: everything that is wrong with them, not the first thing';

  static override description =
    'Checks footer, checksums, entries, order, separators, handles and properties, and says which keys are lost. ' +
    'In the directory of a database it reads CURRENT and MANIFEST, compares the tables with them and checks the WALs ' +
    'that are live. ' +
    'Ends with 1 for damage, 3 for a file that cannot be read at all, 4 for one of a kind that is not supported. ' +
    'docs/findings.md explains each finding.';

  static override args = {
    path: pathArgument({
      description: 'table files, other files of a database, and directories',
      required: true,
      multiple: true,
    }),
  };

  static override flags = {
    ...commonFlags,
    bytes: bytesFlag,
    format: formatFlag(['text', 'json', 'ndjson']),
    comparator: string({
      description:
        "order of the user keys, by its RocksDB name [default: the name in the file's properties; without it " +
        'the order of keys is not checked]',
      helpValue: 'NAME',
    }),
    'ts-size': tsSizeFlag,
    'checksums-only': switchFlag('only block checksums: contents are not decoded [default: off]'),
    'no-order': switchFlag('do not check the order of keys [default: off]'),
    'max-findings': integer({
      description: 'findings of one file at most; the others are counted',
      helpValue: 'COUNT',
      default: 1000,
      min: 1,
    }),
    strict: strictFlag,
    progress: progressFlag,
    recursive: recursiveFlag,
  };

  static override examples = [
    '<%= config.bin %> <%= command.id %> demo:basic.sst demo:leveldb.ldb',
    '<%= config.bin %> <%= command.id %> demo:damaged.sst --json',
    '<%= config.bin %> <%= command.id %> demo:basic.sst --checksums-only',
  ];

  override async run(): Promise<ExitStatus> {
    const { args, flags } = await this.parse(Verify);
    const format = flags.json ? 'json' : flags.format;
    const { openNodeEnvironment } = await import('../node/environment.ts');
    const { openProgress } = await import('../node/progress.ts');
    const { openTheme } = await import('../render/theme.ts');
    const { openVerifyWriter } = await import('../render/verify.ts');
    const { comparatorOf } = await import('../operators/comparator.ts');
    const { verifyPaths } = await import('../tools/verify.ts');

    const comparator = flags.comparator === undefined ? undefined : comparatorOf(flags.comparator);
    const environment = await openNodeEnvironment();
    const writer = openVerifyWriter(this.stdout, {
      format,
      bytes: flags.bytes,
      theme: await openTheme(this.stdoutIsTerminal, process.env),
      quiet: flags.quiet,
      withNotes: (path) => flags.verbose || args.path.includes(path),
    });
    // On a terminal each file's line is printed at once, and says the same as stderr would.
    const isShown = format === 'text' && this.stdoutIsTerminal;
    const onBothTerminals = isShown && process.stderr.isTTY === true;
    let progress: Progress | undefined;
    let skipped = 0;
    const statuses: ExitStatus[] = [ExitStatus.ok];
    try {
      const summary = await verifyPaths(
        environment,
        {
          paths: args.path,
          recursive: flags.recursive,
          ...(comparator === undefined ? {} : { comparator }),
          ...(flags['ts-size'] === undefined ? {} : { timestampSize: flags['ts-size'] }),
          checksumsOnly: flags['checksums-only'],
          order: !flags['no-order'],
          maxFindings: flags['max-findings'],
          strict: flags.strict,
        },
        {
          report: (report) => {
            statuses.push(STATUS_OF[report.status]);
            if (isShown || report.status !== 'ok') {
              progress?.finish();
              progress = undefined;
            }
            writer.report(report);
            if (isShown) this.stdout.flush();
            if (!onBothTerminals) this.complainOf(report);
          },
          skipped: (path, kind) => {
            skipped++;
            if (flags.verbose) this.note(`${path}: skipped (${kind})`);
          },
          progress: (doneBytes, totalBytes) => {
            progress ??= openProgress({ mode: flags.progress, totalBytes });
            progress.update(doneBytes);
          },
        },
      );
      progress?.finish();
      writer.finish(summary);
    } finally {
      progress?.finish();
    }
    if (skipped > 0 && !flags.verbose) this.note(`${skipped} other files skipped (--verbose names them)`);
    return worstStatus(...statuses);
  }

  /** What is wrong with a file, also where the report itself goes into another program or a file. */
  private complainOf({ path, findings, findingsOmitted }: FileReport): void {
    const wrong = findings.filter(({ severity, code }) => severity === 'damage' || code === 'unsupported');
    for (const finding of wrong.slice(0, MAX_COMPLAINTS)) this.complain(findingLine(path, finding));
    const left = Math.max(0, wrong.length - MAX_COMPLAINTS) + findingsOmitted;
    if (left > 0) this.complain(`${path}: ${left} more findings`);
  }
}
