import { readFixed32 } from '../../bytes/fixed.ts';
import { decodeFilterMetadata, FILTER_METADATA_BYTES } from '../../format/filter/filter-metadata.ts';
import { BLOCK_FILTER_PREFIX } from '../../format/metaindex.ts';
import { isFilterNameRead } from '../dump/filter-kind.ts';
import type { Part } from './part.ts';

/**
 * The part of a filter block, or of a partition (which has no name), at byte `at` of its contents. What a filter of the
 * application's own holds is not known.
 */
export function filterPart(name: string | null, bytes: Uint8Array, at: number): Part {
  if (name?.startsWith(BLOCK_FILTER_PREFIX)) return perBlockPart(bytes, at);
  if (name !== null && !isFilterNameRead(name, false)) {
    const text = `a filter by the name of ${name}: what is in it only its application knows`;
    return { part: 'filter.data', start: 0, end: bytes.length, text };
  }
  return bitsPart(bytes, at);
}

function bitsPart(bytes: Uint8Array, at: number): Part {
  const metadataStart = Math.max(0, bytes.length - FILTER_METADATA_BYTES);
  const facts = decodeFilterMetadata(bytes.length, bytes.subarray(metadataStart));
  if (at >= metadataStart) {
    const text = `metadata of a filter of kind ${facts.kind}: its kind and its parameters`;
    return { part: 'filter.metadata', start: metadataStart, end: bytes.length, text };
  }
  // Bytes that fill no line are asked by nobody.
  const linesEnd = facts.lines * facts.lineBytes;
  if (at >= linesEnd) {
    const text = `data of a filter of kind ${facts.kind}`;
    return { part: 'filter.data', start: linesEnd, end: metadataStart, text };
  }
  const line = Math.floor(at / facts.lineBytes);
  const start = line * facts.lineBytes;
  const bit = 8 * (at - start);
  const text = `bits ${bit} to ${bit + 7} of line ${line} of ${facts.lines} of a filter of kind ${facts.kind}`;
  return { part: 'filter.line', start, end: start + facts.lineBytes, text };
}

/**
 * One small filter for each piece of the file.
 *
 *   filters | start of each: fixed32 | start of these: fixed32 | logarithm of a piece's bytes: 1 byte
 *
 * Source: LevelDB table/filter_block.cc.
 */
function perBlockPart(bytes: Uint8Array, at: number): Part {
  const { length } = bytes;
  const unknown: Part = {
    part: 'filter.data',
    start: 0,
    end: length,
    text: 'filters whose end does not decode',
  };
  if (length < 5) return unknown;
  const startsAt = readFixed32(bytes, length - 5);
  const count = (length - 5 - startsAt) / 4;
  const pieceBytes = 2 ** bytes[length - 1]!;
  if (count < 0 || !Number.isInteger(count)) return unknown;
  if (at === length - 1)
    return {
      part: 'filter.base',
      start: at,
      end: length,
      text: `a filter for every ${pieceBytes} bytes of file`,
    };
  if (at >= length - 5) {
    const text = 'where the starts of the filters begin';
    return { part: 'filter.starts_offset', start: length - 5, end: length - 1, text };
  }
  const ofPiece = (i: number): string => `filter ${i} of ${count}, for blocks from ${i * pieceBytes} on`;
  if (at >= startsAt) {
    const i = Math.floor((at - startsAt) / 4);
    const start = startsAt + 4 * i;
    return { part: 'filter.start', start, end: start + 4, text: `where ${ofPiece(i)}, begins` };
  }
  for (let i = 0; i < count; i++) {
    const start = readFixed32(bytes, startsAt + 4 * i);
    const end = i + 1 < count ? readFixed32(bytes, startsAt + 4 * (i + 1)) : startsAt;
    if (start <= at && at < end && end <= startsAt)
      return { part: 'filter.bits', start, end, text: ofPiece(i) };
  }
  return { ...unknown, end: startsAt, text: 'filters that nothing refers to' };
}
