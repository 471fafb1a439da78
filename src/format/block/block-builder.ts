import { copyBytes } from '../../bytes/copy.ts';
import { writeFixed32 } from '../../bytes/fixed.ts';
import { varintLength, writeVarint } from '../../bytes/varint.ts';
import { DataBlockHashBuilder } from './data-block-hash-builder.ts';

export interface BlockBuilderOptions {
  /** Entries from one restart to the next. */
  readonly restartInterval: number;
  /** Keys leave out what they share with the key before them. Default true. */
  readonly deltaKeys?: boolean;
  /** Index blocks: entries have no value length, and their value is shorter where keys share (`addDelta`). */
  readonly deltaValues?: boolean;
  /** Data blocks: keys per bucket of the hash index; 0 for none. Keys are then internal keys. */
  readonly hashRatio?: number;
  /** Keys and values apart (bit 28). */
  readonly separated?: boolean;
}

const SEPARATED_BIT = 0x10000000;
const HASH_INDEX_BIT = 0x80000000;

/** A block with more than this has no hash index: its buckets hold restart numbers, its offsets 16 bits. */
const MAX_HASHED_BLOCK_BYTES = 65536;

/** Four varint32. */
const MAX_ENTRY_HEADER = 20;

/**
 * Writes the entries of one block after the other; the layout is drawn in block-layout.ts.
 *
 *   entry: varint32 shared, varint32 non_shared, [varint32 value_length], [varint32 value_offset], key, [value]
 *
 * Keys are given in block order, whole. A restart begins after exactly `restartInterval` entries.
 * Source: RocksDB table/block_based/block_builder.cc; LevelDB table/block_builder.cc.
 */
export class BlockBuilder {
  private readonly restartInterval: number;
  private readonly deltaKeys: boolean;
  private readonly deltaValues: boolean;
  private readonly separated: boolean;
  private readonly hash: DataBlockHashBuilder | undefined;
  /** Entries, without their values where these stand apart. */
  private buffer: Uint8Array = new Uint8Array(4096);
  private length = 0;
  private values: Uint8Array;
  private valuesLength = 0;
  private restarts = new Uint32Array(64);
  private restartCount = 1;
  /** Entries since the last restart. */
  private sinceRestart = 0;
  private lastKey = new Uint8Array(64);
  private lastKeyLength = 0;

  constructor(options: BlockBuilderOptions) {
    this.restartInterval = options.restartInterval;
    this.deltaKeys = options.deltaKeys ?? true;
    this.deltaValues = options.deltaValues ?? false;
    this.separated = options.separated ?? false;
    this.values = new Uint8Array(this.separated ? 4096 : 0);
    this.hash =
      options.hashRatio !== undefined && options.hashRatio > 0
        ? new DataBlockHashBuilder(options.hashRatio)
        : undefined;
  }

  get isEmpty(): boolean {
    return this.length === 0;
  }

  /** Bytes of the finished block, as RocksDB estimates it to decide where to cut. */
  get sizeEstimate(): number {
    const fixed = this.separated ? 8 : 4;
    const hashed = this.hash?.isValid ? this.hash.size : 0;
    return this.length + this.valuesLength + 4 * this.restartCount + fixed + hashed;
  }

  /** The same after an entry of these lengths, its key counted whole. */
  estimateAfter(keyLength: number, valueLength: number): number {
    const restarts = this.sinceRestart >= this.restartInterval;
    const wholeValue = !this.deltaValues || restarts;
    let estimate = this.sizeEstimate + keyLength + 4 + varintLength(keyLength);
    if (restarts) estimate += 4;
    estimate += wholeValue ? valueLength + varintLength(valueLength) : valueLength >>> 1;
    if (this.separated && (restarts || this.sinceRestart === 0)) estimate += varintLength(this.valuesLength);
    return estimate;
  }

  add(
    key: Uint8Array,
    keyStart: number,
    keyEnd: number,
    value: Uint8Array,
    valueStart: number,
    valueEnd: number,
  ): void {
    const shared = this.beginEntry(key, keyStart, keyEnd, false);
    this.putEntry(key, keyStart, keyEnd, shared, value, valueStart, valueEnd);
  }

  /**
   * An entry of an index block: `delta` is stored in place of `value` where the key shares bytes with the one
   * before. `whole` forbids that.
   */
  addDelta(key: Uint8Array, value: Uint8Array, delta: Uint8Array, whole: boolean): void {
    const shared = this.beginEntry(key, 0, key.length, whole);
    const stored = shared > 0 && this.deltaValues ? delta : value;
    this.putEntry(key, 0, key.length, shared, stored, 0, stored.length);
  }

  /** The block. The builder then begins the next one. */
  finish(): Uint8Array {
    const block = new Uint8Array(this.finishedSize);
    this.finishInto(block);
    return block;
  }

