import type { BlockCompressor } from './block-compressor.ts';
import { sampleBlocks } from './dictionary/samples.ts';
import { trainDictionary } from './dictionary/train-dictionary.ts';
import type { RawBlock, StoredBlock } from './raw-block.ts';
import type { ResolvedTableOptions } from './table-options.ts';

/** Blocks of 4 KiB under compression at once: more do not make the thread pool faster. */
const MAX_IN_FLIGHT = 128;
/** Large blocks count for more. */
const MAX_IN_FLIGHT_BYTES = 8 * 1024 * 1024;

interface Slot {
  readonly raw: RawBlock;
  /** Undefined while it is compressed. */
  stored: StoredBlock | undefined;
}

/**
 * Compresses raw blocks and hands them on in order. Where the table is to have a dictionary, blocks wait until
 * there is enough to sample, or no more comes.
 */
export class CompressionQueue {
  /** What the table's data blocks are compressed with, if anything. */
  dictionary: Uint8Array | undefined;
  private readonly slots: Slot[] = [];
  private inFlightBytes = 0;
  /** Blocks that wait for the dictionary; undefined where there is none to wait for. */
  private waiting: RawBlock[] | undefined;
  private waitingBytes = 0;
  private forData: BlockCompressor;
  private failure: { readonly error: unknown } | undefined;
  private wake: (() => void) | undefined;
  private rawBytes = 0;
  private storedBytes = 0;

  constructor(
    private readonly options: ResolvedTableOptions,
    /** Without a dictionary. */
    readonly compressor: BlockCompressor,
    private readonly write: (raw: RawBlock, stored: StoredBlock) => void,
  ) {
    this.forData = compressor;
    this.waiting = wantsDictionary(options) ? [] : undefined;
  }

  get isSaturated(): boolean {
    return this.slots.length >= MAX_IN_FLIGHT || this.inFlightBytes >= MAX_IN_FLIGHT_BYTES;
  }

  /** What the blocks that are not written yet will take, by how those before them compressed. */
  get estimatedBytes(): number {
    const ratio = this.rawBytes === 0 ? 1 : this.storedBytes / this.rawBytes;
    return Math.round((this.inFlightBytes + this.waitingBytes) * ratio);
  }

  push(raw: RawBlock): void {
    if (this.waiting === undefined) {
      this.compress(raw);
      return;
    }
    this.waiting.push(raw);
    this.waitingBytes += raw.length;
    const limit = dictionaryBufferLimit(this.options);
    // As in RocksDB the last block does not count: when it comes, the table is at its end anyway.
    if (limit > 0 && this.waitingBytes > limit && !raw.isLast) this.close();
  }

  /** No more blocks come, or no more may wait: selects the dictionary and lets them go. */
  close(): void {
    const { waiting } = this;
    if (waiting === undefined) return;
    this.waiting = undefined;
    this.waitingBytes = 0;
    if (waiting.length > 0) {
      this.dictionary = makeDictionary(this.options, waiting);
      if (this.dictionary.length > 0) this.forData = this.compressor.withDictionary(this.dictionary);
    }
    for (const raw of waiting) this.compress(raw);
  }

  /** Resolves when the queue is half empty: to wake for each block would take longer than to make it. */
  async settle(): Promise<void> {
    while (this.isHalfFull && this.failure === undefined) await this.nextArrival();
    this.rethrow();
  }

  private get isHalfFull(): boolean {
    return this.slots.length > MAX_IN_FLIGHT / 2 || this.inFlightBytes > MAX_IN_FLIGHT_BYTES / 2;
  }

  /** Resolves when everything is written. */
  async drain(): Promise<void> {
    while (this.slots.length > 0 && this.failure === undefined) await this.nextArrival();
    this.rethrow();
  }

  assertDrained(): void {
    this.rethrow();
    if (this.slots.length > 0) throw new Error(`${this.slots.length} blocks are still under compression`);
  }

  private compress(raw: RawBlock): void {
    this.rethrow();
    const result = this.forData.compressLater(raw.bytes, raw.length);
    if (!(result instanceof Promise)) {
      if (this.slots.length === 0) this.writeBlock(raw, result);
      else this.enqueue({ raw, stored: result });
      return;
    }
    const slot: Slot = { raw, stored: undefined };
    this.enqueue(slot);
    result.then(
      (stored) => {
        slot.stored = stored;
        this.flush();
      },
      (error: unknown) => this.fail(error),
    );
  }

  private enqueue(slot: Slot): void {
    this.slots.push(slot);
    this.inFlightBytes += slot.raw.length;
  }

  /** Writes what is ready at the head. Errors are kept for whoever adds or awaits. */
  private flush(): void {
    try {
      while (this.failure === undefined && this.slots[0]?.stored !== undefined) {
        const { raw, stored } = this.slots.shift()!;
        this.inFlightBytes -= raw.length;
        this.writeBlock(raw, stored!);
      }
    } catch (error) {
      this.fail(error);
    }
    this.wake?.();
  }

  private writeBlock(raw: RawBlock, stored: StoredBlock): void {
    this.rawBytes += raw.length;
    this.storedBytes += stored.length;
    this.write(raw, stored);
  }

  private nextArrival(): Promise<void> {
    return new Promise((resolve) => {
      this.wake = resolve;
    });
  }

  private fail(error: unknown): void {
    this.failure ??= { error };
    this.wake?.();
  }

  private rethrow(): void {
    if (this.failure !== undefined) throw this.failure.error;
  }
}

/** 7.8 makes dictionaries for tables that are not compressed, too. */
function wantsDictionary({ compression, compressionOptions, writerProfile }: ResolvedTableOptions): boolean {
  return compressionOptions.maxDictBytes > 0 && (writerProfile === '7.8' || compression !== 'none');
}

/** Bytes of raw blocks that may wait; 0 for no limit. */
function dictionaryBufferLimit({ targetFileSize, compressionOptions }: ResolvedTableOptions): number {
  const { maxDictBufferBytes } = compressionOptions;
  if (targetFileSize === 0) return maxDictBufferBytes;
  return maxDictBufferBytes === 0 ? targetFileSize : Math.min(targetFileSize, maxDictBufferBytes);
}

function makeDictionary(
  { compression, compressionOptions }: ResolvedTableOptions,
  blocks: readonly RawBlock[],
): Uint8Array {
  const { maxDictBytes, zstdMaxTrainBytes } = compressionOptions;
  if (compression !== 'zstd' || zstdMaxTrainBytes === 0) return sampleBlocks(blocks, maxDictBytes).bytes;
  return trainDictionary(sampleBlocks(blocks, zstdMaxTrainBytes), maxDictBytes);
}
