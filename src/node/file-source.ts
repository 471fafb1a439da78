import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import type { FileSource } from '../engine/environment.ts';
import { IoError } from '../errors.ts';
import { wrapSystemError } from './io-error.ts';

/** One system call moves at most 2^31 - 4096 bytes on Linux; Node takes no length above 2^31 - 1. */
const MAX_BYTES_PER_CALL = 1024 * 1024 * 1024;

/**
 * Opens a file for reading; `name` is how messages call it. Its size is that of the moment of opening.
 * Throws IoError: `not_found`, `permission`, `is_directory`, or `io_error`, also for what is not a
 * regular file (a pipe cannot be read at offsets).
 */
export function openFileSource(path: string, name = path): FileSource {
  let fd: number;
  try {
    // Without O_NONBLOCK, opening a pipe would wait for its writer. It means nothing to regular files.
    fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    throw wrapSystemError(error, name);
  }
  try {
    const status = fstatSync(fd);
    if (status.isDirectory()) throw new IoError('is_directory', name, 'is a directory');
    if (!status.isFile()) throw new IoError('io_error', name, 'not a regular file');
    return new OpenFile(name, status.size, fd);
  } catch (error) {
    closeSync(fd);
    throw error instanceof IoError ? error : wrapSystemError(error, name);
  }
}

class OpenFile implements FileSource {
  constructor(
    readonly name: string,
    readonly size: number,
    /** -1 once closed: the number may by then belong to another file. */
    private fd: number,
  ) {}

  read(offset: number, length: number): Uint8Array {
    const target = new Uint8Array(length);
    this.readInto(offset, target);
    return target;
  }

  readInto(offset: number, target: Uint8Array): void {
    if (this.fd < 0) throw new Error(`${this.name} was read after it had been closed`);
    let filled = 0;
    while (filled < target.length) {
      const wanted = Math.min(target.length - filled, MAX_BYTES_PER_CALL);
      let count: number;
      try {
        count = readSync(this.fd, target, filled, wanted, offset + filled);
      } catch (error) {
        throw wrapSystemError(error, this.name);
      }
      if (count === 0) throw this.shortRead(offset, target.length, filled);
      filled += count;
    }
  }

  close(): void {
    if (this.fd < 0) return;
    const fd = this.fd;
    this.fd = -1;
    closeSync(fd);
  }

  private shortRead(offset: number, length: number, filled: number): IoError {
    return new IoError(
      'io_error',
      this.name,
      `${length} bytes at ${offset} asked for, the file ends after ${filled} of them; ` +
        `it had ${this.size} bytes when it was opened and has been cut since`,
    );
  }
}
