import type { U64 } from '../bytes/u64.ts';
import type { FilterKernel } from '../kernels/filter-kernel.ts';
import { xxph3 } from './xxph3.ts';

/**
 * Hash64 of keys (XXPH3, seed 0), for Bloom and Ribbon filters. The `Kernels` are one; `twinKeyHash` is another.
 */
export interface KeyHash {
  /**
   * The equation of a key in a Ribbon filter, in one call; missing where RibbonHasher is to make it of the hash. Six
   * words: start, result, four of coefficients, as that has them. `starts` is the number of slots less 127. Good until
   * the next call. Keys have at most `ribbonKeyMax` bytes.
   */
  readonly ribbonKeyMax?: number;
  ribbonEquation?(bytes: Uint8Array, start: number, end: number, rawSeed: number, starts: number): Int32Array;
  /** What collects hashes and builds filters of them, where there is WebAssembly. */
  readonly filterKernel?: FilterKernel;
  /** Low half of the hash of `bytes[start, end)`, as uint32. `high()` has the other half until the next call. */
  xxph3(bytes: Uint8Array, start: number, end: number): number;
  /** High half of the last hash, as uint32. */
  high(): number;
  /**
   * Hashes `count` keys that lie one behind the other: key i is `bytes[offsets[i], offsets[i + 1])`, offsets
   * rising. Puts the low half into `out[2 * i]`, the high half into `out[2 * i + 1]`.
   */
  xxph3Batch(bytes: Uint8Array, offsets: Uint32Array, count: number, out: Uint32Array): void;
}

/** In plain TypeScript: about 10 times slower than the kernels. */
export function twinKeyHash(): KeyHash {
  let last: U64 = { hi: 0, lo: 0 };
  return {
    xxph3(bytes, start, end) {
      last = xxph3(bytes, start, end);
      return last.lo;
    },
    high: () => last.hi,
    xxph3Batch(bytes, offsets, count, out) {
      for (let i = 0; i < count; i++) {
        const { hi, lo } = xxph3(bytes, offsets[i]!, offsets[i + 1]!);
        out[2 * i] = lo;
        out[2 * i + 1] = hi;
      }
    },
  };
}
