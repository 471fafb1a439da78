import { describe, expect, it } from 'vitest';
import { SeededRandom, TEST_SCALE } from '../../../test/support/random.ts';
import { comparableSeqno } from './comparable-seqno.ts';
import { SeqnoSet } from './seqno-set.ts';

const SEED = 4_711;

describe('SeqnoSet', () => {
  const shapes: Record<string, (random: SeededRandom) => bigint> = {
    'close together, repeated': (random) => 1000n + BigInt(random.below(70)),
    scattered: (random) => BigInt(random.below(1e9)) * BigInt(1 + random.below(1000)),
    'up to the largest': (random) => 2n ** 56n - 1n - BigInt(random.below(100)),
    'on both sides of 2^53': (random) => 2n ** 53n - 20n + BigInt(random.below(40)),
  };
  for (const [name, draw] of Object.entries(shapes)) {
    it(`says of every range whether it holds any: ${name}`, () => {
      for (let round = 0; round < 20 * TEST_SCALE; round++) {
        const random = new SeededRandom(SEED + round);
        const seqnos = Array.from({ length: 1 + random.below(100) }, () => draw(random));
        const set = new SeqnoSet(Float64Array.from(seqnos, comparableSeqno));
        for (let i = 0; i < 100; i++) {
          const near = (): bigint => {
            const seqno = random.pick(seqnos) + BigInt(random.below(5)) - 2n;
            return seqno < 0n ? 0n : seqno > 2n ** 56n - 1n ? 2n ** 56n - 1n : seqno;
          };
          const [lower, upper] = [near(), near()];
          expect(
            set.containsRange(comparableSeqno(lower), comparableSeqno(upper)),
            `seed ${SEED + round}: [${lower}, ${upper}]`,
          ).toBe(seqnos.some((seqno) => seqno >= lower && seqno <= upper));
        }
      }
    });
  }

  it('of none holds none', () => {
    expect(new SeqnoSet(new Float64Array(0)).containsRange(0, comparableSeqno(2n ** 56n - 1n))).toBe(false);
  });
});
