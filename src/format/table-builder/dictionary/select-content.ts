import type { DictionarySamples } from './samples.ts';

/**
 * Selects the content of a dictionary from samples, after the idea of COVER: what many samples have in common is
 * worth most, so segments are chosen by how often their k-mers occur, and k-mers that are covered count no more.
 *
 * The samples are cut into stretches (epochs); each gives its best segment, round after round, until the dictionary
 * is full. The first ones stand at its end, where they are reached with the shortest distances.
 * Source of the idea: Liao, Petri, Moffat, Wirth, "Effective construction of relative Lempel-Ziv dictionaries" (2016).
 */

/** Counters of k-mers by hash: 2^20 of them, 2 MiB. */
const TABLE_BITS = 20;
/** How often each stretch is visited until the dictionary is full, about. */
const PASSES = 4;
/** A stretch is at least so many segments long, or its best is not worth much. */
const MIN_EPOCH_SEGMENTS = 10;

/** Samples with the k-mers in them. */
export interface IndexedSamples {
  readonly bytes: Uint8Array;
  /** Bytes of a k-mer: 6 or 8. */
  readonly mer: number;
  /** Slot of the k-mer at each position. */
  readonly slots: Uint32Array;
  /** By slot: in how many samples it occurs, less one. */
  readonly counts: Uint16Array;
}

export function indexSamples(samples: DictionarySamples, mer: number): IndexedSamples {
  const slots = hashPositions(samples.bytes, Math.max(0, samples.bytes.length - mer + 1), mer);
  return { bytes: samples.bytes, mer, slots, counts: countBySample(samples, slots, mer) };
}

/** At most `maxBytes` of content, in segments of `segment` bytes. */
export function selectContent(samples: IndexedSamples, maxBytes: number, segment: number): Uint8Array {
  const { bytes, mer, slots } = samples;
  const positions = slots.length;
  if (positions <= segment || maxBytes < segment) return bytes.slice(0, maxBytes);
  const counts = samples.counts.slice();
  const seen = new Uint8Array(counts.length);
  const dictionary = new Uint8Array(maxBytes);
  let tail = maxBytes;
  const wanted = Math.max(1, Math.floor(maxBytes / segment / PASSES));
  const minSize = MIN_EPOCH_SEGMENTS * segment;
  const epochSize = Math.min(positions, Math.max(minSize, Math.floor(positions / wanted)));
  const epochCount = Math.max(1, Math.floor(positions / epochSize));
  let empty = 0;
  for (let epoch = 0; tail > 0 && empty <= epochCount; epoch = (epoch + 1) % epochCount) {
    const start = epoch * epochSize;
    const end = Math.min(positions, start + epochSize);
    const best = bestSegment(slots, counts, seen, start, end, segment - mer + 1);
    if (best.score === 0) {
      empty++;
      continue;
    }
    empty = 0;
    const length = Math.min(best.end - best.start + mer - 1, tail);
    if (length < mer) break;
    tail -= length;
    dictionary.set(bytes.subarray(best.start, best.start + length), tail);
    for (let i = best.start; i < best.end; i++) counts[slots[i]!] = 0;
  }
  return dictionary.subarray(tail);
}

/** The slot of the k-mer at each position. */
function hashPositions(bytes: Uint8Array, positions: number, mer: number): Uint32Array {
  const slots = new Uint32Array(positions);
  for (let i = 0; i < positions; i++) {
    const low = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    let high = bytes[i + 4]! | (bytes[i + 5]! << 8);
    if (mer === 8) high |= (bytes[i + 6]! << 16) | (bytes[i + 7]! << 24);
    const mixed = Math.imul(low, 0x9e3779b1) ^ Math.imul(high, 0x85ebca77);
    slots[i] = Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) >>> (32 - TABLE_BITS);
  }
  return slots;
}

/** In how many samples each k-mer occurs, less one: what occurs in one alone is no help to the others. */
function countBySample({ ends }: DictionarySamples, slots: Uint32Array, mer: number): Uint16Array {
  const counts = new Uint16Array(1 << TABLE_BITS);
  const lastSample = new Int32Array(1 << TABLE_BITS).fill(-1);
  let start = 0;
  for (let sample = 0; sample < ends.length; sample++) {
    const end = Math.min(ends[sample]! - mer + 1, slots.length);
    for (let i = start; i < end; i++) {
      const slot = slots[i]!;
      if (lastSample[slot] === sample) continue;
      if (lastSample[slot] !== -1 && counts[slot]! < 0xffff) counts[slot]!++;
      lastSample[slot] = sample;
    }
    start = ends[sample]!;
  }
  return counts;
}

/** The run of `width` positions in [start, end) whose distinct k-mers count for most, trimmed of worthless ends. */
function bestSegment(
  slots: Uint32Array,
  counts: Uint16Array,
  seen: Uint8Array,
  start: number,
  end: number,
  width: number,
): { start: number; end: number; score: number } {
  let score = 0;
  let bestScore = 0;
  let bestStart = start;
  let first = start;
  for (let i = start; i < end; i++) {
    const slot = slots[i]!;
    if (seen[slot]! < 255 && seen[slot]!++ === 0) score += counts[slot]!;
    if (i - first === width) {
      const gone = slots[first++]!;
      if (--seen[gone]! === 0) score -= counts[gone]!;
    }
    if (score > bestScore) {
      bestScore = score;
      bestStart = first;
    }
  }
  for (; first < end; first++) seen[slots[first]!] = 0;
  let bestEnd = Math.min(end, bestStart + width);
  while (bestStart < bestEnd && counts[slots[bestStart]!] === 0) bestStart++;
  while (bestEnd > bestStart && counts[slots[bestEnd - 1]!] === 0) bestEnd--;
  return { start: bestStart, end: bestEnd, score: bestScore };
}
