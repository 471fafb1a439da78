import { toHex } from '../../bytes/text.ts';
import type { FileSource } from '../../engine/environment.ts';
import { InvalidArgumentError, IoError, SstError, UnsupportedError } from '../../errors.ts';
import { ExitStatus, worstStatus } from '../../exit-status.ts';
import type { TableBuilderEnvironment } from '../../format/table-builder/table-builder.ts';
import type { NodeEnvironment } from '../../node/environment.ts';
import { openOutputFile } from '../../node/output-file.ts';
import { type ByteSink, FdSink } from '../../render/sink.ts';
import { isWholeRange, KeyFilter, type KeyRange } from '../../tools/key-range.ts';
import { type Compat, parseSstDumpArguments, type SstDumpArguments, SstDumpUsageError } from './arguments.ts';
import { DumpedFile } from './dumped-file.ts';
import { SST_DUMP_HELP } from './help-text.ts';
import { openDumpFile } from './open-dump-file.ts';
import {
  propertiesText,
  propertyNumber,
  writePropertyLines,
  writeUserCollectedLines,
} from './properties-text.ts';
import { writeRawDump } from './raw-dump.ts';
import { recompress } from './recompress.ts';
import { internalKeyText, ScanRows } from './scan-rows.ts';
import { openFailureText } from './status-text.ts';
import { verifyBlocks } from './verify-blocks.ts';

/** What the tool works with; only recompress takes the encoders. */
export type SstDumpEnvironment = NodeEnvironment & TableBuilderEnvironment;

/** What the tool is given from outside. */
export interface SstDumpHost {
  readonly stdout: ByteSink;
  /** One line on stderr. */
  complain(text: string): void;
  /** Opened when the first file is. */
  openEnvironment(): Promise<SstDumpEnvironment>;
  /** Says what Ctrl-C has to undo; the returned function takes it back. */
  onInterrupt(cleanup: () => void): () => void;
  /** Of this program. */
  readonly version: string;
}

/** Runs a command line of sst_dump; answers with the exit status. */
export async function runSstDump(argv: readonly string[], host: SstDumpHost): Promise<ExitStatus> {
  try {
    const request = parseSstDumpArguments(argv);
    switch (request.kind) {
      case 'help':
        host.stdout.writeText(SST_DUMP_HELP);
        return ExitStatus.ok;
      case 'version':
        host.stdout.writeText(versionText(request.compat, host.version));
        return ExitStatus.ok;
      case 'parse_internal_key':
        return showInternalKey(request.key, host);
      case 'work':
        return await work(request.arguments, host);
    }
  } catch (error) {
    if (!(error instanceof SstDumpUsageError)) throw error;
    host.complain(error.message);
    if (error.withHelp) host.complain(SST_DUMP_HELP.trimEnd());
    return ExitStatus.usage;
  }
}

function versionText(compat: Compat, version: string): string {
  return `sst_dump (RocksDB) ${compat === '7.8' ? '7.8.3' : '11.9.0'}\n    sstkit_version: ${version}\n`;
}

function showInternalKey(key: Uint8Array, host: SstDumpHost): ExitStatus {
  const { text, fault } = internalKeyText(key);
  host.stdout.writeLine(text);
  if (fault === undefined) return ExitStatus.ok;
  host.complain(fault.reason);
  return ExitStatus.usage;
}

async function work(options: SstDumpArguments, host: SstDumpHost): Promise<ExitStatus> {
  if (options.environmentUri !== '') {
    host.complain(
      `CreateEnvFromUri: Not implemented: only local files are read, not ${options.environmentUri}`,
    );
    return ExitStatus.unsupported;
  }
  const environment = await host.openEnvironment();
  host.stdout.writeLine('options.env is 0x0');
  return new SstDump(options, host, environment).run();
}

/** One PATH of the command line. */
interface NamedPath {
  readonly path: string;
  readonly isDirectory: boolean;
  readonly files: readonly string[];
}

const RULE = `${'-'.repeat(30)}\n`;
/** Names that are taken from a directory. */
const TABLE_NAME = /\.(sst|ldb)$/;

