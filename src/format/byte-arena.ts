/** Byte strings one behind the other in one growing buffer, by index. */
export class ByteArena {
  private bytes = new Uint8Array(1024);
  private ends = new Float64Array(64);
  count = 0;

  push(source: Uint8Array, start: number, end: number): void {
    const from = this.end;
    const to = from + (end - start);
    if (to > this.bytes.length) {
      const larger = new Uint8Array(Math.max(to, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, from));
      this.bytes = larger;
    }
    if (this.count === this.ends.length) {
      const larger = new Float64Array(2 * this.ends.length);
      larger.set(this.ends);
      this.ends = larger;
    }
    this.bytes.set(source.subarray(start, end), from);
    this.ends[this.count++] = to;
  }

  /** A view, valid until the next `push`. */
  at(index: number): Uint8Array {
    return this.bytes.subarray(index === 0 ? 0 : this.ends[index - 1]!, this.ends[index]!);
  }

  private get end(): number {
    return this.count === 0 ? 0 : this.ends[this.count - 1]!;
  }
}
