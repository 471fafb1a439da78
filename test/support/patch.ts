/**
 * Damaged twins of a file, in memory. Every helper returns a copy; the bytes given stay as they are.
 *
 * Damage that a checksum must catch: `flipBit`, `zeroRange`, `truncate`, `append`, `overwrite`. Damage that lies
 * behind a good checksum: `patchBlock` and `patchFooter`, which seal what they changed.
 */

import {
  bufferChecksum,
  computeBlockChecksum,
  contextModifier,
  storedChecksum,
} from '../../src/hash/block-checksum.ts';
import { twinHashFunctions } from '../../src/hash/hash-functions.ts';
import { ChecksumType } from '../../src/hash/registry.ts';

/** Flips bit `bit` (0: lowest) of the byte at `offset`. */
export function flipBit(bytes: Uint8Array, offset: number, bit = 0): Uint8Array {
  checkRange(bytes, offset, offset + 1);
  const copy = bytes.slice();
  copy[offset]! ^= 1 << bit;
  return copy;
}

/** Sets bytes[start, end) to zero. */
export function zeroRange(bytes: Uint8Array, start: number, end: number): Uint8Array {
  checkRange(bytes, start, end);
  return bytes.slice().fill(0, start, end);
}

/** The first `length` bytes; a negative number takes so many off the end. */
export function truncate(bytes: Uint8Array, length: number): Uint8Array {
  const end = length < 0 ? bytes.length + length : length;
  checkRange(bytes, 0, end);
  return bytes.slice(0, end);
}

export function append(bytes: Uint8Array, tail: Uint8Array): Uint8Array {
  const copy = new Uint8Array(bytes.length + tail.length);
  copy.set(bytes);
  copy.set(tail, bytes.length);
  return copy;
}

/** Puts `patch` over the bytes from `offset` on; the length stays. */
export function overwrite(bytes: Uint8Array, offset: number, patch: Uint8Array): Uint8Array {
  checkRange(bytes, offset, offset + patch.length);
  const copy = bytes.slice();
  copy.set(patch, offset);
  return copy;
}

/** A block as a handle names it: `size` without the 5-byte trailer. */
export interface BlockPlace {
  offset: number;
  size: number;
}

export interface PatchedBlock {
  /** Changes the stored (perhaps compressed) payload in place. */
  edit?: (payload: Uint8Array) => void;
  /** New compression type byte. */
  compressionType?: number;
}

/**
 * Changes a block and seals it: the checksum in its trailer fits again, by the checksum type and the context of the
 * file's own footer. A block-based table of any version, with a whole footer.
 */
export function patchBlock(bytes: Uint8Array, block: BlockPlace, patched: PatchedBlock): Uint8Array {
  const end = block.offset + block.size;
  checkRange(bytes, block.offset, end + 5);
  const copy = bytes.slice();
  patched.edit?.(copy.subarray(block.offset, end));
  if (patched.compressionType !== undefined) copy[end] = patched.compressionType;
  const { checksumType, baseContext } = footerFacts(bytes);
  const checksum = computeBlockChecksum(twinHashFunctions(), checksumType, copy, block.offset, end);
  viewOf(copy).setUint32(end + 1, storedChecksum(checksum, contextModifier(baseContext, block.offset)), true);
  return copy;
}

/** Changes the 53 bytes of a new footer in place and seals it where the version (after the change) has a checksum. */
export function patchFooter(bytes: Uint8Array, edit: (footer: Uint8Array) => void): Uint8Array {
  const copy = bytes.slice();
  const footerOffset = copy.length - NEW_FOOTER_LENGTH;
  checkRange(copy, footerOffset, copy.length);
  const footer = copy.subarray(footerOffset);
  edit(footer);
  const { formatVersion, checksumType, baseContext } = footerFacts(copy);
  if (formatVersion >= 6) {
    const view = viewOf(footer);
    view.setUint32(5, 0, true);
    const checksum = bufferChecksum(twinHashFunctions(), checksumType, footer, 0, footer.length);
    view.setUint32(5, storedChecksum(checksum, contextModifier(baseContext, footerOffset)), true);
  }
  return copy;
}

const NEW_FOOTER_LENGTH = 53;
const LEGACY_MAGIC_LOW = 0x8b80fb57;

export interface FooterFacts {
  formatVersion: number;
  /** On-disk number. */
  checksumType: number;
  /** 0 before format_version 6. */
  baseContext: number;
}

/** What a footer says about checksums, read without the code under test. */
export function footerFacts(bytes: Uint8Array): FooterFacts {
  const view = viewOf(bytes);
  if (view.getUint32(bytes.length - 8, true) === LEGACY_MAGIC_LOW) {
    return { formatVersion: 0, checksumType: ChecksumType.crc32c, baseContext: 0 };
  }
  const footerOffset = bytes.length - NEW_FOOTER_LENGTH;
  const formatVersion = view.getUint32(bytes.length - 12, true);
  return {
    formatVersion,
    checksumType: bytes[footerOffset]!,
    baseContext: formatVersion >= 6 ? view.getUint32(footerOffset + 9, true) : 0,
  };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function checkRange(bytes: Uint8Array, start: number, end: number): void {
  if (start < 0 || end < start || end > bytes.length) {
    throw new RangeError(`bytes ${start} to ${end} do not lie in ${bytes.length} bytes`);
  }
}
