import { SstError, withPending } from '../../errors.ts';
import { BlockList } from '../block-list.ts';
import { ByteArena } from '../byte-arena.ts';
import type { TableIndex, TableReader } from '../table-reader.ts';
import { IndexBlockIterator, IndexType } from './index-block-iterator.ts';

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

/**
 * Reads the index, through its partitions where it has two levels. What cannot be read is recorded in
 * `problems`; the entries before and behind it are listed all the same. Without `separators` these are not kept:
 * they take more memory than everything else.
 */
export async function listDataBlocks(table: TableReader, separators = true): Promise<DataBlockList> {
  const list = new DataBlockList();
  const { index } = table;
  if (index === undefined) return list;
  const contents = await readOrRecord(list, () => table.blocks.read(index.handle, 'index'));
  if (contents === undefined) return list;
  const take = (entry: IndexBlockIterator): void => {
    list.push(entry.offset, entry.size);
    if (separators) list.separators.push(entry.key, 0, entry.keyLength);
  };
  if (index.type !== IndexType.twoLevel) {
    walkEntries(table, index, contents, index.handle, 'index', list, take);
    return list;
  }
  walkEntries(table, index, contents, index.handle, 'index', list, (entry) => {
    list.partitions.push(entry.offset, entry.size);
  });
  for (let i = 0; i < list.partitions.count; i++) {
    const handle = { offset: list.partitions.offsets[i]!, size: list.partitions.sizes[i]! };
    const partition = await readOrRecord(list, () => table.blocks.read(handle, 'index_partition'));
    if (partition === undefined) continue;
    walkEntries(table, index, partition, handle, 'index_partition', list, take);
  }
  return list;
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

async function readOrRecord(list: DataBlockList, read: () => Uint8Array): Promise<Uint8Array | undefined> {
  try {
    return await withPending(read);
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    list.problems.push({ error, position: list.count });
    return undefined;
  }
}
