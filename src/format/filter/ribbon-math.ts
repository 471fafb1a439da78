import { FILTER_METADATA_BYTES } from './filter-metadata.ts';

/**
 * Sizes of Standard128 Ribbon filters. A filter has slots, in blocks of 128; a block has one segment of 16 bytes a
 * column, and each column halves the rate of false positives. A rate between two powers of two is met by giving
 * one column less to the first blocks. The order of floating-point operations is that of RocksDB.
 * Source: RocksDB util/ribbon_config.cc (one seed in 20 may fail), util/ribbon_impl.h.
 */

/** Bits of a coefficient row, and slots of a block. */
export const RIBBON_ROW_BITS = 128;
export const SEGMENT_BYTES = 16;
export const RIBBON_COLUMNS_MAX = 32;
/** Beyond it a Bloom filter is written. */
export const RIBBON_ENTRIES_MAX = 950_000_000;
const SLOTS_MIN = 2 * RIBBON_ROW_BITS;
/** A result row has 32 bits: no rate is below 1 in 2^32 - 1. */
const RESULT_ROW_MAX = 0xffffffff;

/** How many hashes 2^8, 2^9 .. 2^17 slots take. */
const ENTRIES_BY_LOG2: readonly number[] = [
  248.851, 499.532, 1001.26, 2003.97, 4005.59, 8000.39, 15966.6, 31828.1, 63447.3, 126506,
];
const LOG2_MIN = 8;
const LOG2_MAX = LOG2_MIN + ENTRIES_BY_LOG2.length - 1;
/** What each doubling adds to the ratio of slots to hashes. */
const FACTOR_PER_DOUBLING = 0.0038;
const BASE_FACTOR = 2 ** LOG2_MAX / ENTRIES_BY_LOG2.at(-1)! - LOG2_MAX * FACTOR_PER_DOUBLING;
// biome-ignore lint/suspicious/noApproximativeNumericConstant: the digits that RocksDB has, on which sizes depend
const LOG2_E = 1.4426950409;

function factorForLarge(log2Slots: number): number {
  return BASE_FACTOR + log2Slots * FACTOR_PER_DOUBLING;
}

function entriesForPowerOfTwo(log2Slots: number): number {
  if (log2Slots < LOG2_MIN) return 0;
  if (log2Slots <= LOG2_MAX) return ENTRIES_BY_LOG2[log2Slots - LOG2_MIN]!;
  return 2 ** log2Slots / factorForLarge(log2Slots);
}

/** Slots for `count` hashes, not yet in whole blocks. */
export function ribbonRawSlots(count: number): number {
  let log2Slots = Math.trunc(Math.log(count) * LOG2_E + 0.5);
  let lower = entriesForPowerOfTwo(log2Slots);
  if (lower === 0) return SLOTS_MIN;
  let upper: number;
  if (count < lower) {
    upper = lower;
    log2Slots--;
    lower = entriesForPowerOfTwo(log2Slots);
  } else {
    upper = entriesForPowerOfTwo(log2Slots + 1);
  }
  const portion = (count - lower) / (upper - lower);
  const slots = 2 ** log2Slots;
  return Math.trunc(portion * slots + slots + 0.999999999);
}

/** Slots for `count` hashes, in whole blocks: at least two. */
export function ribbonSlots(count: number): number {
  return roundUpSlots(ribbonRawSlots(count));
}

function roundUpSlots(slots: number): number {
  const rounded = Math.ceil(slots / RIBBON_ROW_BITS) * RIBBON_ROW_BITS;
  return rounded === RIBBON_ROW_BITS ? SLOTS_MIN : rounded;
}

function roundDownSlots(slots: number): number {
  const rounded = Math.floor(slots / RIBBON_ROW_BITS) * RIBBON_ROW_BITS;
  return rounded === RIBBON_ROW_BITS ? 0 : rounded;
}

/**
 * Data bytes for a rate of one false positive in `oneIn`. `bias` (uint32) decides whether a block that the rate
 * splits gets the column more: 0 always, 2^32 - 1 never.
 */
export function ribbonBytes(slots: number, oneIn: number, bias: number): number {
  if (!(oneIn > 1) || !(1 / oneIn < 1)) return SEGMENT_BYTES;
  if (oneIn > RESULT_ROW_MAX) return slots * 4;
  const columns = floorLog2(Math.trunc(oneIn));
  const lowerRate = 1 / 2 ** columns;
  const upperRate = 1 / 2 ** (columns + 1);
  const portion = (1 / oneIn - upperRate) / (lowerRate - upperRate);
  const rounding = (bias + 0.5) / 2 ** 32;
  const starts = slots - RIBBON_ROW_BITS + 1;
  const blocks = slots / RIBBON_ROW_BITS;
  const lowerBlocks = Math.trunc((portion * starts + rounding) / RIBBON_ROW_BITS);
  return SEGMENT_BYTES * (blocks * columns + blocks - lowerBlocks);
}

/** How many hashes `slots` slots take, in whole blocks. */
function entriesForSlots(slots: number): number {
  if (slots === 0) return 0;
  const log2Slots = Math.log(slots) * LOG2_E;
  const floor = Math.trunc(log2Slots);
  if (floor >= LOG2_MAX) return Math.trunc(slots / factorForLarge(log2Slots));
  const portion = slots / 2 ** floor - 1;
  return Math.trunc(portion * entriesForPowerOfTwo(floor + 1) + (1 - portion) * entriesForPowerOfTwo(floor));
}

/**
 * How many hashes a filter of `size` bytes, metadata included, has room for; `bloomEntries` is the same for the
 * Bloom filter that takes its place when it is small.
 */
export function ribbonEntries(size: number, oneIn: number, bloomEntries: number): number {
  if (!(oneIn > 1)) return RIBBON_ENTRIES_MAX;
  const data = Math.floor(Math.max(0, size - FILTER_METADATA_BYTES) / SEGMENT_BYTES) * SEGMENT_BYTES;
  const slotsMax = (data * 8) / realBitsPerSlot(oneIn);
  if (!(slotsMax < ribbonRawSlots(RIBBON_ENTRIES_MAX))) return RIBBON_ENTRIES_MAX;
  // `slotsMax` is a little too much: one or two steps down reach what fits.
  let slots = roundUpSlots(Math.trunc(slotsMax));
  for (let i = 0; i < 2 && slots > 0 && ribbonBytes(slots, oneIn, 0) > data; i++) {
    slots = roundDownSlots(slots - 1);
  }
  const entries = entriesForSlots(slots);
  return slots < 1024 ? Math.max(bloomEntries, entries) : Math.min(entries, RIBBON_ENTRIES_MAX);
}

/** A little below the bits of a slot at that rate. */
function realBitsPerSlot(oneIn: number): number {
  if (oneIn >= RESULT_ROW_MAX + 1) return RIBBON_COLUMNS_MAX;
  const upperColumns = 1 + floorLog2(Math.trunc(oneIn));
  const upperRate = 1 / 2 ** upperColumns;
  return upperColumns - (1 / oneIn - upperRate) / upperRate;
}

function floorLog2(value: number): number {
  return 31 - Math.clz32(value);
}
