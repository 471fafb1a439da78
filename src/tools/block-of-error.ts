import { CorruptionError, type SstError, UnsupportedError } from '../errors.ts';
import type { BlockType } from '../format/block-type.ts';
import type { DataBlockList } from '../format/index/data-blocks.ts';
import type { TableReader } from '../format/table-reader.ts';
import type { Finding } from './finding.ts';

/** The block that a fault is about, with what the file says of its size. `blocks`: may be one of their partitions. */
export function blockOfError(error: SstError, table: TableReader, blocks?: DataBlockList): Finding['block'] {
  if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) return undefined;
  const { offset, blockType } = error;
  if (offset === undefined || blockType === undefined) return undefined;
  const { footer, metaindex } = table;
  const type = blockType as BlockType;
  if (type === 'footer') return { type, offset: footer.offset, size: footer.size, ordinal: null };
  if (blocks !== undefined) {
    const { offsets, sizes, count } = blocks.partitions;
    for (let i = 0; i < count; i++) {
      if (offsets[i] === offset) return { type, offset, size: sizes[i]!, ordinal: i };
    }
  }
  const handles = [footer.metaindex, footer.index, table.index?.handle, ...(metaindex ?? [])];
  const handle = handles.find((each) => each?.offset === offset);
  return { type, offset, size: handle?.size ?? 0, ordinal: 0 };
}
