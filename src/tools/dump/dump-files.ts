import type { Environment } from '../../engine/environment.ts';
import { InvalidArgumentError, SstError } from '../../errors.ts';
import type { BlobFileFooter } from '../../format/blob/blob-file.ts';
import type { MetaindexEntry } from '../../format/metaindex.ts';
import { dumpTable, FindingList, type TableDump } from '../dump.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { OpenInput } from '../input.ts';
import type { OpenOptions } from '../open-any-table.ts';
import { isSmallFile, readSmallFile, type SmallFile } from '../small-file.ts';
import { type BlobHeaderView, type BlobRecordView, dumpBlobFile } from './blob-dump.ts';
import { EntryReader, type EntryVisitor } from './block-entries.ts';
import { type BlockDescription, describeBlock } from './describe-block.ts';
import { describeProperties, type Json, type PropertyView } from './describe-properties.ts';
import { type DumpPlan, forEachTable, planDump } from './dump-inputs.ts';
import { dumpManifest, type EditRecord, type LiveSet } from './manifest-dump.ts';
import { type DumpSubject, openSubject } from './open-subject.ts';
import { propertiesDocument, summaryDocument } from './summary-document.ts';
import { type BatchView, type ControlView, dumpWal, type WalSummary } from './wal-dump.ts';
import { type BlockRow, readOneBlock, walkBlocks } from './walk-blocks.ts';

/** Which parts of a table are asked for. */
export interface DumpParts {
  /** Everything but blocks one by one. */
  readonly summary: boolean;
  readonly properties: boolean;
  readonly metaBlocks: boolean;
  /** One row a block. */
  readonly blocks: boolean;
  /** Also their entries. */
  readonly entries: boolean;
  /** One block alone, by its offset in the file. */
  readonly block: number | undefined;
}

export interface DumpRequest {
  readonly paths: readonly string[];
  readonly recursive: boolean;
  readonly parts: DumpParts;
  readonly open: OpenOptions;
  /** Stop a file at its first damage. */
  readonly strict: boolean;
}

/** Takes the parts of each file, in this order. Text, JSON and the row formats are such. */
export interface DumpOutput extends EntryVisitor {
  start(single: boolean): void;
  /** A file begins. */
  file(subject: DumpSubject): void;
  summary(dump: TableDump, document: { readonly [name: string]: Json }): void;
  properties(view: PropertyView, document: { readonly [name: string]: Json }): void;
  /** Undefined where the metaindex cannot be read. */
  metaBlocks(entries: readonly MetaindexEntry[] | undefined): void;
  /** Rows of blocks follow; `block` is followed by its entries, where they are asked for, and by `endBlock`. */
  beginBlocks(subject: DumpSubject): void;
  block(row: BlockRow): void;
  endBlock(): void;
  endBlocks(): void;
  /** One block alone; its entries follow, where its kind has any, and `endBlock`. */
  oneBlock(row: BlockRow, description: BlockDescription): void;
  /** A MANIFEST begins; its edits follow, in their order, then what they leave, then `endFile`. */
  manifest(path: string, size: number): void;
  edit(record: EditRecord): void;
  live(live: LiveSet): void;
  /** A WAL begins; its records follow, in their order, then its end, then `endFile`. */
  wal(path: string, size: number): void;
  walBatch(batch: BatchView): void;
  walControl(control: ControlView): void;
  /** Undefined: it was stopped before its end. */
  walEnd(summary: WalSummary | undefined): void;
  /** CURRENT, IDENTITY or OPTIONS; then `endFile`. */
  smallFile(path: string, size: number, file: SmallFile): void;
  /** A blob file begins; its records follow, in their order, then its footer, then `endFile`. */
  blobFile(path: string, size: number, header: BlobHeaderView | undefined): void;
  blobRecord(record: BlobRecordView): void;
  /** Undefined: it is not there, or damaged. */
  blobEnd(footer: BlobFileFooter | undefined): void;
  endFile(findings: readonly Finding[]): void;
  /** A file of which nothing can be said. */
  failure(path: string, error: SstError): void;
  finish(): void;
}

export interface DumpEvents {
  finding(path: string, finding: Finding): void;
  failure(error: SstError): void;
  gone(path: string): void;
  skipped(paths: readonly string[]): void;
  /** Bytes of this file that have been looked at, and in all. */
  progress(doneBytes: number, totalBytes: number): void;
}

/** No part of a table is asked for, which another file would not have. */
function isWhole({ summary, blocks, entries }: DumpParts): boolean {
  return summary && !blocks && !entries;
}

/**
 * Dumps every table that the PATHs lead to, and the other files of a database that are named among them. A PATH that is one file and cannot
 * be read throws its SstError.
 */
export async function dumpFiles(
  environment: Environment,
  request: DumpRequest,
  output: DumpOutput,
  events: DumpEvents,
): Promise<void> {
  const plan: DumpPlan = planDump(environment, request.paths, {
    recursive: request.recursive,
    otherFiles: isWhole(request.parts),
  });
  if (request.paths.length === 1 && plan.failures.length === 1) throw plan.failures[0]!;
  output.start(plan.single);
  await forEachTable(
    environment,
    plan,
    request.paths,
    async (input) => {
      await new FileDump(environment, request, output, events).run(input);
      return true;
    },
    {
      failure(path, error) {
        if (plan.single || error instanceof InvalidArgumentError) throw error;
        output.failure(path, error);
        events.failure(error);
      },
      gone: (path) => events.gone(path),
      skipped: (paths) => events.skipped(paths),
    },
  );
  output.finish();
}

