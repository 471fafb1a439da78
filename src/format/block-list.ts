/**
 * A list of blocks as columns: half a million handles cost eight megabytes and no objects.
 */
export class BlockList {
  /** Bytes from the start of the file. */
  offsets = new Float64Array(64);
  /** Bytes without the trailer. */
  sizes = new Float64Array(64);
  count = 0;

  /** Makes room for `count` blocks at once: growing step by step leaves half of the memory behind as garbage. */
  reserve(count: number): void {
    if (count <= this.offsets.length) return;
    this.offsets = grown(this.offsets, count);
    this.sizes = grown(this.sizes, count);
  }

  push(offset: number, size: number): void {
    if (this.count === this.offsets.length) this.reserve(2 * this.count);
    this.offsets[this.count] = offset;
    this.sizes[this.count] = size;
    this.count++;
  }
}

function grown(column: Float64Array, length: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(length);
  larger.set(column);
  return larger;
}