class SstDump {
  private readonly stdout: ByteSink;
  private readonly range: KeyRange;
  private status: ExitStatus = ExitStatus.ok;
  private filesShown = 0;
  private entriesRead = 0;
  /** Files that opened without a fault. */
  private readonly validFiles: string[] = [];
  private readonly summary = { files: 0, dataBlocks: 0n, data: 0n, index: 0n, filter: 0n };
  private readonly rawNames = new Set<string>();

  constructor(
    private readonly options: SstDumpArguments,
    private readonly host: SstDumpHost,
    private readonly environment: SstDumpEnvironment,
  ) {
    this.stdout = host.stdout;
    const { from, to, prefix } = options;
    this.range = {
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      ...(prefix === undefined ? {} : { prefix }),
    };
  }

  async run(): Promise<ExitStatus> {
    const named = this.namedPaths();
    if (named === undefined) return this.status;
    outer: for (const { files } of named) {
      for (const file of files) if (!(await this.file(file))) break outer;
    }
    if (this.options.showSummary) this.writeSummary();
    this.writeIdentified(named);
    return this.status;
  }

  /** Undefined when one of them is missing: then nothing is done. */
  private namedPaths(): NamedPath[] | undefined {
    const named: NamedPath[] = [];
    for (const path of this.options.paths) {
      try {
        const { files } = this.environment;
        const isDirectory = files.status(path).kind === 'directory';
        const children = isDirectory ? files.list(path) : [];
        if (children.length === 0) {
          named.push({ path, isDirectory: false, files: isDirectory ? [] : [path] });
          continue;
        }
        const tables = children.filter(({ name, kind }) => kind !== 'directory' && TABLE_NAME.test(name));
        named.push({ path, isDirectory: true, files: tables.map(({ name }) => `${path}/${name}`) });
      } catch (error) {
        if (!(error instanceof IoError)) throw error;
        if (error.code === 'not_found') this.complain(`NotFound: ${path}: No such file or directory`);
        else this.complain(`${path}: ${openFailureText(error, path)}`);
        this.raise(ExitStatus.unreadable);
        return undefined;
      }
    }
    return named;
  }

  /** False when no further file is wanted. */
  private async file(path: string): Promise<boolean> {
    this.stdout.writeLine(`Process ${path}`);
    let source: FileSource | undefined;
    let file: DumpedFile | undefined;
    try {
      source = this.environment.files.open(path);
      if (source.size === 0) throw new IoError('empty', path, 'the file is empty (0 bytes)');
      const opened = await openDumpFile(this.environment, source, this.options);
      if (opened.properties === undefined) this.stdout.writeLine('Not able to read table properties');
      this.stdout.writeLine(`Sst file format: ${opened.format}`);
      file = new DumpedFile(path, opened, this.options.compat, (text) => this.complain(text));
      return !this.isWanted(file) || (await this.runCommand(file));
    } catch (error) {
      if (!(error instanceof SstError) || error instanceof InvalidArgumentError) throw error;
      this.complain(`${path}: ${openFailureText(error, path)}`);
      this.raise(error instanceof UnsupportedError ? ExitStatus.unsupported : ExitStatus.unreadable);
      return true;
    } finally {
      if (file !== undefined) this.raise(file.status);
      source?.close();
    }
  }

  /** False when no further file is wanted. */
  private async runCommand(file: DumpedFile): Promise<boolean> {
    const { stdout, options } = this;
    const { command, from, prefix, to } = options;
    if (!file.damaged) this.validFiles.push(file.path);
    if (this.filesShown++ === 0 && (command === 'check' || command === 'scan')) {
      stdout.writeLine(`from [${upperHex(from ?? prefix)}] to [${upperHex(to)}]`);
    }
    if (command === 'raw') await this.raw(file);
    if (command === 'verify') await this.verify(file);
    if (command === 'recompress') await this.recompress(file);
    if (command === 'raw' || command === 'verify' || command === 'recompress') return true;
    if (command !== 'identify' && !(await this.scan(file))) return false;
    if (options.showProperties || options.showSummary) this.properties(file);
    if (options.listMetaBlocks) this.metaBlocks(file);
    return true;
  }

