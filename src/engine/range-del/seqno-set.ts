import type { ComparableSeqno } from './comparable-seqno.ts';

/** Up to so many bits a sequence number, a bitmap is cheaper than sorting. */
const MAX_BITS_PER_SEQNO = 64;

/** A set of sequence numbers that says whether a range of them holds any. */
export class SeqnoSet {
  /** Distinct, ascending. */
  private readonly seqnos: Float64Array;

  /** `seqnos` in any order, repeated as they may be. */
  constructor(seqnos: Float64Array) {
    this.seqnos = distinctAscending(seqnos);
  }

  get memoryBytes(): number {
    return this.seqnos.buffer.byteLength;
  }

  /** Whether any lies in [lower, upper]. */
  containsRange(lower: ComparableSeqno, upper: ComparableSeqno): boolean {
    const { seqnos } = this;
    let low = 0;
    let high = seqnos.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (seqnos[middle]! >= lower) high = middle;
      else low = middle + 1;
    }
    return low < seqnos.length && seqnos[low]! <= upper;
  }
}

/**
 * Range deletions come in bursts, so their sequence numbers mostly lie close together: then each sets a bit, and the
 * bits are read in order. Numbers that are scattered are sorted.
 */
function distinctAscending(seqnos: Float64Array): Float64Array {
  let lowest = Number.POSITIVE_INFINITY;
  let highest = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < seqnos.length; i++) {
    const seqno = seqnos[i]!;
    if (seqno < lowest) lowest = seqno;
    if (seqno > highest) highest = seqno;
  }
  if (seqnos.length === 0) return seqnos;
  // Above 2^53 neighbours are more than 1 apart: see comparable-seqno.ts.
  const span = highest < 2 ** 53 ? highest - lowest + 1 : Number.POSITIVE_INFINITY;
  return span <= MAX_BITS_PER_SEQNO * seqnos.length ? fromBits(seqnos, lowest, span) : fromSorted(seqnos);
}

function fromBits(seqnos: Float64Array, lowest: number, span: number): Float64Array {
  const words = new Int32Array((span + 31) >>> 5);
  for (let i = 0; i < seqnos.length; i++) {
    const bit = seqnos[i]! - lowest;
    words[bit >>> 5]! |= 1 << (bit & 31);
  }
  const distinct = new Float64Array(Math.min(seqnos.length, span));
  let count = 0;
  for (let w = 0; w < words.length; w++) {
    for (let word = words[w]!; word !== 0; word &= word - 1) {
      distinct[count++] = lowest + 32 * w + 31 - Math.clz32(word & -word);
    }
  }
  return distinct.subarray(0, count);
}

function fromSorted(seqnos: Float64Array): Float64Array {
  const sorted = seqnos.slice().sort();
  let count = 0;
  for (let i = 0; i < sorted.length; i++) {
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[count++] = sorted[i]!;
  }
  return sorted.subarray(0, count);
}
