import { SstError, withPending } from '../../errors.ts';
import { KeptBytes } from '../../format/filter/added-keys.ts';
import type { FilterKind } from '../../format/filter/filter-metadata.ts';
import { openTableFilter, type TableFilter } from '../../format/filter/table-filter.ts';
import { IndexType } from '../../format/index/index-block-iterator.ts';
import { userKeyEnd } from '../../format/table-entry.ts';
import type { TableReader } from '../../format/table-reader.ts';
import type { NodeEnvironment } from '../../node/environment.ts';
import { bytewiseComparator } from '../../operators/comparator.ts';
import {
  ExtractorCheck,
  type ExtractorCounters,
  type ExtractorMatch,
} from '../../operators/extractor-check.ts';
import { type PrefixExtractor, prefixExtractorByName } from '../../operators/prefix-extractor.ts';
import { FilterAudit, type FilterDenials } from '../filter-audit.ts';
import { type Finding, findingOf } from '../finding.ts';
import type { OpenInput } from '../input.ts';
import { openTableFile } from '../open-any-table.ts';
import { walkEntries } from '../walk-entries.ts';
import { AbsentKeys } from './absent-keys.ts';
import { benchExtractors, type ExtractorBenchRow } from './bench-extractors.ts';
import { describeFilterUse, type FilterUsability, matchReason } from './describe-use.ts';
import type { GivenExtractor } from './given-extractor.ts';
import { PrefixGroups } from './prefix-groups.ts';
import type { PrefixCheckRequest } from './request.ts';
import { compareSeekModes, type SeekContext, type SeekExample } from './seek-example.ts';

export interface PrefixReport {
  readonly path: string;
  /** As the file has it; null where it has none. */
  readonly storedExtractor: string | null;
  readonly givenExtractor: string | null;
  readonly match: ExtractorMatch;
  readonly filter: FilterUsability & { kind: FilterKind | null };
  /** A prefix hash index is of use to the extractor that it was built with; the rows are the same without it. */
  readonly hashIndex: { readonly usable: boolean; readonly reason: string | null } | null;
  /** By the given extractor, or else by that of the file; null where its function is not known. */
  readonly prefixes: {
    readonly distinct: number;
    readonly outOfDomain: number;
    readonly notContiguous: number;
  } | null;
  /** Entries and prefixes of the file that its own filter denies; null without a filter that can be asked. */
  readonly falseNegatives: number | null;
  readonly denials: readonly FilterDenials[];
  /** Share of absent keys (of prefixes where the filter has no whole keys) that pass; null where none was asked. */
  readonly falsePositiveRate: number | null;
  readonly expectedFalsePositiveRate: number | null;
  readonly absentAsked: number;
  readonly example: SeekExample | null;
  /** Names that were compared for this file, by the check itself. */
  readonly nameComparisons: number;
  readonly bench: readonly ExtractorBenchRow[] | null;
}

/** Checks one table file. Throws SstError where it is no table, or cannot be opened at all. */
export async function checkTablePrefixes(
  environment: NodeEnvironment,
  { file, source, kind }: OpenInput,
  given: GivenExtractor,
  request: PrefixCheckRequest,
  events: { finding(path: string, finding: Finding): void },
): Promise<PrefixReport> {
  const opened = await openTableFile(environment, source, kind, request.table);
  if (opened.plain !== undefined) throw new Error('plain tables are refused before');
  const finding = (each: Finding): void => events.finding(file.path, each);
  for (const each of opened.findings) finding(each);
  const { table, blocks } = opened;
  const stored = table.properties?.get('rocksdb.prefix.extractor.name');
  const named = prefixExtractorByName(stored);
  const byOptions = given.byOptions(table.properties?.get('rocksdb.column.family.name') ?? 'default');
  const lookup = given.byFlag === undefined ? byOptions?.extractor : (given.byFlag ?? undefined);
  const hasFunction = given.byFlag !== undefined || (byOptions?.hasFunction ?? true);
  const counters: ExtractorCounters = { extractorNameComparisons: 0 };
  const check = new ExtractorCheck(stored, byOptions?.extractor ?? lookup, counters);
  const match = check.match(lookup);
  const fits = match === 'identity' || match === 'name';
  /** What the file's own prefixes are made with. */
  const own = named.status === 'known' ? named.extractor : fits && hasFunction ? lookup : undefined;
  const reading = lookup !== undefined && hasFunction ? lookup : own;
  const use = describeFilterUse(table, match, lookup?.name ?? null);

  const filter = await openFilterOf(table, finding);
  const { keyHash } = environment;
  const audit = filter && new FilterAudit(filter, keyHash);
  const groups = reading && new PrefixGroups(reading, table.storedComparator, keyHash);
  const entries = table.properties?.count('rocksdb.num.entries') ?? 0;
  const present = audit && new PresentKeys(audit, use, own, table);
  const absent = audit && new AbsentKeys(audit, use, own, keyHash, entries);
  const last = new KeptBytes();
  let hasLast = false;
  await walkEntries(
    table,
    blocks,
    environment,
    {},
    {
      entry(entry) {
        const { key, keyLength } = entry;
        const end = userKeyEnd(entry, table);
        // Versions of one key are one key.
        if (hasLast && last.equals(key, 0, end)) return true;
        last.set(key, 0, end);
        hasLast = true;
        groups?.add(key, end);
        if (present?.ask(key, keyLength, end)) absent!.near(key, end);
        return true;
      },
      damage: finding,
    },
  );
  absent?.finish();
  audit?.finish();

  const context: SeekContext | undefined = reading && {
    environment,
    table,
    blocks,
    extractor: reading,
    isDenied: (prefix) =>
      use.usableForPrefix && filter !== undefined && deniesPrefix(filter, prefix, environment),
  };
  const denials = audit?.denials ?? [];
  const example = context && (await findExample(context, request.seek, groups!, denials));
  const { benchLookups } = request;
  // Blocks that cannot be read have been told: what is damaged is not timed.
  const bench =
    benchLookups > 0
      ? await unlessDamaged(benchExtractors(environment, table, blocks, filter, own, benchLookups))
      : null;
  const asked = audit?.absentAsked ?? 0;
  const facts = filter !== undefined && filter.count > 0 ? await openFirst(filter) : undefined;
  return {
    path: file.path,
    storedExtractor: named.status === 'none' ? null : stored!,
    givenExtractor: lookup?.name ?? null,
    match,
    filter: { ...use, kind: facts?.kind ?? null },
    hashIndex: describeHashIndex(table, match, stored, lookup?.name ?? null),
    prefixes:
      groups === undefined
        ? null
        : { distinct: groups.distinct, outOfDomain: groups.outOfDomain, notContiguous: groups.notContiguous },
    falseNegatives:
      audit === undefined ? null : denials.reduce((sum, { keys, prefixes }) => sum + keys + prefixes, 0),
    denials,
    falsePositiveRate: asked === 0 ? null : audit!.absentPassed / asked,
    expectedFalsePositiveRate: asked === 0 ? null : audit!.absentExpected / asked,
    absentAsked: asked,
    example: example ?? null,
    nameComparisons: counters.extractorNameComparisons,
    bench,
  };
}

