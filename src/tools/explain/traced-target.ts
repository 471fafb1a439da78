import { SeekTarget } from '../../format/block/seek-target.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import type { Comparison } from './explanation.ts';

/** The target of a search that remembers each comparison: the search itself is the one that look-ups use. */
export class TracedTarget extends SeekTarget {
  private comparisons: Comparison[] = [];

  /** What was compared since the last call. */
  take(): Comparison[] {
    const taken = this.comparisons;
    this.comparisons = [];
    return taken;
  }

  override compareInternalKey(data: Uint8Array, start: number, end: number): number {
    const order = super.compareInternalKey(data, start, end);
    this.remember(data, start, end - TRAILER_SIZE, order);
    return order;
  }

  override compareUserKey(data: Uint8Array, start: number, end: number): number {
    const order = super.compareUserKey(data, start, end);
    this.remember(data, start, end, order);
    return order;
  }

  private remember(data: Uint8Array, start: number, end: number, order: number): void {
    const userEnd = Math.max(start, end - this.timestampSize);
    this.comparisons.push({
      key: data.slice(start, userEnd),
      timestamp: data.slice(userEnd, end),
      order: order < 0 ? 'before' : order > 0 ? 'behind' : 'same',
    });
  }
}
