import { ByteReader } from '../bytes/byte-reader.ts';
import { utf8 } from '../bytes/text.ts';
import { SstError, withPending } from '../errors.ts';
import { contextModifier } from '../hash/block-checksum.ts';
import { ChecksumType } from '../hash/registry.ts';
import { BlockIterator } from './block/block-iterator.ts';
import { BLOCK_TRAILER_SIZE, type BlockHandle, decodeBlockHandle } from './block-handle.ts';
import type { BlockReader } from './block-reader.ts';
import type { BlockType } from './block-type.ts';
import { isInternalKey, trailerType } from './internal-key.ts';
import { isPointType, ValueType } from './value-type.ts';

/** A block that was found by its checksum alone, and what its contents look like. */
export interface FoundBlock extends BlockHandle {
  readonly type: BlockType;
}

export interface FoundBlocks {
  readonly blocks: FoundBlock[];
  /** Ranges in which no block begins. */
  readonly holes: BlockHandle[];
}

/** How far the end of a block is looked for, step by step, where a block is known to begin. */
const WINDOWS = [64 * 1024, 1024 * 1024];
/** And for the block of a single large value, as long as the budget lasts. */
const LARGE_WINDOWS = [16 * 1024 * 1024, 80 * 1024 * 1024];
/** Where a block only may begin: as far as the largest block so far makes likely, within these. */
const MIN_SEARCH_WINDOW = 8 * 1024;
const MAX_SEARCH_WINDOW = 64 * 1024;
/**
 * Bytes that may be hashed in one file where no block is known to begin: 5 to 20 seconds by the checksum type. With
 * blocks of 4 KiB it is enough for holes of 256 KiB in all; runs of zeros cost nothing. Behind it the rest is a hole.
 */
const SEARCH_BUDGET_BYTES = 2 * 1024 * 1024 * 1024;
/** Compression bytes before format_version 7, which brought custom ones. Fewer of them are faster to look for. */
const BUILT_IN_TYPES = new Uint8Array(256).fill(1, 0, 8);
BUILT_IN_TYPES[0x40] = 1;
/** Shorter runs of zeros occur where blocks begin. */
const ZERO_RUN = 16;

/**
 * Finds blocks in [start, end) of a file whose index is lost. Every block ends in a checksum of its own bytes,
 * so from where one begins its end can be found, and the next one follows. Behind damage each further byte
 * is tried as a beginning. Needs a checksum type other than `none`.
 */
export async function findBlocks(reader: BlockReader, start: number, end: number): Promise<FoundBlocks> {
  const blocks: FoundBlock[] = [];
  const holes: BlockHandle[] = [];
  const found = new Map<number, number>();
  if (reader.footer.checksumType === ChecksumType.none) {
    if (end > start) holes.push({ offset: start, size: end - start });
    return { blocks, holes };
  }
  const budget = { bytes: SEARCH_BUDGET_BYTES };
  let largest = 0;
  let offset = start;
  while (offset < end) {
    let size = blockSizeAt(reader, offset, end, WINDOWS);
    if (size < 0) size = largeBlockSizeAt(reader, offset, end, budget);
    if (size >= 0) {
      blocks.push({ offset, size, type: await typeAt(reader, { offset, size }, found) });
      found.set(offset, size);
      largest = Math.max(largest, size);
      offset += size + BLOCK_TRAILER_SIZE;
      continue;
    }
    const window = Math.min(MAX_SEARCH_WINDOW, Math.max(MIN_SEARCH_WINDOW, 2 * largest));
    const next = nextBlockStart(reader, offset + 1, end, window, budget);
    holes.push({ offset, size: next - offset });
    offset = next;
  }
  return { blocks, holes };
}

/** Size of the block that begins at `offset`, or -1. */
export function blockSizeAt(
  reader: BlockReader,
  offset: number,
  end: number,
  windows: readonly number[],
): number {
  const { checksumType, baseContextChecksum } = reader.footer;
  let searched = 0;
  for (const window of windows) {
    const length = Math.min(window, end - offset);
    if (length <= searched || length < BLOCK_TRAILER_SIZE) break;
    const bytes = reader.source.read(offset, length);
    const size = reader.hashes.findBlockEnd(bytes, 0, length, {
      checksumType,
      modifier: contextModifier(baseContextChecksum, offset),
      minLength: 1,
      ...allowedTypes(reader),
    });
    if (size >= 0) return size;
    searched = length;
  }
  return -1;
}

