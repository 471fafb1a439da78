import { SstError } from '../../errors.ts';
import { decodeBlockLayout } from '../../format/block/block-layout.ts';
import { ByteArena } from '../../format/byte-arena.ts';
import type { DataBlockList, IndexBlock } from '../../format/index/data-blocks.ts';
import { IndexBlockIterator, IndexType } from '../../format/index/index-block-iterator.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import type { TableIndex, TableReader } from '../../format/table-reader.ts';
import type { Finding } from '../finding.ts';
import type { FindingLog } from './finding-log.ts';
import { KeyOrder } from './key-order.ts';
import { keyText } from './key-text.ts';
import { RestartCheck } from './restart-check.ts';

/** Findings about the index are few, or the index is not worth a longer list. */
const MAX_FINDINGS = 100;

/**
 * Checks the blocks of the index by themselves, while the table is opened: restarts, the order of separators within
 * and across partitions, the top level against the partitions. What cannot be read is said by who reads it.
 */
export class IndexCheck {
  private readonly findings: Finding[] = [];
  private readonly restarts = new RestartCheck();
  /** First internal key of each data block, where the index has it. */
  private readonly firstKeys = new ByteArena();
  /** What the top level says of the last separator of each partition. */
  private readonly tops = new ByteArena();
  private order: KeyOrder | undefined;
  /** The separator before: `last[0, lastLength)`; a length of -1 stands for none. */
  private last = new Uint8Array(64);
  private lastLength = -1;

  constructor(private readonly withOrder: boolean) {}

  take(table: TableReader, block: IndexBlock): void {
    const { index } = table;
    if (index === undefined) return;
    const comparator = table.storedComparator;
    if (this.withOrder && comparator !== undefined && !index.guessed) this.order ??= new KeyOrder(comparator);
    if (block.type === 'index' && index.type === IndexType.twoLevel) {
      this.walk(index, block, (entries) => this.tops.push(entries.key, 0, entries.keyLength));
    } else {
      this.separators(table, index, block);
    }
  }

  /** Says what was found. Not called where the blocks were found without the index. */
  report(log: FindingLog): void {
    for (const finding of this.findings) log.add(finding);
  }

  /** First keys of all data blocks; undefined where the index has none, or not all of them. */
  firstKeysOf(table: TableReader, blocks: DataBlockList): ByteArena | undefined {
    const complete = blocks.problems.length === 0 && this.firstKeys.count === blocks.count;
    return table.index?.firstKeys && complete ? this.firstKeys : undefined;
  }

  private separators(table: TableReader, index: TableIndex, block: IndexBlock): void {
    const minLength = (index.userKeys ? 0 : TRAILER_SIZE) + table.storedTimestampSize;
    let count = 0;
    let outOfOrder = 0;
    const walked = this.walk(index, block, (entries) => {
      const { key, keyLength } = entries;
      count++;
      if (index.firstKeys) this.firstKeys.push(entries.firstKey, 0, entries.firstKey.length);
      if (keyLength < minLength) {
        this.add(block, 'index_separator', `separator ${keyText(key, keyLength)} is too short for a key`);
        return;
      }
      if (this.lastLength >= 0 && this.compareToLast(index, key, keyLength) <= 0 && outOfOrder++ === 0) {
        const before = keyText(this.last, this.lastLength);
        this.add(
          block,
          'index_separator',
          `separator ${keyText(key, keyLength)} does not come after ${before}`,
        );
      }
      this.remember(key, keyLength);
    });
    if (!walked || count === 0 || block.type === 'index' || block.ordinal >= this.tops.count) return;
    const top = this.tops.at(block.ordinal);
    if (top.length < minLength || this.compareToLast(index, top, top.length) >= 0) return;
    this.add(
      block,
      'index_separator',
      `the top level says that the partition ends at ${keyText(top, top.length)}, ` +
        `its last separator is ${keyText(this.last, this.lastLength)}`,
    );
  }

  /** Positive where the key comes after the last separator, or where the order is not known. */
  private compareToLast(index: TableIndex, key: Uint8Array, length: number): number {
    const { order, last, lastLength } = this;
    if (order === undefined) return 1;
    return index.userKeys
      ? order.compareUserKeys(key, length, last, lastLength)
      : order.compare(key, length, last, lastLength);
  }

  private remember(key: Uint8Array, length: number): void {
    if (this.last.length < length) this.last = new Uint8Array(2 * length);
    for (let i = 0; i < length; i++) this.last[i] = key[i]!;
    this.lastLength = length;
  }

  /** False where the block cannot be walked to its end. */
  private walk(index: TableIndex, block: IndexBlock, visit: (entries: IndexBlockIterator) => void): boolean {
    const { restarts } = this;
    const { contents } = block;
    try {
      restarts.reset(contents, decodeBlockLayout(contents));
      const entries = new IndexBlockIterator(contents, index);
      while (entries.next()) {
        restarts.entry(entries.entryStart);
        visit(entries);
      }
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      return false;
    }
    restarts.end();
    if (restarts.fault !== '') this.add(block, 'block_format', restarts.fault);
    return true;
  }

  private add({ type, offset, size, ordinal }: IndexBlock, code: string, message: string): void {
    if (this.findings.length >= MAX_FINDINGS) return;
    this.findings.push({ code, severity: 'damage', message, block: { type, offset, size, ordinal } });
  }
}
