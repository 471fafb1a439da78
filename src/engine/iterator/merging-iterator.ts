import { compareTrailers, TRAILER_SIZE } from '../../format/internal-key.ts';
import type { Comparator } from '../../operators/comparator.ts';
import type { EntryCursor } from './entry-cursor.ts';

/**
 * Entries of several sorted sources in internal order: user keys by the comparator, then newest first, then in the
 * order of the sources. A binary heap over source numbers; the smallest entry is at its top, and taking it costs
 * about two comparisons a level of the heap. Like its sources it never waits within a batch.
 *
 *     const merging = new MergingIterator(cursors, comparator);
 *     for (await merging.open(); merging.source >= 0; ) {
 *       use(merging.current);
 *       if (!merging.next()) await merging.load();
 *     }
 */
export class MergingIterator<Cursor extends EntryCursor> {
  /** Number of the source whose entry is the smallest; -1 when there is none left. */
  source = -1;
  private readonly heap: number[] = [];

  constructor(
    private readonly cursors: readonly Cursor[],
    private readonly comparator: Comparator,
  ) {}

  /** The smallest entry. */
  get current(): Cursor {
    return this.cursors[this.source]!;
  }

  /** Moves to the first entry. */
  async open(): Promise<void> {
    await Promise.all(this.cursors.map(moveToNext));
    this.heap.length = 0;
    for (let i = 0; i < this.cursors.length; i++) {
      if (!this.cursors[i]!.atEnd) this.heap.push(i);
    }
    for (let i = (this.heap.length >> 1) - 1; i >= 0; i--) this.siftDown(i);
    this.source = this.heap[0] ?? -1;
  }

  /** Moves to the next entry; false: `load` has to be awaited first, and does it. */
  next(): boolean {
    if (!this.cursors[this.source]!.next()) return false;
    this.siftDown(0);
    this.source = this.heap[0]!;
    return true;
  }

  /** Loads what the current source needs, and moves to the next entry. */
  async load(): Promise<void> {
    const cursor = this.current;
    await moveToNext(cursor);
    if (cursor.atEnd) {
      const last = this.heap.pop()!;
      if (this.heap.length > 0) this.heap[0] = last;
    }
    this.siftDown(0);
    this.source = this.heap[0] ?? -1;
  }

  private siftDown(place: number): void {
    const { heap } = this;
    const count = heap.length;
    const moved = heap[place]!;
    for (;;) {
      let child = 2 * place + 1;
      if (child >= count) break;
      if (child + 1 < count && this.isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!this.isBefore(heap[child]!, moved)) break;
      heap[place] = heap[child]!;
      place = child;
    }
    if (count > 0) heap[place] = moved;
  }

  private isBefore(a: number, b: number): boolean {
    const left = this.cursors[a]!;
    const right = this.cursors[b]!;
    const order = this.comparator.compare(
      left.key,
      0,
      left.keyLength - TRAILER_SIZE,
      right.key,
      0,
      right.keyLength - TRAILER_SIZE,
    );
    if (order !== 0) return order < 0;
    const age = compareTrailers(left.key, left.keyLength, right.key, right.keyLength);
    return age !== 0 ? age < 0 : a < b;
  }
}

async function moveToNext(cursor: EntryCursor): Promise<void> {
  while (!cursor.next() && !cursor.atEnd) await cursor.load();
}
