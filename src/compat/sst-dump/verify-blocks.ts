import { SstError, withPending } from '../../errors.ts';
import { BlockList } from '../../format/block-list.ts';
import { visitBlocks } from '../../format/block-pipeline.ts';
import type { BlockType } from '../../format/block-type.ts';
import { IndexBlockIterator } from '../../format/index/index-block-iterator.ts';
import type { MetaindexEntry } from '../../format/metaindex.ts';
import type { TableReader } from '../../format/table-reader.ts';
import { type Finding, findingOf } from '../../tools/finding.ts';
import { type BlockTable, placeOfError, placeOfFinding } from './open-dump-file.ts';
import type { FaultPlace } from './status-text.ts';

/** Hears of every fault. */
export type ReportFault = (finding: Finding, place: FaultPlace | undefined) => void;

/**
 * Compares the checksums of all blocks of a table but those that opening it has compared: meta blocks, index and
 * filter partitions, data blocks. Range tombstones are decoded as well.
 */
export async function verifyBlocks({ table, blocks }: BlockTable, report: ReportFault): Promise<void> {
  for (const entry of table.metaindex ?? []) {
    if (entry.type === 'properties') continue;
    await attempt(table, report, () => checkMetaBlock(table, entry, report));
  }
  // Reading the index, and its partitions where it has some, has compared their checksums.
  for (const { error } of blocks.problems) report(findingOf(error), placeOfError(error, table, blocks));
  await checkBlocks(table, blocks, 'data', report);
}

async function checkMetaBlock(table: TableReader, entry: MetaindexEntry, report: ReportFault): Promise<void> {
  const { type } = entry;
  if (type === 'range_del') {
    await withPending(() => table.readRangeTombstones());
    return;
  }
  const stored = table.blocks.readStored(entry, type);
  const fault = table.blocks.checksumFault(stored, entry, type);
  if (fault !== undefined) throw fault;
  if (type !== 'filter_index' || table.index === undefined) return;
  const partitions = await withPending(() => filterPartitions(table, entry));
  await checkBlocks(table, partitions, 'filter_partition', report);
}

/** The top level of a partitioned filter is encoded like that of a partitioned index. */
function filterPartitions(table: TableReader, entry: MetaindexEntry): BlockList {
  const contents = table.blocks.read(entry, 'filter_index');
  const partitions = new BlockList();
  table.decoding(entry, 'filter_index', () => {
    const { userKeys, deltaValues } = table.index!;
    const handles = new IndexBlockIterator(contents, { userKeys, deltaValues, firstKeys: false });
    while (handles.next()) partitions.push(handles.offset, handles.size);
  });
  return partitions;
}

async function checkBlocks(
  table: TableReader,
  list: BlockList,
  blockType: BlockType,
  report: ReportFault,
): Promise<void> {
  await visitBlocks(table.blocks, list, { blockType, checksumsOnly: true }, (block) => {
    if (block.error === undefined) return true;
    const { offset, size, ordinal } = block;
    const finding = findingOf(block.error, { type: blockType, offset, size, ordinal });
    report(finding, placeOfFinding(finding, table, undefined));
    return true;
  });
}

async function attempt(table: TableReader, report: ReportFault, step: () => Promise<void>): Promise<void> {
  try {
    await step();
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    report(findingOf(error), placeOfError(error, table));
  }
}
