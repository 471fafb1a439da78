/** Up to this length keys are copied as words: 20 bytes take 11 ns, byte by byte 39, with `set` 43 (Node 20). */
const WORD_COPY_MAX = 96;
const NO_BYTES = new Uint8Array(0);
const NO_VIEW = new DataView(NO_BYTES.buffer);

/**
 * Copies of some hundred keys, one behind the other: key i is `bytes[offsets[i], offsets[i + 1])`. The hash kernel
 * takes them in one call, which would take longer than the hash itself if it were made for each of them.
 */
export class KeyBatch {
  count = 0;
  readonly bytes: Uint8Array;
  readonly offsets: Uint32Array;
  private readonly view: DataView;
  private readonly keysMax: number;
  /** The array that the last key came from, and a view on it: callers reuse theirs. */
  private source: Uint8Array = NO_BYTES;
  private sourceView: DataView = NO_VIEW;

  constructor(keysMax = 512, bytesMax = 32 * 1024) {
    this.bytes = new Uint8Array(bytesMax);
    this.view = new DataView(this.bytes.buffer);
    this.offsets = new Uint32Array(keysMax + 1);
    this.keysMax = keysMax;
  }

  /** Adds `source[start, end)`; false where it has no room: the batch is full, or the key longer than all of it. */
  push(source: Uint8Array, start: number, end: number): boolean {
    const length = end - start;
    const to = this.offsets[this.count]!;
    if (this.count === this.keysMax || to + length > this.bytes.length) return false;
    if (length > WORD_COPY_MAX) this.bytes.set(source.subarray(start, end), to);
    else this.copyWords(source, start, end, to);
    this.count++;
    this.offsets[this.count] = to + length;
    return true;
  }

  clear(): void {
    this.count = 0;
  }

  /** As `clear`, and lets go of the last key's array. */
  release(): void {
    this.count = 0;
    this.source = NO_BYTES;
    this.sourceView = NO_VIEW;
  }

  private copyWords(source: Uint8Array, start: number, end: number, to: number): void {
    if (source !== this.source) {
      this.source = source;
      this.sourceView = new DataView(source.buffer, source.byteOffset, source.byteLength);
    }
    const { bytes, view, sourceView } = this;
    let from = start;
    for (; from + 4 <= end; from += 4, to += 4) view.setInt32(to, sourceView.getInt32(from, true), true);
    for (; from < end; from++) bytes[to++] = source[from]!;
  }
}
