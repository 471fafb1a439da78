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

/** Takes fragments one after the other; its memory is kept for the next list. */
export class FragmentColumnsBuilder {
  count = 0;
  startKeys: Int32Array = new Int32Array(0);
  endKeys: Int32Array = new Int32Array(0);
  endPrefixes: Float64Array = new Float64Array(0);
  stackStarts: Int32Array = new Int32Array(1);
  stackCount = 0;
  seqnos: Float64Array = new Float64Array(0);
  /** Undefined without timestamps. */
  stackTombstones: Int32Array | undefined;

  /** Begins a new list, of about as many fragments as there are tombstones. */
  begin(tombstones: number, withTimestamps: boolean): void {
    this.count = 0;
    this.stackCount = 0;
    this.growFragments(tombstones);
    this.growStacks(tombstones);
    this.stackTombstones = withTimestamps ? new Int32Array(this.seqnos.length) : undefined;
  }

  /** Makes room for one more fragment with `stack` sequence numbers. */
  reserve(stack: number): void {
    if (this.count === this.startKeys.length) this.growFragments(2 * this.count + 16);
    if (this.stackCount + stack > this.seqnos.length) this.growStacks(2 * this.seqnos.length + stack);
  }

  /** What was taken, copied and cut to size: side by side in one buffer, since each buffer has its price. */
  columns(): FragmentColumns {
    const { count, stackCount } = this;
    const doubleCount = count + stackCount;
    const integerCount = 3 * count + 1 + (this.stackTombstones === undefined ? 0 : stackCount);
    const buffer = new ArrayBuffer(8 * doubleCount + 4 * integerCount);
    let pos = 0;
    const doubles = (source: Float64Array, length: number): Float64Array => {
      const column = new Float64Array(buffer, pos, length);
      column.set(source.subarray(0, length));
      pos += 8 * length;
      return column;
    };
    const integers = (source: Int32Array, length: number): Int32Array => {
      const column = new Int32Array(buffer, pos, length);
      column.set(source.subarray(0, length));
      pos += 4 * length;
      return column;
    };
    return {
      count,
      endPrefixes: doubles(this.endPrefixes, count),
      seqnos: doubles(this.seqnos, stackCount),
      startKeys: integers(this.startKeys, count),
      endKeys: integers(this.endKeys, count),
      stackStarts: integers(this.stackStarts, count + 1),
      stackTombstones: this.stackTombstones && integers(this.stackTombstones, stackCount),
    };
  }

  private growFragments(length: number): void {
    if (length <= this.startKeys.length) return;
    this.startKeys = grown(this.startKeys, new Int32Array(length));
    this.endKeys = grown(this.endKeys, new Int32Array(length));
    this.endPrefixes = grown(this.endPrefixes, new Float64Array(length));
    this.stackStarts = grown(this.stackStarts, new Int32Array(length + 1));
  }

  private growStacks(length: number): void {
    if (length <= this.seqnos.length) return;
    this.seqnos = grown(this.seqnos, new Float64Array(length));
    if (this.stackTombstones !== undefined) {
      this.stackTombstones = grown(this.stackTombstones, new Int32Array(length));
    }
  }
}

function grown<T extends Int32Array | Float64Array>(column: T, larger: T): T {
  larger.set(column);
  return larger;
}
