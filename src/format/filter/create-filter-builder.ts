import type { KeyHash } from '../../hash/key-hash.ts';
import { FastLocalBloomBuilder } from './bloom-builder.ts';
import type { FilterBuilder } from './filter-builder.ts';
import { type FilterPolicy, filterKindOf, type TableOrigin } from './filter-policy.ts';
import { LegacyBloomBuilder } from './legacy-bloom-builder.ts';
import { RibbonBuilder } from './ribbon-builder.ts';

/** The builder that a policy has for a table; undefined where it writes no filter. */
export function createFilterBuilder(
  policy: FilterPolicy,
  origin: TableOrigin,
  hash: KeyHash,
): FilterBuilder | undefined {
  switch (filterKindOf(policy, origin)) {
    case 'fast_local_bloom':
      return new FastLocalBloomBuilder(policy.bitsPerKey, hash);
    case 'legacy_bloom':
      return new LegacyBloomBuilder(policy.bitsPerKey, hash);
    case 'ribbon':
      return new RibbonBuilder(policy.bitsPerKey, hash);
    case undefined:
      return undefined;
  }
}
