import type { Comparator } from '../../operators/comparator.ts';
import { type ComparableSeqno, MAX_SEQNO } from './comparable-seqno.ts';
import { type Stripe, snapshotStripes } from './fragment-iterator.ts';
import type { FragmentedTombstones } from './fragmented-tombstones.ts';
import { fragmentTombstones } from './fragmenter.ts';
import { TombstoneCursor } from './tombstone-cursor.ts';
import { TombstoneSet } from './tombstone-set.ts';
import { type FileBounds, TombstoneSource } from './tombstone-source.ts';

/**
 * In which order keys are asked for. Each is right for any order, and fast for its own: `forward` and `backward`
 * start where the last question ended, `fullScan` searches anew.
 */
export type PositioningMode = 'forward' | 'backward' | 'fullScan';

/** Up to this many sources each is asked; above, only those that a forward walk has reached and not left behind. */
const MAX_PLAIN_SOURCES = 8;

/** The tombstones of several sources that one range of sequence numbers can see. */
class StripeTombstones {
  private readonly cursors: TombstoneCursor[] = [];
  private window: ForwardWindow | undefined;

  constructor(
    private readonly stripe: Stripe,
    private readonly timestamp: Uint8Array | undefined,
  ) {}

  add(source: TombstoneSource): void {
    this.cursors.push(new TombstoneCursor(source, this.stripe, this.timestamp));
    this.window = undefined;
  }

  /** Whether a tombstone of the stripe deletes this version of the user key. */
  shouldDelete(
    key: Uint8Array,
    start: number,
    end: number,
    seqno: ComparableSeqno,
    mode: PositioningMode,
  ): boolean {
    const { cursors } = this;
    const anew = mode === 'fullScan';
    if (mode === 'forward' && cursors.length > MAX_PLAIN_SOURCES) {
      this.window ??= new ForwardWindow(cursors.map(({ source }) => source));
      const active = this.window.advance(key, start, end);
      for (let i = 0; i < active.length; i++)
        if (cursors[active[i]!]!.deletes(key, start, end, seqno, anew)) return true;
      return false;
    }
    for (let i = 0; i < cursors.length; i++)
      if (cursors[i]!.deletes(key, start, end, seqno, anew)) return true;
    return false;
  }

  /** Whether any tombstone covers a key in [start, end], both inclusive. */
  isRangeOverlapped(start: Uint8Array, end: Uint8Array): boolean {
    return this.cursors.some(({ source }) => {
      const { list } = source;
      const prefix = list.order.prefixOf(start, 0, start.length);
      for (let f = list.firstEndingAfter(start, 0, start.length, prefix); f < list.count; f++) {
        if (list.comparator.compare(list.startKey(f), 0, list.startKey(f).length, end, 0, end.length) > 0)
          return false;
        if (list.newestVisible(f, this.stripe.upper, this.timestamp) < this.stripe.lower) continue;
        if (overlapsTruncated(source, f, start, end)) return true;
      }
      return false;
    });
  }
}

/** The sources that a forward walk is inside of, out of many. Goes back to the beginning when a key is smaller. */
class ForwardWindow {
  private readonly byStart: number[];
  private next = 0;
  private active: number[] = [];
  /** The key of the last change. */
  private lastKey: Uint8Array | undefined;

  constructor(private readonly sources: readonly TombstoneSource[]) {
    this.byStart = sources
      .map((_, i) => i)
      .filter((i) => !sources[i]!.list.isEmpty)
      .sort((a, b) => this.compareStarts(a, b));
  }

  advance(key: Uint8Array, start: number, end: number): readonly number[] {
    const { lastKey } = this;
    if (lastKey !== undefined && this.compare(key, start, end, lastKey) < 0) {
      this.next = 0;
      this.active = [];
    }
    let changed = false;
    while (
      this.next < this.byStart.length &&
      this.compare(key, start, end, this.startOf(this.byStart[this.next]!)) >= 0
    ) {
      this.active.push(this.byStart[this.next++]!);
      changed = true;
    }
    for (let i = this.active.length - 1; i >= 0; i--) {
      const { list } = this.sources[this.active[i]!]!;
      if (this.compare(key, start, end, list.endKey(list.count - 1)) < 0) continue;
      this.active[i] = this.active[this.active.length - 1]!;
      this.active.pop();
      changed = true;
    }
    if (changed) this.lastKey = key.slice(start, end);
    return this.active;
  }

  private compareStarts(a: number, b: number): number {
    const start = this.startOf(a);
    return this.compare(start, 0, start.length, this.startOf(b));
  }

  private startOf(i: number): Uint8Array {
    return this.sources[i]!.list.startKey(0);
  }

