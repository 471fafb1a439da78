/** Samples one behind the other: sample i ends at `ends[i]`. */
export interface DictionarySamples {
  readonly bytes: Uint8Array;
  readonly ends: readonly number[];
}

/** Steps of this many blocks, modulo their number, visit each once: it is prime and larger than any number of them. */
const SAMPLE_STEP = 545055921143;

/**
 * At most `maxBytes` of samples from raw blocks, spread over all of them: whole blocks from the middle on, in steps,
 * the last one cut.
 * Source: RocksDB table/block_based/block_based_table_builder.cc, EnterUnbuffered.
 */
export function sampleBlocks(
  blocks: readonly { readonly bytes: Uint8Array; readonly length: number }[],
  maxBytes: number,
): DictionarySamples {
  const count = blocks.length;
  const step = count === 0 ? 0 : SAMPLE_STEP % count;
  const pieces: Uint8Array[] = [];
  const ends: number[] = [];
  let total = 0;
  for (let i = 0, at = Math.floor(count / 2); i < count && total < maxBytes; i++) {
    const { bytes, length } = blocks[at]!;
    const piece = bytes.subarray(0, Math.min(length, maxBytes - total));
    pieces.push(piece);
    total += piece.length;
    ends.push(total);
    at += step;
    if (at >= count) at -= count;
  }
  const bytes = new Uint8Array(total);
  let pos = 0;
  for (const piece of pieces) {
    bytes.set(piece, pos);
    pos += piece.length;
  }
  return { bytes, ends };
}
