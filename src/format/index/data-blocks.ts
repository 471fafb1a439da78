import { readFixed32 } from '../../bytes/fixed.ts';
import type { DecodeZstdFrames } from '../../codec/batch.ts';
import { SstError, withPending } from '../../errors.ts';
import type { BlockHandle } from '../block-handle.ts';
import { BlockList } from '../block-list.ts';
import { visitBlocks } from '../block-pipeline.ts';
import { ByteArena } from '../byte-arena.ts';
import type { TableIndex, TableReader } from '../table-reader.ts';
import { IndexBlockIterator, IndexType } from './index-block-iterator.ts';

/** Larger than any batch of `visitBlocks`. */
const LARGE_INDEX_BYTES = 1024 * 1024;

/** A part of the index that cannot be read: the blocks that it lists are missing from the list. */
export interface IndexProblem {
  readonly error: SstError;
  /** How many data blocks stand in the list before the missing ones. */
  readonly position: number;
}

/** The data blocks of a table in index order, with their separators. */
export class DataBlockList extends BlockList {
  /** Key K of block i: last key of block i <= K < first key of block i + 1. Empty for blocks found without index. */
  readonly separators = new ByteArena();
  readonly partitions = new BlockList();
  readonly problems: IndexProblem[] = [];
}

/** A block of the index whose contents could be read. */
export interface IndexBlock {
  /** `index`: the whole index, or the top level over partitions. */
  readonly type: 'index' | 'index_partition';
  readonly offset: number;
  readonly size: number;
  readonly ordinal: number;
  readonly contents: Uint8Array;
}

/**
 * Reads the index, through its partitions where it has two levels. What cannot be read is recorded in
 * `problems`; the entries before and behind it are listed all the same. Without `separators` these are not kept:
 * they take more memory than everything else. `visit` sees each block of the index in the order of the file's keys,
 * the top level first: a large index is to be read once.
 */
export async function listDataBlocks(
  table: TableReader,
  separators = true,
  visit?: (block: IndexBlock) => void,
  decodeZstdFrames?: DecodeZstdFrames,
): Promise<DataBlockList> {
  const list = new DataBlockList();
  const { index } = table;
  if (index === undefined) return list;
  const contents = await readOrRecord(list, table, index.handle, 'index', decodeZstdFrames);
  if (contents === undefined) return list;
  visit?.({ type: 'index', ...index.handle, ordinal: 0, contents });
  const take = (entry: IndexBlockIterator): void => {
    list.push(entry.offset, entry.size);
    if (separators) list.separators.push(entry.key, 0, entry.keyLength);
  };
  if (index.type !== IndexType.twoLevel) {
    list.reserve(restartsOf(contents));
    walkEntries(table, index, contents, index.handle, 'index', list, take);
    return list;
  }
  walkEntries(table, index, contents, index.handle, 'index', list, (entry) => {
    list.partitions.push(entry.offset, entry.size);
  });
  for (let i = 0; i < list.partitions.count; i++) {
    const handle = { offset: list.partitions.offsets[i]!, size: list.partitions.sizes[i]! };
    const partition = await readOrRecord(list, table, handle, 'index_partition', undefined);
    if (partition === undefined) continue;
    visit?.({ type: 'index_partition', ...handle, ordinal: i, contents: partition });
    walkEntries(table, index, partition, handle, 'index_partition', list, take);
  }
  return list;
}

/** With the usual restart interval of an index, 1, this is the number of its entries; 0 where it is no block. */
function restartsOf(contents: Uint8Array): number {
  if (contents.length < 4) return 0;
  // Bits 0 to 27; an entry has two bytes of lengths and two of handle at least, and four of restart.
  return Math.min(readFixed32(contents, contents.length - 4) & 0x0fffffff, contents.length >>> 3);
}

function walkEntries(
  table: TableReader,
  index: TableIndex,
  contents: Uint8Array,
  handle: { offset: number; size: number },
  blockType: 'index' | 'index_partition',
  list: DataBlockList,
  visit: (entry: IndexBlockIterator) => void,
): void {
  try {
    table.decoding(handle, blockType, () => {
      const entries = new IndexBlockIterator(contents, index);
      while (entries.next()) visit(entries);
    });
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    list.problems.push({ error, position: list.count });
  }
}

async function readOrRecord(
  list: DataBlockList,
  table: TableReader,
  handle: BlockHandle,
  type: 'index' | 'index_partition',
  decodeZstdFrames: DecodeZstdFrames | undefined,
): Promise<Uint8Array | undefined> {
  try {
    if (handle.size >= LARGE_INDEX_BYTES && decodeZstdFrames !== undefined) {
      return await readLarge(table, handle, type, decodeZstdFrames);
    }
    return await withPending(() => table.blocks.read(handle, type));
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    list.problems.push({ error, position: list.count });
    return undefined;
  }
}

/** By the decoders for many blocks, which give the memory back that a block of many megabytes takes. */
async function readLarge(
  table: TableReader,
  handle: BlockHandle,
  blockType: 'index' | 'index_partition',
  decodeZstdFrames: DecodeZstdFrames,
): Promise<Uint8Array> {
  const alone = new BlockList();
  alone.push(handle.offset, handle.size);
  let contents = new Uint8Array(0);
  let fault: SstError | undefined;
  await visitBlocks(table.blocks, alone, { blockType, decodeZstdFrames }, (block) => {
    fault = block.error;
    // A block larger than a batch has buffers of its own: nobody writes into them later.
    contents = block.contents as Uint8Array<ArrayBuffer>;
    return true;
  });
  if (fault !== undefined) throw fault;
  return contents;
}
