import { BLOCK_TRAILER_SIZE } from '../format/block-handle.ts';
import type { BlockReader } from '../format/block-reader.ts';
import type { DamageShape } from './finding.ts';

/** Flipping each bit of a larger block would take too long. */
const MAX_BIT_FLIP_BYTES = 16 * 1024;
/** Zeros of this length do not happen inside real blocks that are not made of zeros. */
const ZERO_RUN_BYTES = 64;

/**
 * What a block with a wrong checksum looks like. A single flipped bit is proven by flipping it back: then the
 * stored checksum holds. Reads the block again; only called for damaged ones.
 */
export function damageShape(reader: BlockReader, block: { offset: number; size: number }): DamageShape {
  const { offset, size } = block;
  if (offset + size + BLOCK_TRAILER_SIZE > reader.source.size) return 'truncated';
  const bytes = reader.source.read(offset, size + BLOCK_TRAILER_SIZE).slice();
  if (longestZeroRun(bytes) >= Math.min(ZERO_RUN_BYTES, bytes.length)) return 'zeros';
  if (size <= MAX_BIT_FLIP_BYTES && isBitFlip(reader, bytes, offset, size)) return 'bit_flip';
  return entropy(bytes) > 7.5 ? 'foreign' : 'unknown';
}

function isBitFlip(reader: BlockReader, bytes: Uint8Array, offset: number, size: number): boolean {
  const handle = { offset, size };
  const { storedChecksum, computedChecksum } = reader.examine(bytes, handle);
  if (computedChecksum === undefined) return false;
  const difference = storedChecksum ^ computedChecksum;
  if ((difference & (difference - 1)) === 0) return true;
  for (let i = 0; i <= size; i++) {
    for (let bit = 1; bit < 256; bit <<= 1) {
      bytes[i]! ^= bit;
      const computed = reader.computeChecksum(bytes, 0, size, offset);
      bytes[i]! ^= bit;
      if (computed === storedChecksum) return true;
    }
  }
  return false;
}

function longestZeroRun(bytes: Uint8Array): number {
  let longest = 0;
  let run = 0;
  for (const byte of bytes) {
    run = byte === 0 ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest;
}

/** Bits a byte, of 8. */
function entropy(bytes: Uint8Array): number {
  const counts = new Uint32Array(256);
  for (const byte of bytes) counts[byte]!++;
  let bits = 0;
  for (const count of counts) {
    if (count > 0) bits -= (count / bytes.length) * Math.log2(count / bytes.length);
  }
  return bits;
}
