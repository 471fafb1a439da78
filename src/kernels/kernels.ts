import type { KeyHash } from '../hash/key-hash.ts';
import { copyWords } from './copy-words.ts';
import type { FilterKernel } from './filter-kernel.ts';
import { type FindBlockEndOptions, resolveFindOptions, TRAILER_LENGTH } from './find-block-end.ts';
import type { KernelExports } from './kernel-exports.ts';
import { TextKernel } from './text-kernel.ts';

/** Input of XXH3 is taken in by blocks of 1024 bytes; what follows a slice needs the 64 bytes before it. */
const BLOCK_LENGTH = 1024;
const HISTORY_LENGTH = 64;

/**
 * Up to this length bytes are copied as words in a loop: 8 to 60 ns, where `subarray` and `set` take 40 to 50
 * at any short length (Node 20).
 */
const LOOP_COPY_MAX = 64;

/** Keys of these lengths go to the kernel as words, without being copied. */
const WORDS_MIN = 16;
const WORDS_MAX = 32;

/**
 * The WebAssembly kernels. Bytes are copied into the module's memory, long inputs in slices of 128 KiB: the memory
 * is small, never grows, and views on it never detach. Not reentrant, and for one thread.
 *
 * Ranges are half-open and must lie in `bytes`; otherwise RangeError.
 */
export class Kernels implements KeyHash {
  /** Bytes as text, in a part of the memory of its own. */
  readonly text: TextKernel;
  private readonly exports: KernelExports;
  private readonly input: Uint8Array;
  private readonly inputWords: Int32Array;
  private readonly offsets: Uint32Array;
  private readonly hashes: Uint32Array;
  private readonly allowed: Uint8Array;
  private readonly highWord: Uint32Array;
  private readonly unpacked: Uint8Array;
  private readonly equation: Int32Array;
  /** The array that the last short key came from, and a view on it: callers reuse theirs. */
  private keySource: Uint8Array;
  private keyView: DataView;

  constructor(
    exports: KernelExports,
    readonly filterKernel: FilterKernel,
  ) {
    const { buffer } = exports.memory;
    this.exports = exports;
    this.input = new Uint8Array(buffer, exports.INPUT.value, exports.INPUT_BYTES.value);
    this.inputWords = new Int32Array(buffer, exports.INPUT.value, LOOP_COPY_MAX / 4);
    this.offsets = new Uint32Array(buffer, exports.OFFSETS.value, exports.BATCH_KEYS.value + 1);
    this.hashes = new Uint32Array(buffer, exports.HASHES.value, 2 * exports.BATCH_KEYS.value);
    this.allowed = new Uint8Array(buffer, exports.ALLOWED.value, 256);
    this.highWord = new Uint32Array(buffer, exports.HIGH.value, 1);
    this.unpacked = new Uint8Array(buffer, exports.UNPACKED.value, exports.UNPACKED_BYTES.value);
    this.equation = new Int32Array(buffer, exports.EQUATION.value, 6);
    this.keySource = this.input;
    this.keyView = new DataView(buffer, exports.INPUT.value, exports.INPUT_BYTES.value);
    this.text = new TextKernel(exports);
  }

  /** CRC-32C, not masked, as uint32. `crc` is that of what came before: 0 at the start. */
  crc32c(bytes: Uint8Array, start: number, end: number, crc = 0): number {
    const sliceLength = this.input.length;
    while (end - start > sliceLength) {
      this.copyIn(bytes, start, start + sliceLength);
      crc = this.exports.crc32c(crc, sliceLength);
      start += sliceLength;
    }
    this.copyIn(bytes, start, end);
    return this.exports.crc32c(crc, end - start) >>> 0;
  }

  /** Low half of XXH3-64, seed 0, as uint32; `high()` has the other half until the next hash. */
  xxh3(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (length > this.input.length) {
      const rest = this.copyInBlocks(bytes, start, end, Math.floor((length - 1) / BLOCK_LENGTH), false);
      return this.exports.xxh3End(rest, length) >>> 0;
    }
    this.copyIn(bytes, start, end);
    return this.exports.xxh3(length) >>> 0;
  }

  /** Low half of XXPH3, seed 0, as uint32; `high()` has the other half until the next hash. */
  xxph3(bytes: Uint8Array, start: number, end: number): number {
    const length = end - start;
    if (length >= WORDS_MIN && length <= WORDS_MAX) {
      const view = this.viewOf(bytes);
      const tail = end - 16;
      return (
        this.exports.xxph3Words(
          view.getInt32(start, true),
          view.getInt32(start + 4, true),
          view.getInt32(start + 8, true),
          view.getInt32(start + 12, true),
          view.getInt32(tail, true),
          view.getInt32(tail + 4, true),
          view.getInt32(tail + 8, true),
          view.getInt32(tail + 12, true),
          length,
        ) >>> 0
      );
    }
    if (length > this.input.length) {
      const rest = this.copyInBlocks(bytes, start, end, Math.floor(length / BLOCK_LENGTH), true);
      return this.exports.xxph3End(rest, length) >>> 0;
    }
    this.copyIn(bytes, start, end);
    return this.exports.xxph3(length) >>> 0;
  }

  high(): number {
    return this.highWord[0]!;
  }

  get ribbonKeyMax(): number {
    return this.input.length;
  }

