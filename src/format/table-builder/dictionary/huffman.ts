import { encodeSymbols, encodeTableDescription, normalizeCounts } from './fse.ts';

/** zstd's longest code of a literal. */
const MAX_BITS = 11;
/** The weights' own table has at most 2^6 cells. */
const WEIGHT_TABLE_LOG = 6;

/**
 * Lengths of Huffman codes of at most `MAX_BITS` bits, by the package-merge method: for each length from the longest
 * on, pairs of what is cheapest so far are packed and compete with single symbols at the next one.
 * Every symbol has a count above 0.
 */
export function codeLengths(counts: ArrayLike<number>): Uint8Array {
  const symbols = Array.from({ length: counts.length }, (_, i) => i);
  symbols.sort((a, b) => counts[a]! - counts[b]!);
  const single = symbols.map((symbol) => ({ cost: counts[symbol]!, symbols: [symbol] }));
  let packed: typeof single = [];
  for (let bits = 0; bits < MAX_BITS; bits++) {
    const merged = [...single, ...packed].sort((a, b) => a.cost - b.cost);
    packed = [];
    for (let i = 0; i + 1 < merged.length; i += 2) {
      const [a, b] = [merged[i]!, merged[i + 1]!];
      packed.push({ cost: a.cost + b.cost, symbols: [...a.symbols, ...b.symbols] });
    }
  }
  const lengths = new Uint8Array(counts.length);
  for (const { symbols: chosen } of packed.slice(0, counts.length - 1)) {
    for (const symbol of chosen) lengths[symbol]!++;
  }
  return lengths;
}

/**
 * The description of the Huffman code of literals: weights (longest code + 1 - length) of all symbols but the last,
 * coded by FSE. Source: RFC 8878, section 4.2.1.
 */
export function encodeHuffmanTable(counts: ArrayLike<number>): number[] {
  const described = describe(codeLengths(counts));
  // Codes of one length all leave nothing to code; nearly flat ones do.
  return described ?? describe(codeLengths(nearlyFlat(counts.length)))!;
}

function describe(lengths: Uint8Array): number[] | undefined {
  const longest = Math.max(...lengths);
  const weights = lengths.map((length) => longest + 1 - length).subarray(0, lengths.length - 1);
  const weightCounts = new Uint32Array(MAX_BITS + 2);
  for (const weight of weights) weightCounts[weight]!++;
  const present = weightCounts.filter((count) => count > 0).length;
  if (present < 2) return undefined;
  const alphabet = weightCounts.subarray(0, Math.max(...weights) + 1);
  const shares = normalizeCounts(alphabet, WEIGHT_TABLE_LOG);
  const coded = [
    ...encodeTableDescription(shares, WEIGHT_TABLE_LOG),
    ...encodeSymbols(weights, shares, WEIGHT_TABLE_LOG),
  ];
  return coded.length < 128 ? [coded.length, ...coded] : undefined;
}

function nearlyFlat(count: number): Uint32Array {
  const counts = new Uint32Array(count).fill(2);
  counts[0] = 4;
  counts[count - 3] = 1;
  counts[count - 2] = 1;
  return counts;
}
