import { string as pathArgument } from '@oclif/core/args';
import { custom, string } from '@oclif/core/flags';
import { SstkitCommand } from '../base-command.ts';
import type { OutputTarget } from '../engine/compaction/compaction-outputs.ts';
import { InvalidArgumentError, type SstError } from '../errors.ts';
import { ExitStatus, statusOfError, worstStatus } from '../exit-status.ts';
import {
  byteCountFlag,
  bytesFlag,
  commonFlags,
  formatFlag,
  progressFlag,
  recursiveFlag,
  switchFlag,
  tsSizeFlag,
} from '../flags.ts';
import type { TableOptions } from '../format/table-builder/table-options.ts';
import type { Progress } from '../node/progress.ts';
import { parseKey } from '../render/key-format.ts';
import { type TableFlagValues, tableFlags, tableOptionsOf } from '../table-flags.ts';
import type { KeyRange } from '../tools/key-range.ts';
import { parseMergeOperator } from './parse-merge-operator.ts';

const MAX_SNAPSHOT = 2n ** 56n - 1n;

const { comparator, ...otherFlags } = tableFlags;

/** Options that the inputs tell of themselves. */
const TOLD: ReadonlySet<string> = new Set([
  'format-version',
  'prefix-extractor',
  'checksum',
  'block-restart-interval',
  'separate-key-value-in-data-block',
  'index-type',
  'index-block-restart-interval',
  'whole-key-filtering',
  'partition-filters',
  'compression',
  'compression-level',
  'dict-bytes',
  'compression-zstd-max-train-bytes',
  'compression-max-dict-buffer-bytes',
  'compression-use-zstd-dict-trainer',
  'compression-max-compressed-bytes-per-kb',
  'compression-checksum',
]);

const writingFlags = Object.fromEntries(
  Object.entries(otherFlags).map(([name, flag]) => {
    const description = flag.description?.replace(/ \[default: .*\]$/, " [default: the inputs' own]");
    return [name, TOLD.has(name) ? { ...flag, description } : flag];
  }),
) as typeof otherFlags;

export default class Compact extends SstkitCommand {
  static override summary = "merge table files into new ones, by RocksDB's compaction rules";

  static override description =
    'The newest version of each key wins; versions that --snapshots still see stay; tombstones stay unless ' +
    '--bottommost says that nothing older exists anywhere. Options of the output are those of the inputs where ' +
    'these say them. Damaged inputs are refused before anything is written, unless --salvage is given. Ends with 1 ' +
    'when --salvage had to leave entries out.';

  static override args = {
    path: pathArgument({
      description: 'table files, and directories of them',
      required: true,
      multiple: true,
    }),
  };

  static override flags = {
    ...commonFlags,
    ...writingFlags,
    bytes: bytesFlag,
    format: formatFlag(['text', 'json']),
    comparator: {
      ...comparator,
      description: "order of the user keys, by its RocksDB name [default: the inputs' own]",
    },
    'ts-size': tsSizeFlag,
    'merge-operator': string({
      description:
        'how merge operands combine, by its RocksDB name; none keeps them as they are ' +
        "[default: the name in the files' properties; StringAppendOperator has no delimiter there and needs one]",
      helpValue: 'NAME[:DELIM]',
    }),
    filter: string({
      description:
        "filter: bloom:10, ribbon:10[:level], none; the number is bits a key [default: the inputs' own]",
      helpValue: 'POLICY',
      aliases: ['filter-policy'],
    }),
    out: string({
      char: 'o',
      description: 'the output: a file, or a directory for 000001.sst, 000002.sst ...',
      helpValue: 'FILE|DIR',
    }),
    force: switchFlag('replace existing outputs [default: off]'),
    cf: string({ description: 'only files of this column family', helpValue: 'NAME' }),
    from: string({ description: 'only keys from this one on, inclusive', helpValue: 'KEY' }),
    to: string({ description: 'only keys before this one', helpValue: 'KEY' }),
    prefix: string({ description: 'only keys with this prefix', helpValue: 'KEY' }),
    ingestable: switchFlag(
      'the output is for ingestion: each key once, without sequence numbers, range tombstones beside the keys ' +
        '[default: off]',
    ),
    snapshots: custom<bigint[]>({
      description: 'sequence numbers at which readers may still look [default: none]',
      helpValue: 'N,N',
      parse: async (text) => parseSnapshots(text),
    })(),
    bottommost: switchFlag(
      'nothing older than the inputs exists anywhere: tombstones are dropped, sequence numbers become 0 [default: off]',
    ),
    'target-file-size': byteCountFlag({
      description:
        'an output of so many bytes ends before the next key; --out is then a directory [default: one output]',
    }),
    salvage: switchFlag('pass over what is damaged, and report what is lost [default: off]'),
    'dry-run': switchFlag(
      'write nothing: a table of what would be left, and under other rules [default: off]',
    ),
    'explain-drops': switchFlag(
      'one line for each entry that is not written, and why; on stderr with --json [default: off]',
    ),
    // In the contract of the command line, and not part of this release: refused whatever else is given.
    db: custom<never>({
      hidden: true,
      parse: async (text) => {
        const reason = 'not supported: a DB cannot be compacted in place: give table files, and --out';
        throw new InvalidArgumentError('db', text, reason);
      },
    })(),
    progress: progressFlag,
    recursive: recursiveFlag,
  };

