/** Little-endian fixed-width integers. The caller has checked that the bytes are there. */

/** 32 bits, unsigned. */
export function readFixed32(bytes: Uint8Array, pos: number): number {
  return (bytes[pos]! | (bytes[pos + 1]! << 8) | (bytes[pos + 2]! << 16) | (bytes[pos + 3]! << 24)) >>> 0;
}

export function readFixed16(bytes: Uint8Array, pos: number): number {
  return bytes[pos]! | (bytes[pos + 1]! << 8);
}

/** 64 bits, unsigned, for the cold edge. */
export function readFixed64(bytes: Uint8Array, pos: number): bigint {
  return (BigInt(readFixed32(bytes, pos + 4)) << 32n) | BigInt(readFixed32(bytes, pos));
}

export function writeFixed32(bytes: Uint8Array, pos: number, value: number): void {
  bytes[pos] = value;
  bytes[pos + 1] = value >>> 8;
  bytes[pos + 2] = value >>> 16;
  bytes[pos + 3] = value >>> 24;
}

export function writeFixed64(bytes: Uint8Array, pos: number, value: bigint): void {
  writeFixed32(bytes, pos, Number(value & 0xffffffffn));
  writeFixed32(bytes, pos + 4, Number((value >> 32n) & 0xffffffffn));
}
