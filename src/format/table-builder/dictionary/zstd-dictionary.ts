import { writeFixed32 } from '../../../bytes/fixed.ts';
import { encodeTableDescription, normalizeCounts } from './fse.ts';
import { encodeHuffmanTable } from './huffman.ts';
import type { SequenceStatistics } from './sequence-statistics.ts';

/** First four bytes of a dictionary with tables. */
const MAGIC = 0xec30a437;
const OFFSET_TABLE_LOG = 8;
const LENGTH_TABLE_LOG = 9;
/** The offsets that a block may repeat before it has any of its own. */
const REPEAT_OFFSETS = [1, 4, 8];
/** A dictionary with tables and less content is refused: the offsets above would reach beyond it. */
export const MIN_CONTENT_BYTES = Math.max(...REPEAT_OFFSETS);
/** A block of zstd; offsets reach from its end to the dictionary's start. */
const MAX_BLOCK_LENGTH = 128 * 1024;
const HEADER_LENGTH = 8;

/** The most that a header with its tables takes. */
export const MAX_TABLE_BYTES = 384;

/**
 * The beginning of a zstd dictionary, before its content: tables for literals, offsets and lengths, so that blocks
 * do not carry their own.
 *
 *   magic (4), id (4), Huffman table of literals, FSE tables of offsets, match lengths, literal lengths,
 *   three offsets to repeat (4 each)
 *
 * Every code has a share, so that each table can code any block. The id stands in each frame: one from 1 to 255
 * takes one byte there. Source: RFC 8878, section 5.
 */
export function encodeDictionaryTables(
  statistics: SequenceStatistics,
  contentLength: number,
  id: number,
): Uint8Array {
  const offsetCodes = 32 - Math.clz32(contentLength + MAX_BLOCK_LENGTH);
  const tables = [
    ...encodeHuffmanTable(everyCode(statistics.literals)),
    ...encodeTable(statistics.offsets.subarray(0, offsetCodes), OFFSET_TABLE_LOG),
    ...encodeTable(statistics.matchLengths, LENGTH_TABLE_LOG),
    ...encodeTable(statistics.literalLengths, LENGTH_TABLE_LOG),
  ];
  const bytes = new Uint8Array(HEADER_LENGTH + tables.length + 4 * REPEAT_OFFSETS.length);
  writeFixed32(bytes, 0, MAGIC);
  writeFixed32(bytes, 4, id);
  bytes.set(tables, HEADER_LENGTH);
  REPEAT_OFFSETS.forEach((offset, i) => {
    writeFixed32(bytes, HEADER_LENGTH + tables.length + 4 * i, offset);
  });
  return bytes;
}

function encodeTable(counts: Uint32Array, log: number): number[] {
  return encodeTableDescription(normalizeCounts(everyCode(counts), log), log);
}

function everyCode(counts: Uint32Array): Uint32Array {
  return counts.map((count) => count + 1);
}
