import { type ComparableSeqno, MAX_SEQNO, nextSeqno } from './comparable-seqno.ts';
import type { FragmentedTombstones } from './fragmented-tombstones.ts';

/** Which tombstones an iterator sees. */
export interface TombstoneView {
  /** Sequence numbers from `lower` (default 0) to `upper` (default the largest), both inclusive. */
  readonly lower?: ComparableSeqno;
  readonly upper?: ComparableSeqno;
  /** With timestamps: none above this. */
  readonly timestamp?: Uint8Array | undefined;
}

/**
 * Moves over the fragments of a list that hold a sequence number in view, and shows the newest such number of each;
 * `nextInStack` goes on to the older ones. Keys are user keys without timestamps. Not valid before a seek.
 */
export class FragmentIterator {
  /** The fragment, and the position of its sequence number in the list's `seqnos`. */
  fragment: number;
  position = 0;
  readonly lower: ComparableSeqno;
  readonly upper: ComparableSeqno;
  private readonly timestamp: Uint8Array | undefined;

  constructor(
    readonly list: FragmentedTombstones,
    view: TombstoneView = {},
  ) {
    this.fragment = list.count;
    this.lower = view.lower ?? 0;
    this.upper = view.upper ?? MAX_SEQNO;
    this.timestamp = view.timestamp;
  }

  get valid(): boolean {
    return this.fragment >= 0 && this.fragment < this.list.count;
  }

  get seqno(): ComparableSeqno {
    return this.list.seqnos[this.position]!;
  }

  get startKey(): Uint8Array {
    return this.list.startKey(this.fragment);
  }

  get endKey(): Uint8Array {
    return this.list.endKey(this.fragment);
  }

  seekToFirst(): void {
    this.forwardFrom(0);
  }

  seekToLast(): void {
    this.backwardFrom(this.list.count - 1);
  }

  /** To the fragment that covers the key, or the first one behind it. */
  seek(key: Uint8Array, start = 0, end = key.length): void {
    const prefix = this.list.order.prefixOf(key, start, end);
    this.forwardFrom(this.list.firstEndingAfter(key, start, end, prefix));
  }

  /** To the fragment that covers the key, or the last one before it. */
  seekForPrev(key: Uint8Array, start = 0, end = key.length): void {
    const { list } = this;
    const prefix = list.order.prefixOf(key, start, end);
    const fragment = list.firstEndingAfter(key, start, end, prefix);
    const covers = fragment < list.count && list.startsAtOrBefore(fragment, key, start, end);
    this.backwardFrom(covers ? fragment : fragment - 1);
  }

  next(): void {
    this.forwardFrom(this.fragment + 1);
  }

  prev(): void {
    this.backwardFrom(this.fragment - 1);
  }

  /** To the next older sequence number of this fragment; false, without a move, when none is in view. */
  nextInStack(): boolean {
    const { list, timestamp } = this;
    let position = this.position + 1;
    const end = list.stackStarts[this.fragment + 1]!;
    while (position < end && timestamp !== undefined && list.compareTimestampAt(position, timestamp) > 0)
      position++;
    if (position >= end || list.seqnos[position]! < this.lower) return false;
    this.position = position;
    return true;
  }

  /**
   * One iterator a stripe between snapshots (ascending) that holds any tombstone: [0, S1], (S1, S2] ... (Sn, max].
   * Asks for the list's set of sequence numbers.
   */
  splitBySnapshots(snapshots: readonly ComparableSeqno[]): FragmentIterator[] {
    return snapshotStripes(snapshots)
      .filter(({ lower, upper }) => this.list.containsRange(lower, upper))
      .map((stripe) => new FragmentIterator(this.list, { ...stripe, timestamp: this.timestamp }));
  }

  private forwardFrom(fragment: number): void {
    const { count } = this.list;
    this.fragment = fragment;
    while (this.fragment < count && !this.settle()) this.fragment++;
  }

  private backwardFrom(fragment: number): void {
    this.fragment = fragment;
    while (this.fragment >= 0 && !this.settle()) this.fragment--;
  }

  /** Finds the newest sequence number in view; false when the fragment has none. */
  private settle(): boolean {
    const { list, fragment } = this;
    this.position = list.newestVisibleAt(fragment, this.upper, this.timestamp);
    return this.position < list.stackStarts[fragment + 1]! && list.seqnos[this.position]! >= this.lower;
  }
}

/** A range of sequence numbers between which no snapshot lies, both ends inclusive. */
export interface Stripe {
  readonly lower: ComparableSeqno;
  readonly upper: ComparableSeqno;
}

/** The stripes of ascending snapshots, oldest first. */
export function snapshotStripes(snapshots: readonly ComparableSeqno[]): Stripe[] {
  const stripes: Stripe[] = [];
  let lower = 0;
  for (const upper of snapshots) {
    stripes.push({ lower, upper });
    lower = nextSeqno(upper);
  }
  if (lower <= MAX_SEQNO) stripes.push({ lower, upper: MAX_SEQNO });
  return stripes;
}
