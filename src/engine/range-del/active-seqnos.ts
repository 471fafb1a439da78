import type { ComparableSeqno } from './comparable-seqno.ts';

/** From this length on a built-in copy is cheaper than a loop: it has its price at any length. */
const MIN_BULK_COPY = 48;

/**
 * The sequence numbers that cover the place at which a sweep stands, newest first, each with the tombstone that it is
 * of. Kept in order from border to border, so that a fragment's stack is a copy and nothing is sorted again.
 */
export class ActiveSeqnos {
  seqnos = new Float64Array(16);
  /** Whatever numbers the caller knows its tombstones by. */
  tombstones: Int32Array = new Int32Array(16);
  count = 0;

  /** The first position whose sequence number is not above `seqno`. */
  positionOf(seqno: ComparableSeqno): number {
    const { seqnos } = this;
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (seqnos[middle]! <= seqno) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  insertAt(position: number, seqno: ComparableSeqno, tombstone: number): void {
    if (this.count === this.seqnos.length) this.grow();
    const { seqnos, tombstones, count } = this;
    if (count - position >= MIN_BULK_COPY) {
      seqnos.copyWithin(position + 1, position, count);
      tombstones.copyWithin(position + 1, position, count);
    } else {
      for (let i = count; i > position; i--) {
        seqnos[i] = seqnos[i - 1]!;
        tombstones[i] = tombstones[i - 1]!;
      }
    }
    seqnos[position] = seqno;
    tombstones[position] = tombstone;
    this.count = count + 1;
  }

  /** The tombstone must be there. */
  remove(seqno: ComparableSeqno, tombstone: number): void {
    const { seqnos, tombstones } = this;
    let position = this.count === 1 ? 0 : this.positionOf(seqno);
    while (tombstones[position] !== tombstone) position++;
    const last = --this.count;
    if (last - position >= MIN_BULK_COPY) {
      seqnos.copyWithin(position, position + 1, last + 1);
      tombstones.copyWithin(position, position + 1, last + 1);
    } else {
      for (; position < last; position++) {
        seqnos[position] = seqnos[position + 1]!;
        tombstones[position] = tombstones[position + 1]!;
      }
    }
  }

  /** Copies the sequence numbers to `target[pos, pos + count)`. */
  copySeqnos(target: Float64Array, pos: number): void {
    const { seqnos, count } = this;
    if (count >= MIN_BULK_COPY) target.set(seqnos.subarray(0, count), pos);
    else for (let i = 0; i < count; i++) target[pos + i] = seqnos[i]!;
  }

  private grow(): void {
    const seqnos = new Float64Array(2 * this.seqnos.length);
    seqnos.set(this.seqnos);
    this.seqnos = seqnos;
    const tombstones = new Int32Array(2 * this.tombstones.length);
    tombstones.set(this.tombstones);
    this.tombstones = tombstones;
  }
}
