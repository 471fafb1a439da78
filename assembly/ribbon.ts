/**
 * The equations of a Ribbon filter and their solution. src/format/filter/ribbon-solve.ts is the twin, and says what the
 * numbers mean.
 */
import { HASHES } from './filter-memory';
import { coefficientsOf, lowRow, rehash, startOf } from './ribbon-equation';

const BLOCK_SLOTS: i32 = 128;
const COLUMNS_MAX: i32 = 32;

/** The last 128 bits of each column. */
const STATES: usize = memory.data(16 * 32, 16);

/**
 * Enters the equations of the first `count` hashes: `rows` and `results` have 16 and 4 bytes for each of `slots` slots.
 * Returns 1, or 0 when two equations contradict each other.
 */
export function enterEquations(count: i32, rows: usize, results: usize, slots: u32, rawSeed: u32): i32 {
  memory.fill(rows, 0, <usize>slots << 4);
  memory.fill(results, 0, <usize>slots << 2);
  const starts = <u64>(slots - BLOCK_SLOTS + 1);
  const end = HASHES + (<usize>count << 3);
  for (let p = HASHES; p < end; p += 8) {
    const hash = rehash(load<u64>(p), rawSeed);
    const high = coefficientsOf(hash);
    if (!enter(rows, results, startOf(hash, starts), lowRow(high), high)) return 0;
  }
  return 1;
}

/** Gaussian elimination: what is in the slot is taken away, and the rest moved to its first coefficient. */
// @ts-ignore: decorator
@inline
function enter(rows: usize, results: usize, slot: usize, low: u64, high: u64): bool {
  let result = bswap<u32>(<u32>(high >> 32));
  let at = rows + (slot << 4);
  // The first coefficient of a stored row is always 1.
  for (let there = load<u64>(at); there != 0; there = load<u64>(at)) {
    low ^= there;
    high ^= load<u64>(at, 8);
    result ^= load<u32>(results + (slot << 2));
    if (low == 0) {
      if (high == 0) return result == 0;
      low = high;
      high = 0;
      slot += 64;
    }
    const zeros = ctz(low);
    low = (low >> zeros) | ((high << 1) << (63 - zeros));
    high >>= zeros;
    slot += <usize>zeros;
    at = rows + (slot << 4);
  }
  store<u64>(at, low);
  store<u64>(at, high, 8);
  store<u32>(results + (slot << 2), result);
  return true;
}

/**
 * Solves for the slots from last to first and puts the segments to `out`. Blocks from `shortBlocks` on have `columns`
 * columns, those before one less.
 */
export function substituteBack(
  rows: usize,
  results: usize,
  out: usize,
  blocks: i32,
  columns: i32,
  shortBlocks: i32,
): void {
  memory.fill(STATES, 0, 16 * COLUMNS_MAX);
  let to = out + ((<usize>blocks * <usize>columns - <usize>shortBlocks) << 4);
  for (let block = blocks - 1; block >= 0; block--) {
    const first = <usize>block * BLOCK_SLOTS;
    for (let column = 0; column < columns; column += 4) {
      fourColumns(STATES + (<usize>column << 4), rows + (first << 4), results + (first << 2), column);
    }
    const width = block < shortBlocks ? columns - 1 : columns;
    to -= <usize>width << 4;
    memory.copy(to, STATES, <usize>width << 4);
  }
}

/** One block of four columns, whose states are held in registers. Columns that are not there cost nothing more. */
function fourColumns(states: usize, rows: usize, results: usize, column: u32): void {
  let low0 = load<u64>(states);
  let high0 = load<u64>(states, 8);
  let low1 = load<u64>(states, 16);
  let high1 = load<u64>(states, 24);
  let low2 = load<u64>(states, 32);
  let high2 = load<u64>(states, 40);
  let low3 = load<u64>(states, 48);
  let high3 = load<u64>(states, 56);
  for (let slot = BLOCK_SLOTS - 1; slot >= 0; slot--) {
    const at = rows + (<usize>slot << 4);
    const low = load<u64>(at);
    const high = load<u64>(at, 8);
    const result = <u64>(load<u32>(results + (<usize>slot << 2)) >> column);
    high0 = (high0 << 1) | (low0 >> 63);
    low0 <<= 1;
    low0 |= (popcnt((low0 & low) ^ (high0 & high)) ^ result) & 1;
    high1 = (high1 << 1) | (low1 >> 63);
    low1 <<= 1;
    low1 |= (popcnt((low1 & low) ^ (high1 & high)) ^ (result >> 1)) & 1;
    high2 = (high2 << 1) | (low2 >> 63);
    low2 <<= 1;
    low2 |= (popcnt((low2 & low) ^ (high2 & high)) ^ (result >> 2)) & 1;
    high3 = (high3 << 1) | (low3 >> 63);
    low3 <<= 1;
    low3 |= (popcnt((low3 & low) ^ (high3 & high)) ^ (result >> 3)) & 1;
  }
  store<u64>(states, low0);
  store<u64>(states, high0, 8);
  store<u64>(states, low1, 16);
  store<u64>(states, high1, 24);
  store<u64>(states, low2, 32);
  store<u64>(states, high2, 40);
  store<u64>(states, low3, 48);
  store<u64>(states, high3, 56);
}
