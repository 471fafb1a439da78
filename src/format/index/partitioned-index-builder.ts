import { varintLength } from '../../bytes/varint.ts';
import { type BlockCutOptions, isBlockFull } from '../block/block-cut.ts';
import {
  type FinishedIndex,
  IndexBlockBuilder,
  type IndexBlockOptions,
  type IndexBuilder,
  type IndexEntry,
  type WriteIndexBlock,
} from './index-builder.ts';

interface Partition {
  readonly block: IndexBlockBuilder;
  /** Separator of its last data block. */
  key: Uint8Array;
}

const NO_KEY = new Uint8Array(0);

/**
 * Index of two levels: partitions like an index of one level, and a block over them.
 *
 * Partitions of a filter may be tied to those of the index: the filter asks for a cut when it has taken enough
 * keys (`requestCut`), and is itself cut where the index was (`takeFilterCut`). The index is cut before the entry
 * of the block just written, the filter behind that block: the filter's partition covers one data block more.
 * Source: RocksDB table/block_based/index_builder.cc, PartitionedIndexBuilder.
 */
export class PartitionedIndexBuilder implements IndexBuilder {
  private readonly partitions: Partition[] = [];
  private current: Partition | undefined;
  private internalKeys: boolean;
  private cutRequested = false;
  private filterCut = false;

  /** `cut`: what a partition should weigh. First keys are not kept. */
  constructor(
    private readonly options: IndexBlockOptions,
    private readonly cut: BlockCutOptions,
  ) {
    this.internalKeys = options.internalKeysOnly;
  }

  get userKeys(): boolean {
    return !this.internalKeys;
  }

  /** Separator of the data block told last. */
  get lastSeparator(): Uint8Array {
    return this.partitions[this.partitions.length - 1]?.key ?? NO_KEY;
  }

  requestCut(): void {
    this.cutRequested = true;
  }

  /** Whether the index has been cut since it was asked last. */
  takeFilterCut(): boolean {
    const cut = this.filterCut;
    this.filterCut = false;
    return cut;
  }

  add(entry: IndexEntry, offset: number, size: number, whole: boolean): void {
    if (!entry.isLast && this.current !== undefined && this.isFull(entry.lastKeyLength, offset, size)) {
      this.current = undefined;
      this.filterCut = true;
    }
    const partition = this.current ?? this.begin();
    if (entry.splitsUserKey) {
      this.internalKeys = true;
      partition.block.requireInternalKeys();
    }
    partition.block.add(entry.separator, NO_KEY, offset, size, whole);
    partition.key = entry.separator;
    if (entry.isLast) this.filterCut = true;
  }

  finish(write: WriteIndexBlock): FinishedIndex {
    const top = new IndexBlockBuilder(this.options);
    if (this.internalKeys) top.requireInternalKeys();
    let size = 0;
    for (const { block, key } of this.partitions) {
      const contents = block.finish(this.internalKeys);
      const handle = write(contents, 'index_partition');
      size += contents.length;
      top.add(key, NO_KEY, handle.offset, handle.size, false);
    }
    const contents = top.finish(this.internalKeys);
    const handle = write(contents, 'index');
    return {
      handle,
      size: size + contents.length,
      partitionCount: this.partitions.length,
      topLevelSize: contents.length,
      metaBlocks: [],
    };
  }

  private isFull(lastKeyLength: number, offset: number, size: number): boolean {
    if (this.cutRequested) return true;
    const handleLength = varintLength(offset) + varintLength(size);
    return isBlockFull(this.cut, this.current!.block.current, lastKeyLength, handleLength);
  }

  private begin(): Partition {
    const block = new IndexBlockBuilder({ ...this.options, firstKeys: false });
    if (this.internalKeys) block.requireInternalKeys();
    const partition = { block, key: NO_KEY };
    this.partitions.push(partition);
    this.current = partition;
    this.cutRequested = false;
    return partition;
  }
}
