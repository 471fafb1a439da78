import type { EntryShape, EntrySource } from '../format/table-entry.ts';
import { userKeyEnd } from '../format/table-entry.ts';
import type { Finding } from './finding.ts';

/**
 * Gives each fault in the entries of a table the range of keys that it may have cost: from the last good key
 * before it to the first good key behind it. A finding is handed out once that second key is known.
 */
export class LossTracker {
  private lastGood: Uint8Array = new Uint8Array(64);
  /** -1: no good key yet. */
  private lastGoodLength = -1;
  private waiting: Finding[] = [];

  constructor(
    private readonly shape: EntryShape,
    private readonly report: (finding: Finding) => void,
  ) {}

  /** A fault between the last good key and the next one. */
  lose(finding: Finding): void {
    finding.lost = { after: this.lastKey(), before: null, entries: null };
    this.waiting.push(finding);
  }

  /** A key that was read well; called for the first and the last entry of each block. */
  good(entry: EntrySource): void {
    const end = Math.max(0, userKeyEnd(entry, this.shape));
    if (this.waiting.length > 0) {
      const before = entry.key.slice(0, end);
      for (const finding of this.waiting) finding.lost!.before = before;
      this.handOut();
    }
    if (this.lastGood.length < end) this.lastGood = new Uint8Array(2 * end);
    this.lastGood.set(entry.key.subarray(0, end));
    this.lastGoodLength = end;
  }

  /** Faults that wait for the next good key. */
  get waitingCount(): number {
    return this.waiting.length;
  }

  /** No entries follow. */
  end(): void {
    this.handOut();
  }

  lastKey(): Uint8Array | null {
    return this.lastGoodLength < 0 ? null : this.lastGood.slice(0, this.lastGoodLength);
  }

  private handOut(): void {
    for (const finding of this.waiting) this.report(finding);
    this.waiting = [];
  }
}
