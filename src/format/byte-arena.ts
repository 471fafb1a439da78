import { varintLength, writeVarint } from '../bytes/varint.ts';

/** Pieces of this size never move: growing costs no copies of what is there. The first one is small at first. */
const PIECE_BYTES = 256 * 1024;
const FIRST_PIECE_BYTES = 1024;
const STARTS_PER_PIECE = 16 * 1024;
const FIRST_STARTS = 64;

/**
 * Byte strings by index, one behind the other, each behind its length as a varint. A million keys of 16 bytes take
 * 21 MB and no objects.
 */
export class ByteArena {
  count = 0;
  private readonly pieces: Uint8Array[] = [];
  /** Where each string begins: the number of its piece times PIECE_BYTES, plus the position in it. */
  private readonly starts: Uint32Array[] = [];
  /** Strings that are larger than a piece, by index. */
  private readonly large = new Map<number, Uint8Array>();
  /** Bytes used of the last piece. */
  private used = 0;

  push(source: Uint8Array, start: number, end: number): void {
    const length = end - start;
    const size = varintLength(length) + length;
    if (size > PIECE_BYTES) {
      this.large.set(this.count, source.slice(start, end));
      this.remember(0);
      return;
    }
    const piece = this.pieceFor(size);
    this.remember((this.pieces.length - 1) * PIECE_BYTES + this.used);
    let pos = writeVarint(piece, this.used, length);
    if (length < 40) for (let i = start; i < end; i++) piece[pos++] = source[i]!;
    else piece.set(source.subarray(start, end), pos);
    this.used += size;
  }

  /** A view, valid until the next `push`. */
  at(index: number): Uint8Array {
    const large = this.large.get(index);
    if (large !== undefined) return large;
    const place = this.starts[Math.floor(index / STARTS_PER_PIECE)]![index % STARTS_PER_PIECE]!;
    const piece = this.pieces[Math.floor(place / PIECE_BYTES)]!;
    let pos = place % PIECE_BYTES;
    let length = 0;
    let scale = 1;
    for (; piece[pos]! >= 128; scale *= 128) length += (piece[pos++]! & 0x7f) * scale;
    length += piece[pos++]! * scale;
    return piece.subarray(pos, pos + length);
  }

  /** The last piece, with room for `size` bytes. */
  private pieceFor(size: number): Uint8Array {
    const last = this.pieces.length - 1;
    const piece = this.pieces[last];
    if (piece !== undefined && this.used + size <= piece.length) return piece;
    if (last === 0 && piece !== undefined && this.used + size <= PIECE_BYTES) {
      // The first piece grows in its place, up to the size of the others.
      const larger = new Uint8Array(grownSize(piece.length, this.used + size, PIECE_BYTES));
      larger.set(piece.subarray(0, this.used));
      this.pieces[0] = larger;
      return larger;
    }
    const next = new Uint8Array(last < 0 ? grownSize(FIRST_PIECE_BYTES, size, PIECE_BYTES) : PIECE_BYTES);
    this.pieces.push(next);
    this.used = 0;
    return next;
  }

  private remember(place: number): void {
    const within = this.count % STARTS_PER_PIECE;
    if (within === 0) this.starts.push(new Uint32Array(this.count === 0 ? FIRST_STARTS : STARTS_PER_PIECE));
    let starts = this.starts[this.starts.length - 1]!;
    if (within === starts.length) {
      const larger = new Uint32Array(grownSize(starts.length, within + 1, STARTS_PER_PIECE));
      larger.set(starts);
      starts = larger;
      this.starts[this.starts.length - 1] = larger;
    }
    starts[within] = place;
    this.count++;
  }
}

function grownSize(size: number, wanted: number, max: number): number {
  while (size < wanted) size *= 2;
  return Math.min(size, max);
}
