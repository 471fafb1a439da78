import { compareTrailers, TRAILER_SIZE } from '../../format/internal-key.ts';
import type { Comparator } from '../../operators/comparator.ts';

/** Relation of a key to the one before it. */
export type KeyRelation = 'after' | 'before' | 'repeated' | 'same_seqno';

/** Order of internal keys, where the order of user keys is known. */
export class KeyOrder {
  /** The key before: `previous[0, previousLength)`; a length of -1 stands for none. */
  previous = new Uint8Array(64);
  previousLength = -1;

  constructor(private readonly comparator: Comparator) {}

  /** How `key[0, length)` follows the key before, whose place it takes. */
  next(key: Uint8Array, length: number): KeyRelation {
    const relation = this.previousLength < 0 ? 'after' : this.relate(key, length);
    if (this.previous.length < length) this.previous = new Uint8Array(2 * length);
    if (length < 48) for (let i = 0; i < length; i++) this.previous[i] = key[i]!;
    else this.previous.set(key.subarray(0, length));
    this.previousLength = length;
    return relation;
  }

  /** Negative, zero or positive for two internal keys. */
  compare(a: Uint8Array, aLength: number, b: Uint8Array, bLength: number): number {
    const order = this.compareUserKeys(a, aLength - TRAILER_SIZE, b, bLength - TRAILER_SIZE);
    return order !== 0 ? order : compareTrailers(a, aLength, b, bLength);
  }

  compareUserKeys(a: Uint8Array, aLength: number, b: Uint8Array, bLength: number): number {
    return this.comparator.compare(a, 0, aLength, b, 0, bLength);
  }

  private relate(key: Uint8Array, length: number): KeyRelation {
    const { previous, previousLength } = this;
    const order = this.compareUserKeys(previous, previousLength - TRAILER_SIZE, key, length - TRAILER_SIZE);
    if (order !== 0) return order < 0 ? 'after' : 'before';
    const trailers = compareTrailers(previous, previousLength, key, length);
    if (trailers === 0) return 'repeated';
    if (trailers > 0) return 'before';
    for (let i = 1; i < TRAILER_SIZE; i++) {
      if (previous[previousLength - i] !== key[length - i]) return 'after';
    }
    return 'same_seqno';
  }
}
