import { copyBytes } from '../../bytes/copy.ts';
import { CorruptionError } from '../../errors.ts';
import { PREFERRED_SEQNO_SIZE } from '../../format/entry-value.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import { isPointDeletion, ValueType } from '../../format/value-type.ts';
import type { Comparator } from '../../operators/comparator.ts';
import type { MergeOperator } from '../../operators/merge-operator.ts';
import { type HeldEntry, HeldOperands } from '../merge/merge-helper.ts';
import { type ComparableSeqno, comparableTrailerSeqno, MAX_SEQNO } from '../range-del/comparable-seqno.ts';
import type { CompactionRangeDelAggregator } from '../range-del/range-del-aggregator.ts';

/** Why an entry is not written. */
export type DropReason = 'overwritten' | 'deleted' | 'rangeDeleted' | 'tombstones' | 'mergedOperands';

export type DropCounts = Record<DropReason, number>;

export function noDrops(): DropCounts {
  return { overwritten: 0, deleted: 0, rangeDeleted: 0, tombstones: 0, mergedOperands: 0 };
}

export interface CompactionRules {
  /** Of user keys as they come, timestamps included. */
  readonly comparator: Comparator;
  /** Ascending, distinct. */
  readonly snapshots: readonly ComparableSeqno[];
  /** Nothing older than the inputs exists anywhere: tombstones have nothing left to hide. */
  readonly bottommost: boolean;
  readonly tombstones: CompactionRangeDelAggregator | undefined;
  /** Undefined: operands are kept as they are. */
  readonly mergeOperator: MergeOperator | undefined;
}

/** Takes what the rules decide, in internal order. Views are valid during the call. */
export interface CompactionSink {
  keep(key: Uint8Array, keyLength: number, data: Uint8Array, valueStart: number, valueEnd: number): void;
  /**
   * `by` is the sequence number of the entry of the same key that made it superfluous; -1 where there is none (a
   * range tombstone, or nothing that a tombstone could hide).
   */
  drop(key: Uint8Array, keyLength: number, source: number, reason: DropReason, by: ComparableSeqno): void;
}

const NO_BYTES = new Uint8Array(0);
const NO_STRIPE = -1;
const NO_SEQNO = -1;

/** What an entry waits for. */
const Waiting = { none: 0, operands: 1, singleDelete: 2, bottomDelete: 3 } as const;

/** An entry as its source shows it, with what its trailer says: views, valid while it is pushed. */
class PushedEntry {
  source = -1;
  key: Uint8Array = NO_BYTES;
  keyLength = 0;
  data: Uint8Array = NO_BYTES;
  valueStart = 0;
  valueEnd = 0;
  seqno: ComparableSeqno = NO_SEQNO;
  type = 0;
  stripe = NO_STRIPE;
}

/**
 * RocksDB's compaction rules as a state machine: entries are pushed in internal order, and what is decided goes to
 * the sink in the same order. It reads nothing, waits for nothing and keeps at most the entries of one user key:
 * operands that are being merged, or one tombstone whose fate hangs on what follows.
 *
 * Snapshots cut the sequence numbers into stripes; [0, S1], [S1 + 1, S2] ... Within a stripe the newest version of
 * a user key hides the others: no reader can tell them apart. With timestamps every (key, timestamp) is a user key
 * of its own, and the whole history is kept.
 *
 *   put, blob index, entity   kept; with `bottommost` and no snapshot below it, its sequence number becomes 0
 *   delete                    kept; with `bottommost` dropped, unless a version below a snapshot is left to hide
 *   single delete             dropped together with the version right below it in the same stripe; without one, as
 *                             a delete. An older one in a stripe is not hidden by a newer version: its put may lie
 *                             in another file.
 *   merge                     operands of a stripe become one: a value when the put or tombstone below them is in
 *                             the stripe, or when nothing can be below; an operand else
 *   any of them               dropped when a range tombstone of its own stripe covers it
 *
 * Where an operand cannot be resolved (the operator is not known; the value below is an entity or lies in a blob
 * file), operands and the version below them all stay.
 *
 * It differs from RocksDB where a single delete meets a delete, which has no defined result: the delete stays.
 * Source: RocksDB db/compaction/compaction_iterator.cc, db/merge_helper.cc.
 */
export class CompactionIterator {
  /** Entries pushed, and kept. */
  pushed = 0;
  kept = 0;
  readonly drops: DropCounts = noDrops();
  /** Entries of which another source had one with the same internal key. */
  repeated = 0;
  /** Entries with key and sequence number of another one, and another type: which is newer cannot be told. */
  ambiguous = 0;

