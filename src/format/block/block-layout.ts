import { readFixed16, readFixed32 } from '../../bytes/fixed.ts';
import { CorruptionError, UnsupportedError } from '../../errors.ts';

/**
 * The parts of one uncompressed block.
 *
 *   entries | restarts: fixed32 x R | [hash index] | packed                            keys and values together
 *   keys | values | restarts: fixed32 x R | [hash index] | values offset | packed      apart (bit 28)
 *
 *   packed, fixed32: bits 0..27 = R; 28 = keys and values apart; 29 = keys uniform (a hint for searching);
 *                    30 = reserved, 0; 31 = data-block hash index
 *   hash index: one byte a bucket, then fixed16 number of buckets
 *
 * Source: RocksDB table/block_based/block.h, data_block_footer.h, data_block_hash_index.h.
 */
export interface BlockLayout {
  /** Entries (apart: keys) are in [0, entriesEnd). */
  entriesEnd: number;
  /** Values of a block with bit 28 are in [entriesEnd, valuesEnd). */
  valuesEnd: number;
  separated: boolean;
  uniformKeys: boolean;
  restartsStart: number;
  restartCount: number;
  /** Position of the first hash bucket, and their number; 0 buckets without a hash index. */
  bucketsStart: number;
  bucketCount: number;
}

const RESTART_COUNT_MASK = 0x0fffffff;
const SEPARATED_BIT = 0x10000000;
const UNIFORM_BIT = 0x20000000;
const RESERVED_BIT = 0x40000000;
const HASH_INDEX_BIT = 0x80000000;

/**
 * Reads the end of the block `bytes`. Throws CorruptionError `block_format` when the parts do not fit into it,
 * UnsupportedError for the reserved bit.
 */
export function decodeBlockLayout(bytes: Uint8Array): BlockLayout {
  const size = bytes.length;
  if (size < 4) throw malformed(`a block of ${size} bytes has no room for its number of restarts`);
  const packed = readFixed32(bytes, size - 4);
  if ((packed & RESERVED_BIT) !== 0) {
    throw new UnsupportedError(
      'block flag',
      'bit 30',
      'the block has a flag that is not known here (bit 30)',
    );
  }
  const restartCount = packed & RESTART_COUNT_MASK;
  const separated = (packed & SEPARATED_BIT) !== 0;
  let end = size - 4;
  let valuesOffset = 0;
  if (separated) {
    if (end < 4) throw malformed(`a block of ${size} bytes has no room for the offset of its values`);
    end -= 4;
    valuesOffset = readFixed32(bytes, end);
  }
  let bucketCount = 0;
  let bucketsStart = end;
  if ((packed & HASH_INDEX_BIT) !== 0) {
    if (end < 2) throw malformed(`a block of ${size} bytes has no room for its number of hash buckets`);
    bucketCount = readFixed16(bytes, end - 2);
    bucketsStart = end - 2 - bucketCount;
    if (bucketsStart < 0)
      throw malformed(`${bucketCount} hash buckets do not fit into a block of ${size} bytes`);
    end = bucketsStart;
  }
  const restartsStart = end - 4 * restartCount;
  if (restartsStart < 0) throw malformed(`${restartCount} restarts do not fit into a block of ${size} bytes`);
  if (valuesOffset > restartsStart) {
    throw malformed(
      `the values are said to begin at ${valuesOffset}, behind the restarts at ${restartsStart}`,
    );
  }
  return {
    entriesEnd: separated ? valuesOffset : restartsStart,
    valuesEnd: restartsStart,
    separated,
    uniformKeys: (packed & UNIFORM_BIT) !== 0,
    restartsStart,
    restartCount,
    bucketsStart,
    bucketCount,
  };
}

function malformed(reason: string): CorruptionError {
  return new CorruptionError('block_format', reason);
}
