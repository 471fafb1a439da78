import { ByteReader } from '../../bytes/byte-reader.ts';
import { readFixed32 } from '../../bytes/fixed.ts';
import { CorruptionError } from '../../errors.ts';
import { decodeBlockLayout } from '../block/block-layout.ts';
import { BLOCK_TRAILER_SIZE } from '../block-handle.ts';

/** Property `rocksdb.block.based.table.index.type`. Source: RocksDB include/rocksdb/table.h, IndexType. */
export const IndexType = { binarySearch: 0, hash: 1, twoLevel: 2, firstKey: 3 } as const;

export type IndexTypeName = 'binary_search' | 'hash' | 'two_level' | 'first_key';

const INDEX_TYPE_NAMES: readonly IndexTypeName[] = ['binary_search', 'hash', 'two_level', 'first_key'];

export function indexTypeName(type: number): IndexTypeName | undefined {
  return INDEX_TYPE_NAMES[type];
}

/** How the entries of an index block are encoded; the file's properties say it. */
export interface IndexEncoding {
  /** Keys are user keys; otherwise internal keys, with a trailer. */
  readonly userKeys: boolean;
  /** Handles behind the first of a restart interval are stored as size differences. */
  readonly deltaValues: boolean;
  /** The block's first internal key stands behind its handle. */
  readonly firstKeys: boolean;
}

const EMPTY = new Uint8Array(0);

/**
 * Walks one index block, or one top-level block over partitions, in stored order.
 *
 *   entry: varint32 shared, varint32 non_shared, [varint32 value_length], key, value
 *   value: block handle [length-prefixed first internal key]
 *
 * With delta-encoded values `value_length` is absent, and an entry with shared > 0 holds only
 * signed varint64 (size - size before): its block follows the block before it without a gap.
 * Values may lie apart from the keys, as in data blocks.
 * Source: RocksDB table/format.h, IndexValue; table/block_based/block.cc, IndexBlockIter.
 */
export class IndexBlockIterator {
  /** The separator: `key[0, keyLength)`; valid until the next move. */
  key: Uint8Array = EMPTY;
  keyLength = 0;
  /** The handle that the entry holds. */
  offset = 0;
  size = 0;
  /** First internal key of the block, where the index keeps it. */
  firstKey: Uint8Array = EMPTY;
  /** Where the entry and its value begin in the block. */
  entryStart = 0;
  valueStart = 0;
  valueEnd = 0;
  /** Bytes of the separator that are its own; they end at `keyEnd`. */
  nonShared = 0;
  private readonly keys: ByteReader;
  private readonly values: ByteReader;
  private readonly separated: boolean;
  private readonly valuesStart: number;
  private readonly restartsStart: number;
  private readonly restartCount: number;
  private nextRestart = 0;

  constructor(
    readonly data: Uint8Array,
    private readonly encoding: IndexEncoding,
  ) {
    const layout = decodeBlockLayout(data);
    this.separated = layout.separated;
    this.valuesStart = layout.entriesEnd;
    this.restartsStart = layout.restartsStart;
    this.restartCount = layout.restartCount;
    this.keys = new ByteReader(data, 'entry_malformed', 0, layout.entriesEnd);
    this.values = layout.separated
      ? new ByteReader(data, 'entry_malformed', layout.entriesEnd, layout.valuesEnd)
      : this.keys;
  }

  /** Moves to the next entry; false behind the last. Throws CorruptionError `entry_malformed`. */
  next(): boolean {
    const keys = this.keys;
    if (keys.remaining === 0) return false;
    this.entryStart = keys.pos;
    const shared = keys.varint32();
    const nonShared = keys.varint32();
    const valueLength = this.encoding.deltaValues ? -1 : keys.varint32();
    if (this.separated && this.atRestart()) this.values.pos = this.valuesStart + keys.varint32();
    if (shared > this.keyLength) {
      throw new CorruptionError(
        'entry_malformed',
        `index entry at ${this.entryStart} shares ${shared} bytes of a key of ${this.keyLength}`,
      );
    }
    this.nonShared = nonShared;
    this.takeKey(shared, keys.view(nonShared));
    this.valueStart = this.values.pos;
    this.takeValue(shared);
    this.valueEnd = this.values.pos;
    if (valueLength >= 0 && this.valueEnd - this.valueStart !== valueLength) {
      throw new CorruptionError(
        'entry_malformed',
        `index entry at ${this.entryStart}: a value of ${valueLength} bytes has a handle of ` +
          `${this.valueEnd - this.valueStart}`,
      );
    }
    return true;
  }

  get keyEnd(): number {
    return this.separated ? this.keys.pos : this.valueStart;
  }

  private takeKey(shared: number, own: Uint8Array): void {
    const length = shared + own.length;
    if (length > this.key.length) {
      const key = new Uint8Array(Math.max(64, 2 * length));
      key.set(this.key.subarray(0, shared));
      this.key = key;
    }
    this.key.set(own, shared);
    this.keyLength = length;
  }

  private takeValue(shared: number): void {
    const values = this.values;
    if (this.encoding.deltaValues && shared > 0) {
      this.offset += this.size + BLOCK_TRAILER_SIZE;
      this.size += values.signedVarint64();
      if (this.size < 0) values.fail(`index entry at ${this.entryStart}: a block of ${this.size} bytes`);
    } else {
      this.offset = values.varint64();
      this.size = values.varint64();
    }
    this.firstKey = this.encoding.firstKeys ? values.lengthPrefixed() : EMPTY;
  }

  private atRestart(): boolean {
    if (this.nextRestart >= this.restartCount) return false;
    if (readFixed32(this.data, this.restartsStart + 4 * this.nextRestart) !== this.entryStart) return false;
    this.nextRestart++;
    return true;
  }
}
