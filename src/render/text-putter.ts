import type { TextKernel } from '../kernels/text-kernel.ts';
import { putEscape, putEscaped, putHex, putHexUpper, startsLikeHex } from './put.ts';
import type { ByteSink } from './sink.ts';

/** Below these a call of the kernel costs more than the loop. */
const KERNEL_MIN_BYTES = 24;
const KERNEL_MIN_KEY_BYTES = 6;

/**
 * Puts keys and values into a sink at a position, for which the caller has reserved room: through the kernel where
 * bytes and buffer are in its reach, else by the loops of put.ts. The array of a value is one whose bytes do not change
 * while it is the same object (EntrySource.data); that of a key may change.
 */
export class TextPutter {
  /** The sink's buffer is the kernel's from here on, when there is one. */
  constructor(
    private readonly sink: ByteSink,
    private readonly kernel: TextKernel | undefined,
  ) {
    if (kernel !== undefined) sink.lend(kernel.buffer);
  }

  hex(pos: number, data: Uint8Array, start: number, end: number): number {
    return this.reaches(data, start, end)
      ? this.kernel!.hex(start, end, pos)
      : putHex(this.sink.view, pos, data, start, end);
  }

  hexUpper(pos: number, data: Uint8Array, start: number, end: number): number {
    return this.reaches(data, start, end)
      ? this.kernel!.hexUpper(start, end, pos)
      : putHexUpper(this.sink.view, pos, data, start, end);
  }

  escaped(pos: number, data: Uint8Array, start: number, end: number): number {
    if (!this.reaches(data, start, end)) return putEscaped(this.sink.buffer, pos, data, start, end);
    if (startsLikeHex(data, start, end)) pos = putEscape(this.sink.buffer, pos, data[start++]!);
    return this.kernel!.escape(start, end, pos);
  }

  keyHex(pos: number, key: Uint8Array, start: number, end: number): number {
    return this.takesKey(end - start)
      ? this.kernel!.keyHex(key, start, end, pos)
      : putHex(this.sink.view, pos, key, start, end);
  }

  keyHexUpper(pos: number, key: Uint8Array, start: number, end: number): number {
    return this.takesKey(end - start)
      ? this.kernel!.keyHexUpper(key, start, end, pos)
      : putHexUpper(this.sink.view, pos, key, start, end);
  }

  keyEscaped(pos: number, key: Uint8Array, start: number, end: number): number {
    if (!this.takesKey(end - start)) return putEscaped(this.sink.buffer, pos, key, start, end);
    if (startsLikeHex(key, start, end)) pos = putEscape(this.sink.buffer, pos, key[start++]!);
    return this.kernel!.keyEscape(key, start, end, pos);
  }

  private takesKey(length: number): boolean {
    const { kernel } = this;
    return (
      kernel !== undefined &&
      length >= KERNEL_MIN_KEY_BYTES &&
      length <= kernel.keyBytesMax &&
      this.sink.buffer === kernel.buffer
    );
  }

  private reaches(data: Uint8Array, start: number, end: number): boolean {
    const { kernel } = this;
    return (
      kernel !== undefined &&
      end - start >= KERNEL_MIN_BYTES &&
      this.sink.buffer === kernel.buffer &&
      kernel.place(data)
    );
  }
}
