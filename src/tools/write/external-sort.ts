import { closeSync, ftruncateSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { readFixed32, writeFixed32 } from '../../bytes/fixed.ts';
import { CorruptionError } from '../../errors.ts';
import { compareTrailers, TRAILER_SIZE } from '../../format/internal-key.ts';
import { wrapSystemError } from '../../node/io-error.ts';
import type { Comparator } from '../../operators/comparator.ts';
import { WriteEntry } from './write-entry.ts';

/** key length, value length, line (two halves): fixed32 each; then key and value. */
const HEADER_SIZE = 16;
/** So many runs are merged at once. */
const MAX_RUNS = 64;
const MIN_READ_BYTES = 16 * 1024;
const WRITE_BYTES = 1024 * 1024;
const TWO_32 = 2 ** 32;

export interface SortOptions {
  readonly comparator: Comparator;
  /** Entries that are kept at most; a larger single entry takes what it needs. */
  readonly memoryBytes: number;
  /** Where what does not fit goes: a file of this name with an ending of its own. */
  readonly spillPath: string;
}

interface Run {
  readonly file: SpillFile;
  readonly start: number;
  readonly end: number;
}

/**
 * External merge sort of entries in internal order (Knuth, volume 3, 5.4): entries fill the memory, are sorted, and
 * written to a file as a run; 64 runs of one generation are merged into one of the next, so that a byte is written
 * once for each generation and there are few. Reading the result merges what is left. Memory: `memoryBytes` while
 * filling, as much for read buffers while merging. Files are unlinked as soon as they are open: nothing stays behind.
 */
export class ExternalSorter {
  private arena: Uint8Array;
  private used = 0;
  private offsets: Float64Array = new Float64Array(1024);
  private count = 0;
  /** Runs by generation, each generation in a file of its own. */
  private readonly generations: { file: SpillFile; runs: Run[] }[] = [];
  private readonly compare: Comparator['compare'];

  constructor(private readonly options: SortOptions) {
    this.arena = new Uint8Array(Math.min(options.memoryBytes, 4 * 1024 * 1024));
    this.compare = options.comparator.compare;
  }

  /** Entries that are in files. */
  get spilledBytes(): number {
    return this.generations.reduce((sum, { file }) => sum + file.size, 0);
  }

  add({ key, keyStart, keyEnd, value, valueStart, valueEnd, line }: WriteEntry): void {
    const keyLength = keyEnd - keyStart;
    const valueLength = valueEnd - valueStart;
    const size = HEADER_SIZE + keyLength + valueLength;
    this.reserve(size);
    const { arena } = this;
    let pos = this.used;
    if (this.count === this.offsets.length) this.offsets = grown(this.offsets);
    this.offsets[this.count++] = pos;
    writeFixed32(arena, pos, keyLength);
    writeFixed32(arena, pos + 4, valueLength);
    writeFixed32(arena, pos + 8, line % TWO_32);
    writeFixed32(arena, pos + 12, Math.floor(line / TWO_32));
    pos += HEADER_SIZE;
    arena.set(key.subarray(keyStart, keyEnd), pos);
    arena.set(value.subarray(valueStart, valueEnd), pos + keyLength);
    this.used += size;
  }

  /** Everything in order. Nothing is added afterwards. */
  sorted(): EntryCursor {
    this.sortMemory();
    const inMemory = new MemoryCursor(this.arena, this.offsets.subarray(0, this.count));
    const runs = this.generations.flatMap((generation) => generation.runs);
    if (runs.length === 0) return inMemory;
    return new MergeCursor([...this.openRuns(runs), inMemory], this.compare);
  }

  close(): void {
    for (const { file } of this.generations) file.close();
  }

  private reserve(size: number): void {
    const { memoryBytes } = this.options;
    if (this.used + size + 16 * this.count > memoryBytes && this.count > 0) this.spill();
    if (this.used + size <= this.arena.length) return;
    const larger = new Uint8Array(Math.max(this.used + size, Math.min(memoryBytes, 2 * this.arena.length)));
    larger.set(this.arena.subarray(0, this.used));
    this.arena = larger;
  }

  private sortMemory(): void {
    const { arena, compare } = this;
    const offsets = this.offsets.subarray(0, this.count);
    const order = (a: number, b: number): number => {
      const aEnd = a + HEADER_SIZE + readFixed32(arena, a);
      const bEnd = b + HEADER_SIZE + readFixed32(arena, b);
      return (
        compare(arena, a + HEADER_SIZE, aEnd - TRAILER_SIZE, arena, b + HEADER_SIZE, bEnd - TRAILER_SIZE) ||
        compareTrailers(arena, aEnd, arena, bEnd)
      );
    };
    for (let i = 1; i < offsets.length; i++) {
      if (order(offsets[i - 1]!, offsets[i]!) <= 0) continue;
      offsets.sort(order);
      return;
    }
  }

  private spill(): void {
    this.sortMemory();
    const cursor = new MemoryCursor(this.arena, this.offsets.subarray(0, this.count));
    this.writeRun(0, cursor);
    this.used = 0;
    this.count = 0;
  }

  private writeRun(generation: number, cursor: EntryCursor): void {
    if (this.generations.length === generation) {
      const file = new SpillFile(`${this.options.spillPath}.${process.pid}.sort-${generation}.tmp`);
      this.generations.push({ file, runs: [] });
    }
    const { file, runs } = this.generations[generation]!;
    const start = file.size;
    while (cursor.next()) file.append(cursor.entry);
    file.flush();
    runs.push({ file, start, end: file.size });
    if (runs.length < MAX_RUNS) return;
    this.writeRun(generation + 1, new MergeCursor(this.openRuns(runs), this.compare));
    runs.length = 0;
    file.clear();
  }

  private openRuns(runs: readonly Run[]): EntryCursor[] {
    const bytes = Math.max(MIN_READ_BYTES, Math.floor(this.options.memoryBytes / MAX_RUNS / 4));
    return runs.map((run) => new RunCursor(run, bytes));
  }
}

/** Entries in order: `next` moves to the first one, then to each other. */
export interface EntryCursor {
  /** Valid until the next `next`. */
  readonly entry: WriteEntry;
  next(): boolean;
}

class MemoryCursor implements EntryCursor {
  readonly entry = new WriteEntry();
  private i = 0;

  constructor(
    private readonly arena: Uint8Array,
    private readonly offsets: Float64Array,
  ) {}

  next(): boolean {
    if (this.i >= this.offsets.length) return false;
    readEntry(this.arena, this.offsets[this.i++]!, this.entry);
    return true;
  }
}

class RunCursor implements EntryCursor {
  readonly entry = new WriteEntry();
  private buffer: Uint8Array;
  private pos = 0;
  private limit = 0;
  private offset: number;

  constructor(
    private readonly run: Run,
    bytes: number,
  ) {
    this.buffer = new Uint8Array(bytes);
    this.offset = run.start;
  }

  next(): boolean {
    if (this.offset === this.run.end && this.pos === this.limit) return false;
    this.need(HEADER_SIZE);
    const size = HEADER_SIZE + readFixed32(this.buffer, this.pos) + readFixed32(this.buffer, this.pos + 4);
    this.need(size);
    readEntry(this.buffer, this.pos, this.entry);
    this.pos += size;
    return true;
  }

  private need(count: number): void {
    if (this.limit - this.pos >= count) return;
    const kept = this.limit - this.pos;
    const target = count > this.buffer.length ? new Uint8Array(count) : this.buffer;
    if (target === this.buffer) target.copyWithin(0, this.pos, this.limit);
    else target.set(this.buffer.subarray(this.pos, this.limit));
    const wanted = Math.min(target.length - kept, this.run.end - this.offset);
    this.run.file.read(target, kept, wanted, this.offset);
    this.buffer = target;
    this.pos = 0;
    this.limit = kept + wanted;
    this.offset += wanted;
  }
}

/** A binary heap of cursors, the one with the smallest entry on top. */
class MergeCursor implements EntryCursor {
  private readonly heap: EntryCursor[] = [];
  private isStarted = false;

  constructor(
    private readonly cursors: readonly EntryCursor[],
    private readonly compare: Comparator['compare'],
  ) {}

  get entry(): WriteEntry {
    return this.heap[0]!.entry;
  }

  next(): boolean {
    const { heap } = this;
    if (!this.isStarted) {
      this.isStarted = true;
      heap.push(...this.cursors.filter((cursor) => cursor.next()));
      for (let i = (heap.length >> 1) - 1; i >= 0; i--) this.sink(i);
      return heap.length > 0;
    }
    if (heap.length === 0) return false;
    if (!heap[0]!.next()) {
      const last = heap.pop()!;
      if (heap.length === 0) return false;
      heap[0] = last;
    }
    this.sink(0);
    return true;
  }

  private sink(at: number): void {
    const { heap } = this;
    const moving = heap[at]!;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && this.isBefore(heap[child + 1]!, heap[child]!)) child++;
      if (!this.isBefore(heap[child]!, moving)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = moving;
  }

  private isBefore({ entry: a }: EntryCursor, { entry: b }: EntryCursor): boolean {
    const order = this.compare(
      a.key,
      a.keyStart,
      a.keyEnd - TRAILER_SIZE,
      b.key,
      b.keyStart,
      b.keyEnd - TRAILER_SIZE,
    );
    return order !== 0 ? order < 0 : compareTrailers(a.key, a.keyEnd, b.key, b.keyEnd) < 0;
  }
}

/** Runs of one generation, one behind the other. */
class SpillFile {
  /** Bytes in the file and in the buffer. */
  size = 0;
  private readonly fd: number;
  private readonly buffer = new Uint8Array(WRITE_BYTES);
  private used = 0;
  private isOpen = true;
  private isUnlinked = true;

  constructor(private readonly path: string) {
    try {
      this.fd = openSync(path, 'wx+', 0o600);
    } catch (error) {
      throw wrapSystemError(error, path);
    }
    try {
      rmSync(path);
    } catch {
      // Not every system lets go of a name that is open; then it goes at the end.
      this.isUnlinked = false;
    }
  }

  append(entry: WriteEntry): void {
    const header = new Uint8Array(HEADER_SIZE);
    writeFixed32(header, 0, entry.keyEnd - entry.keyStart);
    writeFixed32(header, 4, entry.valueEnd - entry.valueStart);
    writeFixed32(header, 8, entry.line % TWO_32);
    writeFixed32(header, 12, Math.floor(entry.line / TWO_32));
    this.write(header);
    this.write(entry.key.subarray(entry.keyStart, entry.keyEnd));
    this.write(entry.value.subarray(entry.valueStart, entry.valueEnd));
  }

  flush(): void {
    const { used } = this;
    this.used = 0;
    this.writeAll(this.buffer.subarray(0, used), this.size - used);
  }

  read(target: Uint8Array, at: number, count: number, offset: number): void {
    try {
      for (let done = 0; done < count; ) {
        const read = readSync(this.fd, target, at + done, count - done, offset + done);
        if (read === 0) throw new CorruptionError('gone', 'what was sorted is gone', { file: this.path });
        done += read;
      }
    } catch (error) {
      throw error instanceof CorruptionError ? error : wrapSystemError(error, this.path);
    }
  }

  /** Forgets everything, and gives the space back. */
  clear(): void {
    this.size = 0;
    try {
      ftruncateSync(this.fd, 0);
    } catch (error) {
      throw wrapSystemError(error, this.path);
    }
  }

  close(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    closeSync(this.fd);
    if (!this.isUnlinked) rmSync(this.path, { force: true });
  }

  private write(bytes: Uint8Array): void {
    if (bytes.length > WRITE_BYTES - this.used) {
      this.flush();
      if (bytes.length > WRITE_BYTES) {
        this.writeAll(bytes, this.size);
        this.size += bytes.length;
        return;
      }
    }
    this.buffer.set(bytes, this.used);
    this.used += bytes.length;
    this.size += bytes.length;
  }

  private writeAll(bytes: Uint8Array, offset: number): void {
    try {
      for (let done = 0; done < bytes.length; ) {
        done += writeSync(this.fd, bytes, done, bytes.length - done, offset + done);
      }
    } catch (error) {
      throw wrapSystemError(error, this.path);
    }
  }
}

/** Points `entry` at the record at `pos`. */
function readEntry(bytes: Uint8Array, pos: number, entry: WriteEntry): void {
  const keyStart = pos + HEADER_SIZE;
  const keyEnd = keyStart + readFixed32(bytes, pos);
  entry.key = entry.value = bytes;
  entry.keyStart = keyStart;
  entry.keyEnd = entry.valueStart = keyEnd;
  entry.valueEnd = keyEnd + readFixed32(bytes, pos + 4);
  entry.line = readFixed32(bytes, pos + 8) + readFixed32(bytes, pos + 12) * TWO_32;
}

function grown(array: Float64Array): Float64Array {
  const larger = new Float64Array(2 * array.length);
  larger.set(array);
  return larger;
}
