import { compareTrailers, TRAILER_SIZE } from '../format/internal-key.ts';
import type { RangeTombstone } from '../format/range-del-block.ts';
import type { Comparator } from '../operators/comparator.ts';

/**
 * Puts range tombstones between the entries of a table: each before the first entry whose user key is not
 * smaller than its start; several by start, then sequence number descending. Where the order of keys is not
 * known, all come first, as stored. Walking backward gives the exact reverse.
 */
export class TombstoneMerge {
  private readonly waiting: readonly RangeTombstone[];
  private next = 0;

  constructor(
    tombstones: readonly RangeTombstone[],
    private readonly comparator: Comparator | undefined,
    private readonly reverse: boolean,
    private readonly emit: (tombstone: RangeTombstone) => void,
  ) {
    const sorted = comparator === undefined ? [...tombstones] : sortTombstones(tombstones, comparator);
    this.waiting = reverse ? sorted.reverse() : sorted;
  }

  /** Emits what stands before this entry in the direction of the walk. */
  before(key: Uint8Array, keyLength: number): void {
    if (this.next >= this.waiting.length) return;
    if (this.comparator === undefined) {
      if (!this.reverse) this.rest();
      return;
    }
    while (this.next < this.waiting.length) {
      const { startKey } = this.waiting[this.next]!;
      const order = this.comparator.compare(
        startKey,
        0,
        startKey.length - TRAILER_SIZE,
        key,
        0,
        keyLength - TRAILER_SIZE,
      );
      if (this.reverse ? order <= 0 : order > 0) return;
      this.emit(this.waiting[this.next++]!);
    }
  }

  /** Emits what is left behind the last entry. */
  rest(): void {
    while (this.next < this.waiting.length) this.emit(this.waiting[this.next++]!);
  }
}

/** By start key, then sequence number descending. */
export function sortTombstones(
  tombstones: readonly RangeTombstone[],
  comparator: Comparator,
): RangeTombstone[] {
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
