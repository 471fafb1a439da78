import { string as pathArgument } from '@oclif/core/args';
import { integer } from '@oclif/core/flags';
import { SstkitCommand } from '../base-command.ts';
import { InvalidArgumentError, type SstError } from '../errors.ts';
import { ExitStatus, statusOfError, worstStatus } from '../exit-status.ts';
import {
  bytesFlag,
  commonFlags,
  comparatorFlag,
  formatFlag,
  type OutputFormat,
  outFlag,
  progressFlag,
  recursiveFlag,
  strictFlag,
  switchFlag,
  tsSizeFlag,
} from '../flags.ts';
import type { Progress } from '../node/progress.ts';
import { findingLine } from '../render/finding-line.ts';
import type { DumpParts } from '../tools/dump/dump-files.ts';
import type { Finding } from '../tools/finding.ts';

export default class Dump extends SstkitCommand {
  static override summary =
    'what a table file, a WAL, a MANIFEST or a blob file is made of: footer, properties, index, blocks, filter, ' +
    'compatibility; batches; edits; values';

  static override description =
    'Reads the file once and compares the checksums (of blocks up to 16 MiB); what is damaged is named on stderr. ' +
    'Without a part asked for, everything but single blocks is shown. --properties and --meta-blocks alone ' +
    'read only these blocks. --entries shows the entries of data and range-deletion blocks, --block those of any kind. ' +
    'Of a WAL each batch is shown with its operations, of a MANIFEST each edit, and the live files that they leave, ' +
    'of a blob file each record with its value.';

  static override args = {
    path: pathArgument({
      description: 'table files, other files of a database, and directories',
      required: true,
      multiple: true,
    }),
  };

  static override flags = {
    ...commonFlags,
    format: formatFlag(['text', 'json', 'ndjson', 'csv']),
    properties: switchFlag('only the table properties'),
    'meta-blocks': switchFlag('only the names and places of the meta blocks'),
    blocks: switchFlag(
      'one row a block, in the order of the file (with --format json: added to everything else)',
    ),
    entries: switchFlag('the same with the entries of each block'),
    block: integer({ description: 'only the block that begins here', helpValue: 'OFFSET', min: 0 }),
    bytes: bytesFlag,
    comparator: comparatorFlag,
    'ts-size': tsSizeFlag,
    out: outFlag,
    force: switchFlag('replace an existing --out file [default: off]'),
    strict: strictFlag,
    progress: progressFlag,
    recursive: recursiveFlag,
  };

  static override examples = [
    '<%= config.bin %> <%= command.id %> demo:basic.sst',
    '<%= config.bin %> <%= command.id %> demo:basic.sst --json',
    '<%= config.bin %> <%= command.id %> demo:basic.sst --blocks',
    '<%= config.bin %> <%= command.id %> demo:tombstones.sst --entries --format ndjson',
    '<%= config.bin %> <%= command.id %> demo:leveldb.ldb --block 0',
  ];

  override async run(): Promise<ExitStatus> {
    const { args, flags } = await this.parse(Dump);
    const format = flags.json ? 'json' : flags.format;
    const parts = partsOf(flags, format);
    const { openNodeEnvironment } = await import('../node/environment.ts');
    const { openProgress } = await import('../node/progress.ts');
    const { comparatorOf } = await import('../operators/comparator.ts');
    const { openOutput } = await import('../output.ts');
    const { openDumpOutput } = await import('../render/dump.ts');
    const { openTheme } = await import('../render/theme.ts');
    const { dumpFiles } = await import('../tools/dump/dump-files.ts');

    const environment = await openNodeEnvironment();
    const file = openOutput(flags.out, flags.force, this.stdout);
    const undo = this.onInterrupt(() => file.discard());
    const theme = await openTheme(this.stdoutIsTerminal && file.sink === this.stdout, process.env);
    const output = openDumpOutput(file.sink, parts, { format, bytes: flags.bytes, theme });
    const statuses: ExitStatus[] = [ExitStatus.ok];
    let progress: Progress | undefined;
    let progressTotal = -1;
    try {
      await dumpFiles(
        environment,
        {
          paths: args.path,
          recursive: flags.recursive,
          parts,
          open: {
            comparator: flags.comparator === undefined ? undefined : comparatorOf(flags.comparator),
            timestampSize: flags['ts-size'],
          },
          strict: flags.strict,
        },
        output,
        {
          finding: (path, finding) => {
            statuses.push(statusOfFinding(finding));
            if (finding.severity !== 'note' || flags.verbose) this.complain(findingLine(path, finding));
          },
          failure: (error: SstError) => {
            statuses.push(statusOfError(error));
            this.complain(error.message);
          },
          gone: (path) => this.note(`${path}: gone`),
          skipped: (paths) => this.noteSkipped(paths, flags.verbose),
          progress: (doneBytes, totalBytes) => {
            if (totalBytes !== progressTotal) {
              progress?.finish();
              progress = openProgress({ mode: flags.progress, totalBytes });
              progressTotal = totalBytes;
            }
            progress?.update(doneBytes);
          },
        },
      );
      progress?.finish();
      file.commit();
    } finally {
      progress?.finish();
      file.discard();
      undo();
    }
    return worstStatus(...statuses);
  }
}

function partsOf(
  flags: {
    properties: boolean;
    'meta-blocks': boolean;
    blocks: boolean;
    entries: boolean;
    block?: number | undefined;
  },
  format: OutputFormat,
): DumpParts {
  const { properties, blocks, entries, block } = flags;
  const metaBlocks = flags['meta-blocks'];
  const wanted = [properties, metaBlocks, blocks || entries, block !== undefined].filter(
    (part) => part,
  ).length;
  if (format === 'csv' && wanted !== 1) {
    throw new InvalidArgumentError(
      'format',
      format,
      '--format csv shows one part: add --blocks, --entries, --block, --properties or --meta-blocks',
    );
  }
  const summary = wanted === 0 || (format === 'json' && (blocks || entries));
  return { summary, properties, metaBlocks, blocks, entries, block };
}

function statusOfFinding({ code, severity }: Finding): ExitStatus {
  if (code === 'unsupported') return ExitStatus.unsupported;
  return severity === 'damage' ? ExitStatus.damage : ExitStatus.ok;
}
