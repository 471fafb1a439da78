import { string as pathArgument } from '@oclif/core/args';
import { boolean, integer, string } from '@oclif/core/flags';
import { SstkitCommand } from '../base-command.ts';
import { InvalidArgumentError, type SstError } from '../errors.ts';
import { ExitStatus, statusOfError, worstStatus } from '../exit-status.ts';
import { formatFlag, readingFlags, switchFlag } from '../flags.ts';
import { ENTRY_TYPES } from '../format/value-type.ts';
import type { Progress } from '../node/progress.ts';
import { findingLine } from '../render/finding-line.ts';
import { parseKey } from '../render/key-format.ts';
import type { RowWriter } from '../render/rows.ts';
import type { ScanOptions } from '../tools/scan.ts';

export default class Scan extends SstkitCommand {
  static override summary = 'print the entries of table files, all versions, range tombstones included';

  static override description =
    'A file is read in stored order, past whatever is damaged; lost key ranges are named on stderr.';

  static override args = {
    path: pathArgument({ description: 'table files and directories', required: true, multiple: true }),
  };

  static override flags = {
    ...readingFlags,
    format: formatFlag(['text', 'json', 'ndjson', 'csv']),
    view: string({
      description: 'files: each table by itself, every version [default: files for table files]',
      helpValue: '<files>',
    }),
    from: string({ description: 'first user key, inclusive', helpValue: 'KEY' }),
    to: string({ description: 'end of the user keys, exclusive', helpValue: 'KEY' }),
    prefix: string({ description: 'only user keys with this prefix', helpValue: 'KEY' }),
    key: string({ description: 'only this user key', helpValue: 'KEY' }),
    limit: integer({
      description: 'rows at most, over all files [default: all]',
      helpValue: 'COUNT',
      min: 0,
    }),
    reverse: switchFlag('the exact reverse order [default: off]'),
    fragmented: switchFlag('range tombstones cut into fragments that do not overlap [default: as stored]'),
    covered: switchFlag('mark each entry that a range tombstone of its file hides [default: off]'),
    'resolve-blobs': switchFlag(
      'show the values that lie in the blob files beside each table [default: off]',
    ),
    types: string({ description: 'only entries of these types, parted by commas', helpValue: 'put,delete' }),
    cf: string({ description: 'only files of this column family', helpValue: 'NAME' }),
    value: boolean({ description: 'print values [default: on]', default: true, allowNo: true }),
    count: switchFlag('count entries by type in place of printing them'),
    digest: switchFlag('count, and digest the contents: independent of order, files and layout'),
    force: switchFlag('replace an existing --out file [default: off]'),
  };

  static override examples = [
    '<%= config.bin %> <%= command.id %> demo:basic.sst --limit 5',
    '<%= config.bin %> <%= command.id %> demo:basic.sst --prefix user:00 --format ndjson',
    '<%= config.bin %> <%= command.id %> demo:basic.sst demo:tombstones.sst --types range_delete',
    '<%= config.bin %> <%= command.id %> demo:tombstones.sst --fragmented --types range_delete',
    '<%= config.bin %> <%= command.id %> demo:leveldb.ldb --digest --json',
  ];

  override async run(): Promise<ExitStatus> {
    const { args, flags } = await this.parse(Scan);
    const format = flags.json ? 'json' : flags.format;
    if (flags.view !== undefined && flags.view !== 'files') {
      throw new InvalidArgumentError('view', flags.view, `--view ${flags.view} is not known: there is files`);
    }
    if (flags.covered && format === 'csv') {
      throw new InvalidArgumentError(
        'covered',
        'csv',
        '--covered marks nothing in csv, which has no column for it',
      );
    }
    const { openNodeEnvironment } = await import('../node/environment.ts');
    const { openOutput } = await import('../output.ts');
    const { openProgress } = await import('../node/progress.ts');
    const { openRowWriter } = await import('../render/rows.ts');
    const { comparatorOf } = await import('../operators/comparator.ts');
    const { scanInputs } = await import('../tools/scan-inputs.ts');

    const scan: ScanOptions = {
      from: keyOf('from', flags.from),
      to: keyOf('to', flags.to),
      prefix: keyOf('prefix', flags.prefix),
      key: keyOf('key', flags.key),
      comparator: flags.comparator === undefined ? undefined : comparatorOf(flags.comparator),
      timestampSize: flags['ts-size'],
      limit: flags.limit,
      types: flags.types === undefined ? undefined : parseTypes(flags.types),
      reverse: flags.reverse,
      fragmented: flags.fragmented,
      covered: flags.covered,
      resolveBlobs: flags['resolve-blobs'] && flags.value && !flags.count && !flags.digest,
      strict: flags.strict,
    };
    const environment = await openNodeEnvironment();
    const output = openOutput(flags.out, flags.force, this.stdout);
    const undo = this.onInterrupt(() => output.discard());
    const failures: SstError[] = [];
    let writer: RowWriter | undefined;
    let progress: Progress | undefined;
    let status: ExitStatus = ExitStatus.ok;
    try {
      const outcome = await scanInputs(
        environment,
        {
          paths: args.path,
          recursive: flags.recursive,
          databaseFiles: flags.view === 'files',
          columnFamily: flags.cf,
          scan,
        },
        {
          finding: (path, finding) => {
            if (finding.severity !== 'note' || flags.verbose) this.complain(findingLine(path, finding));
          },
          failure: (error) => {
            this.complain(error.message);
            failures.push(error);
          },
          gone: (path) => this.note(`${path}: gone`),
          skipped: (paths) => this.noteSkipped(paths, flags.verbose),
          progress: (doneBytes, totalBytes) => {
            progress ??= openProgress({ mode: flags.progress, totalBytes });
            progress.update(doneBytes);
          },
        },
        (plan) => {
          writer = openRowWriter(output.sink, plan, {
            format,
            bytes: flags.bytes,
            withValues: flags.value,
            count: flags.count || flags.digest,
            digest: flags.digest ? environment.hashes : undefined,
            textKernel: environment.textKernel,
          });
          return writer;
        },
      );
      progress?.finish();
      status = worstStatus(
        ...failures.map(statusOfError),
        outcome.damaged ? ExitStatus.damage : ExitStatus.ok,
        outcome.unsupported ? ExitStatus.unsupported : ExitStatus.ok,
      );
      const isEmpty = outcome.tables === 0 && output.sink.length + output.sink.flushedBytes === 0;
      const reason = isEmpty ? failures.find((error) => statusOfError(error) === status) : undefined;
      // A script that asked for JSON is told why there is none, in place of an empty list.
      if (format === 'json' && reason !== undefined) throw reason;
      writer?.finish();
      output.commit();
    } finally {
      progress?.finish();
      output.discard();
      undo();
    }
    return status;
  }
}

function keyOf(name: string, text: string | undefined): Uint8Array | undefined {
  return text === undefined ? undefined : parseKey(text, name);
}

function parseTypes(text: string): ReadonlySet<string> {
  const types = text.split(',');
  for (const type of types) {
    if (ENTRY_TYPES.includes(type) || /^type_\d+$/.test(type)) continue;
    throw new InvalidArgumentError(
      'types',
      text,
      `no entry type "${type}": there are ${ENTRY_TYPES.join(', ')}`,
    );
  }
  return new Set(types);
}