  private readonly earliestSnapshot: ComparableSeqno;
  private readonly timestampSize: number;
  private readonly operands: HeldOperands;
  /** The user key at hand; length -1: none yet. */
  private userKey = new Uint8Array(256);
  private userKeyLength = -1;
  /** At hand during `push`; afterwards its numbers are those of the entry before. */
  private readonly entry = new PushedEntry();
  /** The stripe in which everything older is hidden, by which version and for which reason. */
  private hiddenStripe = NO_STRIPE;
  private hiddenBy: ComparableSeqno = NO_SEQNO;
  private hiddenReason: DropReason = 'overwritten';
  private waiting: number = Waiting.none;
  private waitingStripe = NO_STRIPE;
  private held: HeldEntry | undefined;
  private outputKey = new Uint8Array(256);

  constructor(
    private readonly rules: CompactionRules,
    private readonly sink: CompactionSink,
  ) {
    this.earliestSnapshot = rules.snapshots[0] ?? MAX_SEQNO;
    this.timestampSize = rules.comparator.timestampSize;
    this.operands = new HeldOperands(rules.mergeOperator);
  }

  /** Whether the entry has another user key, timestamps left out, than the last one: a file may be cut between them. */
  startsUserKey(key: Uint8Array, keyLength: number): boolean {
    if (this.userKeyLength < 0) return true;
    const { timestampSize } = this;
    const { compare } = this.rules.comparator.withoutTimestamp;
    const end = keyLength - TRAILER_SIZE - timestampSize;
    return compare(key, 0, end, this.userKey, 0, this.userKeyLength - timestampSize) !== 0;
  }

  /** The next entry in internal order, from source number `source`. Throws CorruptionError when it is out of order. */
  push(
    source: number,
    key: Uint8Array,
    keyLength: number,
    data: Uint8Array,
    valueStart: number,
    valueEnd: number,
  ): void {
    this.pushed++;
    const { entry } = this;
    const order = this.compareWithLast(key, keyLength);
    const seqno = comparableTrailerSeqno(key, keyLength);
    const type = trailerType(key, keyLength);
    if (order > 0) {
      this.endUserKey();
      this.takeUserKey(key, keyLength - TRAILER_SIZE);
    } else if (order < 0 || isNotOlder(source, seqno, type, entry)) {
      throw new CorruptionError('key_order', 'keys are out of order');
    } else if (seqno === entry.seqno && type === entry.type) {
      // Two sources, or one file given twice: one of them is enough.
      this.repeated++;
      this.drop(key, keyLength, source, 'overwritten', seqno);
      return;
    } else if (seqno === entry.seqno) {
      this.ambiguous++;
    }
    entry.source = source;
    entry.key = key;
    entry.keyLength = keyLength;
    entry.data = data;
    entry.valueStart = valueStart;
    entry.valueEnd = valueEnd;
    entry.seqno = seqno;
    entry.type = type;
    entry.stripe = this.stripeOf(seqno);
    if (this.waiting === Waiting.none || !this.settle()) this.decide();
  }

  /** Nothing follows: what waits is decided. Throws an Error when an entry was neither kept nor dropped, or both. */
  finish(): void {
    this.endUserKey();
    const dropped = Object.values(this.drops).reduce((sum, count) => sum + count, 0);
    if (this.pushed !== this.kept + dropped) {
      throw new Error(`${this.pushed} entries came, ${this.kept} were kept and ${dropped} dropped`);
    }
  }

  /** Nothing follows of the user key at hand: what waits is decided. To be called before a cut. */
  endUserKey(): void {
    switch (this.waiting) {
      case Waiting.operands:
        this.endOperands(this.rules.bottommost && this.timestampSize === 0);
        break;
      case Waiting.singleDelete: {
        const { key } = this.held!;
        const seqno = comparableTrailerSeqno(key, key.length);
        if (this.isAtBottom(seqno)) this.dropHeld('tombstones', NO_SEQNO);
        else this.keepHeld();
        break;
      }
      case Waiting.bottomDelete:
        this.dropHeld('tombstones', NO_SEQNO);
        break;
    }
    this.waiting = Waiting.none;
  }

  /** The entry at hand under the rules, with nothing waiting before it. */
  private decide(): void {
    const { type, seqno, stripe, valueEnd } = this.entry;
    if (type === ValueType.singleDeletion) {
      this.hold(Waiting.singleDelete);
      return;
    }
    if (stripe === this.hiddenStripe) {
      this.dropEntry(this.hiddenReason, this.hiddenBy);
      return;
    }
    if (type === ValueType.deletion && this.rules.bottommost && this.timestampSize === 0) {
      if (this.isAtBottom(seqno)) this.dropEntry('tombstones', NO_SEQNO);
      else this.hold(Waiting.bottomDelete);
      this.hide(stripe, seqno, 'deleted');
      return;
    }
    if (type === ValueType.merge) {
      this.operands.clear();
      this.waiting = Waiting.operands;
      this.waitingStripe = stripe;
      this.addOperand();
      return;
    }
    if (this.isRangeDeleted()) {
      this.dropEntry('rangeDeleted', NO_SEQNO);
      this.hide(stripe, NO_SEQNO, 'rangeDeleted');
      return;
    }
    const end = this.endOfKept();
    const { key, keyLength, data, valueStart } = this.entry;
    this.keepAs(key, keyLength, data, valueStart, end, end === valueEnd ? type : ValueType.value, seqno);
    this.hide(stripe, seqno, isPointDeletion(type) ? 'deleted' : 'overwritten');
  }

