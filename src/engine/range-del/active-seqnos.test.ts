import { expect, it } from 'vitest';
import { SeededRandom, TEST_SCALE } from '../../../test/support/random.ts';
import { ActiveSeqnos } from './active-seqnos.ts';

const SEED = 815;

it('keeps its sequence numbers in descending order through insertions and removals, short and long', () => {
  for (let round = 0; round < 5 * TEST_SCALE; round++) {
    const random = new SeededRandom(SEED + round);
    const active = new ActiveSeqnos();
    const model: { seqno: number; tombstone: number }[] = [];
    for (let tombstone = 0; tombstone < 400; tombstone++) {
      if (model.length > 0 && random.chance(tombstone < 200 ? 0.2 : 0.6)) {
        const [{ seqno, tombstone: gone }] = model.splice(random.below(model.length), 1) as [
          (typeof model)[0],
        ];
        active.remove(seqno, gone);
      } else {
        const seqno = random.below(150);
        active.insertAt(active.positionOf(seqno), seqno, tombstone);
        model.push({ seqno, tombstone });
      }
      const target = new Float64Array(3 + active.count).fill(-1);
      active.copySeqnos(target, 3);
      const wanted = model.map(({ seqno }) => seqno).sort((a, b) => b - a);
      expect([...target], `seed ${SEED + round}`).toEqual([-1, -1, -1, ...wanted]);
      const pairs = wanted.map((seqno, i) => `${seqno} ${active.tombstones[i]}`);
      expect(pairs.sort()).toEqual(model.map((entry) => `${entry.seqno} ${entry.tombstone}`).sort());
    }
  }
});
