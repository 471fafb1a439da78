import type { SeekTarget } from '../../format/block/seek-target.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import type { Comparator } from '../../operators/comparator.ts';
import type { TableIterator } from './table-iterator.ts';

/**
 * The entries of several tables in internal order, both ways: by user key and timestamp, then newest first, then in
 * the order of the tables. A binary heap over table numbers. It stays whole when a move is ended by a signal, so
 * that the move can be made again.
 */
export class TableMerge {
  private readonly heap: number[] = [];
  private readonly comparator: Comparator;
  /** 1 forwards, -1 backwards. */
  private direction = 1;

  constructor(private readonly iterators: readonly TableIterator[]) {
    this.comparator = iterators[0]!.table.comparator;
  }

  /** The table at whose entry the merge stands; undefined at the end. */
  get current(): TableIterator | undefined {
    return this.heap.length === 0 ? undefined : this.iterators[this.heap[0]!];
  }

  /** Its number. */
  get source(): number {
    return this.heap[0]!;
  }

  /** To the first entry not before the target, of the tables with a 1 in `taking`; undefined: of all. */
  seek(target: SeekTarget, taking: Uint8Array | undefined): void {
    for (let i = 0; i < this.iterators.length; i++) {
      if (taking === undefined || taking[i] === 1) this.iterators[i]!.seek(target);
      else this.iterators[i]!.valid = false;
    }
    this.build(1);
  }

  seekForPrev(target: SeekTarget, taking: Uint8Array | undefined): void {
    for (let i = 0; i < this.iterators.length; i++) {
      if (taking === undefined || taking[i] === 1) this.iterators[i]!.seekForPrev(target);
      else this.iterators[i]!.valid = false;
    }
    this.build(-1);
  }

  seekToFirst(): void {
    for (const iterator of this.iterators) iterator.seekToFirst();
    this.build(1);
  }

  seekToLast(): void {
    for (const iterator of this.iterators) iterator.seekToLast();
    this.build(-1);
  }

  next(): void {
    const top = this.iterators[this.heap[0]!]!;
    top.next();
    this.sink(top.valid);
  }

  previous(): void {
    const top = this.iterators[this.heap[0]!]!;
    top.previous();
    this.sink(top.valid);
  }

  private build(direction: number): void {
    const { heap, iterators } = this;
    this.direction = direction;
    heap.length = 0;
    for (let i = 0; i < iterators.length; i++) if (iterators[i]!.valid) heap.push(i);
    for (let i = (heap.length >> 1) - 1; i >= 0; i--) this.siftDown(i);
  }

  /** The entry at the top has changed, or there is none any more. */
  private sink(valid: boolean): void {
    const { heap } = this;
    if (!valid) {
      const last = heap.pop()!;
      if (heap.length === 0) return;
      heap[0] = last;
    }
    if (heap.length > 1) this.siftDown(0);
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
    heap[place] = moved;
  }

  private isBefore(a: number, b: number): boolean {
    const left = this.iterators[a]!;
    const right = this.iterators[b]!;
    const order = this.comparator.compare(
      left.entry.key,
      0,
      left.entry.keyLength - TRAILER_SIZE,
      right.entry.key,
      0,
      right.entry.keyLength - TRAILER_SIZE,
    );
    if (order !== 0) return order * this.direction < 0;
    if (left.seqno !== right.seqno) return (right.seqno - left.seqno) * this.direction < 0;
    return (a - b) * this.direction < 0;
  }
}
