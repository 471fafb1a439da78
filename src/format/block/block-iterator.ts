import { readFixed32 } from '../../bytes/fixed.ts';
import { CorruptionError } from '../../errors.ts';
import { type BlockLayout, decodeBlockLayout } from './block-layout.ts';

const EMPTY = new Uint8Array(0);
/** From here on a view for `set` costs less than the loop. */
const LONG_KEY = 200;

/**
 * Walks the entries of one block in stored order.
 *
 *   entry: varint32 shared, varint32 non_shared, varint32 value_length, key[non_shared], value[value_length]
 *
 * A key is the first `shared` bytes of the key before it, then its own. In a block with keys and values apart
 * the value is not there: an entry at a restart has one more varint32, the value's offset from the start of
 * the values, and the values of the entries behind it follow on.
 *
 * One object serves many blocks (`reset`). The current entry is given by positions, not by new arrays:
 * the key is `key[0, keyLength)`, the value `data[valueStart, valueEnd)`; both are valid until the next move.
 * Source: RocksDB table/block_based/block.cc, block_builder.cc.
 */
export class BlockIterator {
  data: Uint8Array = EMPTY;
  key: Uint8Array = new Uint8Array(256);
  keyLength = 0;
  valueStart = 0;
  valueEnd = 0;
  /** Where the current entry begins in the block, and how its lengths were stored. */
  entryStart = 0;
  shared = 0;
  nonShared = 0;
  /** Entries passed, the current one included. */
  count = 0;
  /** Where the next entry begins. */
  protected position = 0;
  protected entriesEnd = 0;
  protected separated = false;
  protected restartsStart = 0;
  protected restartCount = 0;
  /** Apart only: the restart to come, its position, and where the next value begins. */
  protected nextRestart = 0;
  protected nextRestartAt = 0;
  protected nextValue = 0;
  private valuesStart = 0;
  private valuesEnd = 0;
  /** Of `data` and `key`, for copies of four bytes at once. */
  private dataView: DataView = new DataView(EMPTY.buffer);
  private keyView: DataView = new DataView(this.key.buffer);

  /** Puts the iterator before the first entry of `data`. Throws what `decodeBlockLayout` throws. */
  reset(data: Uint8Array): BlockLayout {
    const layout = decodeBlockLayout(data);
    this.resetTo(data, layout);
    return layout;
  }

  /** The same for a block whose layout is known. */
  resetTo(data: Uint8Array, layout: BlockLayout): void {
    this.data = data;
    this.dataView = new DataView(data.buffer, data.byteOffset, data.byteLength);
    this.keyLength = 0;
    this.valueStart = 0;
    this.valueEnd = 0;
    this.entryStart = 0;
    this.shared = 0;
    this.nonShared = 0;
    this.count = 0;
    this.position = 0;
    this.entriesEnd = layout.entriesEnd;
    this.separated = layout.separated;
    this.restartsStart = layout.restartsStart;
    this.restartCount = layout.restartCount;
    this.nextRestart = 0;
    this.nextRestartAt =
      layout.restartCount > 0 ? readFixed32(data, layout.restartsStart) : layout.entriesEnd;
    this.nextValue = layout.entriesEnd;
    this.valuesStart = layout.entriesEnd;
    this.valuesEnd = layout.valuesEnd;
  }

