/** Larger ones are left to the garbage collection, and so are more than may wait to be compressed. */
const KEPT_BYTES_MAX = 256 * 1024;
const KEPT_MAX = 160;

/**
 * Buffers for raw blocks that are used again: V8 takes as long for an array outside of its heap as the block builder
 * for what it holds.
 */
export class BlockBuffers {
  private readonly free: Uint8Array[] = [];

  /** At least `size` bytes, with whatever was in them. */
  take(size: number): Uint8Array {
    const kept = this.free.pop();
    if (kept !== undefined && kept.length >= size) return kept;
    return new Uint8Array(size + (size >>> 3));
  }

  giveBack(buffer: Uint8Array): void {
    if (buffer.length <= KEPT_BYTES_MAX && this.free.length < KEPT_MAX) this.free.push(buffer);
  }
}
