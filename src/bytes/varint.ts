/**
 * LEB128 varints for writers and for measuring. Reading: byte-reader.ts, and inside blocks block-iterator.ts.
 * Values are numbers of at most 2^53 - 1.
 */

/** Bytes that `value` takes. */
export function varintLength(value: number): number {
  let length = 1;
  while (value >= 128) {
    value = Math.floor(value / 128);
    length++;
  }
  return length;
}

/** Writes `value` at `pos`; returns the position after it. The caller has made room (at most eight bytes). */
export function writeVarint(bytes: Uint8Array, pos: number, value: number): number {
  while (value >= 128) {
    bytes[pos++] = (value % 128) | 0x80;
    value = Math.floor(value / 128);
  }
  bytes[pos++] = value;
  return pos;
}
