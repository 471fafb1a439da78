import { snappyCompressor } from 'hysnappy';
import { describe, expect, it } from 'vitest';
import { openKernels } from '../kernels/open-kernels.ts';
import { SnappyDecoder } from './snappy.ts';

const compress = snappyCompressor();
const DECODERS = [
  ['the loop', new SnappyDecoder()],
  ['the kernel', new SnappyDecoder(await openKernels())],
] as const;
const SCALE = Number(process.env.SSTKIT_TEST_SCALE ?? 1);

/** A small generator with a seed: the same bytes in every run. */
function randomNumbers(seed: number): () => number {
  return () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

function sample(random: () => number): Uint8Array {
  const length = Math.floor(random() ** 3 * 70_000);
  const bytes = new Uint8Array(length);
  const alphabet = 1 + Math.floor(random() * 255);
  for (let i = 0; i < length; ) {
    if (i > 0 && random() < 0.3) {
      const from = Math.floor(random() * i);
      for (let n = Math.floor(random() * 90); n > 0 && i < length; n--)
        bytes[i] = bytes[from + ((i++ - from) % (i - from || 1))]!;
    }
    if (i < length) bytes[i++] = Math.floor(random() * alphabet);
  }
  return bytes;
}

describe.each(DECODERS)('%s', (_name, decoder) => {
  it('decodes what hysnappy compresses, block behind block', () => {
    for (let seed = 1; seed <= 60 * SCALE; seed++) {
      const random = randomNumbers(seed);
      const blocks = Array.from({ length: 4 }, () => sample(random));
      const output = new Uint8Array(blocks.reduce((sum, { length }) => sum + length, 0));
      let at = 0;
      for (const block of blocks) {
        const stored = compress(block);
        expect(decoder.decode(stored, 0, stored.length, output, at, block.length), `seed ${seed}`).toBe(true);
        at += block.length;
      }
      at = 0;
      for (const block of blocks) {
        expect(Buffer.compare(output.subarray(at, at + block.length), block), `seed ${seed}`).toBe(0);
        at += block.length;
      }
    }
  });

  it('refuses damaged blocks, and writes nothing far behind them', () => {
    for (let seed = 1; seed <= 300 * SCALE; seed++) {
      const random = randomNumbers(seed);
      const block = sample(random).subarray(0, 2000);
      const stored = compress(block).slice();
      const cut = stored.subarray(0, Math.floor(random() * stored.length));
      stored[Math.floor(random() * stored.length)]! ^= 1 << Math.floor(random() * 8);
      const output = new Uint8Array(block.length + 64).fill(0xee);
      decoder.decode(stored, 0, stored.length, output, 16, block.length);
      expect(decoder.decode(cut, 0, cut.length, output, 16, block.length + 1)).toBe(false);
      expect(output.subarray(0, 16).every((byte) => byte === 0xee)).toBe(true);
      expect(output.subarray(16 + block.length + 4).every((byte) => byte === 0xee)).toBe(true);
    }
  });

  it.each([
    ['an offset of 0', [4, 0x00, 0x61, 0x01, 0x00]],
    ['an offset before the block', [5, 0x00, 0x61, 0x01, 0x02]],
    ['a literal that is cut off', [5, 0x10, 0x61]],
    ['a length that is cut off', [5, 0xf4]],
    ['more than was declared', [1, 0x04, 0x61, 0x62]],
    ['less than was declared', [9, 0x04, 0x61, 0x62]],
  ])('refuses %s', (_, bytes) => {
    const input = Uint8Array.from(bytes);
    expect(decoder.decode(input, 0, input.length, new Uint8Array(64), 0, bytes[0]!)).toBe(false);
  });
});
