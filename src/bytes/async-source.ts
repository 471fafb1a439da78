import { Pending, withPending } from '../errors.ts';
import type { ByteSource } from './source.ts';

/** A source that answers later: a file in a browser page, a range of an HTTP resource. */
export interface AsyncByteSource {
  readonly name: string;
  readonly size: number;
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** Signal of a `RangeCache`: these bytes are not here yet. */
export class RangeMissing extends Pending {
  constructor(
    private readonly cache: RangeCache,
    readonly offset: number,
    readonly length: number,
  ) {
    super();
  }

  settle(): Promise<void> {
    return this.cache.fetch(this.offset, this.length);
  }
}

/**
 * However large they are: a step that fetches its ranges one after the other would never end if the first went
 * before the last came. Opening a table takes four, and batches of blocks are fetched four at a time.
 */
const MIN_RANGES = 8;

/**
 * The ranges of an asynchronous source that have arrived, as a synchronous source. A read that reaches
 * beyond them throws `RangeMissing`. Holds at most `capacityBytes`, or eight ranges where these are more; the ranges
 * used least recently go first.
 */
export class RangeCache implements ByteSource {
  private readonly ranges: { offset: number; bytes: Uint8Array }[] = [];
  private heldBytes = 0;

  constructor(
    private readonly source: AsyncByteSource,
    private readonly capacityBytes = 64 * 1024 * 1024,
  ) {}

  get name(): string {
    return this.source.name;
  }

  get size(): number {
    return this.source.size;
  }

  read(offset: number, length: number): Uint8Array {
    for (let i = this.ranges.length - 1; i >= 0; i--) {
      const range = this.ranges[i]!;
      if (offset < range.offset || offset + length > range.offset + range.bytes.length) continue;
      this.ranges.push(...this.ranges.splice(i, 1));
      return range.bytes.subarray(offset - range.offset, offset - range.offset + length);
    }
    throw new RangeMissing(this, offset, length);
  }

  readInto(offset: number, target: Uint8Array): void {
    target.set(this.read(offset, target.length));
  }

  async fetch(offset: number, length: number): Promise<void> {
    const bytes = await this.source.read(offset, length);
    this.ranges.push({ offset, bytes });
    this.heldBytes += bytes.length;
    while (this.heldBytes > this.capacityBytes && this.ranges.length > MIN_RANGES) {
      this.heldBytes -= this.ranges.shift()!.bytes.length;
    }
  }
}

/**
 * Runs a synchronous step over the ranges of an asynchronous source that are here; where one is missing,
 * it is fetched and the step runs again. Steps are small (open, one block, one lookup), without side effects.
 */
export function withRanges<T>(cache: RangeCache, step: (source: ByteSource) => T): Promise<T> {
  return withPending(() => step(cache));
}
