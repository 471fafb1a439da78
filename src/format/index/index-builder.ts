import { ByteWriter } from '../../bytes/byte-writer.ts';
import { BlockBuilder } from '../block/block-builder.ts';
import type { BlockHandle } from '../block-handle.ts';
import type { BlockType } from '../block-type.ts';
import { TRAILER_SIZE } from '../internal-key.ts';

/** What the index is told of one data block, before it knows where the block lies. */
export interface IndexEntry {
  /** Internal key, from the block's last key up to, but not, the first key of the next block. */
  readonly separator: Uint8Array;
  /** First internal key of the block; empty where the index keeps none. */
  readonly firstKey: Uint8Array;
  /** Bytes of the block's last internal key, which RocksDB cuts partitions by. */
  readonly lastKeyLength: number;
  /** The next block begins with the same user key: only a sequence number can tell them apart. */
  readonly splitsUserKey: boolean;
  /** No block follows. */
  readonly isLast: boolean;
}

export interface IndexBlockOptions {
  readonly restartInterval: number;
  /** Handles as differences of sizes, where keys share bytes. */
  readonly deltaValues: boolean;
  readonly firstKeys: boolean;
  /** Internal keys from the beginning, as before format_version 3. */
  readonly internalKeysOnly: boolean;
}

/** Writes a finished block of the index and tells where it lies. */
export type WriteIndexBlock = (contents: Uint8Array, type: BlockType) => BlockHandle;

/** A meta block beside the index, with its name in the metaindex. */
export interface IndexMetaBlock {
  readonly name: string;
  readonly handle: BlockHandle;
}

export interface FinishedIndex {
  readonly handle: BlockHandle;
  /** Uncompressed bytes of all its blocks. */
  readonly size: number;
  readonly partitionCount: number;
  /** Uncompressed bytes of the top level; 0 where there is one level only. */
  readonly topLevelSize: number;
  readonly metaBlocks: readonly IndexMetaBlock[];
}

/** Builds the index of one table. Blocks are told in order, then `finish` writes. */
export interface IndexBuilder {
  /** True until a block boundary falls between two entries of one user key. */
  readonly userKeys: boolean;
  add(entry: IndexEntry, offset: number, size: number, whole: boolean): void;
  finish(write: WriteIndexBlock): FinishedIndex;
}

/**
 * One index block in the making, in two forms: with internal keys, and with user keys as long as these suffice.
 * Which form is stored is known only at the end, and holds for all blocks of a table.
 * Source: RocksDB table/block_based/index_builder.h, ShortenedIndexBuilder.
 */
export class IndexBlockBuilder {
  private readonly internal: BlockBuilder;
  private readonly user: BlockBuilder;
  private readonly whole = new ByteWriter(64);
  private readonly delta = new ByteWriter(64);
  private lastSize = 0;
  private needsInternal: boolean;

  constructor(private readonly options: IndexBlockOptions) {
    const { restartInterval, deltaValues } = options;
    this.internal = new BlockBuilder({ restartInterval, deltaValues });
    this.user = new BlockBuilder({ restartInterval, deltaValues });
    this.needsInternal = options.internalKeysOnly;
  }

  get isEmpty(): boolean {
    return this.internal.isEmpty;
  }

  get internalKeys(): boolean {
    return this.needsInternal;
  }

  requireInternalKeys(): void {
    this.needsInternal = true;
  }

  /** The form that counts as things stand, for deciding where to cut. */
  get current(): BlockBuilder {
    return this.needsInternal ? this.internal : this.user;
  }

  /** `whole`: the block does not follow the one before without a gap. */
  add(separator: Uint8Array, firstKey: Uint8Array, offset: number, size: number, whole: boolean): void {
    const value = this.whole;
    value.truncate(0);
    value.varint(offset);
    value.varint(size);
    const delta = this.delta;
    delta.truncate(0);
    delta.signedVarint(size - this.lastSize);
    if (this.options.firstKeys) {
      value.lengthPrefixed(firstKey);
      delta.lengthPrefixed(firstKey);
    }
    this.lastSize = size;
    this.internal.addDelta(separator, value.view(), delta.view(), whole);
    if (this.needsInternal) return;
    const userKey = separator.subarray(0, separator.length - TRAILER_SIZE);
    this.user.addDelta(userKey, value.view(), delta.view(), whole);
  }

  finish(internalKeys: boolean): Uint8Array {
    return (internalKeys ? this.internal : this.user).finish();
  }
}

const NO_KEY = new Uint8Array(0);

/** Index of one level: binary search, with or without first keys. */
export class PlainIndexBuilder implements IndexBuilder {
  private readonly block: IndexBlockBuilder;
  private readonly firstKeys: boolean;

  constructor(options: IndexBlockOptions) {
    this.block = new IndexBlockBuilder(options);
    this.firstKeys = options.firstKeys;
  }

  get userKeys(): boolean {
    return !this.block.internalKeys;
  }

  add(entry: IndexEntry, offset: number, size: number, whole: boolean): void {
    if (entry.splitsUserKey) this.block.requireInternalKeys();
    this.block.add(entry.separator, this.firstKeys ? entry.firstKey : NO_KEY, offset, size, whole);
  }

  finish(write: WriteIndexBlock): FinishedIndex {
    const contents = this.block.finish(this.block.internalKeys);
    const handle = write(contents, 'index');
    return { handle, size: contents.length, partitionCount: 0, topLevelSize: 0, metaBlocks: [] };
  }
}
