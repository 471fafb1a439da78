/** Bits from the lowest of each byte on, as zstd writes them. Source: RFC 8878, section 4.1. */
export class BitWriter {
  private readonly bytes: number[] = [];
  private pending = 0;
  private pendingBits = 0;

  /** The low `count` bits of `value`; at most 16. */
  add(value: number, count: number): void {
    this.pending |= (value & ((1 << count) - 1)) << this.pendingBits;
    this.pendingBits += count;
    while (this.pendingBits >= 8) {
      this.bytes.push(this.pending & 0xff);
      this.pending >>>= 8;
      this.pendingBits -= 8;
    }
  }

  /** Zeros up to the next byte. */
  finish(): number[] {
    if (this.pendingBits > 0) this.bytes.push(this.pending & 0xff);
    return this.bytes;
  }

  /** A one that marks the end for who reads backwards, then zeros. */
  finishMarked(): number[] {
    this.add(1, 1);
    return this.finish();
  }
}
