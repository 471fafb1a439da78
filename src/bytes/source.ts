/**
 * Where bytes come from. The format layer reads synchronously through this contract and never knows
 * whether a file, a buffer or a dropped browser file stands behind it.
 */
export interface ByteSource {
  /** How messages name it: the path as the user gave it. */
  readonly name: string;
  /** Bytes in all. */
  readonly size: number;
  /**
   * Exactly `length` bytes from `offset`. The caller has checked that the range lies inside `size`.
   * The view may be shared: it is read, never written, and is valid until the source is closed.
   * Throws IoError when the system cannot deliver them (also when the file has shrunk meanwhile).
   */
  read(offset: number, length: number): Uint8Array;
  /** The same into the caller's buffer: `target.length` bytes from `offset`. */
  readInto(offset: number, target: Uint8Array): void;
}

/** A source over bytes in memory. */
export function memorySource(bytes: Uint8Array, name = 'memory'): ByteSource {
  return {
    name,
    size: bytes.length,
    read: (offset, length) => bytes.subarray(offset, offset + length),
    readInto: (offset, target) => target.set(bytes.subarray(offset, offset + target.length)),
  };
}

/** A source that counts what is asked of it: for tests and statistics. */
export class CountingSource implements ByteSource {
  reads = 0;
  bytesRead = 0;

  constructor(private readonly inner: ByteSource) {}

  get name(): string {
    return this.inner.name;
  }

  get size(): number {
    return this.inner.size;
  }

  read(offset: number, length: number): Uint8Array {
    this.reads++;
    this.bytesRead += length;
    return this.inner.read(offset, length);
  }

  readInto(offset: number, target: Uint8Array): void {
    this.reads++;
    this.bytesRead += target.length;
    this.inner.readInto(offset, target);
  }
}
