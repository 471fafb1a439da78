/**
 * What a compressor with a dictionary makes of blocks: matches into the dictionary and the block itself, and the
 * literals between them, counted by the codes that zstd writes for them. A plain greedy search stands in for
 * zstd's own; its counts are close enough to make tables of.
 * Source of the codes: RFC 8878, section 3.1.1.3.2.1.1.
 */
export class SequenceStatistics {
  readonly literals = new Uint32Array(256);
  readonly literalLengths = new Uint32Array(LITERAL_LENGTH_CODES);
  readonly matchLengths = new Uint32Array(MATCH_LENGTH_CODES);
  readonly offsets = new Uint32Array(OFFSET_CODES);
  /** Bits that follow the codes. */
  extraBits = 0;

  /** Bits that all of it takes with tables that fit perfectly. */
  get estimatedBits(): number {
    return (
      this.extraBits +
      entropyBits(this.literals) +
      entropyBits(this.literalLengths) +
      entropyBits(this.matchLengths) +
      entropyBits(this.offsets)
    );
  }

  addLiteral(byte: number): void {
    this.literals[byte]!++;
  }

  /** `offsetValue` as zstd counts: 1 to 3 repeat an offset, others are the offset plus 3. */
  addSequence(literalLength: number, matchLength: number, offsetValue: number): void {
    const literalCode = literalLengthCode(literalLength);
    const matchCode = matchLengthCode(matchLength);
    const offsetCode = 31 - Math.clz32(offsetValue);
    this.literalLengths[literalCode]!++;
    this.matchLengths[matchCode]!++;
    this.offsets[offsetCode]!++;
    this.extraBits += LITERAL_LENGTH_BITS[literalCode]! + MATCH_LENGTH_BITS[matchCode]! + offsetCode;
  }
}

export const LITERAL_LENGTH_CODES = 36;
export const MATCH_LENGTH_CODES = 53;
const OFFSET_CODES = 32;

/** First lengths of the codes that stand for several, and the bits that tell which. */
const LITERAL_LENGTH_STARTS = [
  16, 18, 20, 22, 24, 28, 32, 40, 48, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536,
];
const MATCH_LENGTH_STARTS = [
  35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99, 131, 259, 515, 1027, 2051, 4099, 8195, 16387, 32771, 65539,
];
const LITERAL_LENGTH_BITS = extraBitsOf(LITERAL_LENGTH_STARTS, 16);
const MATCH_LENGTH_BITS = extraBitsOf(MATCH_LENGTH_STARTS, 32);
const MIN_MATCH = 3;

function extraBitsOf(starts: readonly number[], direct: number): number[] {
  const bits = new Array<number>(direct).fill(0);
  for (let i = 0; i < starts.length; i++) {
    const next = starts[i + 1];
    bits.push(next === undefined ? 16 : Math.log2(next - starts[i]!));
  }
  return bits;
}

function literalLengthCode(length: number): number {
  if (length < 16) return length;
  let code = LITERAL_LENGTH_STARTS.length - 1;
  while (LITERAL_LENGTH_STARTS[code]! > length) code--;
  return 16 + code;
}

function matchLengthCode(length: number): number {
  if (length < 35) return length - MIN_MATCH;
  let code = MATCH_LENGTH_STARTS.length - 1;
  while (MATCH_LENGTH_STARTS[code]! > length) code--;
  return 32 + code;
}

function entropyBits(counts: Uint32Array): number {
  let total = 0;
  let sum = 0;
  for (const count of counts) {
    if (count === 0) continue;
    total += count;
    sum += count * Math.log2(count);
  }
  return total === 0 ? 0 : total * Math.log2(total) - sum;
}

const HASH_BITS = 16;
const SHORT_MATCH = 5;
const LONG_MATCH = 8;

/** Searches blocks for matches, each alone behind the dictionary. */
export class MatchCounter {
  readonly statistics = new SequenceStatistics();
  /** The dictionary, and a block behind it. */
  private readonly window: Uint8Array;
  private readonly dictionaryLength: number;
  private readonly shortTable = new Int32Array(1 << HASH_BITS);
  private readonly longTable = new Int32Array(1 << HASH_BITS);
  private readonly shortOfDictionary: Int32Array;
  private readonly longOfDictionary: Int32Array;

