import { expect, it } from 'vitest';
import { ByteArena } from '../../src/format/byte-arena.ts';
import { SeededRandom } from '../support/random.ts';

it('gives back what was put in, short, long and larger than its pieces', () => {
  const random = new SeededRandom(7);
  const arena = new ByteArena();
  const strings: Uint8Array[] = [];
  const lengths = [0, 1, 127, 128, 300 * 1024, 0, 256 * 1024 - 3, 256 * 1024 - 2, 5];
  for (let i = 0; i < 40_000; i++) lengths.push(random.below(60));
  for (const length of lengths) {
    const bytes = Uint8Array.from({ length: Math.min(length, 50) }, () => random.below(256));
    const string = new Uint8Array(length);
    string.set(bytes);
    const padded = new Uint8Array(length + 4);
    padded.set(string, 2);
    arena.push(padded, 2, 2 + length);
    strings.push(string);
  }
  expect(arena.count).toBe(strings.length);
  strings.forEach((string, i) => {
    if (Buffer.compare(arena.at(i), string) !== 0) expect.fail(`string ${i} of ${string.length} bytes`);
  });
});
