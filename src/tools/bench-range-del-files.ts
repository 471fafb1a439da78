import type { Environment } from '../engine/environment.ts';
import { fragmentTombstones } from '../engine/range-del/fragmenter.ts';
import { tombstoneSetOf } from '../engine/range-del/tombstone-set.ts';
import { InvalidArgumentError, type SstError, withPending } from '../errors.ts';
import { type EntrySource, userKeyEnd } from '../format/table-entry.ts';
import type { OpenTableOptions } from '../format/table-reader.ts';
import { bytewiseComparator } from '../operators/comparator.ts';
import { median } from './bench/median.ts';
import type { Finding } from './finding.ts';
import type { OpenInput } from './input.ts';
import { KeyFilter } from './key-range.ts';
import { openAnyTable } from './open-any-table.ts';
import { forEachTableInput } from './table-inputs.ts';
import { CoverMarker } from './table-tombstones.ts';
import { DensityCollector, type TombstoneDensity } from './tombstone-density.ts';

/** What a file's range tombstones are, and what they cost a reader. */
export interface FileTombstonesReport {
  path: string;
  tombstones: number;
  fragments: number;
  /** Most tombstones over one key. */
  widestStack: number;
  memoryBytes: number;
  /** Fragmenting once, microseconds, median. */
  buildUs: number;
  /** Point entries and range tombstones. */
  entries: number;
  /** Point entries that a tombstone of the file hides. */
  coveredEntries: number;
  /** One point lookup in the fragments at a random place, microseconds. */
  lookupUs: number;
  /** Walking all point entries, microseconds an entry, without and with asking the aggregator for each. */
  iterateUs: number;
  iterateWithTombstonesUs: number;
  density: TombstoneDensity;
}

export interface FileBenchEvents {
  finding(path: string, finding: Finding): void;
  failure(error: SstError): void;
}

/** How often cheap things are repeated. */
const BUILD_REPETITIONS = 25;

/** Benches the tombstones of real files. Files without any are reported with zeros. */
export async function benchFileTombstones(
  environment: Environment,
  paths: readonly string[],
  options: OpenTableOptions,
  events: FileBenchEvents,
): Promise<FileTombstonesReport[]> {
  const reports: FileTombstonesReport[] = [];
  const failure = (error: SstError): void => events.failure(error);
  await forEachTableInput(environment, paths, failure, async (input) => {
    reports.push(await benchFile(environment, input, options, events));
  });
  return reports;
}

async function benchFile(
  environment: Environment,
  input: OpenInput,
  options: OpenTableOptions,
  events: FileBenchEvents,
): Promise<FileTombstonesReport> {
  const table = await openAnyTable(environment, input.source, input.kind, options);
  for (const finding of table.findings) events.finding(input.file.path, finding);
  const stored = await withPending(() => table.readRangeTombstones());
  const comparator = table.comparator ?? bytewiseComparator;
  if (table.comparator === undefined && stored.length > 0) throw unknownOrder(table.comparatorName);
  const set = tombstoneSetOf(stored, table.shape);
  const now = environment.clock.monotonicNanos;
  let list = fragmentTombstones(set, comparator);
  const builds: number[] = [];
  for (let i = 0; i < BUILD_REPETITIONS; i++) {
    const begin = now();
    list = fragmentTombstones(set, comparator);
    builds.push(now() - begin);
  }
  const walk = async (
    visit: (entry: EntrySource) => void,
    damage: (finding: Finding) => void = () => undefined,
  ): Promise<number> => {
    const begin = now();
    await table.walk(environment, false, new KeyFilter({}, comparator, comparator.name), {
      entry: (entry) => {
        visit(entry);
        return true;
      },
      damage,
    });
    return now() - begin;
  };
  const keys: Uint8Array[] = [];
  let points = 0;
  const density = new DensityCollector(table.shape);
  const marker = new CoverMarker(list, table, false);
  await walk(
    (entry) => {
      if (points++ % 97 === 0) keys.push(entry.key.slice(0, userKeyEnd(entry, table.shape)));
      density.add(entry, marker.isCovered(entry));
    },
    // Told once, not at each walk.
    (finding) => events.finding(input.file.path, finding),
  );
  const plain = await walk(() => undefined);
  let covered = 0;
  const reader = new CoverMarker(list, table, false);
  const withTombstones = await walk((entry) => {
    if (reader.isCovered(entry)) covered++;
  });
  const begin = now();
  for (const key of keys) list.maxCoveringSeqno(key);
  const lookups = now() - begin;
  let widest = 0;
  for (let f = 0; f < list.count; f++)
    widest = Math.max(widest, list.stackStarts[f + 1]! - list.stackStarts[f]!);
  return {
    path: input.file.path,
    tombstones: stored.length,
    fragments: list.count,
    widestStack: widest,
    memoryBytes: list.memoryBytes,
    buildUs: median(builds) / 1000,
    entries: points + stored.length,
    coveredEntries: covered,
    lookupUs: keys.length === 0 ? 0 : lookups / keys.length / 1000,
    iterateUs: points === 0 ? 0 : plain / points / 1000,
    iterateWithTombstonesUs: points === 0 ? 0 : withTombstones / points / 1000,
    density: density.finish(stored, comparator),
  };
}

function unknownOrder(name: string | undefined): InvalidArgumentError {
  return new InvalidArgumentError(
    'file',
    name ?? 'unknown',
    `tombstones are cut in the order of keys, and comparator ${name ?? '(unknown)'} is not known here: give one with --comparator`,
  );
}
