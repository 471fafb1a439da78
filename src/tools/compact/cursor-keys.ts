import { TRAILER_SIZE } from '../../format/internal-key.ts';

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
