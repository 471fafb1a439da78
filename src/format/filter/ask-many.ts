import type { KeyHash } from '../../hash/key-hash.ts';
import { BLOOM_HASH_SEED, legacyHash32 } from '../../hash/legacy-hash.ts';
import type { FilterReader } from './filter-reader.ts';

/** Keys that one call of the hash kernel takes. */
const BATCH_KEYS = 512;

/** `mayContainHashes` of a filter that has nothing faster. */
export function askHashes(filter: FilterReader, hashes: Uint32Array, count: number, out: Uint8Array): number {
  let found = 0;
  for (let i = 0; i < count; i++) {
    const may = filter.mayContainHash(hashes[2 * i]!, hashes[2 * i + 1]!) ? 1 : 0;
    out[i] = may;
    found += may;
  }
  return found;
}

/** `mayContainMany` of any filter. */
export function askKeys(
  filter: FilterReader,
  hash: KeyHash,
  bytes: Uint8Array,
  offsets: Uint32Array,
  count: number,
  out: Uint8Array,
): number {
  const hashes = new Uint32Array(2 * Math.min(count, BATCH_KEYS));
  let found = 0;
  for (let first = 0; first < count; first += BATCH_KEYS) {
    const batch = Math.min(BATCH_KEYS, count - first);
    hashKeys(filter.hash, hash, bytes, first === 0 ? offsets : offsets.subarray(first), batch, hashes);
    found += filter.mayContainHashes(hashes, batch, first === 0 ? out : out.subarray(first));
  }
  return found;
}

function hashKeys(
  which: FilterReader['hash'],
  hash: KeyHash,
  bytes: Uint8Array,
  offsets: Uint32Array,
  count: number,
  hashes: Uint32Array,
): void {
  if (which === 'xxph3') hash.xxph3Batch(bytes, offsets, count, hashes);
  if (which !== 'bloom_hash') return;
  for (let i = 0; i < count; i++) {
    hashes[2 * i] = legacyHash32(bytes, offsets[i]!, offsets[i + 1]!, BLOOM_HASH_SEED);
  }
}
