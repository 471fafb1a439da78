import type { ByteSource } from '../../bytes/source.ts';
import { CorruptionError, SstError } from '../../errors.ts';
import type { BlockHandle } from '../block-handle.ts';
import type { BlockType } from '../block-type.ts';
import type { Footer } from '../footer.ts';
import {
  decodeMetaindex,
  type MetaindexEntry,
  OLD_PROPERTIES_BLOCK,
  PROPERTIES_BLOCK,
} from '../metaindex.ts';
import { decodeProperties, type TableProperties } from '../properties.ts';

/**
 * What stands behind the rows of a plain or a cuckoo table. Their meta blocks have no trailer: no compression
 * type, no checksum; a handle covers the block and nothing else.
 *
 *   rows | meta blocks (plain: bloom and index, if stored) | properties | metaindex | footer
 *
 * Source: RocksDB table/plain/plain_table_builder.cc, table/cuckoo/cuckoo_table_builder.cc, Finish.
 */
export interface BareMetaBlocks {
  /** Undefined where the block cannot be read. */
  readonly metaindex: readonly MetaindexEntry[] | undefined;
  readonly properties: TableProperties | undefined;
  /** Where the first meta block begins, and with it the rows end; undefined without a metaindex. */
  readonly rowsEnd: number | undefined;
  /** What was found, each with its place. */
  readonly problems: SstError[];
}

/** Never throws for what is wrong in the blocks: `problems` says it. */
export function readBareMetaBlocks(source: ByteSource, footer: Footer): BareMetaBlocks {
  const problems: SstError[] = [];
  const metaindex = attempt(problems, () =>
    decodeMetaBlock(source, footer.metaindex, footer.offset, 'metaindex', decodeMetaindex),
  );
  if (metaindex === undefined) return { metaindex, properties: undefined, rowsEnd: undefined, problems };
  const entry = metaindex.find(({ name }) => name === PROPERTIES_BLOCK || name === OLD_PROPERTIES_BLOCK);
  const properties = attempt(problems, () => {
    if (entry === undefined) {
      throw new CorruptionError('properties_missing', 'the metaindex names no properties block', {
        file: source.name,
        offset: footer.metaindex.offset,
        blockType: 'metaindex',
      });
    }
    return decodeMetaBlock(source, entry, footer.metaindex.offset, 'properties', decodeProperties);
  });
  const rowsEnd = metaindex.reduce((end, { offset }) => Math.min(end, offset), footer.metaindex.offset);
  return { metaindex, properties, rowsEnd, problems };
}

function attempt<T>(problems: SstError[], step: () => T): T | undefined {
  try {
    return step();
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    problems.push(error);
    return undefined;
  }
}

/** `limit`: meta blocks lie before the metaindex, the metaindex before the footer. */
function decodeMetaBlock<T>(
  source: ByteSource,
  handle: BlockHandle,
  limit: number,
  blockType: BlockType,
  decode: (contents: Uint8Array) => T,
): T {
  const place = { file: source.name, offset: handle.offset, blockType };
  if (handle.offset + handle.size > limit) {
    throw new CorruptionError(
      blockType === 'metaindex' ? 'footer_handle' : 'metaindex_handle',
      `the handle (offset ${handle.offset}, size ${handle.size}) reaches beyond ${limit}, ` +
        'where what follows it begins',
      place,
    );
  }
  try {
    return decode(source.read(handle.offset, handle.size));
  } catch (error) {
    if (error instanceof CorruptionError) throw error.at(place);
    throw error;
  }
}
