/**
 * Buffers that go round: V8 takes 1 to 3 us for an array outside of its heap, and more for memory that nobody had before.
 * One that is larger than `maxBytes` is made for its user alone.
 */
export class BufferRing {
  private readonly free: Uint8Array[] = [];

  constructor(
    private readonly count: number,
    private readonly maxBytes: number,
  ) {}

  /** With whatever was in it. */
  take(length: number): Uint8Array {
    if (length > this.maxBytes) return new Uint8Array(length);
    let whole = this.free.pop();
    if (whole === undefined || whole.length < length) whole = new Uint8Array(bufferSize(length));
    return whole.subarray(0, length);
  }

  release(buffer: Uint8Array): void {
    if (buffer.length === 0 || buffer.buffer.byteLength > this.maxBytes || this.free.length >= this.count)
      return;
    this.free.push(new Uint8Array(buffer.buffer as ArrayBuffer));
  }
}

/** The next power of two: clearing half a megabyte for a file of some kilobytes took a third of the whole check. */
function bufferSize(length: number): number {
  let size = 4096;
  while (size < length) size *= 2;
  return size;
}