class FileDump {
  private damaged = false;

  constructor(
    private readonly environment: Environment,
    private readonly request: DumpRequest,
    private readonly output: DumpOutput,
    private readonly events: DumpEvents,
  ) {}

  async run(input: OpenInput): Promise<void> {
    const { environment, events, output, request } = this;
    const { path } = input.file;
    const { kind } = input.kind;
    const { parts } = request;
    const findings = new FindingList((finding) => {
      if (finding.severity === 'damage') this.damaged = true;
      events.finding(path, finding);
    });
    if (kind === 'manifest') {
      this.manifest(input, findings);
      return;
    }
    if (kind === 'wal') {
      await this.wal(input, findings);
      return;
    }
    if (isSmallFile(kind)) {
      const { file, findings: found } = readSmallFile(kind, input.source);
      output.smallFile(path, input.source.size, file);
      for (const finding of found) findings.add(finding);
      output.endFile(findings.findings);
      return;
    }
    if (kind === 'blob') {
      await this.blobFile(input, findings);
      return;
    }
    const subject = await openSubject(environment, input, request.open);
    if (parts.block !== undefined) this.requireBlock(subject, parts.block);
    output.file(subject);
    const advanced = (offset: number): void => events.progress(offset, subject.source.size);
    if (parts.summary) {
      const dump = await dumpTable(subject, findings, advanced);
      output.summary(dump, summaryDocument(dump));
    } else {
      for (const finding of subject.findings) findings.add(finding);
    }
    if (parts.properties) {
      const view = describeProperties(subject);
      output.properties(view, propertiesDocument(view));
    }
    if (parts.metaBlocks) output.metaBlocks(subject.metaindex);
    if ((parts.blocks || parts.entries) && !this.stopped) await this.blocks(subject, findings, advanced);
    if (parts.block !== undefined) await this.oneBlock(subject, parts.block, findings);
    output.endFile(findings.findings);
  }

  private manifest({ file, source }: OpenInput, findings: FindingList): void {
    const { environment, output, request } = this;
    output.manifest(file.path, source.size);
    const live = dumpManifest(environment, source, request.open.comparator, {
      edit: (record) => output.edit(record),
      finding: (finding) => findings.add(finding),
    });
    output.live(live);
    output.endFile(findings.findings);
  }

  private async wal({ file, source }: OpenInput, findings: FindingList): Promise<void> {
    const { environment, events, output } = this;
    output.wal(file.path, source.size);
    const summary = await dumpWal(environment, source, {
      batch: (batch) => output.walBatch(batch),
      control: (control) => output.walControl(control),
      finding: (finding) => findings.add(finding),
      advanced: (offset) => events.progress(offset, source.size),
      isStopped: () => this.stopped,
    });
    output.walEnd(summary);
    output.endFile(findings.findings);
  }

  private async blobFile({ file, source }: OpenInput, findings: FindingList): Promise<void> {
    const { environment, events, output } = this;
    const footer = await dumpBlobFile(environment, source, {
      header: (header) => output.blobFile(file.path, source.size, header),
      record: (record) => output.blobRecord(record),
      finding: (finding) => findings.add(finding),
      advanced: (offset) => events.progress(offset, source.size),
      isStopped: () => this.stopped,
    });
    output.blobEnd(footer);
    output.endFile(findings.findings);
  }

  private get stopped(): boolean {
    return this.request.strict && this.damaged;
  }

  private async blocks(
    subject: DumpSubject,
    findings: FindingList,
    advanced: (offset: number) => void,
  ): Promise<void> {
    const { output, request } = this;
    const entries = new EntryReader(subject);
    output.beginBlocks(subject);
    await walkBlocks(subject, this.environment, {
      block: (row, contents) => {
        output.block(row);
        if (request.parts.entries) {
          const isTable = row.type === 'data' || row.type === 'range_del';
          if (isTable && contents !== undefined) entries.read(row, contents, output);
          else if (row.type === 'data') this.bareRows(subject, entries, findings);
        }
        output.endBlock();
        return !this.stopped;
      },
      finding: (finding) => findings.add(finding),
      advanced,
    });
    output.endBlocks();
  }

  /** Rows of plain tables; those of cuckoo tables cannot be read. */
  private bareRows(subject: DumpSubject, entries: EntryReader, findings: FindingList): void {
    try {
      if (subject.plain !== undefined) entries.readPlainRows(subject.plain.rows(), this.output);
      if (subject.cuckoo !== undefined) subject.cuckoo.rows();
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      findings.add(findingOf(error));
    }
  }

  private requireBlock({ order, path }: DumpSubject, offset: number): void {
    if (order.find(offset) >= 0) return;
    const at = order.lowerBound(offset);
    const near = [at - 1, at].filter((i) => i >= 0 && i < order.count).map((i) => order.offsets[i]);
    throw new InvalidArgumentError(
      'block',
      String(offset),
      `${path}: no block begins at ${offset}${near.length > 0 ? `; the nearest begin at ${near.join(' and ')}` : ''}`,
    );
  }

  private async oneBlock(subject: DumpSubject, offset: number, findings: FindingList): Promise<void> {
    const { output } = this;
    const at = subject.order.find(offset);
    const { row, bytes, decoded } = await readOneBlock(subject, at, (finding) => findings.add(finding));
    const description = describeBlock(row, bytes, decoded);
    output.oneBlock(row, description);
    const entries = new EntryReader(subject);
    if (description.hasEntries) entries.read(row, bytes, output);
    else if (row.type === 'data' && subject.table === undefined) this.bareRows(subject, entries, findings);
    output.endBlock();
  }
}
