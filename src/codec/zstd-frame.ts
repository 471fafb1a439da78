import { readFixed32, writeFixed32 } from '../bytes/fixed.ts';
import { CorruptionError, UnsupportedError } from '../errors.ts';

/**
 * The outside of a zstd frame, read without decoding it.
 *
 *     magic 28 b5 2f fd | descriptor | window? | dictionary id 0,1,2,4 | content size 0,1,2,4,8 |
 *     blocks: 3-byte header (last:1, type:2, size:21), body | checksum 4?
 *
 * Source: RFC 8878, section 3.1.1.
 */
export interface ZstdFrame {
  /** Bytes before the first block header. */
  headerLength: number;
  /** Bytes of history that the frame may refer to. */
  windowLength: number;
  /** Uncompressed length as the header says it; undefined when the writer did not know it. */
  contentLength: number | undefined;
  /** 0: none named (a raw-content dictionary has no id). */
  dictionaryId: number;
  hasChecksum: boolean;
  /** Position after the frame's last byte. */
  end: number;
  /** The most that the frame's blocks can hold: what a decoder may be given when the length is not known. */
  maxContentLength: number;
}

const MAGIC = 0xfd2fb528;
/** Frames of zstd 0.1 to 0.7, which wrote other formats. */
const LEGACY_MAGIC_FIRST = 0xfd2fb51e;
const LEGACY_MAGIC_LAST = 0xfd2fb527;
const MAX_BLOCK_LENGTH = 128 * 1024;

/** True when the bytes begin with the magic number of a zstd frame. */
export function startsWithZstdMagic(bytes: Uint8Array, start: number, end: number): boolean {
  return end - start >= 4 && readFixed32(bytes, start) === MAGIC;
}

/**
 * Parses the header of the frame at `start` and walks its block headers to its end.
 * Throws CorruptionError when the frame does not end before `end` or its header is not valid.
 */
export function parseZstdFrame(bytes: Uint8Array, start: number, end: number): ZstdFrame {
  if (end - start < 6) throw corrupt(`the frame is cut off after ${end - start} bytes`);
  const magic = readFixed32(bytes, start);
  if (magic !== MAGIC) throw wrongMagic(magic);

  const descriptor = bytes[start + 4]!;
  const isSingleSegment = (descriptor & 0x20) !== 0;
  if ((descriptor & 0x08) !== 0) throw corrupt('a reserved bit is set in the frame header');
  const dictionaryIdLength = [0, 1, 2, 4][descriptor & 3]!;
  const contentSizeLength = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6]!;
  const headerLength = 5 + (isSingleSegment ? 0 : 1) + dictionaryIdLength + contentSizeLength;
  if (end - start < headerLength) throw corrupt('the frame header is cut off');

  let pos = start + 5;
  let windowLength = 0;
  if (!isSingleSegment) {
    const window = bytes[pos++]!;
    const base = 2 ** (10 + (window >>> 3));
    windowLength = base + (base / 8) * (window & 7);
  }
  const dictionaryId = readLittleEndian(bytes, pos, dictionaryIdLength);
  pos += dictionaryIdLength;
  let contentLength: number | undefined;
  if (contentSizeLength > 0) {
    contentLength = readLittleEndian(bytes, pos, contentSizeLength) + (contentSizeLength === 2 ? 256 : 0);
    pos += contentSizeLength;
  }
  if (isSingleSegment) windowLength = contentLength!;

  const hasChecksum = (descriptor & 0x04) !== 0;
  const maxBlockLength = Math.min(windowLength, MAX_BLOCK_LENGTH);
  let maxContentLength = 0;
  let isLast = false;
  while (!isLast) {
    if (end - pos < 3) throw corrupt('the frame is cut off in a block header');
    const header = bytes[pos]! | (bytes[pos + 1]! << 8) | (bytes[pos + 2]! << 16);
    isLast = (header & 1) !== 0;
    const type = (header >>> 1) & 3;
    const size = header >>> 3;
    if (type === 3) throw corrupt('a block of the reserved type');
    // Raw blocks hold `size` bytes, RLE blocks repeat one byte `size` times, compressed ones do not say.
    const bodyLength = type === 1 ? 1 : size;
    if (end - pos - 3 < bodyLength) throw corrupt('the frame is cut off in a block');
    maxContentLength += type === 2 ? maxBlockLength : size;
    pos += 3 + bodyLength;
  }
  if (hasChecksum) {
    if (end - pos < 4) throw corrupt('the frame is cut off before its checksum');
    pos += 4;
  }
  return { headerLength, windowLength, contentLength, dictionaryId, hasChecksum, end: pos, maxContentLength };
}

/** What `copyZstdFrame` writes for this frame, in bytes. */
export function copiedZstdFrameLength(frame: ZstdFrame, start: number): number {
  return frame.end - start + (frame.contentLength === undefined ? 4 : 0);
}

/**
 * Copies the frame at `start` to `target` at `pos` and returns the position after it. A frame without a
 * content size gets one, so that a decoder of many joined frames checks the length of each by itself.
 * (The frame's checksum covers only the content.)
 */
export function copyZstdFrame(
  bytes: Uint8Array,
  start: number,
  frame: ZstdFrame,
  contentLength: number,
  target: Uint8Array,
  pos: number,
): number {
  if (frame.contentLength !== undefined) {
    target.set(bytes.subarray(start, frame.end), pos);
    return pos + frame.end - start;
  }
  const blocks = start + frame.headerLength;
  target.set(bytes.subarray(start, blocks), pos);
  // Flag 2: a content size of four bytes, the header's last field.
  target[pos + 4] = bytes[start + 4]! | 0x80;
  writeFixed32(target, pos + frame.headerLength, contentLength);
  target.set(bytes.subarray(blocks, frame.end), pos + frame.headerLength + 4);
  return pos + frame.end - start + 4;
}

/** At most eight bytes; inexact above 2^53, where every limit refuses the value anyway. */
function readLittleEndian(bytes: Uint8Array, pos: number, length: number): number {
  let value = 0;
  for (let i = length - 1; i >= 0; i--) value = value * 256 + bytes[pos + i]!;
  return value;
}

function wrongMagic(magic: number): Error {
  const hex = magic.toString(16).padStart(8, '0');
  if (magic >= LEGACY_MAGIC_FIRST && magic <= LEGACY_MAGIC_LAST) {
    return new UnsupportedError(
      'compression',
      'zstd_legacy',
      `zstd frame of a release before 0.8 (magic ${hex})`,
    );
  }
  return corrupt(`magic ${hex} is not that of a zstd frame`);
}

function corrupt(what: string): CorruptionError {
  return new CorruptionError('block_decompress', `zstd: ${what}`);
}
