import type { Finding } from '../tools/finding.ts';
import type { FileReport, VerifySummary } from '../tools/verify.ts';
import { findingLine } from './finding-line.ts';
import { writeJsonDocument } from './json.ts';
import { type BytesMode, formatKey } from './key-format.ts';
import type { ByteSink } from './sink.ts';
import type { Theme } from './theme.ts';

/** Takes the reports in the order of the files, then the summary. */
export interface VerifyWriter {
  report(report: FileReport): void;
  finish(summary: VerifySummary): void;
}

export interface VerifyWriterOptions {
  readonly format: 'text' | 'json' | 'ndjson';
  /** By default escaped in text, hexadecimal elsewhere. */
  readonly bytes: BytesMode | undefined;
  readonly theme: Theme;
  /** Text: only files that are not whole. */
  readonly quiet: boolean;
  /** Text: notes of this file are printed, not only counted. */
  withNotes(path: string): boolean;
}

export function openVerifyWriter(sink: ByteSink, options: VerifyWriterOptions): VerifyWriter {
  switch (options.format) {
    case 'text':
      return new TextWriter(sink, options);
    case 'json':
      return new DocumentWriter(sink, options.bytes ?? 'hex');
    case 'ndjson':
      return {
        report: (report) => writeJsonDocument(sink, reportToJson(report, options.bytes ?? 'hex')),
        finish: () => undefined,
      };
  }
}

/** One line a file, what was found below it, and one line for all at the end. */
class TextWriter implements VerifyWriter {
  constructor(
    private readonly sink: ByteSink,
    private readonly options: VerifyWriterOptions,
  ) {}

  report(report: FileReport): void {
    const { sink, options } = this;
    const { theme } = options;
    if (options.quiet && report.status === 'ok') return;
    const paint = report.status === 'ok' ? theme.ok : theme.damage;
    const parts = [paint(report.status)];
    if (report.blocks > 0) parts.push(`${report.blocks} blocks`);
    if (report.entries > 0) parts.push(`${report.entries} entries`);
    parts.push(`${report.bytes} bytes`);
    const shown = this.shown(report);
    const hidden = report.findings.length - shown.length;
    if (hidden > 0) parts.push(hidden === 1 ? '1 note' : `${hidden} notes`);
    sink.writeLine(`${report.path}: ${parts.join(', ')}`);
    for (const finding of shown) {
      const paintOf = { damage: theme.damage, warning: theme.warning, note: theme.dim }[finding.severity];
      const head = `  ${paintOf(`${finding.severity} ${finding.code}`)}`;
      sink.writeLine(findingLine(head, finding, options.bytes));
    }
    if (report.findingsOmitted > 0) {
      sink.writeLine(`  and ${report.findingsOmitted} more findings (--max-findings)`);
    }
  }

  finish(summary: VerifySummary): void {
    const { files, ok, damaged, unreadable, unsupported, bytes } = summary;
    this.sink.writeLine(
      `${files} ${files === 1 ? 'file' : 'files'}: ${ok} ok, ${damaged} damaged, ${unreadable} unreadable, ` +
        `${unsupported} unsupported, ${bytes} bytes`,
    );
  }

  private shown({ path, findings }: FileReport): readonly Finding[] {
    if (!this.options.quiet && this.options.withNotes(path)) return findings;
    return findings.filter(({ severity }) => severity !== 'note');
  }
}

class DocumentWriter implements VerifyWriter {
  private readonly reports: unknown[] = [];

  constructor(
    private readonly sink: ByteSink,
    private readonly bytes: BytesMode,
  ) {}

  report(report: FileReport): void {
    this.reports.push(reportToJson(report, this.bytes));
  }

  finish(summary: VerifySummary): void {
    writeJsonDocument(this.sink, { schema: 1, summary, files: this.reports });
  }
}

/** The members in the order of the contract. */
function reportToJson(report: FileReport, bytes: BytesMode): unknown {
  const { path, kind, status, formatVersion, blocks, entries, findings, findingsOmitted } = report;
  return {
    path,
    kind,
    status,
    formatVersion,
    bytes: report.bytes,
    blocks,
    entries,
    findings: findings.map((finding) => findingToJson(finding, bytes)),
    findingsOmitted,
  };
}

/** Members that are undefined are left out by JSON. */
function findingToJson(
  { code, severity, message, block, stored, computed, lost, shape }: Finding,
  bytes: BytesMode,
) {
  const key = (each: Uint8Array | null): string | null => (each === null ? null : formatKey(each, bytes));
  return {
    code,
    severity,
    message,
    block,
    stored,
    computed,
    lost: lost && { after: key(lost.after), before: key(lost.before), entries: lost.entries },
    shape,
  };
}