  private compare(key: Uint8Array, start: number, end: number, other: Uint8Array): number {
    return this.sources[0]!.list.comparator.compare(key, start, end, other, 0, other.length);
  }
}

function overlapsTruncated(
  source: TombstoneSource,
  fragment: number,
  start: Uint8Array,
  end: Uint8Array,
): boolean {
  const left = source.truncated(fragment);
  if (left === undefined) return false;
  const { compare } = source.list.comparator;
  if (compare(left.start, 0, left.start.length, end, 0, end.length) > 0) return false;
  const order = compare(left.end, 0, left.end.length, start, 0, start.length);
  // Cut at a largest key that is a point key, the tombstone still covers that very user key.
  return order > 0 || (order === 0 && left.end === source.upperKey && !source.endsBeforeUpperKey);
}

/** What a read at one sequence number sees of the range tombstones of memtables and files. */
export class ReadRangeDelAggregator {
  private readonly tombstones: StripeTombstones;

  constructor(
    private readonly timestampSize = 0,
    private readonly upper: ComparableSeqno = MAX_SEQNO,
    timestamp?: Uint8Array,
  ) {
    this.tombstones = new StripeTombstones({ lower: 0, upper }, timestamp);
  }

  /** Adds a source; `bounds` are those of its file, where it has any. */
  addTombstones(list: FragmentedTombstones, bounds?: FileBounds): void {
    if (!list.isEmpty) this.tombstones.add(new TombstoneSource(list, bounds, this.timestampSize));
  }

  /** Whether the version `seqno` of the user key `key[start, end)` (without timestamp) is deleted. */
  shouldDelete(
    key: Uint8Array,
    start: number,
    end: number,
    seqno: ComparableSeqno,
    mode: PositioningMode = 'forward',
  ): boolean {
    return seqno <= this.upper && this.tombstones.shouldDelete(key, start, end, seqno, mode);
  }

  /** Whether any visible tombstone covers a key in [start, end], both inclusive. */
  isRangeOverlapped(start: Uint8Array, end: Uint8Array): boolean {
    return this.tombstones.isRangeOverlapped(start, end);
  }
}

/**
 * The range tombstones of a compaction's inputs. A version is deleted only by a tombstone of its own stripe between
 * snapshots: with a snapshot in between, a reader still sees it.
 */
export class CompactionRangeDelAggregator {
  private readonly stripes: readonly Stripe[];
  private readonly tombstones: (StripeTombstones | undefined)[];
  private readonly sources: TombstoneSource[] = [];

  constructor(
    private readonly comparator: Comparator,
    /** Ascending. */
    private readonly snapshots: readonly ComparableSeqno[],
    private readonly timestamp?: Uint8Array,
  ) {
    this.stripes = snapshotStripes(snapshots);
    this.tombstones = this.stripes.map(() => undefined);
  }

  addTombstones(list: FragmentedTombstones, bounds?: FileBounds): void {
    if (list.isEmpty) return;
    const source = new TombstoneSource(list, bounds, this.comparator.timestampSize);
    this.sources.push(source);
    for (let i = 0; i < this.stripes.length; i++) {
      const stripe = this.stripes[i]!;
      if (!list.containsRange(stripe.lower, stripe.upper)) continue;
      this.tombstones[i] ??= new StripeTombstones(stripe, this.timestamp);
      this.tombstones[i]!.add(source);
    }
  }

  shouldDelete(
    key: Uint8Array,
    start: number,
    end: number,
    seqno: ComparableSeqno,
    mode: PositioningMode = 'forward',
  ): boolean {
    const stripe = this.tombstones[this.stripeOf(seqno)];
    return stripe?.shouldDelete(key, start, end, seqno, mode) ?? false;
  }

  get isEmpty(): boolean {
    return this.sources.length === 0;
  }

  /**
   * All tombstones of the inputs, truncated at their files' bounds and fragmented together, with the sequence
   * numbers that the snapshots need: what the compaction writes.
   */
  outputTombstones(): FragmentedTombstones {
    const set = new TombstoneSet(this.comparator.timestampSize);
    for (const source of this.sources) {
      const { list } = source;
      for (let f = 0; f < list.count; f++) {
        const left = source.truncated(f);
        if (left === undefined) continue;
        for (let position = list.stackStarts[f]!; position < list.stackStarts[f + 1]!; position++) {
          const { start, end } = left;
          const timestamp = set.timestampSize === 0 ? undefined : list.timestampAt(position);
          set.add(start, 0, start.length, end, 0, end.length, list.seqnos[position]!, timestamp);
        }
      }
    }
    return fragmentTombstones(set, this.comparator, { snapshots: this.snapshots });
  }

  private stripeOf(seqno: ComparableSeqno): number {
    let low = 0;
    let high = this.snapshots.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.snapshots[middle]! >= seqno) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}
