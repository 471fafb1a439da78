import type { ComparableSeqno } from './comparable-seqno.ts';
import type { Stripe } from './fragment-iterator.ts';
import type { FragmentedTombstones } from './fragmented-tombstones.ts';
import type { KeyOrder } from './key-order.ts';
import type { TombstoneSource } from './tombstone-source.ts';

/**
 * Answers which version of a key the tombstones of one source delete, for readers of one stripe, and stays where the
 * last key was: at the first fragment that ends behind it, or at the list's end.
 *
 *      fragment - 1           fragment
 *      [----------)          [---------)
 *              gapPrefix  startPrefix  endPrefix
 *
 * Keys whose prefix lies strictly inside of the gap or of the fragment are decided by that alone, without a search or
 * a look at any key; a walk over keys asks mostly for these. Where all prefixes are equal none lies inside.
 */
export class TombstoneCursor {
  private readonly list: FragmentedTombstones;
  private readonly order: KeyOrder;
  private gapPrefix = Number.NEGATIVE_INFINITY;
  private startPrefix = Number.POSITIVE_INFINITY;
  private endPrefix = Number.POSITIVE_INFINITY;
  private fragment = 0;

  constructor(
    readonly source: TombstoneSource,
    private readonly stripe: Stripe,
    private readonly timestamp: Uint8Array | undefined,
  ) {
    this.list = source.list;
    this.order = source.list.order;
    // Most sources lie behind the first key of a walk: that is known without a search, too.
    this.moveTo(0);
  }

  /** Whether the version `seqno` of the user key is deleted; `anew` when the last key says nothing about this one. */
  deletes(key: Uint8Array, start: number, end: number, seqno: ComparableSeqno, anew: boolean): boolean {
    const prefix = this.order.prefixOf(key, start, end);
    if (prefix > this.gapPrefix && prefix < this.startPrefix) return false;
    if (!(prefix > this.startPrefix && prefix < this.endPrefix)) {
      this.seek(key, start, end, prefix, anew);
      if (!this.isInFragment(key, start, end, prefix)) return false;
    }
    const newest = this.list.newestVisible(this.fragment, this.stripe.upper, this.timestamp);
    return newest > seqno && newest >= this.stripe.lower && this.source.isInside(key, start, end, seqno);
  }

  /** To the first fragment that ends behind the key. */
  private seek(key: Uint8Array, start: number, end: number, prefix: number, anew: boolean): void {
    const { list } = this;
    const fragment = anew
      ? list.firstEndingAfter(key, start, end, prefix)
      : list.firstEndingAfterNear(this.fragment, key, start, end, prefix);
    this.moveTo(fragment);
  }

  private moveTo(fragment: number): void {
    const { list } = this;
    const atEnd = fragment === list.count;
    this.fragment = fragment;
    this.gapPrefix = fragment === 0 ? Number.NEGATIVE_INFINITY : list.endPrefixes[fragment - 1]!;
    this.startPrefix = atEnd ? Number.POSITIVE_INFINITY : list.startPrefix(fragment);
    this.endPrefix = atEnd ? Number.POSITIVE_INFINITY : list.endPrefixes[fragment]!;
  }

  /** Whether a key that was looked for is in the fragment at which the search ended: not before it, or at the end. */
  private isInFragment(key: Uint8Array, start: number, end: number, prefix: number): boolean {
    const { fragment, list, startPrefix } = this;
    if (prefix !== startPrefix) return prefix > startPrefix;
    return fragment < list.count && list.startsAtOrBefore(fragment, key, start, end);
  }
}
