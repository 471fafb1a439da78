import type { BlockIterator } from '../../format/block/block-iterator.ts';
import type { LoadedBlock } from '../../format/block-pipeline.ts';
import type { ByteArena } from '../../format/byte-arena.ts';
import type { DataBlockList } from '../../format/index/data-blocks.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import type { TableReader } from '../../format/table-reader.ts';
import { dataBlockOf } from '../finding.ts';
import type { FindingLog } from './finding-log.ts';
import type { KeyOrder } from './key-order.ts';
import { keyText } from './key-text.ts';

/** First and last key of each data block against what the index says: separators, and first keys where it has them. */
export class SeparatorCheck {
  private readonly areKnown: boolean;

  constructor(
    private readonly table: TableReader,
    private readonly blocks: DataBlockList,
    private readonly iterator: BlockIterator,
    private readonly order: KeyOrder | undefined,
    private readonly firstKeys: ByteArena | undefined,
    private readonly log: FindingLog,
  ) {
    this.areKnown = table.index?.guessed === false && blocks.separators.count === blocks.count;
  }

  /** The iterator stands on the first entry of the block. */
  first(block: LoadedBlock): void {
    const { firstKeys } = this;
    const { key, keyLength } = this.iterator;
    if (firstKeys !== undefined && block.ordinal < firstKeys.count) {
      const told = firstKeys.at(block.ordinal);
      if (told.length !== keyLength || told.some((byte, i) => byte !== key[i])) {
        this.fault(block, `the index says that its first key is ${keyText(told, told.length)}, it is`);
      }
    }
    if (block.ordinal === 0 || !this.areKnown) return;
    const order = this.compareTo(block.ordinal - 1);
    if (order !== undefined && order <= 0) {
      const separator = this.blocks.separators.at(block.ordinal - 1);
      this.fault(
        block,
        `the index parts it from the block before it at ${keyText(separator, separator.length)}, its first key is`,
      );
    }
  }

  /** The iterator stands on the last entry of the block. */
  last(block: LoadedBlock): void {
    if (!this.areKnown) return;
    const order = this.compareTo(block.ordinal);
    if (order !== undefined && order > 0) {
      const separator = this.blocks.separators.at(block.ordinal);
      this.fault(
        block,
        `the index says that it ends at ${keyText(separator, separator.length)} or before, its last key is`,
      );
    }
  }

  /** The iterator's key against the separator of a block; undefined where the order is not known. */
  private compareTo(ordinal: number): number | undefined {
    const { order, iterator, table } = this;
    if (order === undefined) return undefined;
    const separator = this.blocks.separators.at(ordinal);
    if (table.index!.userKeys) {
      if (separator.length < table.storedTimestampSize) return undefined;
      return order.compareUserKeys(
        iterator.key,
        iterator.keyLength - TRAILER_SIZE,
        separator,
        separator.length,
      );
    }
    // The check of the index has said that it is too short.
    if (separator.length < TRAILER_SIZE + table.storedTimestampSize) return undefined;
    return order.compare(iterator.key, iterator.keyLength, separator, separator.length);
  }

  private fault(block: LoadedBlock, what: string): void {
    const { key, keyLength } = this.iterator;
    this.log.add({
      code: 'index_separator',
      severity: 'damage',
      message: `${what} ${keyText(key, keyLength)}`,
      block: dataBlockOf(block),
    });
  }
}
