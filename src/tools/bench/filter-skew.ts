import type { FilterBenchMode } from './filter-params.ts';
import type { Random32 } from './random32.ts';

const UINT32_MAX = 0xffffffff;

/** The first `primaryCount` filters get the queries whose draw is at most `primaryMax`, the others the rest. */
export interface Skew {
  readonly primaryCount: number;
  readonly primaryMax: number;
  readonly secondaryCount: number;
}

export function drawFilter(random: Random32, { primaryCount, primaryMax, secondaryCount }: Skew): number {
  if (random.uint32() <= primaryMax) return random.below(primaryCount);
  return primaryCount + random.below(secondaryCount);
}

/** Which filters a mode asks how often; undefined where there are too few for it. */
export function skewOf(mode: FilterBenchMode, filters: number): Skew | undefined {
  const skew = primaryOf(mode, filters);
  return skew && { ...skew, secondaryCount: filters - skew.primaryCount };
}

function primaryOf(mode: FilterBenchMode, filters: number): Omit<Skew, 'secondaryCount'> | undefined {
  switch (mode) {
    case 'single':
      return { primaryCount: 1, primaryMax: UINT32_MAX };
    case 'fifty_one':
      if (filters < 50) return undefined;
      return { primaryCount: Math.floor((filters + 99) / 100), primaryMax: Math.floor(UINT32_MAX / 2) };
    case 'eighty_twenty':
      if (filters < 5) return undefined;
      return { primaryCount: Math.floor((filters + 4) / 5), primaryMax: Math.floor(UINT32_MAX / 5) * 4 };
    case 'random':
      if (filters === 1) return undefined;
      return { primaryCount: filters, primaryMax: UINT32_MAX };
    default:
      return { primaryCount: filters, primaryMax: UINT32_MAX };
  }
}
