import { describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../test/support/random.ts';
import { utf8Bytes } from '../../../bytes/text.ts';
import { encodeTableDescription, normalizeCounts } from './fse.ts';
import { codeLengths } from './huffman.ts';
import { sampleBlocks } from './samples.ts';
import { indexSamples, selectContent } from './select-content.ts';
import { MatchCounter } from './sequence-statistics.ts';
import { trainDictionary } from './train-dictionary.ts';

const block = (byte: number, length: number) => ({ bytes: new Uint8Array(length + 5).fill(byte), length });

describe('sampleBlocks', () => {
  it('starts in the middle and steps through all blocks, the last one cut', () => {
    // 545055921143 mod 10 is 3.
    const blocks = Array.from({ length: 10 }, (_, i) => block(i, 2));
    const { bytes, ends } = sampleBlocks(blocks, 7);
    expect([...bytes]).toEqual([5, 5, 8, 8, 1, 1, 4]);
    expect(ends).toEqual([2, 4, 6, 7]);
    expect([...sampleBlocks(blocks, 100).bytes].filter((_, i) => i % 2 === 0)).toEqual([
      5, 8, 1, 4, 7, 0, 3, 6, 9, 2,
    ]);
    expect(sampleBlocks([], 100)).toEqual({ bytes: new Uint8Array(0), ends: [] });
  });
});

describe('selectContent', () => {
  it('takes what many samples have in common, the best of it last', () => {
    let state = 1;
    const noise = () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state >>> 24;
    };
    const common = utf8Bytes('the quick brown fox jumps over the lazy dog and runs away from it');
    const blocks = Array.from({ length: 60 }, () => {
      const bytes = Uint8Array.from({ length: 400 }, noise);
      bytes.set(common, noise());
      return { bytes, length: 400 };
    });
    const samples = sampleBlocks(blocks, 30_000);
    for (const mer of [6, 8]) {
      const content = selectContent(indexSamples(samples, mer), 200, 64);
      const text = String.fromCharCode(...content);
      expect(text).toContain('quick brown fox');
    }
  });

  it('takes all of what is no more than the dictionary', () => {
    const samples = sampleBlocks([block(7, 30)], 100);
    expect(selectContent(indexSamples(samples, 6), 1000, 64)).toEqual(new Uint8Array(30).fill(7));
    expect(selectContent(indexSamples(sampleBlocks([], 100), 6), 1000, 64).length).toBe(0);
  });
});

it('where samples have nothing in common there is no dictionary', () => {
  const random = new SeededRandom(1);
  expect(trainDictionary({ bytes: random.bytes(9000), ends: [9000] }, 4000)).toEqual(new Uint8Array(0));
});

describe('entropy tables', () => {
  it('give every symbol that occurs a share, and use the whole table', () => {
    for (const counts of [[1, 1], [1000, 1, 1, 1], [0, 5, 0, 0, 9, 1], new Array(36).fill(1), [1, 2 ** 20]]) {
      for (const log of [6, 8, 9]) {
        const shares = normalizeCounts(counts, log);
        expect(shares.reduce((sum, share) => sum + Math.abs(share), 0)).toBe(2 ** log);
        counts.forEach((count: number, i: number) => {
          expect(shares[i] === 0).toBe(count === 0);
        });
      }
    }
  });

  it('are described so that a reader of RFC 8878 gets the shares back', () => {
    let state = 5;
    const random = (below: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * below);
    };
    for (let round = 0; round < 300; round++) {
      const log = 5 + random(5);
      const counts = Array.from({ length: 2 + random(30) }, () =>
        random(3) === 0 ? 0 : random(2 ** random(20)),
      );
      counts.push(1 + random(50));
      const shares = normalizeCounts(counts, log);
      const decoded = decodeTableDescription(Uint8Array.from(encodeTableDescription(shares, log)));
      expect(decoded).toEqual({ log, shares: [...shares] });
    }
  });

  it('have codes of at most 11 bits that fill the tree', () => {
    const steep = Uint32Array.from({ length: 256 }, (_, i) => Math.floor(1.12 ** i) + 1);
    for (const counts of [
      steep,
      new Uint32Array(256).fill(3),
      Uint32Array.of(5, 9),
      Uint32Array.of(1, 1, 1),
    ]) {
      const lengths = codeLengths(counts);
      expect(Math.max(...lengths)).toBeLessThanOrEqual(11);
      expect(lengths.reduce((sum, length) => sum + 2 ** -length, 0)).toBe(1);
    }
  });
});

describe('MatchCounter', () => {
  it('counts literals and matches, each block behind the dictionary alone', () => {
    const dictionary = utf8Bytes('once upon a time there was a king');
    const counter = new MatchCounter(dictionary, 100);
    const text = utf8Bytes('XXonce upon a time there was a queenYonce upon a time');
    counter.add(text, 0, text.length);
    const { statistics } = counter;
    const sum = (counts: Uint32Array) => counts.reduce((total, count) => total + count, 0);
    const matches = sum(statistics.offsets);
    expect(matches).toBeGreaterThanOrEqual(2);
    expect(sum(statistics.matchLengths)).toBe(matches);
    expect(sum(statistics.literals)).toBeLessThan(20);
    expect(statistics.literals[88]).toBe(2);
    const before = sum(statistics.literals);
    // What the block before had is not there any more.
    const other = utf8Bytes('queenY queenY!');
    counter.add(other, 0, other.length);
    expect(sum(statistics.literals) - before).toBeGreaterThan(5);
  });
});

/** The other direction, as RFC 8878 describes it in section 4.1.1. */
function decodeTableDescription(bytes: Uint8Array): { log: number; shares: number[] } {
  let pos = 0;
  const peek = (count: number) => {
    let value = 0;
    for (let i = 0; i < count; i++) value |= (((bytes[(pos + i) >> 3] ?? 0) >> ((pos + i) & 7)) & 1) << i;
    return value;
  };
  const read = (count: number) => {
    const value = peek(count);
    pos += count;
    return value;
  };
  const log = read(4) + 5;
  const shares: number[] = [];
  let remaining = 2 ** log + 1;
  while (remaining > 1) {
    const width = 32 - Math.clz32(remaining);
    let value = peek(width);
    const lower = 2 ** (width - 1) - 1;
    const threshold = 2 ** width - 1 - remaining;
    if ((value & lower) < threshold) {
      pos += width - 1;
      value &= lower;
    } else {
      pos += width;
      if (value > lower) value -= threshold;
    }
    const share = value - 1;
    shares.push(share);
    remaining -= Math.abs(share);
    if (share !== 0) continue;
    for (let repeats = 3; repeats === 3; ) {
      repeats = read(2);
      for (let i = 0; i < repeats; i++) shares.push(0);
    }
  }
  return { log, shares };
}
