import type { ParsedBlock } from '../../format/block/parsed-block.ts';
import type { SeekTarget } from '../../format/block/seek-target.ts';
import type { BlockHandle } from '../../format/block-handle.ts';
import { IndexType } from '../../format/index/index-block-iterator.ts';
import { IndexCursor } from '../../format/index/index-cursor.ts';
import type { TableIndex } from '../../format/table-reader.ts';
import type { BlockStore } from './block-store.ts';

/** A cursor over one level of an index, whose errors name the block that they are about. */
class LevelCursor extends IndexCursor {
  private blockOffset = 0;

  constructor(
    index: TableIndex,
    private readonly store: BlockStore,
    private readonly type: 'index' | 'index_partition',
  ) {
    // First keys stand beside the handles of data blocks alone.
    const isTop = type === 'index' && index.type === IndexType.twoLevel;
    super(isTop ? { ...index, firstKeys: false } : index);
  }

  loadAt(block: ParsedBlock, offset: number): void {
    this.blockOffset = offset;
    try {
      this.load(block);
    } catch (error) {
      throw this.placed(error);
    }
  }

  override seek(target: SeekTarget): boolean {
    try {
      return super.seek(target);
    } catch (error) {
      throw this.placed(error);
    }
  }

  override seekToLast(): boolean {
    try {
      return super.seekToLast();
    } catch (error) {
      throw this.placed(error);
    }
  }

  override next(): boolean {
    try {
      return super.next();
    } catch (error) {
      throw this.placed(error);
    }
  }

  override previous(): boolean {
    try {
      return super.previous();
    } catch (error) {
      throw this.placed(error);
    }
  }

  private placed(error: unknown): unknown {
    return this.store.placed(error, this.type, this.blockOffset);
  }
}

/** What of the index a table keeps, besides what the cache does. */
export interface KeptIndex {
  /** The index, or its top level. */
  readonly top: ParsedBlock | undefined;
  readonly partitions: ReadonlyMap<number, ParsedBlock> | undefined;
}

/** Reads what is to be kept of an index. */
export function keepIndex(
  index: TableIndex,
  store: BlockStore,
  keeping: { top: boolean; partitions: boolean; inCache: boolean },
): KeptIndex {
  if (!keeping.top && !keeping.partitions) return { top: undefined, partitions: undefined };
  const top = store.keepIndex('index', index.handle, keeping.inCache);
  if (index.type !== IndexType.twoLevel || !keeping.partitions) return { top, partitions: undefined };
  const partitions = new Map<number, ParsedBlock>();
  const cursor = new LevelCursor(index, store, 'index');
  cursor.loadAt(top, index.handle.offset);
  while (cursor.next()) {
    partitions.set(cursor.offset, store.keepIndex('index_partition', cursor, keeping.inCache));
  }
  return { top, partitions };
}

/**
 * A place in a table's index, whatever number of levels it has. `leaf` shows the separator and the handle of the data
 * block, where the last move answered true.
 *
 * A move that needs a partition may be ended by the source's signal. It is then simply made again: what it had done
 * until then is remembered (`partitionDue`), so nothing is skipped.
 */
export class TableIndexCursor {
  readonly leaf: LevelCursor;
  private readonly top: LevelCursor | undefined;
  private readonly handle: BlockHandle;
  /** `top` stands at a partition that is not loaded into `leaf`. */
  private partitionDue = false;

  constructor(
    index: TableIndex,
    private readonly store: BlockStore,
    private readonly kept: KeptIndex,
  ) {
    this.handle = index.handle;
    const twoLevel = index.type === IndexType.twoLevel;
    this.leaf = new LevelCursor(index, store, twoLevel ? 'index_partition' : 'index');
    this.top = twoLevel ? new LevelCursor(index, store, 'index') : undefined;
  }

  /** To the first data block whose separator is not before the target; false when there is none. */
  seek(target: SeekTarget): boolean {
    const { top, leaf } = this;
    const root = this.root();
    if (top === undefined) {
      leaf.loadAt(root, this.handle.offset);
      return leaf.seek(target);
    }
    top.loadAt(root, this.handle.offset);
    if (!top.seek(target)) return false;
    leaf.loadAt(this.partition(), top.offset);
    // A partition's own separator may lie behind its last entry's.
    return leaf.seek(target) || this.next();
  }

  seekToFirst(): boolean {
    const root = this.root();
    if (this.top === undefined) {
      this.leaf.loadAt(root, this.handle.offset);
      return this.leaf.next();
    }
    this.top.loadAt(root, this.handle.offset);
    this.partitionDue = this.top.next();
    return this.partitionDue && this.enterForward();
  }

  seekToLast(): boolean {
    const root = this.root();
    if (this.top === undefined) {
      this.leaf.loadAt(root, this.handle.offset);
      return this.leaf.seekToLast();
    }
    this.top.loadAt(root, this.handle.offset);
    this.partitionDue = this.top.seekToLast();
    return this.partitionDue && this.enterBackward();
  }

  next(): boolean {
    if (this.top === undefined) return this.leaf.next();
    if (!this.partitionDue) {
      if (this.leaf.next()) return true;
      this.partitionDue = this.top.next();
    }
    return this.partitionDue && this.enterForward();
  }

  previous(): boolean {
    if (this.top === undefined) return this.leaf.previous();
    if (!this.partitionDue) {
      if (this.leaf.previous()) return true;
      this.partitionDue = this.top.previous();
    }
    return this.partitionDue && this.enterBackward();
  }

  /** To the first entry of the partition at which `top` stands, or of one behind it. */
  private enterForward(): boolean {
    for (;;) {
      this.leaf.loadAt(this.partition(), this.top!.offset);
      this.partitionDue = false;
      if (this.leaf.next()) return true;
      if (!this.top!.next()) return false;
      this.partitionDue = true;
    }
  }

  private enterBackward(): boolean {
    for (;;) {
      this.leaf.loadAt(this.partition(), this.top!.offset);
      this.partitionDue = false;
      if (this.leaf.seekToLast()) return true;
      if (!this.top!.previous()) return false;
      this.partitionDue = true;
    }
  }

  private root(): ParsedBlock {
    this.partitionDue = false;
    return this.kept.top ?? this.store.index('index', this.handle.offset, this.handle.size);
  }

  private partition(): ParsedBlock {
    const { offset, size } = this.top!;
    return this.kept.partitions?.get(offset) ?? this.store.index('index_partition', offset, size);
  }
}
