/**
 * Memory of the filter module, which the caller makes and imports, as large as one filter needs. A larger filter gets a
 * new memory: growing one would detach the views on it, which makes V8 check every view of the process from then on.
 *
 *   0         static data: secret of the hash, lanes, what is known of the last prefix
 *   64 KiB    KEYS: bytes of the keys of a batch, one behind the other, written by the caller
 *   80 KiB    ENDS: where each of them ends, as u32 address
 *   84 KiB    ROLES: what each of them is, u8
 *   88 KiB    HASHES: as many hashes as were added, u64; of legacy filters u32, written by the caller
 *   behind    where the caller says: rows and results of a Ribbon filter, the filter's data
 */
export const KEYS: usize = 0x10000;
export const KEYS_BYTES: i32 = 0x4000;
export const ENDS: usize = 0x14000;
export const KEYS_MAX: i32 = 0x400;
export const ROLES: usize = 0x15000;
export const HASHES: usize = 0x16000;
