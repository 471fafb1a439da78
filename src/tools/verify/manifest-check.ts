import type { ByteSource } from '../../bytes/source.ts';
import type { Environment } from '../../engine/environment.ts';
import type { LogFault } from '../../format/log/log-reader.ts';
import { type ReadManifest, readManifest } from '../../format/manifest/manifest-reader.ts';
import { levelsOf, type ManifestColumnFamily } from '../../format/manifest/manifest-state.ts';
import type { NewFile } from '../../format/manifest/version-edit.ts';
import { type Comparator, comparatorByName } from '../../operators/comparator.ts';
import type { Finding } from '../finding.ts';
import { boundText, compareInternalKeys } from './bounds-check.ts';
import { FindingLog } from './finding-log.ts';
import { logFinding, logReport } from './log-report.ts';
import type { FileReport, VerifyOptions } from './verify-options.ts';

/** Faults that mislead no reader; the others are damage. */
const WARNINGS: ReadonlySet<string> = new Set(['manifest_repeated_delete']);

/** Codes of the log; what the others are about is an edit. */
const LOG_CODES: ReadonlySet<string> = new Set([
  'log_record_damaged',
  'log_orphan_fragment',
  'manifest_incomplete',
]);

/** Checks a MANIFEST by itself: its records, its edits, and the order of the files that they leave. */
export function verifyManifest(
  environment: Pick<Environment, 'hashes'>,
  file: { readonly path: string; readonly source: ByteSource },
  options: VerifyOptions,
): FileReport {
  const log = new FindingLog(options);
  const manifest = checkManifest(environment, file.source, options, log);
  return manifestReport(file.path, file.source.size, manifest, log);
}

/** The same into `log`; what was read is the caller's. Throws IoErrors of the source. */
export function checkManifest(
  environment: Pick<Environment, 'hashes'>,
  source: ByteSource,
  options: VerifyOptions,
  log: FindingLog,
): ReadManifest {
  if (source.size === 0)
    log.add({ code: 'empty', severity: 'damage', message: 'the file is empty (0 bytes)' });
  const manifest = readManifest(source, environment.hashes, {
    fault: (fault) => log.add(manifestFinding(fault)),
  });
  if (options.order ?? true) {
    for (const family of manifest.state.columnFamilies.values()) {
      if (!log.stopped) checkLevels(family, options.comparator, log);
    }
  }
  return manifest;
}

export function manifestReport(
  path: string,
  bytes: number,
  manifest: Pick<ReadManifest, 'state'>,
  log: FindingLog,
): FileReport {
  return logReport(path, 'manifest', bytes, { decoded: manifest.state.editCount, entries: 0 }, log);
}

/** What is wrong with a MANIFEST. */
export function manifestFinding(fault: LogFault): Finding {
  const finding = logFinding(fault, LOG_CODES.has(fault.code) ? 'record' : 'edit');
  if (WARNINGS.has(finding.code)) finding.severity = 'warning';
  return finding;
}

/** How messages name a file of the MANIFEST. */
export function fileText(family: Pick<ManifestColumnFamily, 'name'>, { number, level }: NewFile): string {
  const where = family.name === 'default' ? '' : `, column family ${family.name}`;
  return `file ${number} (level ${level}${where})`;
}

/** The order of a column family's keys as its bounds store them; undefined where it is not known here. */
export function orderOfBounds(
  family: ManifestColumnFamily,
  given: Comparator | undefined,
): Comparator | undefined {
  const { comparator: name, persistUserDefinedTimestamps } = family;
  const comparator = given ?? (name === undefined ? undefined : comparatorByName(name));
  return persistUserDefinedTimestamps === false ? comparator?.withoutTimestamp : comparator;
}

/** In each file smallest <= largest; above level 0 no two files overlap, or a reader finds keys in one of them only. */
function checkLevels(family: ManifestColumnFamily, given: Comparator | undefined, log: FindingLog): void {
  if (family.files.size === 0) return;
  const order = orderOfBounds(family, given);
  if (order === undefined) {
    log.add({
      code: 'order_not_checked',
      severity: 'note',
      message:
        `column family ${family.name}: bounds of files were not compared, comparator ` +
        `${family.comparator ?? '(none is named)'} is not known here (--comparator)`,
    });
    return;
  }
  const minLength = order.timestampSize + 8;
  const compare = (a: Uint8Array, b: Uint8Array): number =>
    compareInternalKeys(order, a, a.length, b, b.length);
  for (const { level, files } of levelsOf(family)) {
    const sorted: NewFile[] = [];
    for (const file of files) {
      const { smallest, largest } = file;
      if (smallest.length < minLength || largest.length < minLength || compare(smallest, largest) > 0) {
        log.add({
          code: 'manifest_bounds',
          severity: 'damage',
          message: `${fileText(family, file)}: its smallest bound, ${boundText(smallest)}, lies behind its largest, ${boundText(largest)}`,
        });
      } else sorted.push(file);
    }
    if (level === 0) continue;
    sorted.sort((a, b) => compare(a.smallest, b.smallest));
    // Of those passed, the one that reaches farthest.
    let before: NewFile | undefined;
    for (const file of sorted) {
      const reach = before;
      if (reach === undefined || compare(reach.largest, file.largest) < 0) before = file;
      if (reach === undefined || compare(reach.largest, file.smallest) < 0) continue;
      log.add({
        code: 'manifest_overlap',
        severity: 'damage',
        message:
          `${fileText(family, reach)} ends at ${boundText(reach.largest)}, where file ${file.number} of the same ` +
          `level has begun, at ${boundText(file.smallest)}`,
      });
    }
  }
}
