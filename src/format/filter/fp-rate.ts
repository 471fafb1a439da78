import { fastLocalBloomFpRate } from './bloom-math.ts';
import type { FilterFacts } from './filter-metadata.ts';
import { ribbonLayout } from './ribbon-layout.ts';

/**
 * The share of absent keys that a filter with `entries` hashes lets pass, by the arithmetic of its kind; 1 where all
 * pass, 0 where none does.
 */
export function expectedFpRate(facts: FilterFacts, entries: number): number {
  switch (facts.kind) {
    case 'always_true':
      return 1;
    case 'always_false':
      return 0;
    case 'ribbon': {
      const { columns, shortBlocks } = ribbonLayout(facts.dataBytes, facts.blocks);
      const short = shortBlocks / facts.blocks;
      return short * 2 ** (1 - columns) + (1 - short) * 2 ** -columns;
    }
    default: {
      if (entries <= 0) return 0;
      return fastLocalBloomFpRate((8 * facts.dataBytes) / entries, facts.probes);
    }
  }
}
