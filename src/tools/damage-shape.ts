import { SstError } from '../errors.ts';
import { BlockIterator } from '../format/block/block-iterator.ts';
import { BLOCK_TRAILER_SIZE } from '../format/block-handle.ts';
import type { BlockReader } from '../format/block-reader.ts';
import type { BlockType } from '../format/block-type.ts';
import { contextModifier } from '../hash/block-checksum.ts';
import { unmaskCrc32c } from '../hash/crc32c.ts';
import { ChecksumType } from '../hash/registry.ts';
import type { DamageShape } from './finding.ts';

/** More of a block is not looked at. */
const MAX_SAMPLE_BYTES = 1024 * 1024;
/** Where every bit has to be tried by computing the whole checksum again, larger blocks take too long. */
const MAX_TRIED_BYTES = 16 * 1024;
/** Bytes that all these trials may hash in one file: about a second. */
const TRIAL_BUDGET_BYTES = 1024 * 1024 * 1024;
/** What a trial costs on top of its bytes, in bytes that could be hashed instead. */
const TRIAL_OVERHEAD_BYTES = 512;
/** What finding the bit from two values of crc32c costs a byte, in bytes that could be hashed instead. */
const CRC_COST = 64;
/** Zeros of this length do not happen inside real blocks that are not made of zeros. */
const ZERO_RUN_BYTES = 64;
/** Of a run of zeros that began before the block or ends behind it, this much lies in the block. */
const MIN_ZEROS_INSIDE = 4;

const CRC32C_POLYNOMIAL = 0x82f63b78;

/** Compression bytes that some writer stores. */
const COMPRESSION_BYTES: ReadonlySet<number> = new Set([0, 1, 2, 3, 4, 5, 6, 7, 0x40]);

/** Kinds of blocks that hold no entries: their contents cannot be told from others. */
const WITHOUT_ENTRIES: ReadonlySet<BlockType> = new Set([
  'filter',
  'filter_partition',
  'compression_dict',
  'hash_prefixes',
  'hash_metadata',
  'user_defined_index',
  'unknown',
]);

export interface DamagedBlock {
  readonly offset: number;
  readonly size: number;
  readonly type: BlockType;
}

/**
 * What blocks of one table with a wrong checksum look like. A single flipped bit is proven by flipping it back:
 * then the stored checksum holds. With crc32c the bit follows from the difference of the two checksums; with the
 * others each bit is tried, as far as the budget of the file reaches.
 */
export class DamageShapes {
  constructor(
    private readonly reader: BlockReader,
    /** What the search for flipped bits may hash, in bytes. */
    private budgetBytes: number = TRIAL_BUDGET_BYTES,
  ) {}

  /** Reads the block again; only called for damaged ones. */
  of(block: DamagedBlock): DamageShape {
    const { source } = this.reader;
    const { offset, size, type } = block;
    const end = offset + size + BLOCK_TRAILER_SIZE;
    if (end > source.size) return 'truncated';
    const whole = size <= MAX_SAMPLE_BYTES;
    const length = whole ? size + BLOCK_TRAILER_SIZE : MAX_SAMPLE_BYTES;
    // A source in memory gives a view of itself, and bits are flipped here.
    const bytes = source.read(offset, length).slice();
    if (whole && this.isBitFlip(bytes, offset, size)) return 'bit_flip';
    if (this.hasZeroRun(bytes, offset)) return 'zeros';
    return whole && isForeign(bytes, size, type) ? 'foreign' : 'unknown';
  }

  private isBitFlip(bytes: Uint8Array, offset: number, size: number): boolean {
    const { storedChecksum, computedChecksum } = this.reader.examine(bytes, { offset, size });
    if (computedChecksum === undefined) return false;
    if (isPowerOfTwo(storedChecksum ^ computedChecksum)) return true;
    const { checksumType, baseContextChecksum } = this.reader.footer;
    if (checksumType === ChecksumType.crc32c) {
      const modifier = contextModifier(baseContextChecksum, offset);
      const stored = unmaskCrc32c((storedChecksum - modifier) >>> 0);
      const computed = unmaskCrc32c((computedChecksum - modifier) >>> 0);
      this.budgetBytes -= CRC_COST * size;
      return this.budgetBytes >= 0 && isCrcOfOneBit(stored ^ computed, size + 1);
    }
    const cost = 8 * (size + 1) * (size + TRIAL_OVERHEAD_BYTES);
    if (size > MAX_TRIED_BYTES || cost > this.budgetBytes) return false;
    this.budgetBytes -= cost;
    for (let i = 0; i <= size; i++) {
      for (let bit = 1; bit < 256; bit <<= 1) {
        bytes[i]! ^= bit;
        const computed = this.reader.computeChecksum(bytes, 0, size, offset);
        bytes[i]! ^= bit;
        if (computed === storedChecksum) return true;
      }
    }
    return false;
  }

  /** A run that reaches into the neighbours counts with all of its length. */
  private hasZeroRun(bytes: Uint8Array, offset: number): boolean {
    const { source } = this.reader;
    const before = source.read(Math.max(0, offset - ZERO_RUN_BYTES), Math.min(offset, ZERO_RUN_BYTES));
    const end = offset + bytes.length;
    const after = source.read(end, Math.min(ZERO_RUN_BYTES, source.size - end));
    let run = 0;
    while (run < before.length && before[before.length - 1 - run] === 0) run++;
    let inside = 0;
    for (const byte of bytes) {
      if (byte === 0) {
        run++;
        inside++;
        if (run >= ZERO_RUN_BYTES && inside >= MIN_ZEROS_INSIDE) return true;
      } else {
        run = 0;
        inside = 0;
      }
    }
    if (inside < MIN_ZEROS_INSIDE) return false;
    for (let i = 0; i < after.length && after[i] === 0; i++) run++;
    return run >= ZERO_RUN_BYTES || inside === bytes.length;
  }
}

/** The shape of a single data block. */
export function damageShape(reader: BlockReader, block: { offset: number; size: number }): DamageShape {
  return new DamageShapes(reader).of({ offset: block.offset, size: block.size, type: 'data' });
}

/** Whether flipping one bit of `length` bytes changes their CRC-32C by `difference`, which does not depend on the bytes. */
function isCrcOfOneBit(difference: number, length: number): boolean {
  // What a bit of the last byte changes; each byte further to the front is one more zero byte behind it.
  const changes = Int32Array.from({ length: 8 }, (_, bit) => zeroByte(1 << bit));
  for (let left = length; left > 0; left--) {
    for (let bit = 0; bit < 8; bit++) {
      const change = changes[bit]!;
      if (change === difference) return true;
      changes[bit] = zeroByte(change);
    }
  }
  return false;
}

/** The register of a CRC-32C after one zero byte. */
function zeroByte(register: number): number {
  for (let bit = 0; bit < 8; bit++) register = (register >>> 1) ^ (CRC32C_POLYNOMIAL & -(register & 1));
  return register;
}

function isPowerOfTwo(value: number): boolean {
  return (value & (value - 1)) === 0;
}

/** No writer's compression byte, or bytes that are said to be uncompressed and do not begin with an entry. */
function isForeign(bytes: Uint8Array, size: number, type: BlockType): boolean {
  const compressionType = bytes[size]!;
  if (!COMPRESSION_BYTES.has(compressionType)) return true;
  if (compressionType !== 0 || WITHOUT_ENTRIES.has(type)) return false;
  const block = new BlockIterator();
  try {
    block.reset(bytes.subarray(0, size));
    block.next();
    return false;
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return true;
  }
}
