import { compareArrays, startsWith } from '../bytes/compare.ts';
import { InvalidArgumentError } from '../errors.ts';
import type { DataBlockList } from '../format/index/data-blocks.ts';
import { TRAILER_SIZE } from '../format/internal-key.ts';
import type { TableReader } from '../format/table-reader.ts';
import { bytewiseComparator, type Comparator } from '../operators/comparator.ts';

/** Which user keys are asked for, timestamps left out of the comparison. */
export interface KeyRange {
  /** First key, inclusive, and end, exclusive, by the table's comparator. */
  readonly from?: Uint8Array;
  readonly to?: Uint8Array;
  readonly prefix?: Uint8Array;
  /** This key alone. */
  readonly key?: Uint8Array;
}

export function isWholeRange(range: KeyRange): boolean {
  return (
    range.from === undefined &&
    range.to === undefined &&
    range.prefix === undefined &&
    range.key === undefined
  );
}

/** The questions that a scan asks of a key range, for tables of one comparator. */
export class KeyFilter {
  private readonly order: Comparator['compare'] | undefined;
  private readonly whole: boolean;

  /** Throws InvalidArgumentError when `from` or `to` is given and the order of keys is not known. */
  constructor(
    private readonly range: KeyRange,
    comparator: Comparator | undefined,
    comparatorName: string | undefined,
  ) {
    this.order = comparator?.withoutTimestamp.compare;
    this.whole = isWholeRange(range);
    for (const bound of ['from', 'to'] as const) {
      if (range[bound] !== undefined && this.order === undefined) {
        throw new InvalidArgumentError(
          bound,
          comparatorName ?? 'unknown',
          `--${bound} needs the order of keys, and comparator ${comparatorName ?? '(unknown)'} is not known here: ` +
            'give one with --comparator, or use --prefix or --key',
        );
      }
    }
  }

  /** Whether the user key `key[0, end)` is asked for. */
  accepts(key: Uint8Array, end: number): boolean {
    if (this.whole) return true;
    const { from, to, prefix, key: wanted } = this.range;
    if (from !== undefined && this.order!(key, 0, end, from, 0, from.length) < 0) return false;
    if (to !== undefined && this.order!(key, 0, end, to, 0, to.length) >= 0) return false;
    if (prefix !== undefined && !startsWith(key, 0, end, prefix)) return false;
    return wanted === undefined || (end === wanted.length && startsWith(key, 0, end, wanted));
  }

  /** Whether a tombstone [start, end), timestamps left out, covers any key that is asked for. */
  overlaps(start: Uint8Array, end: Uint8Array): boolean {
    if (this.whole || this.order === undefined) return true;
    const { from, to, key, prefix } = this.range;
    const order = (a: Uint8Array, b: Uint8Array): number => this.order!(a, 0, a.length, b, 0, b.length);
    if (from !== undefined && order(end, from) <= 0) return false;
    if (to !== undefined && order(start, to) >= 0) return false;
    if (key !== undefined && (order(start, key) > 0 || order(end, key) <= 0)) return false;
    return prefix === undefined || this.overlapsPrefix(start, end, prefix);
  }

  /**
   * Blocks [first, end) of the list that can hold a key that is asked for. All of them where the order is not
   * known, or where a part of the index is missing.
   */
  blockRange(table: TableReader, blocks: DataBlockList): [number, number] {
    const all: [number, number] = [0, blocks.count];
    const { index } = table;
    if (this.whole || this.order === undefined || blocks.problems.length > 0) return all;
    if (index === undefined || index.guessed || blocks.separators.count !== blocks.count) return all;
    const suffix = (index.userKeys ? 0 : TRAILER_SIZE) + table.storedTimestampSize;
    const compareAt = (block: number, key: Uint8Array): number => {
      const separator = blocks.separators.at(block);
      return this.order!(separator, 0, Math.max(0, separator.length - suffix), key, 0, key.length);
    };
    const lower = this.range.from ?? this.range.key ?? (this.isBytewise ? this.range.prefix : undefined);
    const upper =
      this.range.to ?? this.range.key ?? (this.isBytewise ? prefixEnd(this.range.prefix) : undefined);
    const first = lower === undefined ? 0 : firstBlock(blocks.count, (block) => compareAt(block, lower) >= 0);
    // The block whose separator is the first above the bound still begins below it.
    const last =
      upper === undefined ? blocks.count : firstBlock(blocks.count, (block) => compareAt(block, upper) > 0);
    return [first, Math.max(first, Math.min(blocks.count, last + 1))];
  }

  private get isBytewise(): boolean {
    return this.order === bytewiseComparator.compare;
  }

  /** Keys of one prefix lie side by side in bytewise order and in its reverse; elsewhere nothing is ruled out. */
  private overlapsPrefix(start: Uint8Array, end: Uint8Array, prefix: Uint8Array): boolean {
    const after = prefixEnd(prefix);
    if (this.isBytewise) {
      return compareArrays(end, prefix) > 0 && (after === undefined || compareArrays(start, after) < 0);
    }
    if (this.order!(prefix, 0, prefix.length, NO_BYTES, 0, 0) >= 0) return true;
    // Reversed: the tombstone covers the keys above `end` up to `start`.
    return compareArrays(start, prefix) >= 0 && (after === undefined || compareArrays(end, after) < 0);
  }
}

const NO_BYTES = new Uint8Array(0);

/** The first key behind all keys with this prefix, in bytewise order; undefined when none is. */
export function prefixEnd(prefix: Uint8Array | undefined): Uint8Array | undefined {
  if (prefix === undefined) return undefined;
  for (let length = prefix.length; length > 0; length--) {
    if (prefix[length - 1] === 0xff) continue;
    const end = prefix.slice(0, length);
    end[length - 1]!++;
    return end;
  }
  return undefined;
}

/** The first block that satisfies a condition which, once true, stays true; `count` when none does. */
function firstBlock(count: number, isBehind: (block: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBehind(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
