/**
 * Where output bytes go. Hot code writes straight into the buffer:
 *
 *   let pos = sink.reserve(maxBytes);
 *   sink.buffer[pos++] = 0x0a;
 *   sink.length = pos;
 *
 * `this.log` of oclif takes seven times as long for 300 000 lines, and an awaited stream more.
 */

import { writeSync } from 'node:fs';
import { IoError } from '../errors.ts';

/**
 * Measured with 474 MB of 79-byte rows (Node 20, 2 cores): into a file 16 KiB 590 ms, 64 KiB 481, 256 KiB 436,
 * 1 MiB 483; into a pipe, whose capacity is 64 KiB, no difference above the noise.
 */
export const SINK_BUFFER_BYTES = 256 * 1024;

/** Not an error but a signal: the reader of our output has gone. The base command ends quietly with 0. */
export class ClosedPipe extends Error {
  constructor() {
    super('the reader of the output has gone');
    this.name = 'ClosedPipe';
  }
}

const encoder = new TextEncoder();

export abstract class ByteSink {
  /** Bytes [0, length) wait for `flush`. `reserve` and `flush` may replace the array: read it again after each. */
  buffer: Uint8Array;
  /** The same bytes, for stores of several at once. */
  view: DataView;
  length: number;
  /** Bytes that have left the buffer. */
  flushedBytes: number;

  constructor(capacityBytes: number = SINK_BUFFER_BYTES) {
    this.buffer = new Uint8Array(capacityBytes);
    this.view = new DataView(this.buffer.buffer);
    this.length = 0;
    this.flushedBytes = 0;
  }

  /** Takes the buffered bytes away (or leaves them where a sink keeps everything). */
  abstract flush(): void;

  /** Hands over bytes that are too many for the buffer, which is empty then. */
  protected abstract writeThrough(bytes: Uint8Array): void;

  /** Guarantees room for `maxBytes` at the returned position, which is `length`. */
  reserve(maxBytes: number): number {
    if (this.buffer.length - this.length < maxBytes) this.makeRoom(maxBytes);
    return this.length;
  }

  protected makeRoom(maxBytes: number): void {
    this.flush();
    if (this.buffer.length < maxBytes) this.useBuffer(new Uint8Array(maxBytes));
  }

  /** Lays the output into a buffer of the caller's for as long as it is large enough. */
  lend(buffer: Uint8Array): void {
    this.flush();
    if (this.length === 0) this.useBuffer(buffer);
  }

  protected useBuffer(buffer: Uint8Array): void {
    this.buffer = buffer;
    this.view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length);
  }

  writeByte(byte: number): void {
    const pos = this.reserve(1);
    this.buffer[pos] = byte;
    this.length = pos + 1;
  }

  /** Text as UTF-8. Short ASCII text goes by a loop: encodeInto costs 100 ns and more before its first byte. */
  writeText(text: string): void {
    const count = text.length;
    let pos = this.reserve(count * 3);
    const buffer = this.buffer;
    let i = 0;
    if (count <= 48) {
      for (; i < count; i++) {
        const unit = text.charCodeAt(i);
        if (unit >= 0x80) break;
        buffer[pos++] = unit;
      }
    }
    if (i < count) {
      pos += encoder.encodeInto(i === 0 ? text : text.slice(i), buffer.subarray(pos)).written;
    }
    this.length = pos;
  }

  writeLine(text: string): void {
    this.writeText(text);
    this.writeByte(0x0a);
  }

  /** Bytes [start, end). Short runs go by a loop, from 40 bytes by `set`. */
  writeBytes(bytes: Uint8Array, start = 0, end = bytes.length): void {
    const count = end - start;
    if (count > this.buffer.length - this.length) {
      this.flush();
      if (count > this.buffer.length - this.length) {
        this.writeThrough(bytes.subarray(start, end));
        return;
      }
    }
    let pos = this.length;
    const buffer = this.buffer;
    if (count < 40) {
      for (let i = start; i < end; i++) buffer[pos++] = bytes[i]!;
    } else {
      buffer.set(bytes.subarray(start, end), pos);
      pos += count;
    }
    this.length = pos;
  }

  /** Forgets what has not left the buffer yet. */
  discard(): void {
    this.length = 0;
  }
}

/** A sink over a file descriptor. It does not own the descriptor: `flush` at the end, then close it yourself. */
export class FdSink extends ByteSink {
  private readonly fd: number;
  private readonly name: string;

  /** `name` is how an error calls the target. */
  constructor(fd: number, name: string, capacityBytes: number = SINK_BUFFER_BYTES) {
    super(capacityBytes);
    this.fd = fd;
    this.name = name;
  }

  override flush(): void {
    const length = this.length;
    // Emptied first: after a failed write the same bytes must not be tried again at exit.
    this.length = 0;
    this.writeAll(this.buffer, length);
  }

  protected override writeThrough(bytes: Uint8Array): void {
    this.writeAll(bytes, bytes.length);
  }

  private writeAll(bytes: Uint8Array, end: number): void {
    let start = 0;
    let waits = 0;
    while (start < end) {
      let written: number;
      try {
        written = writeSync(this.fd, bytes, start, end - start);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw writeFailure(error, this.name);
        // A pipe that somebody made non-blocking is full: let its reader work.
        sleepMs(Math.min(8, waits++ >> 2));
        continue;
      }
      waits = 0;
      start += written;
      this.flushedBytes += written;
    }
  }
}

/** A sink that keeps everything: for tests and for small texts. */
export class MemorySink extends ByteSink {
  constructor(capacityBytes = 256) {
    super(capacityBytes);
  }

  override flush(): void {
    // Everything stays in the buffer.
  }

  protected override makeRoom(maxBytes: number): void {
    const grown = new Uint8Array(Math.max(this.buffer.length * 2, this.length + maxBytes));
    grown.set(this.buffer.subarray(0, this.length));
    this.useBuffer(grown);
  }

  protected override writeThrough(bytes: Uint8Array): void {
    const pos = this.reserve(bytes.length);
    this.buffer.set(bytes, pos);
    this.length = pos + bytes.length;
  }

  /** The bytes so far, copied. */
  toBytes(): Uint8Array {
    return this.buffer.slice(0, this.length);
  }

  override toString(): string {
    return new TextDecoder().decode(this.buffer.subarray(0, this.length));
  }
}

/** A pipe handle of Node: writes to it block only after `setBlocking(true)`. */
interface BlockingHandle {
  setBlocking?(blocking: boolean): number;
}

/**
 * The sink of standard output. Whoever touches `process.stdout` (oclif does when it is loaded) has made a pipe
 * non-blocking; each time it is full, the loop in `writeAll` would have to sleep (1.7 times the time in all).
 */
export function stdoutSink(): FdSink {
  (process.stdout as unknown as { _handle?: BlockingHandle })._handle?.setBlocking?.(true);
  return new FdSink(1, 'standard output');
}

function writeFailure(cause: unknown, name: string): Error {
  const { code, message } = cause as NodeJS.ErrnoException;
  if (code === 'EPIPE') return new ClosedPipe();
  return new IoError('io_error', name, message, { cause });
}

const sleepCell = new Int32Array(new SharedArrayBuffer(4));

function sleepMs(durationMs: number): void {
  Atomics.wait(sleepCell, 0, 0, durationMs);
}
