import type { Environment } from '../../engine/environment.ts';
import type { EntryCursor } from '../../engine/iterator/entry-cursor.ts';
import { CorruptionError, SstError } from '../../errors.ts';
import { BlockIterator } from '../../format/block/block-iterator.ts';
import { BatchMemory, visitBlocks } from '../../format/block-pipeline.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import type { PlainTableIterator } from '../../format/plain/plain-table-iterator.ts';
import type { EntrySource } from '../../format/table-entry.ts';
import { isPointType } from '../../format/value-type.ts';
import type { KeyFilter } from '../key-range.ts';
import { needsDictionary } from '../walk-entries.ts';
import type { CompactInput } from './compact-input.ts';
import { KeyRewriter } from './cursor-keys.ts';
import type { EntrySpan } from './entry-runs.ts';

const EMPTY = new Uint8Array(0);

/** Blocks of one batch at most, however small they are. */
const MAX_BATCH_BLOCKS = 256;

export interface CursorOptions {
  /** Bytes in the file of one batch at most; a larger block is a batch by itself. Two batches are held. */
  readonly batchBytes: number;
  /** Passes over what is damaged. Otherwise damage throws. */
  readonly salvage: boolean;
  /** Entries that are left out, counted over all that can be read. */
  readonly misplaced: readonly EntrySpan[];
  /** Only keys that it accepts. */
  readonly filter: KeyFilter | undefined;
  /** How far in the file the cursor has come, in bytes. */
  readonly advanced: (offset: number) => void;
}

/**
 * The entries of one input as a compaction sees them: internal keys with timestamps and with the sequence numbers
 * that count. Reads a batch of blocks ahead.
 */
export class TableCursor implements EntryCursor {
  data: Uint8Array = EMPTY;
  key: Uint8Array = EMPTY;
  keyLength = 0;
  valueStart = 0;
  valueEnd = 0;
  atEnd = false;
  /** Entries so far, those that the filter left out included. */
  count = 0;

  private batch: Uint8Array[] = [];
  private nextInBatch = 0;
  private nextBlock = 0;
  private ahead: Promise<Uint8Array[]> | undefined;
  /** Of the batch at hand and the one that is read ahead, in turns. */
  private readonly memories = [new BatchMemory(), new BatchMemory()] as const;
  private batches = 0;
  private readonly blockEntries = new BlockIterator();
  private readonly rows: PlainTableIterator | undefined;
  private inBlock = false;
  private readonly rewriter: KeyRewriter | undefined;
  private nextMisplaced = 0;
  private readonly blockCount: number;

  constructor(
    private readonly input: CompactInput,
    private readonly environment: Environment,
    private readonly options: CursorOptions,
  ) {
    const { shape, paddedTimestampSize, opened } = input;
    this.rows = opened.plain?.rows();
    this.blockCount = opened.plain === undefined ? opened.blocks.count : 0;
    this.rewriter =
      shape.globalSeqno !== undefined || paddedTimestampSize > 0
        ? new KeyRewriter(shape.globalSeqno, paddedTimestampSize)
        : undefined;
  }

  next(): boolean {
    for (;;) {
      const entry = this.nextStored();
      if (entry === undefined) return false;
      if (!this.isUsable(entry)) continue;
      if (this.isMisplaced(this.count++)) continue;
      if (this.options.filter !== undefined && !this.isAccepted(entry)) continue;
      this.data = entry.data;
      this.valueStart = entry.valueStart;
      this.valueEnd = entry.valueEnd;
      if (this.rewriter === undefined) {
        this.key = entry.key;
        this.keyLength = entry.keyLength;
      } else {
        this.keyLength = this.rewriter.rewrite(entry.key, entry.keyLength);
        this.key = this.rewriter.key;
      }
      return true;
    }
  }

  async load(): Promise<void> {
    if (this.atEnd) return;
    this.ahead ??= this.readBatch();
    this.batch = await this.ahead;
    this.nextInBatch = 0;
    this.ahead = undefined;
    if (this.nextBlock < this.blockCount) {
      this.ahead = this.readBatch();
      // It is awaited by the next load; an error waits there, too.
      this.ahead.catch(() => undefined);
    }
  }

  /** What was read well: long enough, of a type that is known. */
  private isUsable({ key, keyLength }: EntrySource): boolean {
    const { storedTimestampSize } = this.input.shape;
    if (keyLength >= TRAILER_SIZE + storedTimestampSize && isPointType(trailerType(key, keyLength)))
      return true;
    if (this.options.salvage) return false;
    throw new CorruptionError('entry_malformed', 'an entry has no internal key that a table stores', {
      file: this.input.path,
      blockType: 'data',
    });
  }

  private isMisplaced(entry: number): boolean {
    const { misplaced } = this.options;
    while (this.nextMisplaced < misplaced.length && misplaced[this.nextMisplaced]!.end <= entry) {
      this.nextMisplaced++;
    }
    return this.nextMisplaced < misplaced.length && misplaced[this.nextMisplaced]!.start <= entry;
  }

  private isAccepted({ key, keyLength }: EntrySource): boolean {
    const end = keyLength - TRAILER_SIZE - this.input.shape.storedTimestampSize;
    return this.options.filter!.accepts(key, end);
  }

  private nextStored(): EntrySource | undefined {
    if (this.rows !== undefined) return this.nextRow(this.rows);
    const { blockEntries } = this;
    for (;;) {
      try {
        if (this.inBlock && blockEntries.next()) return blockEntries;
        this.inBlock = false;
        if (this.nextInBatch === this.batch.length) {
          this.atEnd = this.nextBlock === this.blockCount && this.ahead === undefined;
          return undefined;
        }
        blockEntries.reset(this.batch[this.nextInBatch++]!);
        this.inBlock = true;
      } catch (error) {
        if (!(error instanceof SstError) || !this.options.salvage) throw error;
        this.inBlock = false;
      }
    }
  }

  private nextRow(rows: PlainTableIterator): EntrySource | undefined {
    try {
      if (rows.next()) return rows;
    } catch (error) {
      if (!(error instanceof SstError) || !this.options.salvage) throw error;
    }
    this.atEnd = true;
    return undefined;
  }

  private async readBatch(): Promise<Uint8Array[]> {
    const { opened } = this.input;
    if (opened.plain !== undefined) return [];
    const { table, blocks } = opened;
    const first = this.nextBlock;
    let end = first;
    let bytes = 0;
    while (end < blocks.count && end - first < MAX_BATCH_BLOCKS) {
      bytes += blocks.sizes[end]!;
      if (end > first && bytes > this.options.batchBytes) break;
      end++;
    }
    this.nextBlock = end;
    const batch: Uint8Array[] = [];
    if (end === first) return batch;
    const memory = this.memories[this.batches++ & 1]!;
    memory.recycle();
    const { dictionary } = this.input;
    await visitBlocks(
      table.blocks,
      blocks,
      {
        blockType: 'data',
        dictionary: dictionary ?? undefined,
        decodeZstdFrames: this.environment.decodeZstdFrames,
        first,
        end,
        memory,
      },
      (block) => {
        this.options.advanced(block.offset + block.size);
        if (block.error !== undefined) {
          if (!this.options.salvage) throw block.error;
          return true;
        }
        if (dictionary === null && needsDictionary(block.compressionType)) return true;
        batch.push(block.contents);
        return true;
      },
    );
    return batch;
  }
}
