import { type SstError, withPending } from '../errors.ts';
import type { FilterKind } from '../format/filter/filter-metadata.ts';
import type { FilterReader } from '../format/filter/filter-reader.ts';
import { filterProbeEnd, filterUse } from '../format/filter/filter-use.ts';
import { openFilter } from '../format/filter/open-filter.ts';
import { openTableFilter } from '../format/filter/table-filter.ts';
import { userKeyEnd } from '../format/table-entry.ts';
import type { KeyHash } from '../hash/key-hash.ts';
import type { NodeEnvironment } from '../node/environment.ts';
import { Random32 } from './bench/random32.ts';
import type { FileBenchEvents } from './bench-range-del-files.ts';
import type { OpenInput } from './input.ts';
import { openTableFile } from './open-any-table.ts';
import { forEachTableInput } from './table-inputs.ts';
import { walkEntries } from './walk-entries.ts';

/** What a file's own filter costs. Times are nanoseconds a query, medians over rounds, hash included. */
export interface FileFilterReport {
  path: string;
  /** Null where the file has no filter that is read today. */
  kind: FilterKind | null;
  /** One, or one a partition. */
  filters: number;
  bytes: number;
  /** By property `rocksdb.num.filter_entries`. */
  bitsPerKey: number | null;
  /** Keys of the file that were asked, one call each, in the order of a walk. */
  keys: number;
  insideNs: number | null;
  outsideNs: number | null;
  /** The keys outside, some hundred in one call. */
  batchedNs: number | null;
  /** The keys outside, with the filter's metadata decoded for each. */
  reparseNs: number | null;
  /** The hash alone. */
  hashNs: number | null;
  falsePositivePercent: number | null;
}

const KEYS_MAX = 100_000;
const ROUNDS = 11;
/** Enough to make a key of the file one that it does not have. */
const SUFFIX_BYTES = 8;

/** Benches the filters of real files with their own keys, and with keys that they do not have. */
export async function benchFileFilters(
  environment: NodeEnvironment,
  paths: readonly string[],
  seed: number,
  events: FileBenchEvents,
): Promise<FileFilterReport[]> {
  const reports: FileFilterReport[] = [];
  const failure = (error: SstError): void => events.failure(error);
  await forEachTableInput(environment, paths, failure, async (input) => {
    reports.push(await benchFile(environment, input, seed, events));
  });
  return reports;
}

