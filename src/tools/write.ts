import { setImmediate } from 'node:timers/promises';
import { InvalidArgumentError } from '../errors.ts';
import { trailerType } from '../format/internal-key.ts';
import {
  openTableBuilder,
  type TableBuilder,
  type TableBuilderEnvironment,
} from '../format/table-builder/table-builder.ts';
import type { TableOptions } from '../format/table-builder/table-options.ts';
import { ValueType } from '../format/value-type.ts';
import type { TextKernel } from '../kernels/text-kernel.ts';
import { type OutputFile, openOutputFile } from '../node/output-file.ts';
import { SstFileSink } from '../node/sst-file-sink.ts';
import { bytewiseComparator, type Comparator } from '../operators/comparator.ts';
import { CsvRows } from './write/csv-rows.ts';
import { ExternalSorter } from './write/external-sort.ts';
import { NdjsonRows } from './write/ndjson-rows.ts';
import { RecordReader } from './write/record-reader.ts';
import { RowEncoder } from './write/row-encoder.ts';
import { TableFeeder } from './write/table-feeder.ts';
import { atLine, WriteEntry } from './write/write-entry.ts';

const ENTRIES_PER_TURN = 65_536;

export type RowsFormat = 'ndjson' | 'csv';

export interface WriteInput {
  /** How messages call it. */
  readonly name: string;
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Told by the first byte when left out: `{` begins ndjson. */
  readonly format?: RowsFormat | undefined;
  /** How rows spell bytes; hexadecimal when left out. */
  readonly parseBytes?: ((text: string, field: string) => Uint8Array) | undefined;
}

export interface WriteRequest {
  readonly input: WriteInput;
  readonly out: string;
  /** Replace an existing file. */
  readonly force: boolean;
  readonly table: TableOptions;
  /** Rows may come in any order. */
  readonly sort: boolean;
  /** Bytes of rows that a sort keeps in memory. */
  readonly sortMemoryBytes: number;
  /** False: the comparator is one that is not known here; rows come in its order. Default true. */
  readonly orderIsKnown?: boolean;
}

export interface WriteEvents {
  /** The output is open: how to remove it, and whatever else there is, when the work is broken off. */
  opened(discard: () => void): void;
  /** Bytes of the input so far. */
  advanced(bytes: number): void;
}

export interface WriteOutcome {
  readonly path: string;
  /** Range tombstones included. */
  readonly entries: number;
  /** Size of the file. */
  readonly bytes: number;
  /** User keys without timestamp, ends of range tombstones included; null for a table without entries. */
  readonly smallest: Uint8Array | null;
  readonly largest: Uint8Array | null;
}

export interface WriteEnvironment extends TableBuilderEnvironment {
  /** Reads digits faster, where there is one. */
  readonly textKernel?: TextKernel | undefined;
}

/**
 * Writes a table from rows. The file appears under its name when it is complete and synced, or not at all.
 * Throws InvalidArgumentError with its line for a row that cannot be written.
 */
export async function writeTable(
  environment: WriteEnvironment,
  request: WriteRequest,
  events: WriteEvents,
): Promise<WriteOutcome> {
  const output = openOutputFile(request.out, request.force);
  const writing = new Writing(request, output);
  events.opened(() => writing.discard());
  try {
    return await writing.run(environment, events);
  } finally {
    writing.discard();
  }
}

class Writing {
  private readonly entry = new WriteEntry();
  private readonly comparator: Comparator;
  private readonly reader: RecordReader;
  private readonly sorter: ExternalSorter | undefined;

  constructor(
    private readonly request: WriteRequest,
    private readonly output: OutputFile,
  ) {
    const { table, input, sort, sortMemoryBytes, out } = request;
    this.comparator = table.comparator ?? bytewiseComparator;
    this.reader = new RecordReader(input.bytes);
    if (sort) {
      const options = { comparator: this.comparator, memoryBytes: sortMemoryBytes, spillPath: out };
      this.sorter = new ExternalSorter(options);
    }
  }

