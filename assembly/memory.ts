/**
 * Memory of the module. It never grows, so views on it never detach.
 *
 *   0         static data: CRC table, secret, states, table of allowed type bytes
 *   64 KiB    INPUT: bytes to hash or to uncompress, written by the caller
 *   192 KiB   OFFSETS: BATCH_KEYS + 1 offsets of a key batch, u32
 *   224 KiB   HASHES: BATCH_KEYS results of a key batch, u64
 *   256 KiB   UNPACKED: what a block uncompresses to, and slack
 *   388 KiB   SOURCE: bytes to print, written by the caller, and slack
 *   520 KiB   TEXT: what they are printed to, and slack
 *   780 KiB   KEY: a short run of bytes to print, written by the caller, and slack
 *   832 KiB   end
 *
 * Loops that copy 16 bytes at once reach up to 64 bytes into the slack behind a region.
 */
export const INPUT: usize = 0x10000;
export const INPUT_BYTES: i32 = 0x20000;
export const OFFSETS: usize = 0x30000;
export const HASHES: usize = 0x38000;
export const BATCH_KEYS: i32 = 4096;
export const UNPACKED: usize = 0x40000;
export const UNPACKED_BYTES: i32 = 0x20000;
export const SOURCE: usize = 0x61000;
export const SOURCE_BYTES: i32 = 0x20000;
export const TEXT: usize = 0x82000;
export const TEXT_BYTES: i32 = 0x40000;
export const KEY: usize = 0xc3000;
export const KEY_BYTES: i32 = 64;

/**
 * High half of the last 64-bit hash. A u32 result and a word in memory cost 2 ns; an i64 result turns into a BigInt
 * (12 ns and an allocation), and reading an exported global takes 10 ns.
 */
export const HIGH: usize = memory.data(4, 4);

/** Splits a 64-bit result: the high half into memory, the low half to the caller. */
export function split(hash: u64): i32 {
  store<u32>(HIGH, <u32>(hash >> 32));
  return <i32>hash;
}
