/** Where the bytes of a table go, in order. Files and the like are at the edge. */
export interface TableSink {
  /** Bytes written so far: where the next ones will lie. */
  readonly position: number;
  /** Takes all of `bytes` and keeps no reference to them. Throws IoError when they cannot be written. */
  write(bytes: Uint8Array): void;
}

/** A sink in memory: for tests, and for tables that are small. */
export class MemorySink implements TableSink {
  private bytes = new Uint8Array(64 * 1024);
  position = 0;

  write(bytes: Uint8Array): void {
    const end = this.position + bytes.length;
    if (end > this.bytes.length) {
      const larger = new Uint8Array(Math.max(end, 2 * this.bytes.length));
      larger.set(this.bytes.subarray(0, this.position));
      this.bytes = larger;
    }
    this.bytes.set(bytes, this.position);
    this.position = end;
  }

  /** What was written, as a view. */
  contents(): Uint8Array {
    return this.bytes.subarray(0, this.position);
  }
}