  /**
   * Moves to the next entry; false behind the last one. Throws CorruptionError `entry_malformed` when the entry
   * does not lie inside its block or takes more from the key before it than there is.
   */
  next(): boolean {
    const data = this.data;
    const end = this.entriesEnd;
    let pos = this.position;
    if (pos >= end) return false;
    this.entryStart = pos;
    // A block ends in at least four bytes of restarts: reading three bytes too many stays inside `data`.
    let shared = data[pos]!;
    let nonShared = data[pos + 1]!;
    let valueLength = data[pos + 2]!;
    if ((shared | nonShared | valueLength) < 128) {
      pos += 3;
    } else {
      pos = varintEnd(data, pos, end);
      shared = varintValue(data, this.entryStart, pos);
      let from = pos;
      pos = varintEnd(data, from, end);
      nonShared = varintValue(data, from, pos);
      from = pos;
      pos = varintEnd(data, from, end);
      valueLength = varintValue(data, from, pos);
    }
    if (this.separated) pos = this.locateValue(pos, valueLength);
    const keyEnd = pos + nonShared;
    const entryEnd = this.separated ? keyEnd : keyEnd + valueLength;
    if (shared > this.keyLength || entryEnd > end) throw this.malformed(shared, nonShared, valueLength);
    const keyLength = shared + nonShared;
    if (keyLength + 3 > this.key.length) this.growKey(keyLength + 3);
    if (nonShared < LONG_KEY) {
      // Up to three bytes too many: both arrays have them.
      const { dataView, keyView } = this;
      for (let to = shared; pos < keyEnd; pos += 4, to += 4) {
        keyView.setInt32(to, dataView.getInt32(pos, true), true);
      }
    } else {
      this.key.set(data.subarray(pos, keyEnd), shared);
    }
    this.keyLength = keyLength;
    this.shared = shared;
    this.nonShared = nonShared;
    if (!this.separated) {
      this.valueStart = keyEnd;
      this.valueEnd = entryEnd;
    }
    this.position = entryEnd;
    this.count++;
    return true;
  }

  /** Where the bytes of the current key that are its own lie in the block. */
  get keyStart(): number {
    return this.keyEnd - this.nonShared;
  }

  get keyEnd(): number {
    return this.separated ? this.position : this.valueStart;
  }

  /** Skips an entry of a damaged block: none of the entries behind it can be trusted to begin anywhere. */
  stop(): void {
    this.position = this.entriesEnd;
  }

  /** Apart: reads the value's offset at a restart, and sets where the value lies. */
  private locateValue(pos: number, valueLength: number): number {
    if (this.entryStart === this.nextRestartAt) {
      const to = varintEnd(this.data, pos, this.entriesEnd);
      this.nextValue = this.valuesStart + varintValue(this.data, pos, to);
      pos = to;
      this.nextRestart++;
      this.nextRestartAt =
        this.nextRestart < this.restartCount
          ? readFixed32(this.data, this.restartsStart + 4 * this.nextRestart)
          : this.entriesEnd;
    }
    this.valueStart = this.nextValue;
    this.valueEnd = this.nextValue + valueLength;
    if (this.valueEnd > this.valuesEnd) {
      throw new CorruptionError(
        'entry_malformed',
        `entry at ${this.entryStart} in the block: its value [${this.valueStart}, ${this.valueEnd}) ` +
          `reaches beyond the values, which end at ${this.valuesEnd}`,
      );
    }
    this.nextValue = this.valueEnd;
    return pos;
  }

  private growKey(length: number): void {
    const key = new Uint8Array(Math.max(length, 2 * this.key.length));
    key.set(this.key.subarray(0, this.keyLength));
    this.key = key;
    this.keyView = new DataView(key.buffer);
  }

  protected malformed(shared: number, nonShared: number, valueLength: number): CorruptionError {
    return new CorruptionError(
      'entry_malformed',
      `entry at ${this.entryStart} in the block: shared ${shared}, non-shared ${nonShared}, value ${valueLength} ` +
        `do not fit (${this.keyLength} bytes of key before it, entries end at ${this.entriesEnd})`,
    );
  }
}

/** The position behind the varint32 at `pos`: at most five bytes, none beyond `end`. */
export function varintEnd(bytes: Uint8Array, pos: number, end: number): number {
  const last = Math.min(end, pos + 5);
  for (let i = pos; i < last; i++) if (bytes[i]! < 128) return i + 1;
  throw new CorruptionError('entry_malformed', `no varint32 at ${pos} in the block`);
}

/** The value of the varint32 in [pos, end). */
export function varintValue(bytes: Uint8Array, pos: number, end: number): number {
  let value = 0;
  for (let i = end - 1; i >= pos; i--) value = value * 128 + (bytes[i]! & 0x7f);
  return value;
}
