/**
 * A list of blocks as columns: half a million handles cost eight megabytes and no objects.
 */
export class BlockList {
  /** Bytes from the start of the file. */
  offsets = new Float64Array(64);
  /** Bytes without the trailer. */
  sizes = new Float64Array(64);
  count = 0;

  push(offset: number, size: number): void {
    if (this.count === this.offsets.length) {
      this.offsets = grown(this.offsets);
      this.sizes = grown(this.sizes);
    }
    this.offsets[this.count] = offset;
    this.sizes[this.count] = size;
    this.count++;
  }
}

function grown(column: Float64Array): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(2 * column.length);
  larger.set(column);
  return larger;
}
