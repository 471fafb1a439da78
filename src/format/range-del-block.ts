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
 * `timestampSize`: bytes of user-defined timestamp that both keys end with.
 * Throws CorruptionError `range_del_malformed` for an entry that is no tombstone, `entry_malformed`,
 * `block_format`.
 */
export function decodeRangeDelBlock(contents: Uint8Array, timestampSize = 0): RangeTombstone[] {
  const tombstones: RangeTombstone[] = [];
  const block = new BlockIterator();
  block.reset(contents);
  const malformed = (what: string): CorruptionError =>
    new CorruptionError(
      'range_del_malformed',
      `range tombstone at ${block.entryStart} in the block: ${what}`,
    );
  while (block.next()) {
    const { keyLength } = block;
    if (keyLength < TRAILER_SIZE + timestampSize) {
      throw malformed(`a key of ${keyLength} bytes has no room for its trailer`);
    }
    const type = trailerType(block.key, keyLength);
    if (type !== ValueType.rangeDeletion) throw malformed(`it has type ${type}`);
    if (block.valueEnd - block.valueStart < timestampSize) {
      throw malformed('its end key has no room for a timestamp');
    }
    tombstones.push({
      startKey: block.key.slice(0, keyLength),
      end: contents.slice(block.valueStart, block.valueEnd),
    });
  }
  return tombstones;
}
