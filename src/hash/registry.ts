/**
 * Block checksums by their on-disk number. The functions themselves are handed in: WebAssembly kernels,
 * plain TypeScript twins, or packages, as the edge sees fit.
 * Source: RocksDB include/rocksdb/table.h, ChecksumType.
 */
export const ChecksumType = {
  none: 0,
  crc32c: 1,
  xxh32: 2,
  xxh64: 3,
  xxh3: 4,
} as const;

export type ChecksumType = (typeof ChecksumType)[keyof typeof ChecksumType];
export type ChecksumName = keyof typeof ChecksumType;

const NAMES: readonly ChecksumName[] = ['none', 'crc32c', 'xxh32', 'xxh64', 'xxh3'];

/** The name of a checksum number; undefined when no release has that number. */
export function checksumName(type: number): ChecksumName | undefined {
  return NAMES[type];
}

/**
 * The hashes that the format needs, over `bytes[start, end)`, each as an unsigned 32-bit number.
 * 64-bit hashes give their low half: a block trailer keeps no more.
 */
export interface HashFunctions {
  /** CRC-32C (Castagnoli), not masked. */
  crc32c(bytes: Uint8Array, start: number, end: number): number;
  /** XXH32, seed 0. */
  xxh32(bytes: Uint8Array, start: number, end: number): number;
  /** Low half of XXH64, seed 0. */
  xxh64Low(bytes: Uint8Array, start: number, end: number): number;
  /** All of XXH64, seed 0: for digests, not for blocks. */
  xxh64(bytes: Uint8Array, start: number, end: number): bigint;
  /** Low half of XXH3-64, seed 0. */
  xxh3Low(bytes: Uint8Array, start: number, end: number): number;
  /**
   * Where a block ends whose handle is lost: the smallest payload length at which `bytes[start, end)` holds a
   * known compression type and, behind it, the fitting checksum (context `modifier` included); -1 if there is none.
   * Checksum types 1 to 4.
   */
  findBlockEnd(
    bytes: Uint8Array,
    start: number,
    end: number,
    options: {
      checksumType: number;
      modifier?: number;
      minLength?: number;
      /** 256 entries, 1 for each byte that may stand as compression type. Fewer of them make it faster. */
      allowedTypes?: Uint8Array;
    },
  ): number;
  /** Which implementation answers for each, for `--version --verbose`. */
  readonly implementations: Readonly<Record<string, string>>;
}
