import { ByteWriter } from '../../bytes/byte-writer.ts';
import { compareBytes } from '../../bytes/compare.ts';
import type { PrefixExtractor } from '../../operators/prefix-extractor.ts';
import { HASH_METADATA_BLOCK, HASH_PREFIXES_BLOCK } from '../metaindex.ts';
import {
  type FinishedIndex,
  type IndexBlockOptions,
  type IndexBuilder,
  type IndexEntry,
  PlainIndexBuilder,
  type WriteIndexBlock,
} from './index-builder.ts';

/**
 * An ordinary index, and beside it for each prefix the blocks that have it.
 *
 *   prefixes: all distinct consecutive prefixes, one behind the other
 *   metadata: for each, varint32 length, varint32 first block, varint32 number of blocks
 *
 * Source: RocksDB table/block_based/index_builder.h, HashIndexBuilder.
 */
export class HashIndexBuilder implements IndexBuilder {
  private readonly plain: PlainIndexBuilder;
  private readonly prefixes = new ByteWriter();
  private readonly metadata = new ByteWriter();
  private prefixStart = 0;
  private prefixEnd = 0;
  private firstBlock = 0;
  private blockCount = 0;

  constructor(
    options: IndexBlockOptions,
    private readonly extractor: PrefixExtractor,
  ) {
    this.plain = new PlainIndexBuilder(options);
  }

  get userKeys(): boolean {
    return this.plain.userKeys;
  }

  /** Every user key, in order, with the number of the block that takes it. */
  addKey(key: Uint8Array, start: number, end: number, block: number): void {
    // RocksDB asks for a prefix of every key; one that has none stands for itself here.
    const inDomain = this.extractor.inDomain(key, start, end);
    const prefixEnd = inDomain ? this.extractor.prefixEnd(key, start, end) : end;
    const { bytes } = this.prefixes;
    if (
      this.blockCount > 0 &&
      compareBytes(bytes, this.prefixStart, this.prefixEnd, key, start, prefixEnd) === 0
    ) {
      if (this.firstBlock + this.blockCount - 1 !== block) this.blockCount++;
      return;
    }
    this.closePrefix();
    this.prefixStart = this.prefixes.length;
    this.prefixes.append(key, start, prefixEnd);
    this.prefixEnd = this.prefixes.length;
    this.firstBlock = block;
    this.blockCount = 1;
  }

  add(entry: IndexEntry, offset: number, size: number, whole: boolean): void {
    this.plain.add(entry, offset, size, whole);
  }

  finish(write: WriteIndexBlock): FinishedIndex {
    this.closePrefix();
    // RocksDB keeps them in a hash map, whose order with its standard library is this one.
    const metadata = { name: HASH_METADATA_BLOCK, handle: write(this.metadata.copy(), 'hash_metadata') };
    const prefixes = { name: HASH_PREFIXES_BLOCK, handle: write(this.prefixes.copy(), 'hash_prefixes') };
    const index = this.plain.finish(write);
    return {
      ...index,
      size: index.size + this.prefixes.length + this.metadata.length,
      metaBlocks: [metadata, prefixes],
    };
  }

  private closePrefix(): void {
    if (this.blockCount === 0) return;
    this.metadata.varint(this.prefixEnd - this.prefixStart);
    this.metadata.varint(this.firstBlock);
    this.metadata.varint(this.blockCount);
  }
}
