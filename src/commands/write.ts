import { integer, string } from '@oclif/core/flags';
import { SstkitCommand } from '../base-command.ts';
import { InvalidArgumentError } from '../errors.ts';
import { ExitStatus } from '../exit-status.ts';
import { byteCountFlag, bytesFlag, commonFlags, formatFlag, progressFlag, switchFlag } from '../flags.ts';
import type { Progress } from '../node/progress.ts';
import type { Comparator } from '../operators/comparator.ts';
import { type BytesMode, formatHex, formatKey, parseKey } from '../render/key-format.ts';
import { tableFlags, tableOptionsOf } from '../table-flags.ts';
import type { WriteOutcome } from '../tools/write.ts';

export default class Write extends SstkitCommand {
  static override summary = 'write a table file from rows: ndjson as scan prints it, or csv';

  static override description =
    'Rows come in internal order: keys ascending, sequence numbers of a key descending; range tombstones anywhere. ' +
    'A row has the sequence number 0 and the type put where it does not say. Tables are those of RocksDB 11.9 with ' +
    'its defaults (format_version 7, lz4); --format-version 5 is read by all releases since 6.6.';

  static override flags = {
    ...commonFlags,
    ...tableFlags,
    out: string({ char: 'o', description: 'the table file (needed)', helpValue: 'FILE' }),
    force: switchFlag('replace an existing --out file [default: off]'),
    in: string({
      char: 'i',
      description: 'read rows from this file [default: -, standard input]',
      helpValue: 'FILE',
    }),
    format: formatFlag(['text', 'json']),
    'input-format': string({
      description: 'form of the rows [default: ndjson where they begin with {, else csv]',
      options: ['ndjson', 'csv'],
      helpValue: '<ndjson|csv>',
    }),
    bytes: bytesFlag,
    comparator: string({
      description: 'order of the user keys, by its RocksDB name [default: leveldb.BytewiseComparator]',
      helpValue: 'NAME',
    }),
    'no-order': switchFlag(
      'take the order of the rows for that of the comparator, which need not be known here [default: off]',
    ),
    'ts-size': integer({
      description: 'with --no-order: bytes of timestamp behind each user key [default: 0]',
      helpValue: 'BYTES',
      min: 0,
      max: 64,
    }),
    sort: switchFlag('put rows into order first [default: off, they must be]'),
    'sort-memory': byteCountFlag({
      description: 'rows that --sort keeps in memory; the others go to a file beside --out [default: 64MiB]',
    }),
    ingestable: switchFlag(
      'for ingestion into a database: sequence numbers 0, and format_version 5 where none is given [default: off]',
    ),
    progress: progressFlag,
  };

  static override examples = [
    '<%= config.bin %> <%= command.id %> --in demo:rows.ndjson --out written.sst --force',
    '<%= config.bin %> <%= command.id %> --in demo:rows.csv --bytes escape --sort --compression zstd:9 --filter bloom:10 --out sorted.sst --force --json',
  ];

  override async run(): Promise<ExitStatus> {
    const { flags } = await this.parse(Write);
    if (flags.out === undefined || flags.out === '-') {
      throw new InvalidArgumentError('out', '', 'the table needs a name: give one with --out FILE');
    }
    const { out } = flags;
    const { openNodeEnvironment } = await import('../node/environment.ts');
    const { NodeEncoderRegistry } = await import('../node/encoders.ts');
    const { openProgress } = await import('../node/progress.ts');
    const { writeJsonDocument } = await import('../render/json.ts');
    const { openRowsInput } = await import('../tools/write/rows-input.ts');
    const { writeTable } = await import('../tools/write.ts');

    const comparator = await this.comparatorOf(flags.comparator, flags['no-order'], flags['ts-size']);
    if (flags.ingestable && flags['no-order']) {
      throw new InvalidArgumentError('no-order', '', '--ingestable needs a comparator that is known here');
    }
    const environment = await openNodeEnvironment();
    const input = openRowsInput(flags.in ?? '-');
    let undo = (): void => undefined;
    let progress: Progress | undefined;
    let outcome: WriteOutcome;
    try {
      outcome = await writeTable(
        { ...environment, encoders: new NodeEncoderRegistry(environment.hashes) },
        {
          input: {
            name: input.name,
            bytes: input.bytes,
            format: flags['input-format'] as 'ndjson' | 'csv' | undefined,
            parseBytes: bytesParser(flags.bytes),
          },
          out,
          force: flags.force,
          table: tableOptionsOf({ ...flags, comparator }),
          sort: flags.sort,
          sortMemoryBytes: flags['sort-memory'] ?? 64 * 1024 * 1024,
          orderIsKnown: !flags['no-order'],
        },
        {
          opened: (discard) => {
            undo = this.onInterrupt(discard);
          },
          advanced: (bytes) => {
            if (input.size === undefined) return;
            progress ??= openProgress({ mode: flags.progress, totalBytes: input.size });
            progress.update(bytes);
          },
        },
      );
    } finally {
      progress?.finish();
      undo();
    }
    if (flags.json || flags.format === 'json') writeJsonDocument(this.stdout, documentOf(outcome));
    else this.stdout.writeLine(lineOf(outcome));
    return ExitStatus.ok;
  }

  private async comparatorOf(
    name: string | undefined,
    asGiven: boolean,
    timestampSize: number | undefined,
  ): Promise<Comparator | undefined> {
    const { comparatorOf } = await import('../operators/comparator.ts');
    if (!asGiven) {
      if (timestampSize === undefined) return name === undefined ? undefined : comparatorOf(name);
      throw new InvalidArgumentError(
        'ts-size',
        String(timestampSize),
        '--ts-size goes with --no-order: a comparator that is known has a size of its own',
      );
    }
    if (name === undefined) {
      throw new InvalidArgumentError('no-order', '', '--no-order needs the name of the --comparator');
    }
    const { orderAsGiven } = await import('../tools/write/order-as-given.ts');
    return orderAsGiven(name, timestampSize ?? 0);
  }
}

/** How rows spell bytes, where it is not hexadecimal. */
function bytesParser(mode: BytesMode | undefined): ((text: string, field: string) => Uint8Array) | undefined {
  switch (mode ?? 'hex') {
    case 'hex':
      return undefined;
    case 'base64':
      return parseBase64;
    case 'escape':
    case 'utf8':
      return parseKey;
  }
}

function parseBase64(text: string, field: string): Uint8Array {
  if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(text)) {
    throw new InvalidArgumentError(field, text, `${field} ${JSON.stringify(text)} is not base64`);
  }
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function documentOf({ path, entries, bytes, smallest, largest }: WriteOutcome): object {
  const hex = (key: Uint8Array | null) => (key === null ? null : formatHex(key));
  return { schema: 1, path, entries, bytes, smallest: hex(smallest), largest: hex(largest) };
}

function lineOf({ path, entries, bytes, smallest, largest }: WriteOutcome): string {
  const range = smallest === null ? '' : `, ${formatKey(smallest)} to ${formatKey(largest!)}`;
  return `${path}: ${entries} entries, ${bytes} bytes${range}`;
}