function largeBlockSizeAt(
  reader: BlockReader,
  offset: number,
  end: number,
  budget: { bytes: number },
): number {
  for (const window of LARGE_WINDOWS) {
    // Nothing that the smaller windows have not seen.
    if (end - offset <= WINDOWS.at(-1)!) return -1;
    if (budget.bytes < window) return -1;
    budget.bytes -= window;
    const size = blockSizeAt(reader, offset, end, [window]);
    if (size >= 0) return size;
    if (end - offset <= window) return -1;
  }
  return -1;
}

function allowedTypes(reader: BlockReader): { allowedTypes?: Uint8Array } {
  return reader.footer.formatVersion < 7 ? { allowedTypes: BUILT_IN_TYPES } : {};
}

function nextBlockStart(
  reader: BlockReader,
  from: number,
  end: number,
  window: number,
  budget: { bytes: number },
): number {
  const chunkSize = 1024 * 1024;
  for (let chunk = from; chunk < end; chunk += chunkSize) {
    const bytes = reader.source.read(chunk, Math.min(chunkSize + window, end - chunk));
    const last = Math.min(chunkSize, bytes.length);
    for (let pos = 0; pos < last; pos++) {
      const zeros = zeroRun(bytes, pos);
      if (zeros >= ZERO_RUN) {
        pos += zeros - ZERO_RUN;
        continue;
      }
      const limit = Math.min(bytes.length, pos + window);
      budget.bytes -= limit - pos;
      if (budget.bytes < 0) return end;
      const size = reader.hashes.findBlockEnd(bytes, pos, limit, {
        checksumType: reader.footer.checksumType,
        modifier: contextModifier(reader.footer.baseContextChecksum, chunk + pos),
        minLength: 1,
        ...allowedTypes(reader),
      });
      if (size >= 0) return chunk + pos;
    }
  }
  return end;
}

function zeroRun(bytes: Uint8Array, pos: number): number {
  let end = pos;
  while (end < bytes.length && bytes[end] === 0) end++;
  return end - pos;
}

async function typeAt(
  reader: BlockReader,
  handle: BlockHandle,
  found: ReadonlyMap<number, number>,
): Promise<BlockType> {
  try {
    const contents = await withPending(() => reader.read(handle, 'unknown'));
    return typeOfContents(contents, found);
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    // A data block that needs a dictionary, or a codec that is not known here.
    return 'data';
  }
}

/**
 * What the contents of a block look like: a data block has internal keys of point entries, a properties block
 * names, an index handles that ascend, half of them and more of blocks that were `found` before it. `unknown` for what has no entries: a filter,
 * a dictionary.
 */
export function typeOfContents(contents: Uint8Array, found: ReadonlyMap<number, number>): BlockType {
  const block = new BlockIterator();
  let entries = 0;
  let points = 0;
  let tombstones = 0;
  let handles = 0;
  let lastOffset = -1;
  let ascends = true;
  try {
    block.reset(contents);
    for (; block.next(); entries++) {
      const type = isInternalKey(block.key, block.keyLength) ? trailerType(block.key, block.keyLength) : -1;
      if (type === ValueType.rangeDeletion) tombstones++;
      else if (isPointType(type)) points++;
      else if (entries === 0) {
        const named = typeOfName(utf8(block.key.subarray(0, block.keyLength)));
        if (named !== undefined) return named;
      }
      const handle = handleIn(block);
      if (handle !== undefined && found.get(handle.offset) === handle.size) handles++;
      ascends &&= handle !== undefined && handle.offset > lastOffset;
      lastOffset = handle?.offset ?? lastOffset;
    }
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return 'unknown';
  }
  if (entries === 0) return 'unknown';
  if (ascends && 2 * handles >= entries) return 'index';
  if (tombstones === entries) return 'range_del';
  return points === entries ? 'data' : 'unknown';
}

/** The first name of a metaindex block, or of a properties block. */
function typeOfName(name: string): BlockType | undefined {
  if (/^(fullfilter|partitionedfilter|filter|rocksdb\.hashindex)\./.test(name)) return 'metaindex';
  if (/^rocksdb\.(properties|stats|index|range_del|compression_dict)$/.test(name)) return 'metaindex';
  return name.startsWith('rocksdb.') ? 'properties' : undefined;
}

/** The handle with which the entry's value begins, if it can be one. */
function handleIn(block: BlockIterator): BlockHandle | undefined {
  const reader = new ByteReader(block.data, 'entry_malformed', block.valueStart, block.valueEnd);
  try {
    return decodeBlockHandle(reader);
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return undefined;
  }
}