  /** What waits meets the next version of its user key; true: that version is dealt with, too. */
  private settle(): boolean {
    const { entry, waiting } = this;
    const sameStripe = entry.stripe === this.waitingStripe;
    switch (waiting) {
      case Waiting.operands:
        if (sameStripe && entry.type === ValueType.merge) {
          this.addOperand();
          return true;
        }
        this.waiting = Waiting.none;
        if (sameStripe) return this.mergeOver();
        this.endOperands(false);
        return false;
      case Waiting.bottomDelete:
        if (sameStripe) {
          this.dropEntry('deleted', this.hiddenBy);
          return true;
        }
        this.waiting = Waiting.none;
        this.keepHeld();
        return false;
      default:
        this.waiting = Waiting.none;
        return this.settleSingleDelete(sameStripe && this.timestampSize === 0);
    }
  }

  private settleSingleDelete(meetsVersion: boolean): boolean {
    const { entry } = this;
    const by = comparableTrailerSeqno(this.held!.key, this.held!.key.length);
    if (!meetsVersion) {
      // A snapshot, or the history that timestamps keep, sees the version below.
      this.keepHeld();
      if (this.waitingStripe !== this.hiddenStripe) this.hide(this.waitingStripe, by, 'deleted');
      return false;
    }
    this.dropHeld('tombstones', entry.seqno);
    if (entry.type === ValueType.singleDeletion || entry.type === ValueType.deletion) return false;
    this.dropEntry('deleted', by);
    if (this.hiddenStripe !== entry.stripe) this.hide(entry.stripe, by, 'deleted');
    return true;
  }

  private addOperand(): void {
    if (this.isRangeDeleted()) this.dropEntry('rangeDeleted', NO_SEQNO);
    else this.operands.add(copyOf(this.entry));
  }

  /** Operands meet the version below them in their stripe; true: it went into the result. */
  private mergeOver(): boolean {
    const { operands } = this;
    const { type, data, valueStart, valueEnd, stripe } = this.entry;
    // All operands were covered by a range tombstone: then so is what lies below them.
    if (operands.isEmpty) return false;
    const covered = this.isRangeDeleted();
    const hasBase = !covered && (type === ValueType.value || type === ValueType.valuePreferredSeqno);
    const isTombstone = isPointDeletion(type);
    if (!operands.isResolvable || !(covered || hasBase || isTombstone)) {
      this.endOperands(false);
      return false;
    }
    const baseEnd = type === ValueType.valuePreferredSeqno ? valueEnd - PREFERRED_SEQNO_SIZE : valueEnd;
    const newest = operands.entries[0]!;
    const newestSeqno = comparableTrailerSeqno(newest.key, newest.key.length);
    this.keepMerged(operands.full(hasBase ? data.subarray(valueStart, baseEnd) : undefined), ValueType.value);
    const reason = covered ? 'rangeDeleted' : isTombstone ? 'tombstones' : 'mergedOperands';
    this.dropEntry(reason, covered ? NO_SEQNO : newestSeqno);
    this.hide(stripe, newestSeqno, 'overwritten');
    return true;
  }

  /** Nothing more of the stripe follows: operands become a value when nothing can be below, else one operand. */
  private endOperands(nothingBelow: boolean): void {
    const { operands } = this;
    if (operands.isEmpty) return;
    if (nothingBelow && operands.isResolvable) {
      this.keepMerged(operands.full(undefined), ValueType.value);
      return;
    }
    const combined = operands.partial();
    if (combined !== undefined) {
      this.keepMerged(combined, ValueType.merge);
      return;
    }
    for (const { key, value } of operands.entries) this.keep(key, key.length, value, 0, value.length);
    operands.clear();
  }

  /** The result takes the place of the newest operand. */
  private keepMerged(value: Uint8Array, type: number): void {
    const { entries } = this.operands;
    const { key } = entries[0]!;
    const seqno = comparableTrailerSeqno(key, key.length);
    this.keepAs(key, key.length, value, 0, value.length, type, seqno);
    for (let i = 1; i < entries.length; i++) {
      const operand = entries[i]!;
      this.drop(operand.key, operand.key.length, operand.source, 'mergedOperands', seqno);
    }
    this.operands.clear();
  }

