import { CorruptionError, SstError, withPending } from '../../errors.ts';
import { BlockIterator } from '../../format/block/block-iterator.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import type { TableReader } from '../../format/table-reader.ts';
import { ValueType } from '../../format/value-type.ts';
import type { BlockOrder } from './block-order.ts';

/** What some of the data blocks hold: it stands nowhere else in the file. */
export interface BlockSample {
  /** Data blocks looked into, and in all. */
  blocks: number;
  of: number;
  hashIndex: boolean;
  /** Keys and values apart. */
  separated: boolean;
  /** Type numbers of the entries. */
  readonly entryTypes: Set<number>;
  /** Versions of the encoding of entities. */
  readonly entityVersions: Set<number>;
}

/** All blocks of a small file, so many of a large one. */
const SAMPLED_BLOCKS = 64;
/** A larger block is left out. */
const MAX_BLOCK_BYTES = 4 * 1024 * 1024;

/**
 * Decodes data blocks that lie evenly over the file. `fault` hears of blocks that do not decode; that a checksum
 * does not hold is not said again.
 */
export async function sampleBlocks(
  table: TableReader,
  order: BlockOrder,
  dictionary: Uint8Array | undefined,
  fault: (error: SstError) => void,
): Promise<BlockSample> {
  const sample: BlockSample = {
    blocks: 0,
    of: order.countOf('data'),
    hashIndex: false,
    separated: false,
    entryTypes: new Set(),
    entityVersions: new Set(),
  };
  const data: number[] = [];
  const step = Math.max(1, sample.of / SAMPLED_BLOCKS);
  for (let i = 0, next = 0, seen = 0; i < order.count; i++) {
    if (order.typeAt(i) !== 'data') continue;
    if (seen++ < Math.floor(next)) continue;
    next += step;
    data.push(i);
  }
  const block = new BlockIterator();
  for (const i of data) {
    const handle = order.at(i);
    if (handle.size > MAX_BLOCK_BYTES) continue;
    try {
      const contents = await withPending(() => table.blocks.read(handle, 'data', dictionary));
      table.decoding(handle, 'data', () => look(block, contents, sample));
      sample.blocks++;
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      if (!(error instanceof CorruptionError && error.code === 'block_checksum')) fault(error);
    }
  }
  return sample;
}

function look(block: BlockIterator, contents: Uint8Array, sample: BlockSample): void {
  const layout = block.reset(contents);
  if (layout.bucketCount > 0) sample.hashIndex = true;
  if (layout.separated) sample.separated = true;
  while (block.next()) {
    if (block.keyLength < TRAILER_SIZE) continue;
    const type = trailerType(block.key, block.keyLength);
    sample.entryTypes.add(type);
    // The version is a varint of one byte.
    if (type === ValueType.wideColumnEntity && block.valueEnd > block.valueStart) {
      sample.entityVersions.add(block.data[block.valueStart]!);
    }
  }
}
