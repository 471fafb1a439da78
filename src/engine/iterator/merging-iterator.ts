import { compareTrailers, TRAILER_SIZE } from '../../format/internal-key.ts';
import type { Comparator } from '../../operators/comparator.ts';
import type { EntryCursor } from './entry-cursor.ts';

/**
 * Entries of several sorted sources in internal order: user keys by the comparator, then newest first, then in the
 * order of the sources. Like its sources it never waits within a batch.
 *
 *     const merging = new MergingIterator(cursors, comparator);
 *     for (await merging.open(); merging.source >= 0; ) {
 *       use(merging.current);
 *       if (!merging.next()) await merging.load();
 *     }
 *
 * A tree of losers (Knuth, The Art of Computer Programming 3, 5.4.1). Of k sources source s stands at leaf s + k; the
 * inner nodes are 1 to k - 1, and the parent of n is n >> 1. An inner node holds the source that lost the match there,
 * the winner of all is kept apart. With four sources:
 *
 *          1            When the winner moves to its next entry, the matches on its way up alone are played again:
 *       2     3         log2(k) comparisons, where a binary heap makes up to two a level.
 *     s0 s1 s2 s3
 */
export class MergingIterator<Cursor extends EntryCursor> {
  /** Number of the source whose entry is the smallest; -1 when there is none left. */
  source = -1;
  private readonly losers: Int32Array;
  /** 1 for a source without a further entry: it loses every match. */
  private readonly ended: Uint8Array;
  private readonly compare: Comparator['compare'];

  constructor(
    private readonly cursors: readonly Cursor[],
    comparator: Comparator,
  ) {
    this.losers = new Int32Array(cursors.length);
    this.ended = new Uint8Array(cursors.length);
    this.compare = comparator.compare;
  }

  /** The smallest entry. */
  get current(): Cursor {
    return this.cursors[this.source]!;
  }

  /** Moves to the first entry. */
  async open(): Promise<void> {
    const { cursors, losers, ended } = this;
    await Promise.all(cursors.map(moveToNext));
    for (let i = 0; i < cursors.length; i++) ended[i] = cursors[i]!.atEnd ? 1 : 0;
    losers.fill(NOBODY);
    this.source = NOBODY;
    for (let i = 0; i < cursors.length; i++) this.enter(i);
  }

  /** Moves to the next entry; false: `load` has to be awaited first, and does it. */
  next(): boolean {
    if (!this.cursors[this.source]!.next()) return false;
    this.replay();
    return true;
  }

  /** Loads what the current source needs, and moves to the next entry. */
  async load(): Promise<void> {
    const cursor = this.current;
    await moveToNext(cursor);
    if (cursor.atEnd) this.ended[this.source] = 1;
    this.replay();
  }

  /** A source's first match: who comes to a node first waits there for an opponent. */
  private enter(source: number): void {
    const { losers } = this;
    let winner = source;
    for (let node = (source + losers.length) >> 1; node > 0; node >>= 1) {
      const opponent = losers[node]!;
      if (opponent === NOBODY) {
        losers[node] = winner;
        return;
      }
      if (!this.isBefore(opponent, winner)) continue;
      losers[node] = winner;
      winner = opponent;
    }
    this.source = this.ended[winner] === 1 ? NOBODY : winner;
  }

  private replay(): void {
    const { losers } = this;
    let winner = this.source;
    for (let node = (winner + losers.length) >> 1; node > 0; node >>= 1) {
      const opponent = losers[node]!;
      if (!this.isBefore(opponent, winner)) continue;
      losers[node] = winner;
      winner = opponent;
    }
    this.source = this.ended[winner] === 1 ? NOBODY : winner;
  }

  private isBefore(a: number, b: number): boolean {
    const { ended } = this;
    if ((ended[a]! | ended[b]!) !== 0) return ended[a]! < ended[b]!;
    const left = this.cursors[a]!;
    const right = this.cursors[b]!;
    const leftEnd = left.keyLength - TRAILER_SIZE;
    const rightEnd = right.keyLength - TRAILER_SIZE;
    const order = this.compare(left.key, 0, leftEnd, right.key, 0, rightEnd);
    if (order !== 0) return order < 0;
    const age = compareTrailers(left.key, left.keyLength, right.key, right.keyLength);
    return age !== 0 ? age < 0 : a < b;
  }
}

const NOBODY = -1;

async function moveToNext(cursor: EntryCursor): Promise<void> {
  while (!cursor.next() && !cursor.atEnd) await cursor.load();
}