/** Undefined where there is none, or it cannot be read: that is a finding. */
async function openFilterOf(
  table: TableReader,
  finding: (finding: Finding) => void,
): Promise<TableFilter | undefined> {
  try {
    return await withPending(() => openTableFilter(table));
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    finding(findingOf(error));
    return undefined;
  }
}

async function openFirst(filter: TableFilter) {
  try {
    return (await withPending(() => filter.open(0))).facts;
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return undefined;
  }
}

async function unlessDamaged<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return null;
  }
}

/** As a seek asks it: the filter, or the partition in which the prefix itself would stand. */
function deniesPrefix(filter: TableFilter, prefix: Uint8Array, { keyHash }: NodeEnvironment): boolean {
  const target = filter.seekTarget(prefix, 0, prefix.length);
  const ordinal = filter.find(target, 0, target.length);
  if (ordinal < 0) return true;
  try {
    return !filter.open(ordinal).mayContain(keyHash, prefix, 0, prefix.length);
  } catch (error) {
    // A filter that cannot be read denies nothing.
    if (error instanceof SstError) return false;
    throw error;
  }
}

/** The user's seek key, or the first candidate with which the two modes differ; missing rows before others. */
async function findExample(
  context: SeekContext,
  seek: Uint8Array | undefined,
  { candidates }: PrefixGroups,
  denials: readonly FilterDenials[],
): Promise<SeekExample | null> {
  if (seek !== undefined) return compareSeekModes(context, seek);
  const denied = denials.find(({ exampleIs }) => exampleIs === 'prefix')?.example;
  const { landsBefore, interrupted, beginning, longer } = candidates;
  for (const candidate of [denied, landsBefore, interrupted, beginning, longer]) {
    const example = candidate && (await compareSeekModes(context, candidate));
    if (example) return example;
  }
  return null;
}

function describeHashIndex(
  table: TableReader,
  match: ExtractorMatch,
  stored: string | undefined,
  givenName: string | null,
): PrefixReport['hashIndex'] {
  if (table.index?.type !== IndexType.hash) return null;
  const reason = matchReason(match, stored, givenName);
  if (reason === null) return { usable: true, reason: null };
  return { usable: false, reason: `${reason}; blocks are found by binary search, with the same rows` };
}

/** Asks a filter for each key of the file and for its prefix, as a lookup and as a seek do. */
class PresentKeys {
  private readonly prefixes: PrefixExtractor | undefined;
  /** In bytewise order a prefix stands before its keys, so that a seek for it finds them. */
  private readonly seeks: boolean;
  private readonly lastPrefix = new KeptBytes();
  private hasLastPrefix = false;

  constructor(
    private readonly audit: FilterAudit,
    private readonly use: FilterUsability,
    own: PrefixExtractor | undefined,
    table: TableReader,
  ) {
    this.prefixes = use.prefix ? own : undefined;
    this.seeks = table.comparator?.withoutTimestamp.name === bytewiseComparator.name;
  }

  /** False where the filter that knows the key cannot be read. */
  ask(key: Uint8Array, keyLength: number, end: number): boolean {
    const { audit, prefixes, use } = this;
    const prefixEnd = prefixes?.inDomain(key, 0, end) ? prefixes.prefixEnd(key, 0, end) : -1;
    if (prefixEnd >= 0 && this.seeks && !(this.hasLastPrefix && this.lastPrefix.equals(key, 0, prefixEnd))) {
      this.lastPrefix.set(key, 0, prefixEnd);
      this.hasLastPrefix = true;
      audit.seek(key, 0, prefixEnd);
    }
    if (!audit.turnTo(key, keyLength)) return false;
    if (use.wholeKey) audit.key(key, 0, end);
    if (prefixEnd >= 0) audit.prefix(key, 0, prefixEnd);
    return true;
  }
}