  /** Safe at any moment; what has its name already keeps it. */
  discard(): void {
    this.sorter?.close();
    this.output.discard();
  }

  async run(environment: WriteEnvironment, events: WriteEvents): Promise<WriteOutcome> {
    const { table, out, orderIsKnown = true } = this.request;
    const sink = new SstFileSink(this.output.fd, out);
    const builder = await openTableBuilder(table, sink, environment);
    const feeder = new TableFeeder(builder, {
      comparator: this.comparator,
      orderIsKnown,
      ingestable: table.external ?? false,
    });
    try {
      await this.readRows(builder, feeder, events, environment.textKernel);
    } finally {
      await this.reader.close();
    }
    if (this.sorter !== undefined) await this.feedSorted(this.sorter, builder, feeder);
    if (feeder.entries === 0 && table.external) {
      throw new InvalidArgumentError('in', '', 'an ingestable table has entries: there are no rows');
    }
    feeder.finish();
    const { fileSize } = await builder.finish();
    sink.flush();
    this.output.commit();
    return { path: out, entries: feeder.entries, bytes: fileSize, ...feeder.bounds() };
  }

  private async readRows(
    builder: TableBuilder,
    feeder: TableFeeder,
    events: WriteEvents,
    textKernel: TextKernel | undefined,
  ): Promise<void> {
    const { reader, entry } = this;
    const parse = await this.openRows(textKernel);
    do {
      events.advanced(reader.bytesRead);
      while (reader.next()) {
        entry.line = reader.line;
        try {
          if (parse(reader.bytes, reader.start, reader.end)) this.takeRow(feeder);
        } catch (error) {
          throw this.located(error, reader.line);
        }
        if (builder.isSaturated) await builder.settle();
      }
    } while (await reader.fill());
  }

  private takeRow(feeder: TableFeeder): void {
    const { entry } = this;
    if (trailerType(entry.key, entry.keyEnd) === ValueType.rangeDeletion) feeder.addTombstone(entry);
    else if (this.sorter === undefined) feeder.add(entry);
    else this.sorter.add(entry);
  }

  private async feedSorted(
    sorter: ExternalSorter,
    builder: TableBuilder,
    feeder: TableFeeder,
  ): Promise<void> {
    const cursor = sorter.sorted();
    for (let count = 1; cursor.next(); count++) {
      const { entry } = cursor;
      try {
        feeder.add(entry);
      } catch (error) {
        throw this.located(error, entry.line);
      }
      if (builder.isSaturated) await builder.settle();
      // Signals have their turn.
      if (count % ENTRIES_PER_TURN === 0) await setImmediate();
    }
  }

  private async openRows(
    textKernel: TextKernel | undefined,
  ): Promise<(bytes: Uint8Array, start: number, end: number) => boolean> {
    const { input, table } = this.request;
    const format = input.format ?? (await this.guessFormat());
    const encoder = new RowEncoder({
      timestampSize: this.comparator.timestampSize,
      fillTimestamps: table.persistUserDefinedTimestamps === false,
      parseBytes: input.parseBytes,
      hexTimestamps: format === 'ndjson',
    });
    if (format === 'csv') {
      this.reader.quoted = true;
      const rows = new CsvRows(encoder, this.entry);
      return (bytes, start, end) => rows.parse(bytes, start, end);
    }
    const rows = new NdjsonRows(encoder, this.entry, textKernel);
    return (bytes, start, end) => {
      rows.parse(bytes, start, end);
      return true;
    };
  }

  /** By the first byte that is neither blank nor part of a byte order mark. */
  private async guessFormat(): Promise<RowsFormat> {
    for (const byte of await this.reader.peek(64)) {
      if (byte > 0x20) return byte === 0x7b ? 'ndjson' : 'csv';
    }
    return 'ndjson';
  }

  /** What is wrong with a row, with the line that it stands on. */
  private located(error: unknown, line: number): unknown {
    if (!(error instanceof InvalidArgumentError)) return error;
    return atLine(error, this.request.input.name, line);
  }
}
