import type { Comparator } from '../../operators/comparator.ts';
import { BlockList } from '../block-list.ts';
import { IndexBlockIterator, type IndexEncoding } from '../index/index-block-iterator.ts';
import { compareTrailers, TRAILER_SIZE } from '../internal-key.ts';

/**
 * The top-level index over the partitions of a filter: their handles, and which one has to be asked for a key.
 * Source: RocksDB table/block_based/partitioned_filter_block.cc, GetFilterPartitionHandle.
 */
export class FilterPartitionIndex extends BlockList {
  /** Key i is `keys[ends[i - 1], ends[i])`. */
  private readonly keys: Uint8Array;
  private readonly ends: Uint32Array;
  private readonly userKeys: boolean;
  private readonly comparator: Comparator;

  /** `comparator` is that of the user keys as they are stored. Throws CorruptionError `entry_malformed`. */
  constructor(contents: Uint8Array, encoding: IndexEncoding, comparator: Comparator) {
    super();
    this.userKeys = encoding.userKeys;
    this.comparator = comparator;
    // Like the table's own index; of first keys there are none.
    const entries = new IndexBlockIterator(contents, { ...encoding, firstKeys: false });
    const keys: Uint8Array[] = [];
    while (entries.next()) {
      this.push(entries.offset, entries.size);
      keys.push(entries.key.slice(0, entries.keyLength));
    }
    this.ends = new Uint32Array(keys.length);
    let end = 0;
    for (let i = 0; i < keys.length; i++) {
      end += keys[i]!.length;
      this.ends[i] = end;
    }
    this.keys = new Uint8Array(end);
    for (let i = 0; i < keys.length; i++) this.keys.set(keys[i]!, this.ends[i]! - keys[i]!.length);
  }

  /**
   * The partition that knows the internal key `key[start, end)`: the first that ends at it or behind it, or else the
   * last one. -1 when there are no partitions: then nothing is known of any key.
   */
  find(key: Uint8Array, start: number, end: number): number {
    let low = 0;
    let high = this.count - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.isBefore(middle, key, start, end)) low = middle + 1;
      else high = middle;
    }
    return low <= high ? low : -1;
  }

  /** Whether `find` would give this partition. */
  covers(partition: number, key: Uint8Array, start: number, end: number): boolean {
    const isLast = partition === this.count - 1;
    if (!isLast && this.isBefore(partition, key, start, end)) return false;
    return partition === 0 || this.isBefore(partition - 1, key, start, end);
  }

  /** Whether the partition ends before the key. */
  private isBefore(partition: number, key: Uint8Array, start: number, end: number): boolean {
    const borderStart = partition === 0 ? 0 : this.ends[partition - 1]!;
    const borderEnd = this.ends[partition]!;
    const userKeyEnd = this.userKeys ? borderEnd : borderEnd - TRAILER_SIZE;
    const { comparator, keys } = this;
    const order = comparator.compare(keys, borderStart, userKeyEnd, key, start, end - TRAILER_SIZE);
    if (order !== 0 || this.userKeys) return order < 0;
    return compareTrailers(keys, borderEnd, key, end) < 0;
  }
}
