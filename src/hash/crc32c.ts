/**
 * CRC-32C (Castagnoli): reflected polynomial 0x82f63b78, initial value and final xor 0xffffffff.
 * "123456789" gives e3069283. Slicing-by-8: eight lookups take in eight bytes.
 * Source: RocksDB util/crc32c.cc; the method: Kounavis and Berry, 2005.
 */

const POLYNOMIAL = 0x82f63b78;
const MASK_DELTA = 0xa282ead8;

/** `crc` is the CRC of what came before: 0 at the start. */
export type Crc32c = (bytes: Uint8Array, start: number, end: number, crc?: number) => number;

/** Makes the function with its table of 8 KiB (about 10 us). */
export function createCrc32c(): Crc32c {
  const table = crcTable();
  return (bytes, start, end, crc = 0) => ~updateRegister(table, ~crc, bytes, start, end) >>> 0;
}

/**
 * RocksDB and LevelDB never store a plain CRC: a CRC over data that holds CRCs is weak.
 * rotate right by 15, plus 0xa282ead8 mod 2^32.
 */
export function maskCrc32c(crc: number): number {
  return (((crc >>> 15) | (crc << 17)) + MASK_DELTA) >>> 0;
}

/** The plain CRC of a masked one. */
export function unmaskCrc32c(masked: number): number {
  const x = (masked - MASK_DELTA) >>> 0;
  return ((x << 15) | (x >>> 17)) >>> 0;
}

/** Entry k * 256 + b: what byte b adds to the register when k zero bytes follow it. */
function crcTable(): Int32Array {
  const table = new Int32Array(8 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let c = byte;
    for (let bit = 0; bit < 8; bit++) c = (c >>> 1) ^ (POLYNOMIAL & -(c & 1));
    table[byte] = c;
  }
  for (let i = 256; i < table.length; i++) {
    const c = table[i - 256]!;
    table[i] = (c >>> 8) ^ table[c & 0xff]!;
  }
  return table;
}

/** The register is the CRC before its final inversion. */
function updateRegister(t: Int32Array, c: number, bytes: Uint8Array, start: number, end: number): number {
  let p = start;
  for (; p + 8 <= end; p += 8) {
    const x = c ^ (bytes[p]! | (bytes[p + 1]! << 8) | (bytes[p + 2]! << 16) | (bytes[p + 3]! << 24));
    c =
      t[bytes[p + 7]!]! ^
      t[256 + bytes[p + 6]!]! ^
      t[512 + bytes[p + 5]!]! ^
      t[768 + bytes[p + 4]!]! ^
      t[1024 + (x >>> 24)]! ^
      t[1280 + ((x >>> 16) & 0xff)]! ^
      t[1536 + ((x >>> 8) & 0xff)]! ^
      t[1792 + (x & 0xff)]!;
  }
  for (; p < end; p++) c = t[(c ^ bytes[p]!) & 0xff]! ^ (c >>> 8);
  return c;
}
