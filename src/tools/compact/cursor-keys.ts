import { compareTrailers, TRAILER_SIZE } from '../../format/internal-key.ts';
import type { Comparator } from '../../operators/comparator.ts';

/** Puts the global sequence number and a timestamp that is not stored into keys. */
export class KeyRewriter {
  key = new Uint8Array(256);
  private readonly seqnoBytes = new Uint8Array(TRAILER_SIZE - 1);

  constructor(
    private readonly globalSeqno: bigint | undefined,
    private readonly paddedTimestampSize: number,
  ) {
    for (let i = 0; i < this.seqnoBytes.length; i++) {
      this.seqnoBytes[i] = Number(((globalSeqno ?? 0n) >> BigInt(8 * i)) & 0xffn);
    }
  }

  /** Rewrites into `key` and returns its length. */
  rewrite(key: Uint8Array, keyLength: number): number {
    const length = keyLength + this.paddedTimestampSize;
    if (this.key.length < length) this.key = new Uint8Array(2 * length);
    const target = this.key;
    const end = keyLength - TRAILER_SIZE;
    target.set(key.subarray(0, end));
    target.fill(0, end, length - TRAILER_SIZE);
    target.set(key.subarray(end, keyLength), length - TRAILER_SIZE);
    if (this.globalSeqno !== undefined) target.set(this.seqnoBytes, length - TRAILER_SIZE + 1);
    return length;
  }
}

/** Lets through only keys that come behind the one before: what recovery found may lie anywhere. */
export class OrderGuard {
  private last = new Uint8Array(256);
  private lastLength = -1;

  constructor(private readonly comparator: Comparator) {}

  /** A copy of the internal key that was let through last; null before the first. */
  lastKey(): Uint8Array | null {
    return this.lastLength < 0 ? null : this.last.slice(0, this.lastLength);
  }

  accepts(key: Uint8Array, keyLength: number): boolean {
    if (this.lastLength >= 0) {
      const lastEnd = this.lastLength - TRAILER_SIZE;
      const order = this.comparator.compare(this.last, 0, lastEnd, key, 0, keyLength - TRAILER_SIZE);
      if (order > 0) return false;
      if (order === 0 && compareTrailers(this.last, this.lastLength, key, keyLength) >= 0) return false;
    }
    if (this.last.length < keyLength) this.last = new Uint8Array(2 * keyLength);
    this.last.set(key.subarray(0, keyLength));
    this.lastLength = keyLength;
    return true;
  }
}
