import type { BufferRing } from '../../bytes/buffer-ring.ts';
import { copyBytes } from '../../bytes/copy.ts';
import { InvalidArgumentError } from '../../errors.ts';
import { BlockBuilder } from '../block/block-builder.ts';
import { type BlockCutOptions, isBlockFull } from '../block/block-cut.ts';
import { BLOCK_TRAILER_SIZE } from '../block-handle.ts';
import {
  internalSeparator,
  internalSuccessor,
  type KeyShortener,
  keyShortenerOf,
  levelDbShortener,
  sameUserKey,
} from '../index/separators.ts';
import { compareTrailers, TRAILER_SIZE } from '../internal-key.ts';
import { ValueType } from '../value-type.ts';
import type { RawBlock } from './raw-block.ts';
import type { ResolvedTableOptions, WriterProfile } from './table-options.ts';

/**
 * Type in the trailer of a shortened index key: the largest one that the release knows, so that the key comes
 * before all entries of its user key. Source: db/dbformat.cc, kValueTypeForSeek.
 */
const SEEK_TYPES: Readonly<Record<WriterProfile, number>> = {
  '11.9': ValueType.valuePreferredSeqno,
  '7.8': ValueType.wideColumnEntity,
  leveldb: ValueType.value,
};

const NO_KEY = new Uint8Array(0);

/** Told of every key with the number of the block that takes it: user key without timestamp, `key[start, end)`. */
export type KeyVisitor = (key: Uint8Array, start: number, end: number, block: number) => void;

/**
 * Cuts entries into raw data blocks. A block is handed out when the first key of the next one is known, which its
 * index key depends on. Holds one block.
 */
export class TableCutter {
  private readonly block: BlockBuilder;
  private readonly cut: BlockCutOptions;
  private readonly shortener: KeyShortener | undefined;
  private readonly keepsFirstKeys: boolean;
  private readonly timestampSize: number;
  private firstKey: Uint8Array = NO_KEY;
  private lastKey: Uint8Array = new Uint8Array(64);
  private lastKeyLength = 0;
  private blocks = 0;

  constructor(
    private readonly options: ResolvedTableOptions,
    private readonly emit: (block: RawBlock) => void,
    private readonly visitKey: KeyVisitor | undefined,
    private readonly buffers: BufferRing,
  ) {
    const { storedComparator, comparator, writerProfile } = options;
    // Comparators that may hold different bytes for equal have no hash over bytes.
    const plainBytes = keyShortenerOf(comparator) !== undefined;
    const hashed = options.dataBlockIndexType === 'binary_and_hash' && plainBytes;
    this.block = new BlockBuilder({
      restartInterval: options.blockRestartInterval,
      deltaKeys: options.useDeltaEncoding,
      hashRatio: hashed ? options.dataBlockHashTableUtilRatio : 0,
      separated: options.separateKeyValueInDataBlock,
    });
    this.cut = {
      blockSize: options.blockSize,
      deviation: options.blockSizeDeviation,
      align: options.blockAlign,
    };
    const shortener = keyShortenerOf(comparator);
    this.shortener = writerProfile === 'leveldb' && shortener !== undefined ? levelDbShortener : shortener;
    this.keepsFirstKeys = options.indexType === 'first_key';
    this.timestampSize = storedComparator.timestampSize;
  }

  /** Bytes of the block under construction. */
  get pendingBytes(): number {
    return this.block.isEmpty ? 0 : this.block.sizeEstimate;
  }

  /** Entries in internal order: internal key (as it is stored) and value. Throws where the order is broken. */
  add(
    key: Uint8Array,
    keyStart: number,
    keyEnd: number,
    value: Uint8Array,
    valueStart: number,
    valueEnd: number,
  ): void {
    if (this.lastKeyLength > 0) this.checkOrder(key, keyStart, keyEnd);
    if (isBlockFull(this.cut, this.block, keyEnd - keyStart, valueEnd - valueStart)) {
      this.close(key.slice(keyStart, keyEnd));
    }
    if (this.keepsFirstKeys && this.block.isEmpty) this.firstKey = key.slice(keyStart, keyEnd);
    this.visitKey?.(key, keyStart, keyEnd - TRAILER_SIZE - this.timestampSize, this.blocks);
    this.block.add(key, keyStart, keyEnd, value, valueStart, valueEnd);
    this.keepLastKey(key, keyStart, keyEnd);
  }

  /** Hands out the last block. */
  finish(): void {
    if (!this.block.isEmpty) this.close(undefined);
  }

  private close(nextFirst: Uint8Array | undefined): void {
    const last = this.lastKey.slice(0, this.lastKeyLength);
    const bytes = this.buffers.take(this.block.finishedSize + BLOCK_TRAILER_SIZE);
    this.blocks++;
    this.emit({
      bytes,
      length: this.block.finishInto(bytes),
      separator: this.separator(last, nextFirst),
      firstKey: this.firstKey,
      lastKeyLength: last.length,
      splitsUserKey: nextFirst !== undefined && sameUserKey(this.options.storedComparator, last, nextFirst),
      isLast: nextFirst === undefined,
    });
  }

  private separator(last: Uint8Array, nextFirst: Uint8Array | undefined): Uint8Array {
    const { indexShortening, storedComparator, writerProfile } = this.options;
    const { shortener } = this;
    if (shortener === undefined || indexShortening === 'none') return last;
    const seekType = SEEK_TYPES[writerProfile];
    if (nextFirst !== undefined) {
      return internalSeparator(shortener, storedComparator, last, nextFirst, seekType);
    }
    if (indexShortening !== 'separators_and_successor') return last;
    return internalSuccessor(shortener, storedComparator, last, seekType);
  }

  private checkOrder(key: Uint8Array, start: number, end: number): void {
    const { lastKey, lastKeyLength: length } = this;
    const order = this.options.storedComparator.compare(
      lastKey,
      0,
      length - TRAILER_SIZE,
      key,
      start,
      end - TRAILER_SIZE,
    );
    if (order < 0 || (order === 0 && compareTrailers(lastKey, length, key, end) < 0)) return;
    throw new InvalidArgumentError(
      'key',
      '',
      'entries are added in the order of their internal keys, each of them once',
    );
  }

  private keepLastKey(key: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length > this.lastKey.length) this.lastKey = new Uint8Array(2 * length);
    copyBytes(key, start, end, this.lastKey, 0);
    this.lastKeyLength = length;
  }
}
