import { withPending } from '../../errors.ts';
import { BlockIterator } from '../../format/block/block-iterator.ts';
import type { FilterReader } from '../../format/filter/filter-reader.ts';
import type { TableFilter } from '../../format/filter/table-filter.ts';
import type { DataBlockList } from '../../format/index/data-blocks.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import type { TableReader } from '../../format/table-reader.ts';
import type { NodeEnvironment } from '../../node/environment.ts';
import { ExtractorCheck, type ExtractorCounters } from '../../operators/extractor-check.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import { median } from '../bench/median.ts';
import { Random32 } from '../bench/random32.ts';

/** What lookups come with: the instance that the file was opened with, another of the same name, one of another. */
export type BenchedExtractor =
  | 'same'
  | 'equal'
  /** As `same`, with the names compared in each lookup, as RocksDB did before 6.27. */
  | 'compared_each_time'
  | 'incompatible'
  | 'none';

export interface ExtractorBenchRow {
  readonly extractor: BenchedExtractor;
  /** Prefix lookups a second, medians over rounds in turns: of prefixes that the file has, and has not. */
  readonly presentPerSecond: number;
  readonly absentPerSecond: number;
  /** Lookups that the filter answered alone, of all. */
  readonly answeredByFilter: number;
  readonly lookups: number;
  readonly nameComparisons: number;
}

const VARIANTS: readonly BenchedExtractor[] = ['same', 'equal', 'compared_each_time', 'incompatible', 'none'];
const ROUNDS = 11;
const PREFIXES_MAX = 10_000;
/** Decoded blocks that are kept, as a cache has them. */
const BLOCK_BYTES_MAX = 64 * 1024 * 1024;
const SEED = 1;

/**
 * Prefix lookups with each extractor, in turns. A lookup asks the filter where its extractor fits the file's; what
 * that does not rule out is sought: the index by binary search, then the block, which is decoded and in memory.
 * Null where the file has no extractor that is known here, or no key in its domain.
 */
export async function benchExtractors(
  environment: NodeEnvironment,
  table: TableReader,
  blocks: DataBlockList,
  filter: TableFilter | undefined,
  own: PrefixExtractor | undefined,
  lookups: number,
): Promise<ExtractorBenchRow[] | null> {
  const comparator = table.storedComparator;
  if (own === undefined || comparator === undefined || blocks.separators.count !== blocks.count) return null;
  const contents = await decodeBlocks(table, blocks);
  const readers: FilterReader[] = [];
  for (let i = 0; i < (filter?.count ?? 0); i++) readers.push(await withPending(() => filter!.open(i)));
  const bench = new LookupBench(environment, table, blocks, contents, filter, readers, own);
  const present = bench.samplePrefixes();
  if (present.length === 0) return null;
  const absent = absentPrefixes(present);
  const perRound = Math.max(1, Math.ceil(lookups / ROUNDS));
  const rows = VARIANTS.map((variant) => new VariantTimes(variant, table, own));
  for (let round = -1; round < ROUNDS; round++) {
    for (const row of rows) row.round(bench, present, absent, perRound, round >= 0);
  }
  return rows.map((row) => row.result(perRound));
}

/** The first blocks, as many as fit. */
async function decodeBlocks(table: TableReader, blocks: DataBlockList): Promise<Uint8Array[]> {
  const dictionary = await withPending(() => table.readDictionary());
  const contents: Uint8Array[] = [];
  let bytes = 0;
  for (let i = 0; i < blocks.count && bytes < BLOCK_BYTES_MAX; i++) {
    const handle = { offset: blocks.offsets[i]!, size: blocks.sizes[i]! };
    const block = await withPending(() => table.blocks.read(handle, 'data', dictionary));
    contents.push(block);
    bytes += block.length;
  }
  return contents;
}

/** With other last bytes; a few of them the file may have after all. */
function absentPrefixes(present: readonly Uint8Array[]): Uint8Array[] {
  const random = new Random32(SEED);
  return present.map((prefix) => {
    const other = prefix.slice();
    for (let i = Math.max(0, other.length - 4); i < other.length; i++) other[i] = random.uint32();
    return other;
  });
}

class VariantTimes {
  private readonly presentNanos: number[] = [];
  private readonly absentNanos: number[] = [];
  private readonly counters: ExtractorCounters = { extractorNameComparisons: 0 };
  private readonly check: ExtractorCheck;
  private readonly given: PrefixExtractor | undefined;
  private answered = 0;

  constructor(
    private readonly variant: BenchedExtractor,
    table: TableReader,
    own: PrefixExtractor,
  ) {
    const stored = table.properties?.get('rocksdb.prefix.extractor.name');
    this.check = new ExtractorCheck(stored, own, this.counters);
    this.given = extractorOf(variant, own);
  }

  round(
    bench: LookupBench,
    present: readonly Uint8Array[],
    absent: readonly Uint8Array[],
    lookups: number,
    counts: boolean,
  ): void {
    const before = bench.answeredByFilter;
    const { check, given } = this;
    const compares = this.variant === 'compared_each_time';
    const presentNanos = bench.time(present, lookups, check, given, compares);
    const absentNanos = bench.time(absent, lookups, check, given, compares);
    if (!counts) return;
    this.answered += bench.answeredByFilter - before;
    this.presentNanos.push(presentNanos / lookups);
    this.absentNanos.push(absentNanos / lookups);
  }

