import { SstError, withPending } from '../errors.ts';
import {
  type CompressedPayload,
  type DecompressContext,
  decodePayload,
  locatePayload,
} from './decompress.ts';
import { CompressionType } from './registry.ts';
import { copiedZstdFrameLength, copyZstdFrame, type ZstdFrame } from './zstd-frame.ts';

/**
 * Decodes zstd frames that stand one behind the other, all with a content size and without a dictionary,
 * in one go: the bytes of all of them, joined. Rejects when any frame does not decode.
 */
export type DecodeZstdFrames = (joined: Uint8Array) => Promise<Uint8Array>;

/** Stored blocks of one file in one buffer: block i is `bytes[starts[i], ends[i])`, without its trailer. */
export interface StoredBlocks {
  bytes: Uint8Array;
  count: number;
  /** Compression byte of each. */
  types: ArrayLike<number>;
  starts: ArrayLike<number>;
  ends: ArrayLike<number>;
}

/**
 * Block i is `arenas[i][starts[i], ends[i])`; neighbours may share an arena, which for uncompressed blocks
 * is the input itself. Where `errors[i]` is set (CorruptionError or UnsupportedError, without the place)
 * the view is empty.
 */
export interface DecompressedBlocks {
  arenas: Uint8Array[];
  starts: number[];
  ends: number[];
  errors: (SstError | undefined)[];
  /** The arena that was taken from the caller's buffers, to be given back when the views are done with; else empty. */
  takenArena: Uint8Array;
}

/** Buffers that go round; without them each batch makes its own. */
export interface BatchBuffers {
  take(length: number): Uint8Array;
  /** For those that nobody looks at any more. */
  release(buffer: Uint8Array): void;
}

const FRESH_BUFFERS: BatchBuffers = { take: (length) => new Uint8Array(length), release: () => undefined };

/** An arena holds no more than this, however large the blocks are (a single block may be larger). */
const MAX_ARENA_BYTES = 32 * 1024 * 1024;

/**
 * Below this the call to the pool costs more than decoding on the spot. Against the WebAssembly decoder it
 * breaks even at about 8 blocks of 4 KB (12 us a block by both) and 4 of 32 KB.
 */
const MIN_FRAMES_PER_CALL = 8;

/** Room for a decoder that writes some bytes more than a block has. */
const ARENA_SLACK_BYTES = 16;

/** A single frame of this length is for the pool as well: the memory of a WebAssembly decoder grows with it, for good. */
const LARGE_FRAME_BYTES = 1024 * 1024;

const NO_BYTES: Uint8Array = new Uint8Array(0);

/**
 * Uncompresses many blocks. zstd frames without a dictionary go to `decodeZstdFrames` in one call; it is
 * joined from a copy, so the pool works while the other blocks are decoded here. A call that fails is
 * repeated block by block, so that each error stands with its block. The caller leaves `stored.bytes`
 * unchanged until the promise is fulfilled. Rejects only for what is not an SstError: a bug, or a codec
 * that cannot be loaded.
 */
export async function decompressBatch(
  context: DecompressContext,
  stored: StoredBlocks,
  dictionary: Uint8Array | undefined,
  decodeZstdFrames: DecodeZstdFrames | undefined,
  buffers: BatchBuffers = FRESH_BUFFERS,
): Promise<DecompressedBlocks> {
  const { bytes, count, types, starts, ends } = stored;
  const result = emptyResult(count);
  const onTheSpot: QueuedBlock[] = [];
  let queue: QueuedBlock[] = [];
  let queuedLength = 0;
  const calls: Promise<void>[] = [];
  const flush = (decode: DecodeZstdFrames) => {
    calls.push(decodeQueue(context, bytes, queue, result, decode, buffers));
    queue = [];
    queuedLength = 0;
  };

  for (let i = 0; i < count; i++) {
    if (types[i] === CompressionType.none) {
      result.arenas[i] = bytes;
      result.starts[i] = starts[i]!;
      result.ends[i] = ends[i]!;
      continue;
    }
    try {
      const payload = locatePayload(context, types[i]!, bytes, starts[i]!, ends[i]!);
      const { frame, length } = payload;
      if (decodeZstdFrames === undefined || !isBatchable(payload, dictionary)) {
        onTheSpot.push({ index: i, payload });
      } else {
        if (queuedLength + length! > MAX_ARENA_BYTES && queue.length > 0) flush(decodeZstdFrames);
        queue.push({ index: i, payload, frame: frame! });
        queuedLength += length!;
      }
    } catch (error) {
      result.errors[i] = asSstError(error);
    }
  }

  const worthIt = queue.length >= MIN_FRAMES_PER_CALL || queuedLength >= LARGE_FRAME_BYTES;
  if (worthIt && decodeZstdFrames !== undefined) flush(decodeZstdFrames);
  else onTheSpot.push(...queue);
  // All settle before this returns, also when one rejects: nobody writes into the result later.
  calls.push(decodeOnTheSpot(context, bytes, onTheSpot, dictionary, result, buffers));
  for (const outcome of await Promise.allSettled(calls)) {
    if (outcome.status === 'rejected') throw outcome.reason;
  }
  return result;
}

