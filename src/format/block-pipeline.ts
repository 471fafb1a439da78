import { BufferRing } from '../bytes/buffer-ring.ts';
import { readFixed32 } from '../bytes/fixed.ts';
import { type DecodeZstdFrames, decompressBatch } from '../codec/batch.ts';
import { CorruptionError, SstError, UnsupportedError, withPending } from '../errors.ts';
import { BLOCK_TRAILER_SIZE } from './block-handle.ts';
import type { BlockList } from './block-list.ts';
import type { BlockReader } from './block-reader.ts';
import type { BlockType } from './block-type.ts';

/**
 * Many blocks in a row: neighbours are read in one piece, their checksums compared, and decompressed as a batch,
 * while the batches before are being used. One await a batch, plain loops inside.
 */
export interface BlockPipelineOptions {
  readonly blockType: BlockType;
  readonly dictionary?: Uint8Array | undefined;
  /** Decodes many zstd frames in one call, on other threads; without it each block is decoded in line. */
  readonly decodeZstdFrames?: DecodeZstdFrames | undefined;
  /** Blocks [first, end) of the list; by default all. */
  readonly first?: number;
  readonly end?: number;
  readonly reverse?: boolean;
  /** Contents stay as they are behind the visit, until this memory is recycled. Without it they end with the visit. */
  readonly memory?: BatchMemory;
  /** Only checksums: contents are not decompressed, and not given. */
  readonly checksumsOnly?: boolean;
}

/** The block at hand; the object is used again for the next one, and its views end with the visit. */
export interface LoadedBlock {
  /** Its place in the list. */
  ordinal: number;
  offset: number;
  size: number;
  compressionType: number;
  storedChecksum: number;
  computedChecksum: number | undefined;
  /** Uncompressed contents; empty when `error` is set, or when only checksums were wanted. */
  contents: Uint8Array;
  /** What keeps the block from being read, with its place. */
  error: SstError | undefined;
}

const MAX_BATCH_BYTES = 512 * 1024;
/** A batch that decompresses to more has an arena of its own. */
const MAX_ARENA_BYTES = 4 * 1024 * 1024;
const MAX_BATCH_BLOCKS = 128;
/** A hole between two neighbours up to this is read and thrown away. */
const MAX_HOLE_BYTES = 16 * 1024;
/** Batches that are decoded while one is used. */
const BATCHES_AHEAD = 3;
/** No more batches are begun while those ahead have more bytes in the file: large values are decoded one by one. */
const MAX_AHEAD_BYTES = 2 * 1024 * 1024;

const EMPTY = new Uint8Array(0);

/**
 * Visits blocks of `list` in order. `visit` returns false to stop. Faults of single blocks are given to
 * `visit` as `error`; what is thrown is an IoError or a bug.
 */
export async function visitBlocks(
  reader: BlockReader,
  list: BlockList,
  options: BlockPipelineOptions,
  visit: (block: LoadedBlock) => boolean,
): Promise<void> {
  const first = options.first ?? 0;
  const end = options.end ?? list.count;
  const memory = options.memory ?? new BatchMemory();
  const { buffers, arenas } = memory;
  const waiting: { batch: Promise<Batch>; bytes: number }[] = [];
  let waitingBytes = 0;
  let next = options.reverse ? end : first;
  const block = blankBlock();
  try {
    for (;;) {
      while (waiting.length <= BATCHES_AHEAD && waitingBytes < MAX_AHEAD_BYTES) {
        if (options.reverse ? next <= first : next >= end) break;
        const [from, to] = options.reverse
          ? batchBefore(reader, list, first, next)
          : [next, batchEnd(reader, list, next, end)];
        const bytes = list.offsets[to - 1]! + list.sizes[to - 1]! - list.offsets[from]!;
        waiting.push({ batch: loadBatch(reader, list, from, to, options, buffers, arenas), bytes });
        waitingBytes += bytes;
        next = options.reverse ? from : to;
      }
      const head = waiting.shift();
      if (head === undefined) return;
      waitingBytes -= head.bytes;
      const batch = await head.batch;
      for (let i = 0; i < batch.count; i++) {
        fillBlock(block, list, batch, options.reverse ? batch.count - 1 - i : i);
        if (!visit(block)) return;
      }
      memory.hold(batch.buffer, batch.ownArena);
      if (options.memory === undefined) memory.recycle();
    }
  } finally {
    await Promise.allSettled(waiting.map(({ batch }) => batch));
  }
}

/** The memory of batches, for whoever keeps the contents of blocks for a while and reads more later. */
export class BatchMemory {
  /** @internal */
  readonly buffers = new BufferRing(BATCHES_AHEAD + 1, MAX_BATCH_BYTES);
  /** @internal */
  readonly arenas = new BufferRing(BATCHES_AHEAD + 2, MAX_ARENA_BYTES);
  private readonly held: [buffer: Uint8Array, arena: Uint8Array][] = [];

  /** @internal */
  hold(buffer: Uint8Array, arena: Uint8Array): void {
    this.held.push([buffer, arena]);
  }

  /** All contents that were given are done with. */
  recycle(): void {
    for (const [buffer, arena] of this.held) {
      this.buffers.release(buffer);
      this.arenas.release(arena);
    }
    this.held.length = 0;
  }
}

interface Batch {
  first: number;
  count: number;
  buffer: Uint8Array;
  types: Uint8Array;
  stored: Uint32Array;
  computed: Float64Array;
  arenas: Uint8Array[];
  /** The one that goes back into its ring. */
  ownArena: Uint8Array;
  starts: ArrayLike<number>;
  ends: ArrayLike<number>;
  errors: (SstError | undefined)[];
}

