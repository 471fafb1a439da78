import { copyWords } from './copy-words.ts';
import type { KernelExports } from './kernel-exports.ts';

/**
 * Prints bytes of a block into a buffer, 16 at a time; both lie in the module's memory. The loops of
 * src/render/put.ts give the same text.
 *
 *   if (sink.buffer === kernel.buffer && kernel.place(block)) pos = kernel.hex(start, end, pos);
 */
export class TextKernel {
  /** For a sink: positions in it are those that the functions take and return. */
  readonly buffer: Uint8Array;
  /** The longest key that the functions for keys take. */
  readonly keyBytesMax: number;
  private readonly source: Uint8Array;
  private readonly digits: Uint8Array;
  private readonly unpacked: Uint8Array;
  private readonly keyWords: Int32Array;
  /** Where a key lies, as a position in the source. */
  private readonly keyStart: number;
  private placed: Uint8Array | undefined;
  private readonly exports: KernelExports;

  constructor(exports: KernelExports) {
    const { buffer } = exports.memory;
    this.exports = exports;
    this.buffer = new Uint8Array(buffer, exports.TEXT.value, exports.TEXT_BYTES.value);
    this.source = new Uint8Array(buffer, exports.SOURCE.value, exports.SOURCE_BYTES.value);
    this.digits = new Uint8Array(buffer, exports.INPUT.value, exports.INPUT_BYTES.value);
    this.unpacked = new Uint8Array(buffer, exports.UNPACKED.value, exports.UNPACKED_BYTES.value);
    this.keyWords = new Int32Array(buffer, exports.KEY.value, exports.KEY_BYTES.value / 4);
    this.keyStart = exports.KEY.value - exports.SOURCE.value;
    this.keyBytesMax = exports.KEY_BYTES.value;
  }

  /**
   * Makes `block` what the functions below speak of, by a copy. The same array again costs nothing: it must not have
   * changed. False when it is too long.
   */
  place(block: Uint8Array): boolean {
    if (block === this.placed) return true;
    if (block.length > this.source.length) return false;
    this.source.set(block);
    this.placed = block;
    return true;
  }

  /** Two lower-case digits for each byte of [start, end). */
  hex(start: number, end: number, pos: number): number {
    return this.exports.hex(start, end, pos);
  }

  /** The same in upper case. */
  hexUpper(start: number, end: number, pos: number): number {
    return this.exports.hexUpper(start, end, pos);
  }

  /** Printable ASCII as it is, a backslash twice, `\xNN` for the rest: at most four bytes a byte. */
  escape(start: number, end: number, pos: number): number {
    return this.exports.escape(start, end, pos);
  }

  /**
   * Puts the bytes of the hexadecimal digits `bytes[start, end)`, an even number, to the front of `out`. False where
   * one is none, or where they are too many.
   */
  unhex(bytes: Uint8Array, start: number, end: number, out: Uint8Array): boolean {
    const length = end - start;
    if (length > this.digits.length) return false;
    this.digits.set(bytes.subarray(start, end));
    if (this.exports.unhex(length) === 0) return false;
    out.set(this.unpacked.subarray(0, length >> 1));
    return true;
  }

  /** As `hex`, of bytes that are copied in first. */
  keyHex(key: Uint8Array, start: number, end: number, pos: number): number {
    copyWords(this.keyWords, key, start, end);
    return this.exports.hex(this.keyStart, this.keyStart + end - start, pos);
  }

  /** As `hexUpper`, of bytes that are copied in first. */
  keyHexUpper(key: Uint8Array, start: number, end: number, pos: number): number {
    copyWords(this.keyWords, key, start, end);
    return this.exports.hexUpper(this.keyStart, this.keyStart + end - start, pos);
  }

  /** As `escape`, of bytes that are copied in first. */
  keyEscape(key: Uint8Array, start: number, end: number, pos: number): number {
    copyWords(this.keyWords, key, start, end);
    return this.exports.escape(this.keyStart, this.keyStart + end - start, pos);
  }
}