  /** At the bottom the sequence number of a value says nothing any more: 0 compresses better. */
  private keepAs(
    key: Uint8Array,
    keyLength: number,
    data: Uint8Array,
    valueStart: number,
    valueEnd: number,
    type: number,
    seqno: ComparableSeqno,
  ): void {
    const zero = this.isAtBottom(seqno) && type !== ValueType.merge && !isPointDeletion(type);
    if (!zero && type === trailerType(key, keyLength)) {
      this.keep(key, keyLength, data, valueStart, valueEnd);
      return;
    }
    if (this.outputKey.length < keyLength) this.outputKey = new Uint8Array(2 * keyLength);
    const { outputKey } = this;
    copyBytes(key, 0, keyLength, outputKey, 0);
    outputKey[keyLength - TRAILER_SIZE] = type;
    if (zero) for (let i = keyLength - TRAILER_SIZE + 1; i < keyLength; i++) outputKey[i] = 0;
    this.keep(outputKey, keyLength, data, valueStart, valueEnd);
  }

  private keep(key: Uint8Array, keyLength: number, data: Uint8Array, start: number, end: number): void {
    this.kept++;
    this.sink.keep(key, keyLength, data, start, end);
  }

  private drop(
    key: Uint8Array,
    keyLength: number,
    source: number,
    reason: DropReason,
    by: ComparableSeqno,
  ): void {
    this.drops[reason]++;
    this.sink.drop(key, keyLength, source, reason, by);
  }

  private dropEntry(reason: DropReason, by: ComparableSeqno): void {
    const { key, keyLength, source } = this.entry;
    this.drop(key, keyLength, source, reason, by);
  }

  /** The entry at hand waits for what follows. */
  private hold(waiting: number): void {
    this.waiting = waiting;
    this.waitingStripe = this.entry.stripe;
    this.held = copyOf(this.entry);
  }

  private keepHeld(): void {
    const { key, value } = this.held!;
    this.held = undefined;
    this.keep(key, key.length, value, 0, value.length);
  }

  private dropHeld(reason: DropReason, by: ComparableSeqno): void {
    const { key, source } = this.held!;
    this.held = undefined;
    this.drop(key, key.length, source, reason, by);
  }

  private hide(stripe: number, by: ComparableSeqno, reason: DropReason): void {
    this.hiddenStripe = stripe;
    this.hiddenBy = by;
    this.hiddenReason = reason;
  }

  /** Nobody reads below it, and nothing can be there. */
  private isAtBottom(seqno: ComparableSeqno): boolean {
    return this.rules.bottommost && this.timestampSize === 0 && seqno <= this.earliestSnapshot;
  }

  /** Where the value of the entry at hand ends as it is kept: at the bottom a timed put becomes an ordinary one. */
  private endOfKept(): number {
    const { type, seqno, valueStart, valueEnd } = this.entry;
    if (type !== ValueType.valuePreferredSeqno || !this.isAtBottom(seqno)) return valueEnd;
    return valueEnd - valueStart >= PREFERRED_SEQNO_SIZE ? valueEnd - PREFERRED_SEQNO_SIZE : valueEnd;
  }

  private isRangeDeleted(): boolean {
    const { tombstones } = this.rules;
    // With timestamps a tombstone hides only what is older by time as well, and the history stays.
    if (tombstones === undefined || this.timestampSize > 0) return false;
    const { key, keyLength, seqno } = this.entry;
    return tombstones.shouldDelete(key, 0, keyLength - TRAILER_SIZE, seqno);
  }

  /** Above 0 for another user key than the last one. */
  private compareWithLast(key: Uint8Array, keyLength: number): number {
    if (this.userKeyLength < 0) return 1;
    return this.rules.comparator.compare(
      key,
      0,
      keyLength - TRAILER_SIZE,
      this.userKey,
      0,
      this.userKeyLength,
    );
  }

  private takeUserKey(key: Uint8Array, length: number): void {
    if (this.userKey.length < length) this.userKey = new Uint8Array(2 * length);
    copyBytes(key, 0, length, this.userKey, 0);
    this.userKeyLength = length;
    this.hiddenStripe = NO_STRIPE;
  }

  private stripeOf(seqno: ComparableSeqno): number {
    const { snapshots } = this.rules;
    let low = 0;
    let high = snapshots.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (snapshots[middle]! >= seqno) high = middle;
      else low = middle + 1;
    }
    return low;
  }
}

/** Of one user key: newer than the entry before, or the same one out of the same source. */
function isNotOlder(source: number, seqno: ComparableSeqno, type: number, before: PushedEntry): boolean {
  if (seqno !== before.seqno) return seqno > before.seqno;
  return type === before.type ? source === before.source : type > before.type;
}

function copyOf({ source, key, keyLength, data, valueStart, valueEnd }: PushedEntry): HeldEntry {
  return { source, key: key.slice(0, keyLength), value: data.slice(valueStart, valueEnd) };
}
