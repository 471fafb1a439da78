import { writeSync } from 'node:fs';
import type { TableSink } from '../format/table-builder/table-sink.ts';
import { wrapSystemError } from './io-error.ts';

/** Large enough that system calls do not count. */
const BUFFER_BYTES = 1024 * 1024;

/** A table's bytes into an open file. It does not own the descriptor; `flush` before the file is committed. */
export class SstFileSink implements TableSink {
  position = 0;
  private readonly buffer = new Uint8Array(BUFFER_BYTES);
  private used = 0;

  constructor(
    private readonly fd: number,
    /** How errors call the file. */
    private readonly path: string,
  ) {}

  write(bytes: Uint8Array): void {
    this.position += bytes.length;
    if (bytes.length > BUFFER_BYTES - this.used) this.flush();
    if (bytes.length > BUFFER_BYTES) {
      this.writeAll(bytes);
      return;
    }
    this.buffer.set(bytes, this.used);
    this.used += bytes.length;
  }

  flush(): void {
    const { used } = this;
    this.used = 0;
    this.writeAll(this.buffer.subarray(0, used));
  }

  private writeAll(bytes: Uint8Array): void {
    try {
      for (let start = 0; start < bytes.length; ) {
        start += writeSync(this.fd, bytes, start, bytes.length - start);
      }
    } catch (error) {
      throw wrapSystemError(error, this.path);
    }
  }
}
