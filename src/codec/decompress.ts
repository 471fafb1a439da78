import { CorruptionError, SstError } from '../errors.ts';
import { checkDeclaredLength, MAX_UNCOMPRESSED_LENGTH, maxUncompressedLength } from './limits.ts';
import { type CodecRegistry, CompressionType } from './registry.ts';
import { type ResolvedCodec, resolveCodec, type TableFamily } from './resolve-codec.ts';
import { type Framing, readSizePrefix } from './size-prefix.ts';
import { parseZstdFrame, type ZstdFrame } from './zstd-frame.ts';

/** What all blocks of one file have in common. */
export interface DecompressContext {
  codecs: CodecRegistry;
  family: TableFamily;
  framing: Framing;
}

/** A compressed block whose prefix has been read and whose length has been found possible. */
export interface CompressedPayload {
  resolved: ResolvedCodec;
  /** The codec's bytes, without a prefix. */
  start: number;
  end: number;
  /** Exact uncompressed length, where the file says it. */
  length: number | undefined;
  /** The most that the bytes can become. */
  maxLength: number;
  /** The parsed frame when the codec is zstd. */
  frame: ZstdFrame | undefined;
}

/**
 * The uncompressed payload of the stored block `bytes[start, end)` (without its trailer) of compression
 * byte `type`. An uncompressed block is answered with a view of the input. `dictionary` is that of the file
 * for data blocks, undefined for all others; codecs that take none ignore it.
 *
 * Throws CorruptionError (`block_decompress`) when the bytes do not decode to the length that they declare,
 * UnsupportedError for kinds that are not read, and passes on the registry's signal when a codec has to be
 * loaded first.
 */
export function decompressBlock(
  context: DecompressContext,
  type: number,
  bytes: Uint8Array,
  start: number,
  end: number,
  dictionary: Uint8Array | undefined,
): Uint8Array {
  if (type === CompressionType.none) return bytes.subarray(start, end);
  return decodePayload(context.codecs, bytes, locatePayload(context, type, bytes, start, end), dictionary);
}

/** Finds the codec and its bytes, and checks the declared length before anything is allocated for it. */
export function locatePayload(
  context: DecompressContext,
  type: number,
  bytes: Uint8Array,
  start: number,
  end: number,
): CompressedPayload {
  const resolved = resolveCodec(context.family, context.framing, type, bytes, start, end);
  const sized = readSizePrefix(resolved.prefix, bytes, start, end);
  const storedLength = end - sized.start;
  if (resolved.codec !== 'zstd') {
    const maxLength = maxUncompressedLength(resolved.codec, storedLength);
    if (sized.length !== undefined) checkDeclaredLength(resolved.name, sized.length, maxLength, storedLength);
    return { resolved, start: sized.start, end, length: sized.length, maxLength, frame: undefined };
  }

  const frame = parseZstdFrame(bytes, sized.start, end);
  if (frame.end !== end) throw corrupt(`zstd: ${end - frame.end} bytes after the end of the frame`);
  const maxLength = Math.min(frame.maxContentLength, MAX_UNCOMPRESSED_LENGTH);
  const length = sized.length ?? frame.contentLength;
  if (length !== undefined) checkDeclaredLength('zstd', length, maxLength, storedLength);
  if (frame.contentLength !== undefined && frame.contentLength !== length) {
    throw corrupt(`zstd: ${length} bytes declared, but the frame's header says ${frame.contentLength}`);
  }
  return { resolved, start: sized.start, end, length, maxLength, frame };
}

export function decodePayload(
  codecs: CodecRegistry,
  bytes: Uint8Array,
  { resolved, start, end, length, maxLength }: CompressedPayload,
  dictionary: Uint8Array | undefined,
): Uint8Array {
  // Outside of the try: the signal that a codec has to be loaded is no error.
  const decoder = codecs.decoder(resolved.codec);
  let decoded: Uint8Array;
  try {
    const used = resolved.usesDictionary ? dictionary : undefined;
    decoded = decoder.decode(bytes, start, end, length, length ?? maxLength, used);
  } catch (error) {
    if (error instanceof SstError) throw error;
    const message = error instanceof Error ? error.message : String(error);
    throw corrupt(`${resolved.name}: ${end - start} bytes do not decode (${message})`, error);
  }
  if (length !== undefined && decoded.length !== length) {
    throw corrupt(`${resolved.name}: decodes to ${decoded.length} bytes, ${length} declared`);
  }
  return decoded;
}

function corrupt(reason: string, cause?: unknown): CorruptionError {
  return new CorruptionError('block_decompress', reason, {}, cause === undefined ? undefined : { cause });
}