interface QueuedBlock {
  index: number;
  payload: CompressedPayload;
  frame?: ZstdFrame;
}

/** A frame with a dictionary id needs a dictionary even when none was handed in; that error names the block. */
function isBatchable({ resolved, frame, length }: CompressedPayload, dictionary: Uint8Array | undefined) {
  if (frame === undefined || length === undefined || frame.dictionaryId !== 0) return false;
  return dictionary === undefined || !resolved.usesDictionary;
}

async function decodeQueue(
  context: DecompressContext,
  bytes: Uint8Array,
  queue: readonly QueuedBlock[],
  result: DecompressedBlocks,
  decodeZstdFrames: DecodeZstdFrames,
  buffers: BatchBuffers,
): Promise<void> {
  const length = queue.reduce((sum, { payload }) => sum + payload.length!, 0);
  const joined = joinFrames(bytes, queue, buffers);
  let arena = NO_BYTES;
  try {
    arena = await decodeZstdFrames(joined);
  } catch {
    // Which block it was, and what is wrong with it, the single decoder says.
  }
  if (joined.buffer !== bytes.buffer) buffers.release(joined);
  if (arena.length !== length) return decodeOneByOne(context, bytes, queue, undefined, result);
  let start = 0;
  for (const { index, payload } of queue) {
    result.arenas[index] = arena;
    result.starts[index] = start;
    start += payload.length!;
    result.ends[index] = start;
  }
}

/** The frames one behind the other; a single one that has its content size stays where it is. */
function joinFrames(bytes: Uint8Array, queue: readonly QueuedBlock[], buffers: BatchBuffers): Uint8Array {
  const [{ payload: first, frame: firstFrame }] = queue as [QueuedBlock];
  if (queue.length === 1 && firstFrame!.contentLength !== undefined) {
    return bytes.subarray(first.start, firstFrame!.end);
  }
  let length = 0;
  for (const { payload, frame } of queue) length += copiedZstdFrameLength(frame!, payload.start);
  const joined = buffers.take(length);
  let pos = 0;
  for (const { payload, frame } of queue) {
    pos = copyZstdFrame(bytes, payload.start, frame!, payload.length!, joined, pos);
  }
  return joined;
}

/** Blocks of one codec that can decode into a buffer share one; the others are decoded one by one. */
async function decodeOnTheSpot(
  context: DecompressContext,
  bytes: Uint8Array,
  blocks: readonly QueuedBlock[],
  dictionary: Uint8Array | undefined,
  result: DecompressedBlocks,
  buffers: BatchBuffers,
): Promise<void> {
  const [first] = blocks;
  if (first === undefined) return;
  const { resolved } = first.payload;
  const length = blocks.reduce((sum, { payload }) => sum + (payload.length ?? Number.POSITIVE_INFINITY), 0);
  // A single long block as well: `decode` would hold it twice.
  const together =
    (length < MAX_ARENA_BYTES || (blocks.length === 1 && first.payload.length !== undefined)) &&
    (dictionary === undefined || !resolved.usesDictionary) &&
    blocks.every(({ payload }) => payload.resolved.codec === resolved.codec);
  const decoder = together ? await withPending(() => context.codecs.decoder(resolved.codec)) : undefined;
  if (decoder?.decodeInto === undefined) return decodeOneByOne(context, bytes, blocks, dictionary, result);
  const arena = buffers.take(length + ARENA_SLACK_BYTES);
  result.takenArena = arena;
  const undecoded: QueuedBlock[] = [];
  let at = 0;
  for (const block of blocks) {
    const { start, end } = block.payload;
    const blockLength = block.payload.length!;
    if (decoder.decodeInto(bytes, start, end, arena, at, blockLength)) {
      result.arenas[block.index] = arena;
      result.starts[block.index] = at;
      result.ends[block.index] = at + blockLength;
    } else {
      undecoded.push(block);
    }
    at += blockLength;
  }
  if (undecoded.length > 0) await decodeOneByOne(context, bytes, undecoded, dictionary, result);
}

async function decodeOneByOne(
  context: DecompressContext,
  bytes: Uint8Array,
  blocks: readonly QueuedBlock[],
  dictionary: Uint8Array | undefined,
  result: DecompressedBlocks,
): Promise<void> {
  for (const { index, payload } of blocks) {
    try {
      const decoded = await withPending(() => decodePayload(context.codecs, bytes, payload, dictionary));
      result.arenas[index] = decoded;
      result.ends[index] = decoded.length;
    } catch (error) {
      result.errors[index] = asSstError(error);
    }
  }
}

function emptyResult(count: number): DecompressedBlocks {
  return {
    arenas: new Array<Uint8Array>(count).fill(NO_BYTES),
    starts: new Array<number>(count).fill(0),
    ends: new Array<number>(count).fill(0),
    errors: new Array<SstError | undefined>(count).fill(undefined),
    takenArena: NO_BYTES,
  };
}

function asSstError(error: unknown): SstError {
  if (error instanceof SstError) return error;
  throw error;
}
