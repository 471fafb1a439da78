import { compareTrailers, TRAILER_SIZE } from '../format/internal-key.ts';
import type { RangeTombstone } from '../format/range-del-block.ts';
import type { Comparator } from '../operators/comparator.ts';

/**
 * Puts range tombstones between the entries of a table: each before the first entry whose user key is not
 * smaller than its start. Where the order of keys is not known, all come first, as stored. Walking backward gives the
 * exact reverse. The tombstones come in the order of the walk, one by one: fragments may be too many to be kept.
 */
export class TombstoneMerge {
  private readonly tombstones: Iterator<RangeTombstone>;
  private waiting: RangeTombstone | undefined;

  /**
   * `suffixSize`: bytes behind what `comparator` compares of a key, trailer included. `emit` answers whether more are
   * wanted.
   */
  constructor(
    tombstones: Iterable<RangeTombstone>,
    private readonly comparator: Comparator | undefined,
    private readonly suffixSize: number,
    private readonly reverse: boolean,
    private readonly emit: (tombstone: RangeTombstone) => boolean,
  ) {
    this.tombstones = tombstones[Symbol.iterator]();
    this.advance();
  }

  /** Emits what stands before this entry in the direction of the walk. */
  before(key: Uint8Array, keyLength: number): void {
    if (this.waiting === undefined) return;
    if (this.comparator === undefined) {
      if (!this.reverse) this.rest();
      return;
    }
    while (this.waiting !== undefined) {
      const { startKey } = this.waiting;
      const order = this.comparator.compare(
        startKey,
        0,
        startKey.length - this.suffixSize,
        key,
        0,
        keyLength - this.suffixSize,
      );
      if (this.reverse ? order <= 0 : order > 0) return;
      this.emitOne(this.waiting);
    }
  }

  /** Emits what is left behind the last entry. */
  rest(): void {
    while (this.waiting !== undefined) this.emitOne(this.waiting);
  }

  private emitOne(tombstone: RangeTombstone): void {
    if (this.emit(tombstone)) this.advance();
    else this.waiting = undefined;
  }

  private advance(): void {
    const { done, value } = this.tombstones.next();
    this.waiting = done === true ? undefined : value;
  }
}

/** By start key, then sequence number descending; without a comparator as they are. `reverse`: the other way round. */
export function orderedTombstones(
  tombstones: readonly RangeTombstone[],
  comparator: Comparator | undefined,
  reverse: boolean,
): readonly RangeTombstone[] {
  const sorted = comparator === undefined ? [...tombstones] : sortTombstones(tombstones, comparator);
  return reverse ? sorted.reverse() : sorted;
}

function sortTombstones(tombstones: readonly RangeTombstone[], comparator: Comparator): RangeTombstone[] {
  return [...tombstones].sort((a, b) => {
    const { startKey: left } = a;
    const { startKey: right } = b;
    const order = comparator.compare(
      left,
      0,
      left.length - TRAILER_SIZE,
      right,
      0,
      right.length - TRAILER_SIZE,
    );
    return order !== 0 ? order : compareTrailers(left, left.length, right, right.length);
  });
}
