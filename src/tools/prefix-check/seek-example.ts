import { startsWith } from '../../bytes/compare.ts';
import { KeptBytes } from '../../format/filter/added-keys.ts';
import type { DataBlockList } from '../../format/index/data-blocks.ts';
import { entryType, userKeyEnd } from '../../format/table-entry.ts';
import type { TableReader } from '../../format/table-reader.ts';
import { ValueType } from '../../format/value-type.ts';
import type { NodeEnvironment } from '../../node/environment.ts';
import { bytewiseComparator, type Comparator } from '../../operators/comparator.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import { KeyFilter } from '../key-range.ts';
import { walkEntries } from '../walk-entries.ts';

/** Why prefix mode gives other rows than total order. */
export type ExampleReason =
  /** The filter denies the prefix, which the file has: damage. */
  | 'filter_denies'
  /** The first key at or behind the seek key belongs to another group: prefix mode ends at once. */
  | 'other_group_first'
  /** A key of another group stands between keys of this one: prefix mode ends there. */
  | 'group_interrupted'
  /** The seek key is longer than its prefix: prefix mode goes on with keys that do not begin with it. */
  | 'longer_than_prefix';

/** The rows that begin with `seek`, as an iterator finds them in prefix mode and in total order. */
export interface SeekExample {
  readonly seek: Uint8Array;
  /** Of the seek key. */
  readonly prefix: Uint8Array;
  readonly reason: ExampleReason;
  /** The key that ends prefix mode too early, or the first one that it gives too much; null where there is none. */
  readonly at: Uint8Array | null;
  /** User keys, the first ones of as many as the counts say. */
  readonly prefixMode: readonly Uint8Array[];
  readonly totalOrder: readonly Uint8Array[];
  readonly prefixModeCount: number;
  readonly totalOrderCount: number;
}

export interface SeekContext {
  readonly environment: NodeEnvironment;
  readonly table: TableReader;
  readonly blocks: DataBlockList;
  readonly extractor: PrefixExtractor;
  /** Whether a lookup asks the filter for the prefix and is denied. */
  isDenied(prefix: Uint8Array): boolean;
}

const ROWS_MAX = 10;
const DELETIONS: ReadonlySet<number> = new Set([
  ValueType.deletion,
  ValueType.singleDeletion,
  ValueType.deletionWithTimestamp,
]);

/**
 * Seeks `seek` in both modes: prefix mode goes on from the first key at or behind it while the prefix stays the same,
 * total order while keys begin with it. Deleted keys are left out, range tombstones are not looked at. Null where
 * both give the same rows, or where the seek key has no prefix, so that RocksDB seeks in total order anyway.
 */
export async function compareSeekModes(context: SeekContext, seek: Uint8Array): Promise<SeekExample | null> {
  const { environment, table, blocks, extractor } = context;
  const comparator = table.storedComparator;
  if (comparator === undefined || !extractor.inDomain(seek, 0, seek.length)) return null;
  const prefix = seek.slice(0, extractor.prefixEnd(seek, 0, seek.length));
  const walk = new SeekWalk(seek, prefix, extractor, comparator, context.isDenied(prefix));
  const last = new KeptBytes();
  let hasLast = false;
  const range = new KeyFilter({ from: seek }, comparator, comparator.name);
  const [first, end] = range.blockRange(table, blocks);
  await walkEntries(
    table,
    blocks,
    environment,
    { first, end },
    {
      entry(entry) {
        const keyEnd = userKeyEnd(entry, table);
        if (!range.accepts(entry.key, keyEnd) || (hasLast && last.equals(entry.key, 0, keyEnd))) return true;
        last.set(entry.key, 0, keyEnd);
        hasLast = true;
        return DELETIONS.has(entryType(entry)) || walk.key(entry.key, keyEnd);
      },
      // What is damaged has been told by the first walk.
      damage: () => undefined,
    },
  );
  return walk.result();
}

class SeekWalk {
  private readonly prefixMode: Uint8Array[] = [];
  private readonly totalOrder: Uint8Array[] = [];
  private prefixModeCount = 0;
  private totalOrderCount = 0;
  private prefixModeEnded: boolean;
  private readonly isBytewise: boolean;
  /** The key of another group at which prefix mode ended. */
  private endedAt: Uint8Array | null = null;
  /** A row that total order gives and prefix mode does not, and the other way round. */
  private missed = false;
  private extra: Uint8Array | null = null;

  constructor(
    private readonly seek: Uint8Array,
    private readonly prefix: Uint8Array,
    private readonly extractor: PrefixExtractor,
    comparator: Comparator,
    private readonly denied: boolean,
  ) {
    this.prefixModeEnded = denied;
    this.isBytewise = comparator.withoutTimestamp.name === bytewiseComparator.name;
  }

  /** The next key at or behind the seek key; false when no further one matters. */
  key(key: Uint8Array, end: number): boolean {
    const begins = startsWith(key, 0, end, this.seek);
    const sameGroup = this.isOfGroup(key, end);
    if (!sameGroup && !this.prefixModeEnded) {
      this.prefixModeEnded = true;
      this.endedAt = key.slice(0, end);
    }
    const inPrefixMode = sameGroup && !this.prefixModeEnded;
    if (inPrefixMode && this.prefixModeCount++ < ROWS_MAX) this.prefixMode.push(key.slice(0, end));
    if (begins && this.totalOrderCount++ < ROWS_MAX) this.totalOrder.push(key.slice(0, end));
    if (begins && !inPrefixMode) this.missed = true;
    if (!begins && inPrefixMode) this.extra ??= key.slice(0, end);
    // In bytewise order keys with one beginning stand together.
    return !this.prefixModeEnded || begins || !this.isBytewise;
  }

  result(): SeekExample | null {
    const { seek, prefix, extra, missed, endedAt, denied } = this;
    if (!missed && extra === null) return null;
    const reason: ExampleReason = !missed
      ? 'longer_than_prefix'
      : denied
        ? 'filter_denies'
        : this.prefixModeCount === 0
          ? 'other_group_first'
          : 'group_interrupted';
    return {
      seek,
      prefix,
      reason,
      at: missed ? endedAt : extra,
      prefixMode: this.prefixMode,
      totalOrder: this.totalOrder,
      prefixModeCount: this.prefixModeCount,
      totalOrderCount: this.totalOrderCount,
    };
  }

  private isOfGroup(key: Uint8Array, end: number): boolean {
    const { extractor, prefix } = this;
    if (!extractor.inDomain(key, 0, end) || extractor.prefixEnd(key, 0, end) !== prefix.length) return false;
    return startsWith(key, 0, end, prefix);
  }
}