async function benchFile(
  environment: NodeEnvironment,
  { file, source, kind }: OpenInput,
  seed: number,
  events: FileBenchEvents,
): Promise<FileFilterReport> {
  const opened = await openTableFile(environment, source, kind, { separators: false });
  for (const finding of opened.findings) events.finding(file.path, finding);
  const { table } = opened;
  const filter = table && (await withPending(() => openTableFilter(table)));
  const report: FileFilterReport = {
    path: file.path,
    kind: null,
    filters: filter?.count ?? 0,
    bytes: 0,
    bitsPerKey: null,
    keys: 0,
    insideNs: null,
    outsideNs: null,
    batchedNs: null,
    reparseNs: null,
    hashNs: null,
    falsePositivePercent: null,
  };
  if (table === undefined || filter === undefined || filter.count === 0) return report;
  const contents: Uint8Array[] = [];
  for (let i = 0; i < filter.count; i++) {
    contents.push(await withPending(() => table.blocks.read(filter.handleOf(i), filter.blockType)));
  }
  report.bytes = contents.reduce((sum, { length }) => sum + length, 0);
  const readers = contents.map((bytes) => openFilter(bytes));
  report.kind = readers[0]!.kind;
  const added = table.properties?.count('rocksdb.num.filter_entries') ?? 0;
  report.bitsPerKey = added > 0 ? (8 * report.bytes) / added : null;

  const use = filterUse(table.properties);
  const random = new Random32(seed);
  const inside = new AskedKeys();
  const outside = new AskedKeys();
  const other = new Uint8Array(SUFFIX_BYTES);
  const visit = {
    entry: (entry: Parameters<typeof userKeyEnd>[0]) => {
      const end = filterProbeEnd(use, entry.key, 0, userKeyEnd(entry, table));
      if (end < 0) return true;
      const ordinal = filter.find(entry.key, 0, entry.keyLength);
      inside.push(ordinal, entry.key.subarray(0, end));
      for (let i = 0; i < SUFFIX_BYTES; i++) other[i] = random.uint32();
      // Of prefixes the filter knows no other length: one with other bytes is most likely not there.
      const kept = use.wholeKeys ? end : Math.max(0, end - SUFFIX_BYTES);
      const absent = new Uint8Array(use.wholeKeys ? end + SUFFIX_BYTES : end);
      absent.set(entry.key.subarray(0, kept));
      absent.set(other.subarray(0, absent.length - kept), kept);
      outside.push(ordinal, absent);
      return inside.count < KEYS_MAX;
    },
    damage: (finding: Parameters<FileBenchEvents['finding']>[1]) => events.finding(file.path, finding),
  };
  await walkEntries(table, opened.blocks, environment, {}, visit);
  report.keys = inside.count;
  if (inside.count === 0) return report;

  const { keyHash } = environment;
  const time = (work: () => void): number => {
    const { monotonicNanos } = environment.clock;
    const times: number[] = [];
    for (let round = -1; round < ROUNDS; round++) {
      const begin = monotonicNanos();
      work();
      if (round >= 0) times.push((monotonicNanos() - begin) / inside.count);
    }
    return times.sort((a, b) => a - b)[ROUNDS >> 1]!;
  };
  let passed = 0;
  report.insideNs = time(() => inside.ask(readers, keyHash));
  report.outsideNs = time(() => {
    passed = outside.ask(readers, keyHash);
  });
  report.batchedNs = time(() => outside.askMany(readers, keyHash));
  report.reparseNs = time(() => outside.askParsing(contents, keyHash));
  report.hashNs = time(() => outside.hash(keyHash));
  report.falsePositivePercent = (100 * passed) / outside.count;
  return report;
}

/** Keys, and the filter that each is for, in order. */
class AskedKeys {
  count = 0;
  private bytes = new Uint8Array(1 << 16);
  private readonly offsets = new Uint32Array(KEYS_MAX + 1);
  private readonly ordinals = new Int32Array(KEYS_MAX);
  private readonly answers = new Uint8Array(KEYS_MAX);

  push(ordinal: number, key: Uint8Array): void {
    const start = this.offsets[this.count]!;
    const end = start + key.length;
    if (end > this.bytes.length) {
      const larger = new Uint8Array(2 * end);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes.set(key, start);
    this.ordinals[this.count++] = ordinal;
    this.offsets[this.count] = end;
  }

  /** Returns how many pass. */
  ask(readers: readonly FilterReader[], hash: KeyHash): number {
    const { bytes, offsets, ordinals } = this;
    let passed = 0;
    for (let i = 0; i < this.count; i++) {
      if (readers[ordinals[i]!]!.mayContain(hash, bytes, offsets[i]!, offsets[i + 1]!)) passed++;
    }
    return passed;
  }

  /** Neighbours of one filter in one call. */
  askMany(readers: readonly FilterReader[], hash: KeyHash): number {
    const { bytes, offsets, ordinals, answers } = this;
    let passed = 0;
    for (let first = 0; first < this.count; ) {
      let end = first + 1;
      while (end < this.count && ordinals[end] === ordinals[first]) end++;
      const reader = readers[ordinals[first]!]!;
      passed += reader.mayContainMany(hash, bytes, offsets.subarray(first), end - first, answers);
      first = end;
    }
    return passed;
  }

  askParsing(contents: readonly Uint8Array[], hash: KeyHash): number {
    const { bytes, offsets, ordinals } = this;
    let passed = 0;
    for (let i = 0; i < this.count; i++) {
      const reader = openFilter(contents[ordinals[i]!]!);
      if (reader.mayContain(hash, bytes, offsets[i]!, offsets[i + 1]!)) passed++;
    }
    return passed;
  }

  hash(hash: KeyHash): number {
    const { bytes, offsets } = this;
    let sum = 0;
    for (let i = 0; i < this.count; i++) sum ^= hash.xxph3(bytes, offsets[i]!, offsets[i + 1]!);
    return sum;
  }
}