  ribbonEquation(bytes: Uint8Array, start: number, end: number, rawSeed: number, starts: number): Int32Array {
    const length = end - start;
    if (length >= WORDS_MIN && length <= WORDS_MAX) {
      const view = this.viewOf(bytes);
      const tail = end - 16;
      this.exports.ribbonEquationWords(
        rawSeed,
        starts,
        view.getInt32(start, true),
        view.getInt32(start + 4, true),
        view.getInt32(start + 8, true),
        view.getInt32(start + 12, true),
        view.getInt32(tail, true),
        view.getInt32(tail + 4, true),
        view.getInt32(tail + 8, true),
        view.getInt32(tail + 12, true),
        length,
      );
    } else {
      if (length > this.input.length) throw rangeError(bytes, start, end);
      this.copyIn(bytes, start, end);
      this.exports.ribbonEquation(length, rawSeed, starts);
    }
    return this.equation;
  }

  xxph3Batch(bytes: Uint8Array, offsets: Uint32Array, count: number, out: Uint32Array): void {
    const countMax = this.exports.BATCH_KEYS.value;
    let first = 0;
    while (first < count) {
      const origin = offsets[first]!;
      this.offsets[0] = 0;
      let next = first;
      while (next < count && next - first < countMax && offsets[next + 1]! - origin <= this.input.length) {
        next++;
        this.offsets[next - first] = offsets[next]! - origin;
      }
      if (next === first) {
        out[2 * first] = this.xxph3(bytes, origin, offsets[first + 1]!);
        out[2 * first + 1] = this.high();
        first++;
        continue;
      }
      this.copyIn(bytes, origin, offsets[next]!);
      this.exports.xxph3Batch(next - first);
      out.set(this.hashes.subarray(0, 2 * (next - first)), 2 * first);
      first = next;
    }
  }

  /**
   * The smallest payload length at which `bytes[start, end)` holds an allowed compression type byte and, behind it,
   * the checksum of payload and type byte plus the modifier; -1 when there is none. One pass: 2.5 ns a byte
   * for crc32c, 3 to 11 for the others. Chance alone hits once in 2^32 allowed bytes.
   * Throws InvalidArgumentError for a checksum type other than 1 to 4.
   */
  findBlockEnd(bytes: Uint8Array, start: number, end: number, options: FindBlockEndOptions): number {
    const { checksumType, modifier, minLength, allowedTypes } = resolveFindOptions(options);
    this.allowed.set(allowedTypes);
    const stop = end - start - TRAILER_LENGTH + 1;
    const windowLength = this.input.length - (TRAILER_LENGTH - 1);
    this.exports.findBegin();
    for (let from = 0; from < stop; ) {
      const base = Math.max(0, from - HISTORY_LENGTH);
      const to = Math.min(stop, base + windowLength);
      this.copyIn(bytes, start + base, start + to + TRAILER_LENGTH - 1);
      const tested = Math.min(Math.max(from, minLength), to);
      if (from < tested) this.exports.findStep(checksumType, modifier, base, from, tested, 0);
      const found = this.exports.findStep(checksumType, modifier, base, tested, to, 1);
      if (found >= 0) return found;
      from = to;
    }
    return -1;
  }

  /** The longest block, compressed or not, that `uncompressSnappy` takes. */
  get snappyMaxBytes(): number {
    return Math.min(this.input.length, this.unpacked.length);
  }

  /**
   * Uncompresses raw Snappy `input[start, end)`, whose first `elements` bytes are its length prefix, into
   * `output[at, at + length)`. False when the bytes do not decode to that length.
   */
  uncompressSnappy(
    input: Uint8Array,
    start: number,
    elements: number,
    end: number,
    output: Uint8Array,
    at: number,
    length: number,
  ): boolean {
    this.copyIn(input, start, end);
    if (this.exports.unsnap(elements, end - start, length) === 0) return false;
    output.set(this.unpacked.subarray(0, length), at);
    return true;
  }

  /** Copies `bytes[start, end)` to the start of the input: at most its length. */
  private copyIn(bytes: Uint8Array, start: number, end: number): void {
    if (end > bytes.length || start > end) throw rangeError(bytes, start, end);
    if (end - start > LOOP_COPY_MAX) {
      this.input.set(end - start === bytes.length ? bytes : bytes.subarray(start, end));
      return;
    }
    copyWords(this.inputWords, bytes, start, end);
  }

  /** A view on the array that keys come from one by one: callers reuse theirs. */
  private viewOf(bytes: Uint8Array): DataView {
    if (bytes !== this.keySource) {
      this.keySource = bytes;
      this.keyView = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }
    return this.keyView;
  }

  /**
   * Hashes the first `blockCount` whole blocks of a long input slice by slice, then leaves the rest in the input,
   * behind the 64 bytes before it. Returns the length of the rest.
   */
  private copyInBlocks(
    bytes: Uint8Array,
    start: number,
    end: number,
    blockCount: number,
    preview: boolean,
  ): number {
    const blocksInSlice = this.input.length / BLOCK_LENGTH;
    this.exports.longBegin();
    for (let left = blockCount; left > 0; ) {
      const count = Math.min(left, blocksInSlice);
      this.copyIn(bytes, start, start + count * BLOCK_LENGTH);
      if (preview) this.exports.xxph3Blocks(count);
      else this.exports.xxh3Blocks(count);
      start += count * BLOCK_LENGTH;
      left -= count;
    }
    this.copyIn(bytes, start - HISTORY_LENGTH, end);
    return end - start;
  }
}

function rangeError(bytes: Uint8Array, start: number, end: number): RangeError {
  return new RangeError(`${start} to ${end} is not a range of ${bytes.length} bytes`);
}
