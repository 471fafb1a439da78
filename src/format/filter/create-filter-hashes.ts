import type { KeyHash } from '../../hash/key-hash.ts';
import type { FilterHashes } from './filter-hashes.ts';
import { HashCollector } from './hash-collector.ts';
import { KernelHashCollector } from './kernel-hash-collector.ts';

/** By the kernel, where there is one. */
export function createFilterHashes(hash: KeyHash): FilterHashes {
  const { filterKernel } = hash;
  return filterKernel === undefined ? new HashCollector(hash) : new KernelHashCollector(hash, filterKernel);
}