  /** Whether the texts of the properties match what was asked for. */
  private isWanted({ path, opened: { properties } }: DumpedFile): boolean {
    const { requireProperty, excludeProperty, compat } = this.options;
    if (properties === undefined || (requireProperty ?? excludeProperty) === undefined) return true;
    const text = propertiesText(properties, compat);
    let why: string | undefined;
    if (requireProperty !== undefined && !requireProperty.test(text)) {
      why = "properties string doesn't match required regex";
    } else if (excludeProperty?.test(text)) {
      why = 'properties string matches excluded regex';
    }
    if (why !== undefined) this.complain(`${path}: skipping because ${why}`);
    return why === undefined;
  }

  /** False when the limit was met and more would have followed. */
  private async scan(file: DumpedFile): Promise<boolean> {
    const { options, range } = this;
    const { shape } = file;
    const isWhole = isWholeRange(range);
    const filter = isWhole ? undefined : new KeyFilter(range, shape.comparator, shape.comparatorName);
    const rows = new ScanRows(this.stdout, {
      print: options.command === 'scan',
      hex: options.outputHex,
      decodeBlobIndex: options.decodeBlobIndex,
      compat: options.compat,
      shape,
      filter,
      limit: options.readLimit - this.entriesRead,
      textKernel: this.environment.textKernel,
      complain: (text) => file.complainOfEntry(text),
    });
    const tombstones = await file.countRangeTombstones();
    await file.walk(this.environment, rows, filter);
    this.entriesRead += rows.rows;
    if (isWhole && !rows.overLimit) this.compareCounts(file, rows.rows, tombstones);
    return !rows.overLimit;
  }

  /** After damage a wrong count would say nothing new. */
  private compareCounts(file: DumpedFile, entries: number, tombstones: number | undefined): void {
    const { properties, blockTable, plain } = file.opened;
    if (file.status !== ExitStatus.ok || (blockTable ?? plain) === undefined) return;
    if (properties === undefined || !properties.raw.has('rocksdb.num.entries')) return;
    const counted = propertyNumber(properties, 'rocksdb.num.entries');
    const rangeDeletions = propertyNumber(properties, 'rocksdb.num.range-deletions');
    if (tombstones !== undefined && BigInt(tombstones) !== rangeDeletions) {
      file.corrupt(
        `Table property expects ${rangeDeletions} range deletions, but the table holds ${tombstones}`,
      );
    }
    const expected = BigInt.asUintN(64, counted - rangeDeletions);
    // Releases before 5.18 did not count range deletions as entries.
    if (BigInt(entries) === expected || BigInt(entries) === counted) return;
    file.corrupt(
      `Table property expects ${expected} entries when excluding range deletions, ` +
        `but scanning the table returned ${entries} entries`,
    );
  }

  private async raw(file: DumpedFile): Promise<void> {
    const { options, host } = this;
    const { blockTable } = file.opened;
    if (blockTable === undefined) {
      file.unsupported('DumpTable() not supported');
      return;
    }
    const path = this.rawDumpPath(file.path);
    try {
      // As with the real tool, an older dump is replaced.
      const output = openOutputFile(path, true);
      const forget = host.onInterrupt(() => output.discard());
      try {
        const sink = new FdSink(output.fd, path);
        await writeRawDump(sink, blockTable, this.environment, {
          compat: options.compat,
          showSequenceNumberType: options.showSequenceNumberType,
          report: (finding, place) => file.report(finding, place),
        });
        sink.flush();
        output.commit();
      } finally {
        output.discard();
        forget();
      }
      this.stdout.writeLine(`raw dump written to file ${path}`);
    } catch (error) {
      if (!(error instanceof IoError)) throw error;
      this.complain(`${path}: IO error: ${error.message}`);
      this.raise(ExitStatus.unreadable);
    }
  }

