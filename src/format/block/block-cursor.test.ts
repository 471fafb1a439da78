/** Cursors over blocks whose restarts are wrong: an error or an end, never a way round in circles. */
import { describe, expect, it, test } from 'vitest';
import { SeededRandom, TEST_SCALE } from '../../../test/support/random.ts';
import { writeFixed32 } from '../../bytes/fixed.ts';
import { CorruptionError } from '../../errors.ts';
import { IndexCursor } from '../index/index-cursor.ts';
import { BlockCursor } from './block-cursor.ts';
import { ParsedBlock } from './parsed-block.ts';

const ENTRIES = 12;
/** shared 0, non-shared 9, value of 2 bytes: handle 1, 1; key of one letter and a trailer. */
const ENTRY_BYTES = 3 + 9 + 2;

/** Whole keys and two varints each, so that it is a data block and an index block. */
function blockWith(restarts: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(ENTRIES * ENTRY_BYTES + 4 * restarts.length + 4);
  for (let i = 0; i < ENTRIES; i++)
    bytes.set([0, 9, 2, 0x61 + i, 1, 7, 0, 0, 0, 0, 0, 0, 1, 1], i * ENTRY_BYTES);
  const start = ENTRIES * ENTRY_BYTES;
  for (const [i, restart] of restarts.entries()) writeFixed32(bytes, start + 4 * i, restart);
  writeFixed32(bytes, bytes.length - 4, restarts.length);
  return bytes;
}

const cursors = (block: ParsedBlock) => {
  const data = new BlockCursor();
  const index = new IndexCursor({ userKeys: false, deltaValues: false, firstKeys: false });
  data.load(block);
  index.load(block);
  return [data, index];
};

it('all entries, both ways', () => {
  for (const cursor of cursors(new ParsedBlock(blockWith([0, 4 * ENTRY_BYTES, 8 * ENTRY_BYTES])))) {
    const keys: number[] = [];
    for (let isAt = cursor.seekToLast(); isAt; isAt = cursor.previous()) keys.push(cursor.key[0]!);
    for (let isAt = cursor.seekToFirst(); isAt; isAt = cursor.next()) keys.push(cursor.key[0]!);
    const ascending = Array.from({ length: ENTRIES }, (_, i) => 0x61 + i);
    expect(keys).toEqual([...ascending.toReversed(), ...ascending]);
  }
});

it('a first restart that is not the first entry', () => {
  const fault = expect.objectContaining({ code: 'block_format' });
  expect(() => new ParsedBlock(blockWith([ENTRY_BYTES, 4 * ENTRY_BYTES]))).toThrow(fault);
});

describe('restarts anywhere', () => {
  test.each(Array.from({ length: 20 * TEST_SCALE }, (_, i) => i))('seed %i', (seed) => {
    const random = new SeededRandom(seed);
    const end = ENTRIES * ENTRY_BYTES + 3;
    for (let round = 0; round < 50; round++) {
      const more = Array.from({ length: random.below(6) }, () =>
        random.chance(0.5) ? random.below(ENTRIES) * ENTRY_BYTES : random.below(end),
      );
      for (const cursor of cursors(new ParsedBlock(blockWith([0, ...more])))) {
        try {
          let steps = 0;
          for (let isAt = cursor.seekToLast(); isAt; isAt = cursor.previous())
            expect(++steps).toBeLessThan(200);
        } catch (error) {
          if (!(error instanceof CorruptionError)) throw error;
        }
      }
    }
  });
});
