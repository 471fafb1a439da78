import { SstError, withPending } from '../../errors.ts';
import { BlockList } from '../../format/block-list.ts';
import { guessIndexEncoding } from '../../format/index/guess-index-encoding.ts';
import { IndexBlockIterator, type IndexEncoding } from '../../format/index/index-block-iterator.ts';
import type { MetaindexEntry } from '../../format/metaindex.ts';
import type { TableReader } from '../../format/table-reader.ts';

/** The partitions of a table's filters. */
export class FilterPartitions extends BlockList {
  /** What keeps the index over them from being read. */
  fault: SstError | undefined;
}

/** Reads the index over filter partitions, where the metaindex names one. Faults stand in the result. */
export async function listFilterPartitions(table: TableReader): Promise<FilterPartitions> {
  const list = new FilterPartitions();
  for (const entry of table.metaindex ?? []) {
    if (entry.type !== 'filter_index') continue;
    try {
      const contents = await withPending(() => table.blocks.read(entry, 'filter_index'));
      table.decoding(entry, 'filter_index', () => {
        const entries = new IndexBlockIterator(contents, filterIndexEncoding(table, contents, entry));
        while (entries.next()) list.push(entries.offset, entries.size);
      });
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      list.fault ??= error;
    }
  }
  return list;
}

/** As the table's index, but for first keys, which it never has. */
export function filterIndexEncoding(
  table: TableReader,
  contents: Uint8Array,
  entry: MetaindexEntry,
): IndexEncoding {
  if (table.index === undefined || table.index.guessed) return guessIndexEncoding(contents, entry);
  return { ...table.index, firstKeys: false };
}