  /** Two tables of one name get two dumps. */
  private rawDumpPath(file: string): string {
    const { outputDirectory } = this.options;
    const name = file.replace(/^.*[/:]/, '').replace(TABLE_NAME, '');
    const start = outputDirectory === '' ? name : `${outputDirectory.replace(/\/+$/, '')}/${name}`;
    let path = `${start}_dump.txt`;
    for (let n = 2; this.rawNames.has(path); n++) path = `${start}_dump_${n}.txt`;
    this.rawNames.add(path);
    return path;
  }

  private async verify(file: DumpedFile): Promise<void> {
    const { blockTable } = file.opened;
    if (blockTable === undefined) {
      file.unsupported('VerifyChecksum() not supported');
      return;
    }
    await verifyBlocks(blockTable, (finding, place) => file.report(finding, place, ' is corrupted'));
    if (!file.damaged) this.stdout.writeLine('The file is ok');
  }

  /** Plain tables have nothing to compress here: the tool would write them as block-based ones. */
  private async recompress(file: DumpedFile): Promise<void> {
    if (file.opened.blockTable === undefined) {
      file.unsupported('recompress of a table without blocks');
      return;
    }
    await recompress(this.stdout, file, this.environment, this.options.recompress, this.options.compat);
  }

  private properties(file: DumpedFile): void {
    const { stdout, options, summary } = this;
    const { properties } = file.opened;
    if (properties === undefined) {
      this.complain('Reader unexpectedly returned null properties');
      return;
    }
    summary.files++;
    summary.dataBlocks += propertyNumber(properties, 'rocksdb.num.data.blocks');
    summary.data += propertyNumber(properties, 'rocksdb.data.size');
    summary.index += propertyNumber(properties, 'rocksdb.index.size');
    summary.filter += propertyNumber(properties, 'rocksdb.filter.size');
    if (!options.showProperties) return;
    stdout.writeText(`Table Properties:\n${RULE}`);
    writePropertyLines(stdout, properties, options.compat);
    stdout.writeText(`  Raw user collected properties\n${RULE}`);
    writeUserCollectedLines(stdout, properties, options.compat);
  }

  private metaBlocks({ opened: { metaindex } }: DumpedFile): void {
    if (metaindex === undefined) {
      this.complain('Could not read the meta index block');
      return;
    }
    this.stdout.writeText(`Meta Blocks:\n${RULE}`);
    for (const { name, offset, size } of metaindex) this.stdout.writeLine(`  ${name}: ${offset} ${size}`);
  }

  private writeSummary(): void {
    const { files, dataBlocks, data, index, filter } = this.summary;
    this.stdout.writeText(
      `total number of files: ${files}\ntotal number of data blocks: ${dataBlocks}\n` +
        `total data block size: ${data}\ntotal index block size: ${index}\n` +
        `total filter block size: ${filter}\n`,
    );
  }

  private writeIdentified(named: readonly NamedPath[]): void {
    const { stdout } = this;
    const [first] = named;
    if (this.validFiles.length === 0) {
      for (const { path, isDirectory } of named) {
        if (isDirectory) stdout.writeText(RULE);
        this.complain(
          isDirectory ? `No valid SST files found in ${path}` : `${path} is not a valid SST file`,
        );
      }
      if (this.status === ExitStatus.ok) this.raise(ExitStatus.unreadable);
      return;
    }
    if (this.options.command !== 'identify') return;
    if (named.length === 1 && !first!.isDirectory) {
      stdout.writeLine(`${first!.path} is a valid SST file`);
      return;
    }
    stdout.writeText(RULE);
    stdout.writeLine(`List of valid SST files${named.length === 1 ? ` found in ${first!.path}` : ''}:`);
    for (const file of this.validFiles) stdout.writeLine(file);
    stdout.writeLine(`Number of valid SST files: ${this.validFiles.length}`);
  }

  /** What stands before it on stdout is shown before it. */
  private complain(text: string): void {
    this.stdout.flush();
    this.host.complain(text);
  }

  private raise(status: ExitStatus): void {
    this.status = worstStatus(this.status, status);
  }
}

function upperHex(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : toHex(bytes).toUpperCase();
}
