import { InvalidArgumentError } from '../../errors.ts';
import { bytewiseComparator, type Comparator } from '../../operators/comparator.ts';
import { isWholeRange, KeyFilter, type KeyRange, prefixEnd } from '../key-range.ts';

/** The part of the key space that a compaction cuts out: user keys without timestamps. */
export class KeyPart {
  readonly filter: KeyFilter;

  private constructor(
    private readonly from: Uint8Array | undefined,
    private readonly to: Uint8Array | undefined,
    private readonly comparator: Comparator,
  ) {
    const range = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
    this.filter = new KeyFilter(range, comparator, comparator.name);
  }

  /**
   * Undefined for all keys. A prefix is a range where keys are in bytewise order; elsewhere range tombstones could
   * not be cut to it: InvalidArgumentError.
   */
  static of(range: KeyRange, comparator: Comparator): KeyPart | undefined {
    if (isWholeRange(range)) return undefined;
    const { from, to, prefix } = range;
    const order = comparator.withoutTimestamp;
    if (prefix === undefined) return new KeyPart(from, to, order);
    if (order.compare !== bytewiseComparator.compare) {
      throw new InvalidArgumentError(
        'prefix',
        comparator.name,
        `--prefix needs keys in bytewise order, not in that of ${comparator.name}: use --from and --to`,
      );
    }
    const whole = new KeyPart(from, to, order);
    const end = prefixEnd(prefix);
    return new KeyPart(whole.later(prefix), end === undefined ? to : whole.earlier(end), order);
  }

  /** The key, or where the part begins if that is later. */
  later(key: Uint8Array): Uint8Array {
    return this.from !== undefined && this.order(key, this.from) < 0 ? this.from : key;
  }

  /** The key, or where the part ends if that is earlier. */
  earlier(key: Uint8Array): Uint8Array {
    return this.to !== undefined && this.order(key, this.to) > 0 ? this.to : key;
  }

  order(a: Uint8Array, b: Uint8Array): number {
    return this.comparator.compare(a, 0, a.length, b, 0, b.length);
  }
}
