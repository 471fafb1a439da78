import { UnsupportedError } from '../../errors.ts';

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
  /** What all of them lie in. */
  readonly buffer: ArrayBuffer;
}

/**
 * Memory of lists that nobody needs any more, for the next ones. Without it each list is written to fresh memory,
 * and its pages cost more than the work on a large list; the garbage collector frees a buffer late.
 */
export class BufferPool {
  private readonly buffers: ArrayBuffer[] = [];

  /** A buffer of at least so many bytes, and not many more; its bytes are anything. */
  take(bytes: number): ArrayBuffer {
    const { buffers } = this;
    for (let i = buffers.length - 1; i >= 0; i--) {
      const buffer = buffers[i]!;
      if (buffer.byteLength < bytes || buffer.byteLength > bytes + bytes / 8 + 1024) continue;
      const last = buffers.pop()!;
      if (i < buffers.length) buffers[i] = last;
      return buffer;
    }
    // A little more than is needed: the next list may be a little larger.
    return new ArrayBuffer(8 * Math.ceil((bytes + bytes / 32) / 8));
  }

  give(buffer: ArrayBuffer): void {
    if (this.buffers.length === MAX_POOLED_BUFFERS) this.buffers.shift();
    this.buffers.push(buffer);
  }
}

const MAX_POOLED_BUFFERS = 64;

/**
 * 1 GiB of them in one list. Tombstones that lie inside of each other have fragments whose sequence numbers are as
 * many as the square of the tombstones: a small file may ask for more memory than there is.
 */
const MAX_STACK_SEQNOS = 2 ** 27;

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
  buffer: ArrayBuffer;

  /** Has room for so many fragments and sequence numbers, side by side in one buffer: each buffer has its price. */
  constructor(fragments: number, seqnos: number, withTimestamps: boolean, pool?: BufferPool) {
    const doubles = 8 * (fragments + seqnos);
    const bytes = doubles + 4 * (3 * fragments + 1 + (withTimestamps ? seqnos : 0));
    const buffer = pool === undefined ? new ArrayBuffer(bytes) : pool.take(bytes);
    this.buffer = buffer;
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

  /** Makes room for so many more fragments and sequence numbers. Throws UnsupportedError where there is none. */
  reserve(fragments: number, seqnos: number): void {
    const { count, stackCount } = this;
    if (count + fragments <= this.startKeys.length && stackCount + seqnos <= this.seqnos.length) return;
    if (stackCount + seqnos > MAX_STACK_SEQNOS) throw tooManySeqnos();
    const larger = this.resized(
      count + fragments <= this.startKeys.length ? this.startKeys.length : 2 * count + fragments + 16,
      stackCount + seqnos <= this.seqnos.length
        ? this.seqnos.length
        : Math.min(2 * stackCount + seqnos + 16, MAX_STACK_SEQNOS),
    );
    this.startKeys = larger.startKeys;
    this.endKeys = larger.endKeys;
    this.endPrefixes = larger.endPrefixes;
    this.stackStarts = larger.stackStarts;
    this.seqnos = larger.seqnos;
    this.stackTombstones = larger.stackTombstones;
    this.buffer = larger.buffer;
  }

  /** A copy of what was taken, in memory of its size: the builder may go on. */
  copiedColumns(pool: BufferPool | undefined): FragmentColumns {
    return this.resized(this.count, this.stackCount, pool);
  }

  private resized(fragments: number, seqnos: number, pool?: BufferPool): FragmentBuilder {
    const { count, stackCount } = this;
    const copy = new FragmentBuilder(fragments, seqnos, this.stackTombstones !== undefined, pool);
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

function tooManySeqnos(): UnsupportedError {
  return new UnsupportedError(
    'range tombstones',
    MAX_STACK_SEQNOS,
    `range tombstones overlap so much that their fragments need more than ${MAX_STACK_SEQNOS} sequence numbers (1 GiB)`,
  );
}
