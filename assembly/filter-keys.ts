/** Hashes of keys in order of adding, without repetitions. src/format/filter/hash-collector.ts is the twin. */
import { ENDS, HASHES, KEYS, ROLES } from './filter-memory';
import { hashPreview } from './xxh3';

const PREFIX: u32 = 1;
const KEY_OF_PREFIX: u32 = 2;

/** The prefix whose key comes next, u64; the one before it, u64; whether there is one, u64. */
const PREFIXES: usize = memory.data(24, 8);

/** Forgets prefixes: the next filter begins. */
export function resetKeys(): void {
  memory.fill(PREFIXES, 0, 24);
}

/** Hashes the `pending` keys of the batch behind the `count` hashes that are there; returns how many there are then. */
export function addKeys(pending: i32, count: i32): i32 {
  if (pending == 0) return count;
  let to = hashAt(count);
  let start = KEYS;
  // With no hash before it the first one is new.
  let last = count > 0 ? load<u64>(to - 8) : ~hashPreview(KEYS, load<u32>(ENDS) - <u32>KEYS);
  for (let i = 0; i < pending; i++) {
    const end = <usize>load<u32>(ENDS + (<usize>i << 2));
    const hash = hashPreview(start, end - start);
    // One that repeats the last is written over by the next.
    store<u64>(to, hash);
    to += hash == last ? 0 : 8;
    last = hash;
    start = end;
  }
  return <i32>((to - HASHES) >> 3);
}

/** The same for keys, prefixes and keys behind their prefixes, as ROLES says. */
export function addKeysAndPrefixes(pending: i32, count: i32): i32 {
  let start = KEYS;
  for (let i: usize = 0; i < <usize>pending; i++) {
    const end = <usize>load<u32>(ENDS + (i << 2));
    count = enter(hashPreview(start, end - start), load<u8>(ROLES + i), count);
    start = end;
  }
  return count;
}

/** The same for one hash, of a key that is longer than a batch, or whose hash the caller has. */
export function addHash(lo: u32, hi: u32, role: u32, count: i32): i32 {
  return enter((<u64>hi << 32) | <u64>lo, role, count);
}

function enter(hash: u64, role: u32, count: i32): i32 {
  if (role == PREFIX) {
    store<u64>(PREFIXES, hash);
    return count;
  }
  if (role != KEY_OF_PREFIX) return isLast(hash, count) ? count : push(hash, count);
  // Prefixes come first, so that the last hash is a key's, to be compared with the next key's.
  const prefix = load<u64>(PREFIXES);
  const lastPrefix = load<u64>(PREFIXES, 8);
  const hasLastPrefix = load<u64>(PREFIXES, 16) != 0;
  const repeatsKey = isLast(hash, count);
  const repeatsPrefix = hasLastPrefix && prefix == lastPrefix;
  if (!repeatsPrefix && hash != prefix && !isLast(prefix, count)) count = push(prefix, count);
  store<u64>(PREFIXES, prefix, 8);
  store<u64>(PREFIXES, 1, 16);
  // In reverse order a key that is the prefix itself comes last of its group.
  const isLastPrefix = hasLastPrefix && hash == lastPrefix;
  return repeatsKey || isLastPrefix ? count : push(hash, count);
}

// @ts-ignore: decorator
@inline
function isLast(hash: u64, count: i32): bool {
  return count > 0 && load<u64>(hashAt(count) - 8) == hash;
}

// @ts-ignore: decorator
@inline
function push(hash: u64, count: i32): i32 {
  store<u64>(hashAt(count), hash);
  return count + 1;
}

// @ts-ignore: decorator
@inline
function hashAt(index: i32): usize {
  return HASHES + (<usize>index << 3);
}
