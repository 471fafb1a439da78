import { CorruptionError, SstError } from '../../errors.ts';
import type { BlockHandle } from '../block-handle.ts';
import { trailerType } from '../internal-key.ts';
import { IndexBlockIterator, type IndexEncoding, IndexType } from './index-block-iterator.ts';

/**
 * How an index block is encoded, told by its own bytes, for a file whose properties are lost.
 * An encoding fits when every entry decodes and the handles ascend and end before the index itself. The first
 * data block lies at offset 0: an index whose first handle does not is the top level over partitions.
 * Throws the error of the most likely encoding when none fits.
 */
export function guessIndexEncoding(
  contents: Uint8Array,
  handle: BlockHandle,
): IndexEncoding & { type: number } {
  let failure: unknown;
  for (const deltaValues of [true, false]) {
    for (const firstKeys of [false, true]) {
      try {
        const found = tryEncoding(contents, handle, deltaValues, firstKeys);
        if (found !== undefined) return found;
      } catch (error) {
        if (!(error instanceof SstError)) throw error;
        failure ??= error;
      }
    }
  }
  throw failure ?? new CorruptionError('block_format', 'the index follows no encoding that is known here');
}

function tryEncoding(
  contents: Uint8Array,
  handle: BlockHandle,
  deltaValues: boolean,
  firstKeys: boolean,
): (IndexEncoding & { type: number }) | undefined {
  const index = new IndexBlockIterator(contents, { userKeys: false, deltaValues, firstKeys });
  let firstOffset = 0;
  let end = -1;
  let internalKeys = true;
  for (let entries = 0; index.next(); entries++) {
    if (entries === 0) firstOffset = index.offset;
    if (index.offset < end || index.offset + index.size > handle.offset) return undefined;
    end = index.offset + index.size;
    internalKeys &&= index.keyLength >= 8 && isSeparatorType(trailerType(index.key, index.keyLength));
  }
  const type = firstKeys ? IndexType.firstKey : firstOffset > 0 ? IndexType.twoLevel : IndexType.binarySearch;
  return { type, userKeys: !internalKeys, deltaValues, firstKeys };
}

/** Types of real entries, and those that releases gave to shortened separators. */
function isSeparatorType(type: number): boolean {
  return type <= 0x02 || type === 0x07 || type === 0x11 || (type >= 0x14 && type <= 0x18);
}
