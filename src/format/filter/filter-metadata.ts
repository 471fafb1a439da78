import { readFixed32 } from '../../bytes/fixed.ts';

/**
 * What kind of filter a block holds, told by its own bytes. A full filter and a filter partition are alike:
 *
 *   data (size - 5), then five bytes of metadata; the first of them, as int8, decides:
 *     0, below -2   always true: every key passes
 *     -1            Bloom; then 0, probes (5 bits) and line size (3 bits, 0: 64 bytes), fixed16 0
 *     -2            Ribbon; then hash seed, number of blocks of 128 slots (24 bits)
 *     1 and above   legacy Bloom: probes; then fixed32 number of lines
 *   of five bytes or less: nothing was added, so that every key is denied
 *
 * Values that no release writes let every key pass: a filter may say "perhaps" too often, never "no".
 * Source: RocksDB table/block_based/filter_policy.cc, GetBuiltinFilterBitsReader.
 */
export type FilterKind = 'fast_local_bloom' | 'legacy_bloom' | 'ribbon' | 'always_true' | 'always_false';

export interface FilterFacts {
  readonly kind: FilterKind;
  /** Bytes before the metadata. */
  readonly dataBytes: number;
  /** Bloom kinds: bits that are asked for, a key. Otherwise 0. */
  readonly probes: number;
  /** Bloom kinds: number of lines, and bytes of one. Otherwise 0. */
  readonly lines: number;
  readonly lineBytes: number;
  /** Ribbon: hash seed, and blocks of 128 slots. Otherwise 0. */
  readonly seed: number;
  readonly blocks: number;
}

export const FILTER_METADATA_BYTES = 5;
/** Bytes of a line of FastLocalBloom, and of a legacy Bloom filter from any processor with such cache lines. */
export const LINE_BYTES = 64;
export const BLOOM_MARKER = 0xff;
export const RIBBON_MARKER = 0xfe;
const PROBES_MAX = 30;
/** One block alone has one start only, which the hashing cannot spread over. */
const RIBBON_BLOCKS_MIN = 2;

/** Of a filter of `size` bytes, whose last five (or all, where there are fewer) are `metadata`. */
export function decodeFilterMetadata(size: number, metadata: Uint8Array): FilterFacts {
  const dataBytes = size - FILTER_METADATA_BYTES;
  if (dataBytes <= 0) return facts('always_false', 0);
  const marker = metadata[0]!;
  if (marker === BLOOM_MARKER) return bloomFacts(dataBytes, metadata);
  if (marker === RIBBON_MARKER) return ribbonFacts(dataBytes, metadata);
  if (marker === 0 || marker > 0x7f) return facts('always_true', dataBytes);
  return legacyFacts(dataBytes, metadata, marker);
}

function bloomFacts(dataBytes: number, metadata: Uint8Array): FilterFacts {
  const probes = metadata[2]!;
  const reserved = metadata[1]! | metadata[3]! | metadata[4]!;
  const lines = Math.floor(dataBytes / LINE_BYTES);
  if (reserved !== 0 || probes < 1 || probes > PROBES_MAX || lines === 0) {
    return facts('always_true', dataBytes);
  }
  return facts('fast_local_bloom', dataBytes, { probes, lines, lineBytes: LINE_BYTES });
}

function ribbonFacts(dataBytes: number, metadata: Uint8Array): FilterFacts {
  const blocks = metadata[2]! | (metadata[3]! << 8) | (metadata[4]! << 16);
  if (blocks < RIBBON_BLOCKS_MIN) return facts('always_true', dataBytes);
  return facts('ribbon', dataBytes, { seed: metadata[1]!, blocks });
}

function legacyFacts(dataBytes: number, metadata: Uint8Array, probes: number): FilterFacts {
  const lines = readFixed32(metadata, 1);
  const lineBytes = dataBytes / lines;
  // A power of two below 2^31: its only bit is found again by the exact logarithm.
  const isPowerOfTwo = Number.isInteger(lineBytes) && 2 ** (31 - Math.clz32(lineBytes)) === lineBytes;
  if (lines === 0 || !isPowerOfTwo) return facts('always_true', dataBytes);
  return facts('legacy_bloom', dataBytes, { probes, lines, lineBytes });
}

function facts(kind: FilterKind, dataBytes: number, own: Partial<FilterFacts> = {}): FilterFacts {
  return { kind, dataBytes, probes: 0, lines: 0, lineBytes: 0, seed: 0, blocks: 0, ...own };
}