  result(perRound: number): ExtractorBenchRow {
    return {
      extractor: this.variant,
      presentPerSecond: 1e9 / median(this.presentNanos),
      absentPerSecond: 1e9 / median(this.absentNanos),
      answeredByFilter: this.answered,
      lookups: 2 * ROUNDS * perRound,
      nameComparisons: this.counters.extractorNameComparisons,
    };
  }
}

function extractorOf(variant: BenchedExtractor, own: PrefixExtractor): PrefixExtractor | undefined {
  switch (variant) {
    case 'same':
    case 'compared_each_time':
      return own;
    case 'equal':
      return { ...own };
    case 'incompatible':
      return { ...own, name: `${own.name}.other` };
    case 'none':
      return undefined;
  }
}

class LookupBench {
  answeredByFilter = 0;
  /** Keys that were found: reported nowhere, kept so that no lookup can be left out as useless. */
  found = 0;
  private readonly iterator = new BlockIterator();
  private target = new Uint8Array(256);

  constructor(
    private readonly environment: NodeEnvironment,
    private readonly table: TableReader,
    private readonly blocks: DataBlockList,
    private readonly contents: readonly Uint8Array[],
    private readonly filter: TableFilter | undefined,
    private readonly readers: readonly FilterReader[],
    private readonly own: PrefixExtractor,
  ) {}

  /** Prefixes of the blocks that are in memory, in a random order. */
  samplePrefixes(): Uint8Array[] {
    const { iterator, own, table } = this;
    const suffix = TRAILER_SIZE + table.storedTimestampSize;
    const prefixes: Uint8Array[] = [];
    const step = Math.max(1, Math.floor(this.contents.length / PREFIXES_MAX));
    for (let i = 0; i < this.contents.length; i += step) {
      iterator.reset(this.contents[i]!);
      while (iterator.next() && prefixes.length < PREFIXES_MAX) {
        const end = iterator.keyLength - suffix;
        if (end < 0 || !own.inDomain(iterator.key, 0, end)) continue;
        prefixes.push(iterator.key.slice(0, own.prefixEnd(iterator.key, 0, end)));
      }
    }
    const random = new Random32(SEED);
    for (let i = prefixes.length - 1; i > 0; i--) {
      const j = random.below(i + 1);
      [prefixes[i], prefixes[j]] = [prefixes[j]!, prefixes[i]!];
    }
    return prefixes;
  }

  /** Nanoseconds of `lookups` prefix lookups. */
  time(
    prefixes: readonly Uint8Array[],
    lookups: number,
    check: ExtractorCheck,
    given: PrefixExtractor | undefined,
    comparesNames: boolean,
  ): number {
    const { monotonicNanos } = this.environment.clock;
    const begin = monotonicNanos();
    for (let i = 0; i < lookups; i++)
      this.lookup(prefixes[i % prefixes.length]!, check, given, comparesNames);
    return monotonicNanos() - begin;
  }

  private lookup(
    prefix: Uint8Array,
    check: ExtractorCheck,
    given: PrefixExtractor | undefined,
    comparesNames: boolean,
  ): void {
    const target = this.seekKey(prefix);
    const length = prefix.length + TRAILER_SIZE;
    const match = check.match(given);
    const fits = match === 'identity' || match === 'name';
    if (fits && (!comparesNames || check.hasStoredName(given!)) && this.filter !== undefined) {
      const ordinal = this.filter.find(target, 0, length);
      const reader = ordinal < 0 ? undefined : this.readers[ordinal];
      if (reader !== undefined && !reader.mayContain(this.environment.keyHash, prefix, 0, prefix.length)) {
        this.answeredByFilter++;
        return;
      }
    }
    this.seek(target, prefix.length);
  }

  /** The prefix as the internal key before all of its keys. */
  private seekKey(prefix: Uint8Array): Uint8Array {
    if (this.target.length < prefix.length + TRAILER_SIZE)
      this.target = new Uint8Array(2 * prefix.length + TRAILER_SIZE);
    this.target.set(prefix);
    this.target.fill(0xff, prefix.length, prefix.length + TRAILER_SIZE);
    return this.target;
  }

  private seek(target: Uint8Array, end: number): void {
    const { blocks, contents, table, iterator } = this;
    const { compare } = table.storedComparator!;
    const suffix = table.index!.userKeys ? 0 : TRAILER_SIZE;
    let low = 0;
    let high = contents.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const separator = blocks.separators.at(middle);
      if (compare(separator, 0, separator.length - suffix, target, 0, end) < 0) low = middle + 1;
      else high = middle;
    }
    if (low === contents.length) return;
    iterator.reset(contents[low]!);
    while (iterator.next()) {
      if (compare(iterator.key, 0, iterator.keyLength - TRAILER_SIZE, target, 0, end) < 0) continue;
      this.found++;
      return;
    }
  }
}
