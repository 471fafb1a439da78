import type { ByteSource } from '../../bytes/source.ts';
import type { Environment } from '../../engine/environment.ts';
import { IoError, SstError, UnsupportedError } from '../../errors.ts';
import { openCuckooTable } from '../../format/cuckoo/cuckoo-table.ts';
import type { FileKindResult } from '../../format/file-kind.ts';
import { FOOTER_SIZE, readFooter } from '../../format/footer.ts';
import { type Finding, findingOf } from '../finding.ts';
import { shapeOfLostFooter } from '../lost-footer.ts';
import { openTableFile } from '../open-any-table.ts';
import { verifyBlockTable } from './block-table.ts';
import { FindingLog } from './finding-log.ts';
import { IndexCheck } from './index-check.ts';
import { verifyPlainTable } from './plain-table.ts';
import type { FileReport, TableCounts, VerifyEnvironment, VerifyTableOptions } from './verify-options.ts';

/**
 * Checks one table file of any format, as far as its state allows. What is wrong with it stands in the report;
 * thrown are IoErrors of the source and bugs.
 */
export async function verifyTable(
  environment: VerifyEnvironment,
  file: { readonly path: string; readonly source: ByteSource; readonly kind: FileKindResult },
  options: VerifyTableOptions,
  advanced: (offset: number) => void = () => undefined,
): Promise<FileReport> {
  const { path, source, kind } = file;
  const log = new FindingLog(options);
  let counts: TableCounts = { blocks: 0, entries: 0 };
  let formatVersion: number | null = null;
  let unreadable = false;
  try {
    if (kind.detail.tableFormat === 'cuckoo') {
      formatVersion = verifyCuckooTable(environment, source, log);
    } else {
      const index = new IndexCheck(options.order ?? true);
      const opened = await openTableFile(environment, source, kind, {
        ...options,
        ...(options.checksumsOnly ? { separators: false } : { indexBlock: index.take.bind(index) }),
      });
      const { footer } = opened.plain ?? opened.table;
      // A footer that was only assumed, to read blocks without one, has no size.
      formatVersion = footer.size === 0 ? null : footer.formatVersion;
      counts =
        opened.plain !== undefined
          ? verifyPlainTable(opened.plain, opened.findings, options, log, advanced)
          : await verifyBlockTable(environment, opened, index, options, log, advanced);
    }
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    // The file shrank, or the disk failed: that is not of the table.
    if (error instanceof IoError && SYSTEM_CODES.has(error.code)) throw error;
    log.add(openingFinding(error, source));
    unreadable = NO_TABLE_CODES.has(error.code);
  }
  const kindWord = kind.kind === 'unknown' && formatVersion !== null ? 'sst' : kind.kind;
  return {
    path,
    kind: counts.blocks > 0 ? 'sst' : kindWord,
    status: unreadable ? 'unreadable' : log.status,
    formatVersion,
    bytes: source.size,
    ...counts,
    findings: log.findings,
    findingsOmitted: log.omitted,
  };
}

/** IoErrors of the system; the others say what the file is. */
const SYSTEM_CODES: ReadonlySet<string> = new Set(['not_found', 'permission', 'is_directory', 'io_error']);

/** No footer, and no block without one. */
const NO_TABLE_CODES: ReadonlySet<string> = new Set(['footer_magic', 'empty', 'not_a_table']);

/** Why nothing of the file can be read. */
function openingFinding(error: SstError, source: ByteSource): Finding {
  const finding = findingOf(error);
  const prefix = `${source.name}: `;
  if (finding.message.startsWith(prefix)) finding.message = finding.message.slice(prefix.length);
  if (!error.code.startsWith('footer_')) return finding;
  const size = Math.min(FOOTER_SIZE, source.size);
  finding.block = { type: 'footer', offset: source.size - size, size, ordinal: null };
  if (error.code === 'footer_magic') finding.shape = shapeOfLostFooter(source);
  return finding;
}

/** A cuckoo table's properties against the file; its rows are not read. Returns the format version. */
function verifyCuckooTable(environment: Environment, source: ByteSource, log: FindingLog): number {
  const footer = readFooter(source, environment.hashes);
  const table = openCuckooTable(source, footer);
  for (const problem of table.problems) log.addError(problem);
  log.addError(
    new UnsupportedError(
      'table format',
      'cuckoo',
      'a cuckoo table: its properties were compared with the file, its rows are not read here',
    ),
  );
  return footer.formatVersion;
}