  static override examples = [
    '<%= config.bin %> <%= command.id %> demo:basic.sst demo:tombstones.sst --dry-run',
    '<%= config.bin %> <%= command.id %> demo:basic.sst demo:tombstones.sst --out compacted.sst',
    '<%= config.bin %> <%= command.id %> demo:basic.sst --bottommost --compression zstd:19 --out small.sst',
    '<%= config.bin %> <%= command.id %> demo:damaged.sst --salvage --out saved.sst --json',
  ];

  override async run(): Promise<ExitStatus> {
    const { args, flags } = await this.parse(Compact);
    const format = flags.json ? 'json' : flags.format;
    const { openNodeEnvironment } = await import('../node/environment.ts');
    const { NodeEncoderRegistry } = await import('../node/encoders.ts');
    const { openProgress } = await import('../node/progress.ts');
    const { openTargets } = await import('../tools/compact/output-targets.ts');
    const { findingLine } = await import('../render/finding-line.ts');
    const { droppedLine, writeCompactReport } = await import('../render/compact.ts');
    const { openTheme } = await import('../render/theme.ts');
    const { compactTables } = await import('../tools/compact.ts');

    const targetFileBytes = flags['target-file-size'] ?? Number.POSITIVE_INFINITY;
    if (targetFileBytes < 1) {
      throw new InvalidArgumentError('target-file-size', '0', '--target-file-size is at least 1 byte');
    }
    const targets = flags['dry-run']
      ? undefined
      : openTargets(outputOf(flags.out), {
          force: flags.force,
          many: flags['target-file-size'] !== undefined,
        });
    const node = await openNodeEnvironment();
    const environment = { ...node, encoders: new NodeEncoderRegistry(node.hashes) };
    const failures: SstError[] = [];
    let progress: Progress | undefined;
    const say = (text: string): void => {
      progress?.finish();
      progress = undefined;
      this.complain(text);
    };
    const undo = this.onInterrupt(() => targets?.discard());
    try {
      const result = await compactTables(
        environment,
        {
          paths: args.path,
          recursive: flags.recursive,
          range: rangeOf(flags),
          columnFamily: flags.cf,
          open: {
            ...(flags.comparator === undefined ? {} : { comparator: flags.comparator }),
            ...(flags['ts-size'] === undefined ? {} : { timestampSize: flags['ts-size'] }),
          },
          snapshots: flags.snapshots ?? [],
          bottommost: flags.bottommost,
          mergeOperator: await parseMergeOperator(flags['merge-operator']),
          targetFileBytes,
          table: await tableOf(withoutOrder(flags)),
          ingestable: flags.ingestable,
          salvage: flags.salvage,
          dryRun: flags['dry-run'],
        },
        (number): OutputTarget => targets!.open(number),
        {
          finding: (path, finding) => {
            if (finding.severity !== 'note' || flags.verbose) say(findingLine(path, finding));
          },
          failure: (error) => {
            say(error.message);
            failures.push(error);
          },
          note: (text) => this.note(text),
          warning: say,
          skipped: (paths) => this.noteSkipped(paths, flags.verbose),
          progress: (doneBytes, totalBytes) => {
            progress ??= openProgress({ mode: flags.progress, totalBytes });
            progress.update(doneBytes);
          },
          ...(flags['explain-drops']
            ? {
                dropped: (entry) => {
                  const line = droppedLine(entry, flags.bytes);
                  if (format === 'json') this.complain(line);
                  else this.stdout.writeLine(line);
                },
              }
            : {}),
        },
      );
      progress?.finish();
      progress = undefined;
      if (result.outputs.length === 0 && !flags['dry-run'])
        this.note('nothing is left: no output was written');
      const outputs = result.outputs.map(({ path }) => path);
      const [old, ...others] = targets?.leftFromBefore(outputs) ?? [];
      if (old !== undefined) {
        const more = others.length === 0 ? '' : `, and ${others.length} others`;
        this.complain(`${old}${more}: from before, and no output of this run`);
      }
      const theme = await openTheme(this.stdoutIsTerminal, process.env);
      writeCompactReport(this.stdout, result, { format, bytes: flags.bytes, theme });
      return worstStatus(
        ...failures.map(statusOfError),
        result.holes.length > 0 ? ExitStatus.damage : ExitStatus.ok,
      );
    } finally {
      progress?.finish();
      targets?.discard();
      undo();
    }
  }
}