/** Stands for "no checksum" in a column of numbers. */
const NO_CHECKSUM = -1;

async function loadBatch(
  reader: BlockReader,
  list: BlockList,
  from: number,
  to: number,
  options: BlockPipelineOptions,
  buffers: BufferRing,
  arenas: BufferRing,
): Promise<Batch> {
  const count = to - from;
  const batch: Batch = {
    first: from,
    count,
    buffer: EMPTY,
    types: new Uint8Array(count),
    stored: new Uint32Array(count),
    computed: new Float64Array(count).fill(NO_CHECKSUM),
    arenas: [],
    ownArena: EMPTY,
    starts: [],
    ends: [],
    errors: new Array<SstError | undefined>(count).fill(undefined),
  };
  const base = list.offsets[from]!;
  const last = { offset: list.offsets[to - 1]!, size: list.sizes[to - 1]! };
  try {
    reader.checkHandle(last, options.blockType);
  } catch (error) {
    // Only a batch of one block can have a handle that does not fit: batchEnd sees to it.
    batch.errors[0] = asSstError(error);
    return batch;
  }
  const bytes = buffers.take(last.offset + last.size + BLOCK_TRAILER_SIZE - base);
  await withPending(() => reader.source.readInto(base, bytes));
  batch.buffer = bytes;
  const starts = new Float64Array(count);
  const ends = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const offset = list.offsets[from + i]!;
    const size = list.sizes[from + i]!;
    const start = offset - base;
    starts[i] = start;
    ends[i] = start + size;
    batch.types[i] = bytes[start + size]!;
    batch.stored[i] = readFixed32(bytes, start + size + 1);
    const computed = reader.computeChecksum(bytes, start, start + size, offset);
    if (computed === undefined) continue;
    batch.computed[i] = computed;
    if (computed === batch.stored[i]) continue;
    batch.errors[i] = reader.mismatch(batch.stored[i]!, computed, offset, options.blockType);
    // Left out of the decompression: an empty uncompressed block.
    ends[i] = start;
  }
  if (options.checksumsOnly) return batch;
  const types = batch.types.map((type, i) => (batch.errors[i] === undefined ? type : 0));
  const decompressed = await decompressBatch(
    reader.decompression,
    { bytes, count, types, starts, ends },
    options.dictionary,
    options.decodeZstdFrames,
    arenas,
  );
  batch.arenas = decompressed.arenas;
  batch.ownArena = decompressed.takenArena;
  batch.starts = decompressed.starts;
  batch.ends = decompressed.ends;
  for (let i = 0; i < count; i++) {
    const error = decompressed.errors[i];
    if (error !== undefined) {
      batch.errors[i] ??= placed(error, reader, list.offsets[from + i]!, options.blockType);
    }
  }
  return batch;
}

function fillBlock(block: LoadedBlock, list: BlockList, batch: Batch, i: number): void {
  block.ordinal = batch.first + i;
  block.offset = list.offsets[block.ordinal]!;
  block.size = list.sizes[block.ordinal]!;
  block.compressionType = batch.types[i]!;
  block.storedChecksum = batch.stored[i]!;
  const computed = batch.computed[i]!;
  block.computedChecksum = computed === NO_CHECKSUM ? undefined : computed;
  block.error = batch.errors[i];
  const arena = batch.arenas[i];
  block.contents =
    arena === undefined || block.error !== undefined
      ? EMPTY
      : arena.subarray(batch.starts[i]!, batch.ends[i]!);
}

function blankBlock(): LoadedBlock {
  return {
    ordinal: 0,
    offset: 0,
    size: 0,
    compressionType: 0,
    storedChecksum: 0,
    computedChecksum: undefined,
    contents: EMPTY,
    error: undefined,
  };
}

/** Where the batch that begins with block `from` ends: neighbours in the file, up to a number of bytes and blocks. */
function batchEnd(reader: BlockReader, list: BlockList, from: number, end: number): number {
  const start = list.offsets[from]!;
  let to = from + 1;
  while (to < end && to - from < MAX_BATCH_BLOCKS && joins(reader, list, to - 1, to, start)) to++;
  return to;
}

function batchBefore(reader: BlockReader, list: BlockList, first: number, end: number): [number, number] {
  let from = end - 1;
  while (
    from > first &&
    end - from < MAX_BATCH_BLOCKS &&
    joins(reader, list, from - 1, from, list.offsets[from - 1]!) &&
    list.offsets[end - 1]! + list.sizes[end - 1]! - list.offsets[from - 1]! <= MAX_BATCH_BYTES
  ) {
    from--;
  }
  return [from, end];
}

function joins(reader: BlockReader, list: BlockList, before: number, block: number, start: number): boolean {
  const hole = list.offsets[block]! - (list.offsets[before]! + list.sizes[before]! + BLOCK_TRAILER_SIZE);
  const end = list.offsets[block]! + list.sizes[block]! + BLOCK_TRAILER_SIZE;
  return hole >= 0 && hole <= MAX_HOLE_BYTES && end - start <= MAX_BATCH_BYTES && end <= reader.source.size;
}

function placed(error: SstError, reader: BlockReader, offset: number, blockType: BlockType): SstError {
  if (error instanceof CorruptionError || error instanceof UnsupportedError) {
    return error.at(reader.place(offset, blockType));
  }
  return error;
}

function asSstError(error: unknown): SstError {
  if (error instanceof SstError) return error;
  throw error;
}
