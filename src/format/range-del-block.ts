import { CorruptionError } from '../errors.ts';
import { BlockIterator } from './block/block-iterator.ts';
import { TRAILER_SIZE, trailerType } from './internal-key.ts';
import { ValueType } from './value-type.ts';

/**
 * One tombstone as stored: every key in [start, end) older than its sequence number is deleted.
 * Entry of the block `rocksdb.range_del`: key = start user key + trailer(seqno, 0x0f), value = end user key.
 */
export interface RangeTombstone {
  /** Internal key: start user key and trailer. */
  readonly startKey: Uint8Array;
  readonly end: Uint8Array;
}

/**
 * Decodes a range-deletion block in stored order. Files of SstFileWriter and of old writers hold tombstones
 * unsorted, overlapping and repeated, so nothing is searched here and nothing is rejected for its order.
 * Throws CorruptionError `range_del_malformed` for an entry that is no tombstone, `entry_malformed`,
 * `block_format`.
 */
export function decodeRangeDelBlock(contents: Uint8Array): RangeTombstone[] {
  const tombstones: RangeTombstone[] = [];
  const block = new BlockIterator();
  block.reset(contents);
  while (block.next()) {
    if (block.keyLength < TRAILER_SIZE) {
      throw new CorruptionError(
        'range_del_malformed',
        `range tombstone at ${block.entryStart} in the block: a key of ${block.keyLength} bytes has no trailer`,
      );
    }
    const type = trailerType(block.key, block.keyLength);
    if (type !== ValueType.rangeDeletion) {
      throw new CorruptionError(
        'range_del_malformed',
        `range tombstone at ${block.entryStart} in the block has type ${type}`,
      );
    }
    tombstones.push({
      startKey: block.key.slice(0, block.keyLength),
      end: contents.slice(block.valueStart, block.valueEnd),
    });
  }
  return tombstones;
}
