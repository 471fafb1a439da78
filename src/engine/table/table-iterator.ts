import { CorruptionError } from '../../errors.ts';
import { BlockCursor } from '../../format/block/block-cursor.ts';
import type { SeekTarget } from '../../format/block/seek-target.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import type { TableReader } from '../../format/table-reader.ts';
import type { Comparator } from '../../operators/comparator.ts';
import { type ComparableSeqno, comparableTrailerSeqno } from '../range-del/comparable-seqno.ts';
import type { BlockStore } from './block-store.ts';
import type { TableIndexCursor } from './table-index.ts';

/** What an iterator needs of its table: a `LookupTable` is one. */
export interface IteratedTable {
  readonly reader: TableReader;
  readonly store: BlockStore;
  readonly comparator: Comparator;
  /** Bytes of timestamp in stored keys. */
  readonly timestampSize: number;
  /** -1: every entry has its own. */
  readonly globalSeqno: ComparableSeqno;
  openIndex(): TableIndexCursor;
}

/**
 * All point entries of one table in internal order, both ways. Where `valid`, the entry is `entry.key[0, keyLength)`
 * with its value in `entry.data`, and lives until the next move; `userKeyEnd`, `seqno` and `type` are taken from it.
 *
 * A move that has to read may be ended by the source's signal (`Pending`), and is then made again: it goes on where
 * it was.
 */
export class TableIterator {
  valid = false;
  /** Where the user key ends, without timestamp. */
  userKeyEnd = 0;
  /** The one that counts: the file's global one where it has one. */
  seqno: ComparableSeqno = 0;
  type = 0;
  readonly entry = new BlockCursor();
  private readonly index: TableIndexCursor;
  private readonly suffixLength: number;
  private readonly globalSeqno: ComparableSeqno;
  /** The index stands at a block that is not loaded. */
  private blockDue = false;

  constructor(readonly table: IteratedTable) {
    this.index = table.openIndex();
    this.suffixLength = TRAILER_SIZE + table.timestampSize;
    this.globalSeqno = table.globalSeqno;
  }

  /** Handle of the block of the current entry. */
  get blockOffset(): number {
    return this.index.leaf.offset;
  }

  get blockSize(): number {
    return this.index.leaf.size;
  }

  /** To the first entry that is not before the target. */
  seek(target: SeekTarget): void {
    this.blockDue = false;
    if (!this.index.seek(target)) {
      this.valid = false;
      return;
    }
    this.load();
    try {
      this.settle(this.entry.seek(target) || this.forward());
    } catch (error) {
      throw this.placed(error);
    }
  }

  /** To the last entry that is not behind the target. */
  seekForPrev(target: SeekTarget): void {
    this.blockDue = false;
    if (!this.index.seek(target)) {
      this.seekToLast();
      return;
    }
    this.load();
    try {
      this.settle(this.entry.seekForPrev(target) || this.backward());
    } catch (error) {
      throw this.placed(error);
    }
  }

  seekToFirst(): void {
    this.blockDue = this.index.seekToFirst();
    try {
      this.settle(this.blockDue && this.forward());
    } catch (error) {
      throw this.placed(error);
    }
  }

  seekToLast(): void {
    this.blockDue = this.index.seekToLast();
    try {
      this.settle(this.blockDue && this.backward());
    } catch (error) {
      throw this.placed(error);
    }
  }

  next(): void {
    try {
      this.settle((!this.blockDue && this.entry.next()) || this.forward());
    } catch (error) {
      throw this.placed(error);
    }
  }

  previous(): void {
    try {
      this.settle((!this.blockDue && this.entry.previous()) || this.backward());
    } catch (error) {
      throw this.placed(error);
    }
  }

  /** To the first entry of the next block that has one. */
  private forward(): boolean {
    for (;;) {
      if (!this.blockDue) this.blockDue = this.index.next();
      if (!this.blockDue) return false;
      this.load();
      if (this.entry.next()) return true;
    }
  }

  private backward(): boolean {
    for (;;) {
      if (!this.blockDue) this.blockDue = this.index.previous();
      if (!this.blockDue) return false;
      this.load();
      if (this.entry.seekToLast()) return true;
    }
  }

  private load(): void {
    const { offset, size } = this.index.leaf;
    this.entry.load(this.table.store.data(offset, size));
    this.blockDue = false;
  }

  private settle(valid: boolean): void {
    this.valid = valid;
    if (!valid) return;
    const { key, keyLength } = this.entry;
    this.userKeyEnd = keyLength - this.suffixLength;
    if (this.userKeyEnd < 0) throw this.tooShort(keyLength);
    this.type = trailerType(key, keyLength);
    this.seqno = this.globalSeqno >= 0 ? this.globalSeqno : comparableTrailerSeqno(key, keyLength);
  }

  private tooShort(length: number): CorruptionError {
    return new CorruptionError('entry_malformed', `a key of ${length} bytes is no internal key`);
  }

  /** What goes wrong in an index says where; the rest is about the block at which the index stands. */
  private placed(error: unknown): unknown {
    return this.table.store.placed(error, 'data', this.blockOffset);
  }
}