  constructor(dictionary: Uint8Array, maxBlockLength: number) {
    this.dictionaryLength = dictionary.length;
    this.window = new Uint8Array(dictionary.length + maxBlockLength + LONG_MATCH);
    this.window.set(dictionary);
    this.shortTable.fill(-1);
    this.longTable.fill(-1);
    for (let i = 0; i + LONG_MATCH <= dictionary.length; i++) this.remember(i);
    this.shortOfDictionary = this.shortTable.slice();
    this.longOfDictionary = this.longTable.slice();
  }

  /** Counts `block[start, end)`, which is at most as long as was said. */
  add(block: Uint8Array, start: number, end: number): void {
    const { window, statistics, dictionaryLength } = this;
    this.shortTable.set(this.shortOfDictionary);
    this.longTable.set(this.longOfDictionary);
    window.set(block.subarray(start, end), dictionaryLength);
    const windowEnd = dictionaryLength + end - start;
    const searchEnd = windowEnd - LONG_MATCH;
    // The offsets to repeat that a dictionary begins with.
    let [first, second, third] = [1, 4, 8];
    let anchor = dictionaryLength;
    let pos = dictionaryLength;
    while (pos <= searchEnd) {
      let from = pos + 1 - first;
      let at = pos + 1;
      let length = pos + 1 <= searchEnd && from >= 0 ? matchLength(window, from, at, windowEnd) : 0;
      if (length < 4) {
        at = pos;
        from = this.find(pos);
        this.remember(pos);
        length = from < 0 ? 0 : matchLength(window, from, at, windowEnd);
      } else {
        this.remember(pos);
      }
      if (length < 4) {
        pos += 1 + ((pos - anchor) >> 8);
        continue;
      }
      while (at > anchor && from > 0 && window[at - 1] === window[from - 1]) {
        at--;
        from--;
        length++;
      }
      const offset = at - from;
      const literalLength = at - anchor;
      for (let i = anchor; i < at; i++) statistics.addLiteral(window[i]!);
      const value = offsetValue(offset, literalLength, first, second, third);
      statistics.addSequence(literalLength, length, value);
      if (offset !== first) {
        if (offset !== second) third = second;
        second = first;
        first = offset;
      }
      const matchEnd = at + length;
      for (let i = at + 1; i < matchEnd && i <= searchEnd; i += 2) this.remember(i);
      pos = matchEnd;
      anchor = matchEnd;
    }
    for (let i = anchor; i < windowEnd; i++) statistics.addLiteral(window[i]!);
  }

  private find(pos: number): number {
    const long = this.longTable[hashLong(this.window, pos)]!;
    if (long >= 0 && equalRun(this.window, long, pos, LONG_MATCH)) return long;
    const short = this.shortTable[hashShort(this.window, pos)]!;
    return short >= 0 && equalRun(this.window, short, pos, SHORT_MATCH) ? short : -1;
  }

  private remember(pos: number): void {
    this.shortTable[hashShort(this.window, pos)] = pos;
    this.longTable[hashLong(this.window, pos)] = pos;
  }
}

/** Repeats count from the second one on where no literal stands before the match. */
function offsetValue(
  offset: number,
  literalLength: number,
  first: number,
  second: number,
  third: number,
): number {
  if (literalLength > 0) {
    if (offset === first) return 1;
    if (offset === second) return 2;
    if (offset === third) return 3;
  } else {
    if (offset === second) return 1;
    if (offset === third) return 2;
    if (offset === first - 1) return 3;
  }
  return offset + 3;
}

function equalRun(bytes: Uint8Array, a: number, b: number, length: number): boolean {
  for (let i = 0; i < length; i++) if (bytes[a + i] !== bytes[b + i]) return false;
  return true;
}

function matchLength(bytes: Uint8Array, from: number, at: number, end: number): number {
  let length = 0;
  while (at + length < end && bytes[from + length] === bytes[at + length]) length++;
  return length;
}

function word(bytes: Uint8Array, pos: number): number {
  return bytes[pos]! | (bytes[pos + 1]! << 8) | (bytes[pos + 2]! << 16) | (bytes[pos + 3]! << 24);
}

function hashShort(bytes: Uint8Array, pos: number): number {
  return (
    (Math.imul(word(bytes, pos), 0x9e3779b1) ^ Math.imul(bytes[pos + 4]!, 0x85ebca77)) >>> (32 - HASH_BITS)
  );
}

function hashLong(bytes: Uint8Array, pos: number): number {
  const mixed = Math.imul(word(bytes, pos), 0x9e3779b1) ^ Math.imul(word(bytes, pos + 4), 0x85ebca77);
  return Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) >>> (32 - HASH_BITS);
}