  /** Bytes of the block that is finished now. */
  get finishedSize(): number {
    return this.sizeEstimate - (this.hash?.isValid && !this.isHashed ? this.hash.size : 0);
  }

  /** Puts the block to the start of `block`, which has room for it, and returns its size; then begins the next one. */
  finishInto(block: Uint8Array): number {
    const { isHashed } = this;
    block.set(this.buffer.subarray(0, this.length));
    let pos = this.length;
    if (this.separated) {
      block.set(this.values.subarray(0, this.valuesLength), pos);
      pos += this.valuesLength;
    }
    for (let i = 0; i < this.restartCount; i++, pos += 4) writeFixed32(block, pos, this.restarts[i]!);
    if (isHashed) pos = this.hash!.write(block, pos);
    let packed = this.restartCount;
    if (isHashed) packed |= HASH_INDEX_BIT;
    if (this.separated) {
      packed |= SEPARATED_BIT;
      writeFixed32(block, pos, this.length);
      pos += 4;
    }
    writeFixed32(block, pos, packed);
    this.reset();
    return pos + 4;
  }

  private get isHashed(): boolean {
    return this.hash?.isValid === true && this.sizeEstimate <= MAX_HASHED_BLOCK_BYTES;
  }

  private reset(): void {
    this.length = 0;
    this.valuesLength = 0;
    this.restartCount = 1;
    this.sinceRestart = 0;
    this.lastKeyLength = 0;
    this.hash?.reset();
  }

  /** Begins a restart where one is due; returns how many bytes the key shares with the one before. */
  private beginEntry(key: Uint8Array, keyStart: number, keyEnd: number, whole: boolean): number {
    let shared = 0;
    if (this.sinceRestart >= this.restartInterval) {
      if (this.restartCount === this.restarts.length) this.growRestarts();
      this.restarts[this.restartCount++] = this.length;
      this.sinceRestart = 0;
    } else if (this.deltaKeys && !whole) {
      shared = sharedLength(this.lastKey, this.lastKeyLength, key, keyStart, keyEnd);
    }
    if (this.deltaKeys) this.keepKey(key, keyStart, keyEnd, shared);
    this.sinceRestart++;
    return shared;
  }

  private putEntry(
    key: Uint8Array,
    keyStart: number,
    keyEnd: number,
    shared: number,
    value: Uint8Array,
    valueStart: number,
    valueEnd: number,
  ): void {
    const nonShared = keyEnd - keyStart - shared;
    const valueLength = valueEnd - valueStart;
    const needed = this.length + MAX_ENTRY_HEADER + nonShared + (this.separated ? 0 : valueLength);
    if (needed > this.buffer.length) this.buffer = grown(this.buffer, this.length, needed);
    const buffer = this.buffer;
    let pos = this.length;
    if ((shared | nonShared | valueLength) < 128) {
      buffer[pos] = shared;
      buffer[pos + 1] = nonShared;
      pos += 2;
      if (!this.deltaValues) buffer[pos++] = valueLength;
    } else {
      pos = writeVarint(buffer, pos, shared);
      pos = writeVarint(buffer, pos, nonShared);
      if (!this.deltaValues) pos = writeVarint(buffer, pos, valueLength);
    }
    if (this.separated && this.sinceRestart === 1) pos = writeVarint(buffer, pos, this.valuesLength);
    pos = copyBytes(key, keyStart + shared, keyEnd, buffer, pos);
    if (this.separated) {
      const end = this.valuesLength + valueLength;
      if (end > this.values.length) this.values = grown(this.values, this.valuesLength, end);
      copyBytes(value, valueStart, valueEnd, this.values, this.valuesLength);
      this.valuesLength = end;
    } else {
      pos = copyBytes(value, valueStart, valueEnd, buffer, pos);
    }
    this.length = pos;
    this.hash?.add(key, keyStart, keyEnd - 8, this.restartCount - 1);
  }

  private keepKey(key: Uint8Array, keyStart: number, keyEnd: number, shared: number): void {
    const length = keyEnd - keyStart;
    if (length > this.lastKey.length) this.lastKey = grown(this.lastKey, shared, length);
    copyBytes(key, keyStart + shared, keyEnd, this.lastKey, shared);
    this.lastKeyLength = length;
  }

  private growRestarts(): void {
    const larger = new Uint32Array(2 * this.restarts.length);
    larger.set(this.restarts);
    this.restarts = larger;
  }
}

function sharedLength(
  last: Uint8Array,
  lastLength: number,
  key: Uint8Array,
  keyStart: number,
  keyEnd: number,
): number {
  const common = Math.min(keyEnd - keyStart, lastLength);
  let i = 0;
  while (i < common && last[i] === key[keyStart + i]) i++;
  return i;
}

function grown(bytes: Uint8Array, used: number, needed: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(Math.max(needed, 2 * bytes.length));
  larger.set(bytes.subarray(0, used));
  return larger;
}
