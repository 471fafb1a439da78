/** The result of fragmenting, as columns; see fragmenter.ts. */
export interface FragmentColumns {
  readonly count: number;
  /** Keys of the tombstone set: fragment f covers [startKeys[f], endKeys[f]). */
  readonly startKeys: Int32Array;
  readonly endKeys: Int32Array;
  /** Prefixes of the end keys: a search goes over this column, and seldom looks at a key. */
  readonly endPrefixes: Float64Array;
  /** The sequence numbers of fragment f, descending: `seqnos[stackStarts[f], stackStarts[f + 1])`. */
  readonly stackStarts: Int32Array;
  readonly seqnos: Float64Array;
  /** With timestamps: the tombstone that each sequence number came from. */
  readonly stackTombstones: Int32Array | undefined;
}

/** Columns that are being filled: `count` and `stackCount` say how far. */
export class FragmentBuilder {
  count = 0;
  stackCount = 0;
  startKeys: Int32Array;
  endKeys: Int32Array;
  endPrefixes: Float64Array;
  stackStarts: Int32Array;
  seqnos: Float64Array;
  stackTombstones: Int32Array | undefined;

  /** Has room for so many fragments and sequence numbers, side by side in one buffer: each buffer has its price. */
  constructor(fragments: number, seqnos: number, withTimestamps: boolean) {
    const doubles = 8 * (fragments + seqnos);
    const integers = 4 * (3 * fragments + 1 + (withTimestamps ? seqnos : 0));
    const buffer = new ArrayBuffer(doubles + integers);
    this.endPrefixes = new Float64Array(buffer, 0, fragments);
    this.seqnos = new Float64Array(buffer, 8 * fragments, seqnos);
    this.startKeys = new Int32Array(buffer, doubles, fragments);
    this.endKeys = new Int32Array(buffer, doubles + 4 * fragments, fragments);
    this.stackStarts = new Int32Array(buffer, doubles + 8 * fragments, fragments + 1);
    this.stackTombstones = withTimestamps
      ? new Int32Array(buffer, doubles + 12 * fragments + 4, seqnos)
      : undefined;
  }

  /** Forgets what was taken and keeps the memory. */
  clear(): void {
    this.count = 0;
    this.stackCount = 0;
  }

  /** Makes room for one more fragment with `stack` sequence numbers. */
  reserve(stack: number): void {
    const { count, stackCount } = this;
    if (count < this.startKeys.length && stackCount + stack <= this.seqnos.length) return;
    const larger = this.resized(
      count < this.startKeys.length ? this.startKeys.length : 2 * count + 16,
      Math.max(this.seqnos.length, 2 * stackCount + stack),
    );
    this.startKeys = larger.startKeys;
    this.endKeys = larger.endKeys;
    this.endPrefixes = larger.endPrefixes;
    this.stackStarts = larger.stackStarts;
    this.seqnos = larger.seqnos;
    this.stackTombstones = larger.stackTombstones;
  }

  /** What was taken, in memory of its size. Where that is this builder's own, the builder must not be used again. */
  columns(): FragmentColumns {
    const { count, stackCount } = this;
    if (count === this.startKeys.length && stackCount === this.seqnos.length) return this;
    return this.resized(count, stackCount);
  }

  /** A copy of what was taken: the builder may go on. */
  copiedColumns(): FragmentColumns {
    return this.resized(this.count, this.stackCount);
  }

  private resized(fragments: number, seqnos: number): FragmentBuilder {
    const { count, stackCount } = this;
    const copy = new FragmentBuilder(fragments, seqnos, this.stackTombstones !== undefined);
    copy.count = count;
    copy.stackCount = stackCount;
    copy.startKeys.set(this.startKeys.subarray(0, count));
    copy.endKeys.set(this.endKeys.subarray(0, count));
    copy.endPrefixes.set(this.endPrefixes.subarray(0, count));
    copy.stackStarts.set(this.stackStarts.subarray(0, count + 1));
    copy.seqnos.set(this.seqnos.subarray(0, stackCount));
    if (this.stackTombstones !== undefined)
      copy.stackTombstones?.set(this.stackTombstones.subarray(0, stackCount));
    return copy;
  }
}
