import { writeFixed32 } from '../../bytes/fixed.ts';
import { addToLegacyBloom, fastLocalBloomBase, setFastLocalBloomBits } from './bloom-bits.ts';
import { BLOOM_MARKER, FILTER_METADATA_BYTES, LINE_BYTES } from './filter-metadata.ts';

/** The twins of assembly/bloom.ts, and the metadata that both have. */

/**
 * Lines that are fetched before any of them is changed: their cache misses overlap. Of 3 million keys one takes
 * 36 ns instead of 55 to 60; in small filters nothing changes.
 */
const LINES_AHEAD = 16;

/**
 * A FastLocalBloom filter of `dataBytes` bytes of data, a multiple of 64, of `count` hashes, which are pairs of low and
 * high half.
 */
export function fillFastLocalBloom(
  hashes: Uint32Array,
  count: number,
  dataBytes: number,
  probes: number,
): Uint8Array {
  const filter = new Uint8Array(dataBytes + FILTER_METADATA_BYTES);
  const lines = dataBytes / LINE_BYTES;
  const bases = new Uint32Array(LINES_AHEAD + 1);
  for (let first = 0; first < count; first += LINES_AHEAD) {
    const batch = Math.min(LINES_AHEAD, count - first);
    let touched = 0;
    for (let i = 0; i < batch; i++) {
      const base = fastLocalBloomBase(hashes[2 * (first + i)]!, lines);
      bases[i] = base;
      touched |= filter[base]!;
    }
    // What was read has to go somewhere, or it would not be read.
    bases[LINES_AHEAD] = touched;
    for (let i = 0; i < batch; i++) {
      setFastLocalBloomBits(filter, bases[i]!, probes, hashes[2 * (first + i) + 1]!);
    }
  }
  writeBloomMetadata(filter, dataBytes, probes);
  return filter;
}

/** The five bytes behind the lines: marker, 0 (FastLocalBloom), probes, two zeros. */
export function writeBloomMetadata(filter: Uint8Array, dataBytes: number, probes: number): void {
  filter[dataBytes] = BLOOM_MARKER;
  filter[dataBytes + 2] = probes;
}

/** A legacy Bloom filter of `lines` lines of 64 bytes, of `count` BloomHashes. */
export function fillLegacyBloom(
  hashes: Uint32Array,
  count: number,
  lines: number,
  probes: number,
): Uint8Array {
  const dataBytes = lines * LINE_BYTES;
  const filter = new Uint8Array(dataBytes + FILTER_METADATA_BYTES);
  for (let i = 0; i < count; i++) addToLegacyBloom(filter, lines, probes, hashes[i]!);
  writeLegacyBloomMetadata(filter, lines, probes);
  return filter;
}

/** The five bytes behind the lines: probes, fixed32 number of lines. */
export function writeLegacyBloomMetadata(filter: Uint8Array, lines: number, probes: number): void {
  filter[lines * LINE_BYTES] = probes;
  writeFixed32(filter, lines * LINE_BYTES + 1, lines);
}