/** Keys may be escaped, or hexadecimal. */
function rangeOf({ from, to, prefix }: Partial<Record<'from' | 'to' | 'prefix', string>>): KeyRange {
  return {
    ...(from === undefined ? {} : { from: parseKey(from, 'from') }),
    ...(to === undefined ? {} : { to: parseKey(to, 'to') }),
    ...(prefix === undefined ? {} : { prefix: parseKey(prefix, 'prefix') }),
  };
}

function outputOf(out: string | undefined): string {
  if (out !== undefined && out !== '-') return out;
  throw new InvalidArgumentError('out', out ?? '', '--out FILE or --out DIR says where the output goes');
}

function parseSnapshots(text: string): bigint[] {
  return text.split(',').map((part) => {
    const snapshot = /^\d{1,17}$/.test(part) ? BigInt(part) : -1n;
    if (snapshot >= 0n && snapshot <= MAX_SNAPSHOT) return snapshot;
    throw new InvalidArgumentError(
      'snapshots',
      text,
      `--snapshots: "${part}" is no sequence number (0 to ${MAX_SNAPSHOT})`,
    );
  });
}

/** Order and merge operator are no options of the output alone. */
function withoutOrder<T extends { comparator?: unknown; 'merge-operator'?: unknown }>(
  flags: T,
): Omit<T, 'comparator' | 'merge-operator'> {
  const { comparator: _order, 'merge-operator': _operator, ...rest } = flags;
  return rest;
}

/** The table options that were given: all others are the inputs' own. */
async function tableOf(flags: CompactTableFlags): Promise<TableOptions> {
  const { parseFilterPolicy } = await import('../format/filter/filter-policy.ts');
  const { filter, ...writing } = flags;
  const { compression, ...options } = tableOptionsOf(writing);
  const given: { -readonly [Name in keyof TableOptions]: TableOptions[Name] } = options;
  if (flags.compression !== undefined && compression !== undefined) given.compression = compression;
  if (filter === undefined) return given;
  const policy = parseFilterPolicy(filter);
  // "none" is an answer, too: the field is there, and says nothing.
  return { ...given, filterPolicy: policy } as TableOptions;
}

type CompactTableFlags = Omit<Partial<TableFlagValues>, 'filter' | 'comparator' | 'merge-operator'> & {
  readonly filter?: string | undefined;
};
