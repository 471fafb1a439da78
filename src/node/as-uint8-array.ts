/** A compare that is fed both Buffer and Uint8Array runs 1.6x slower: only the plain kind leaves the edge. */
export function asUint8Array(buffer: Uint8Array): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.length);
}
