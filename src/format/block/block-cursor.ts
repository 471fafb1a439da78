import { CorruptionError } from '../../errors.ts';
import { legacyHash32, SLICE_HASH_SEED } from '../../hash/legacy-hash.ts';
import { TRAILER_SIZE } from '../internal-key.ts';
import { BlockIterator } from './block-iterator.ts';
import { ParsedBlock } from './parsed-block.ts';
import { DATA_RESTART_KEYS, restartBefore, restartPosition, searchRestarts } from './restart-search.ts';
import type { SeekTarget } from './seek-target.ts';

/** A bucket of the hash index: no key hashes there; keys of several restarts do. */
const NO_RESTART = 255;
const SEVERAL_RESTARTS = 254;

/** A block of no entries, for a cursor that has none yet: no restarts. */
const NO_BLOCK = new ParsedBlock(new Uint8Array(4));

/**
 * What the hash index of a data block says of a user key: the restart whose interval has it, if any has; or one of
 * these.
 */
export const HashAnswer = { absent: -1, ask: -2 } as const;

/**
 * A place in a data block that can be looked for, and moved both ways. The entry is given as `BlockIterator` gives
 * it; valid where the last move answered true. Moving back reads the entries from the restart before: an interval
 * has 16 of them by default.
 */
export class BlockCursor extends BlockIterator {
  /** Entries compared since it was last set to 0: for `explain`. */
  compared = 0;
  private block: ParsedBlock = NO_BLOCK;

  /** Stands before the first entry of the block. */
  load(block: ParsedBlock): void {
    this.block = block;
    this.resetTo(block.contents, block.layout);
  }

  /** Whether a block is loaded, and which. */
  isAt(block: ParsedBlock): boolean {
    return this.block === block;
  }

  /** To the first entry that is not before the target; false when there is none. */
  seek(target: SeekTarget): boolean {
    this.toRestart(searchRestarts(this.block, DATA_RESTART_KEYS, target));
    return this.walkTo(target);
  }

  /** On from here to the first entry that is not before the target. */
  walkTo(target: SeekTarget): boolean {
    while (this.next()) {
      this.compared++;
      if (target.compareInternalKey(this.key, 0, this.keyLength) >= 0) return true;
    }
    return false;
  }

  /** To the last entry that is not behind the target; false when there is none. */
  seekForPrev(target: SeekTarget): boolean {
    if (!this.seek(target)) return this.seekToLast();
    if (target.compareInternalKey(this.key, 0, this.keyLength) === 0) return true;
    return this.previous();
  }

  /** To the first entry; false in an empty block. */
  seekToFirst(): boolean {
    this.toRestart(0);
    return this.next();
  }

  /** To the last entry; false in an empty block. */
  seekToLast(): boolean {
    this.toRestart(Math.max(0, this.restartCount - 1));
    if (!this.next()) return false;
    while (this.position < this.entriesEnd) this.next();
    return true;
  }

  /** To the entry before the current one; false at the first. */
  previous(): boolean {
    const end = this.entryStart;
    if (end === 0) return false;
    this.toRestart(restartBefore(this.block, end));
    while (this.position < end && this.next());
    if (this.position === end) return true;
    throw new CorruptionError(
      'block_format',
      `no entry of the block ends at ${end}, where the next one begins`,
    );
  }

  /**
   * Asks the block's hash index for the target's user key. `ask` where it has none, or the bucket is shared:
   * then the restarts have to be searched. A block whose hash index says `absent` may still be followed by one that
   * has the key, if its separator has that user key.
   * Source: RocksDB table/block_based/data_block_hash_index.cc.
   */
  askHashIndex(target: SeekTarget): number {
    const { contents, layout } = this.block;
    if (layout.bucketCount === 0) return HashAnswer.ask;
    const hash = legacyHash32(target.key, 0, target.length - TRAILER_SIZE, SLICE_HASH_SEED);
    const restart = contents[layout.bucketsStart + (hash % layout.bucketCount)]!;
    if (restart === NO_RESTART) return HashAnswer.absent;
    return restart === SEVERAL_RESTARTS || restart >= layout.restartCount ? HashAnswer.ask : restart;
  }

  /** Puts the cursor before the entry of a restart. */
  toRestart(restart: number): void {
    const position = restartPosition(this.block, restart);
    this.position = position;
    this.nextRestart = restart;
    this.nextRestartAt = this.restartCount > 0 ? position : this.entriesEnd;
    this.keyLength = 0;
  }
}
