import { findBlockEnd } from '../kernels/find-block-end.ts';
import { createCrc32c } from './crc32c.ts';
import type { HashFunctions } from './registry.ts';
import { xxh3 } from './xxh3.ts';
import { xxh32 } from './xxh32.ts';
import { xxh64 } from './xxh64.ts';

/** What `kernelHashFunctions` needs of the kernels (src/kernels/kernels.ts). */
export interface HashKernels {
  crc32c(bytes: Uint8Array, start: number, end: number): number;
  /** Low half. */
  xxh3(bytes: Uint8Array, start: number, end: number): number;
  findBlockEnd: HashFunctions['findBlockEnd'];
}

/** What `kernelHashFunctions` needs of the package xxhash-wasm, which the edge loads. */
export interface XxhashWasm {
  h32Raw(bytes: Uint8Array): number;
  h64Raw(bytes: Uint8Array): bigint;
}

const TWIN = 'sstkit (TypeScript)';
const KERNEL = 'sstkit kernel (WebAssembly)';

/** Everything in plain TypeScript: needs nothing, and is 3 to 70 times slower. */
export function twinHashFunctions(): HashFunctions {
  const crc32c = createCrc32c();
  const hashes: HashFunctions = {
    crc32c: (bytes, start, end) => crc32c(bytes, start, end),
    xxh32: (bytes, start, end) => xxh32(bytes, start, end),
    xxh64Low: (bytes, start, end) => xxh64(bytes, start, end).lo,
    xxh3Low: (bytes, start, end) => xxh3(bytes, start, end).lo,
    xxh64: (bytes, start, end) => {
      const { hi, lo } = xxh64(bytes, start, end);
      return (BigInt(hi >>> 0) << 32n) | BigInt(lo >>> 0);
    },
    findBlockEnd: (bytes, start, end, options) => findBlockEnd(hashes, bytes, start, end, options),
    implementations: { crc32c: TWIN, xxh32: TWIN, xxh64: TWIN, xxh3: TWIN },
  };
  return hashes;
}

/** The fast functions. The kernels have one memory: an instance belongs to one thread. */
export function kernelHashFunctions(kernels: HashKernels, xxhash: XxhashWasm): HashFunctions {
  return {
    crc32c: (bytes, start, end) => kernels.crc32c(bytes, start, end),
    xxh32: (bytes, start, end) => xxhash.h32Raw(bytes.subarray(start, end)) >>> 0,
    xxh64Low: (bytes, start, end) => Number(BigInt.asUintN(32, xxhash.h64Raw(bytes.subarray(start, end)))),
    xxh3Low: (bytes, start, end) => kernels.xxh3(bytes, start, end),
    xxh64: (bytes, start, end) => BigInt.asUintN(64, xxhash.h64Raw(bytes.subarray(start, end))),
    findBlockEnd: (bytes, start, end, options) => kernels.findBlockEnd(bytes, start, end, options),
    implementations: { crc32c: KERNEL, xxh32: 'xxhash-wasm', xxh64: 'xxhash-wasm', xxh3: KERNEL },
  };
}
