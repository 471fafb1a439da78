import { CorruptionError } from '../../errors.ts';
import { ParsedBlock } from '../block/parsed-block.ts';
import { type RestartKeys, restartBefore, restartPosition, searchRestarts } from '../block/restart-search.ts';
import type { SeekTarget } from '../block/seek-target.ts';
import { BLOCK_TRAILER_SIZE } from '../block-handle.ts';
import type { IndexEncoding } from './index-block-iterator.ts';

const NO_BLOCK = new ParsedBlock(new Uint8Array(4));

/**
 * A place in one block of an index that can be looked for, and moved both ways: what `IndexBlockIterator` reads in
 * stored order, without anything allocated for an entry. Every length is checked against the block.
 *
 * The separator is `key[0, keyLength)`, the block's handle `offset` and `size`; where the index keeps first keys,
 * that of the block is `data[firstKeyStart, firstKeyEnd)`. Valid until the next move, where that answered true.
 */
export class IndexCursor {
  key: Uint8Array = new Uint8Array(64);
  keyLength = 0;
  offset = 0;
  size = 0;
  firstKeyStart = 0;
  firstKeyEnd = 0;
  /** The block's contents. */
  data: Uint8Array = NO_BLOCK.contents;
  entryStart = 0;
  private block = NO_BLOCK;
  /** Where the next entry begins, and where its value does in a block with keys and values apart. */
  private position = 0;
  private valuePosition = 0;
  /** Apart only: where the next restart is, behind which an entry says where its value lies. */
  private nextRestart = 0;
  /** What `varint` reads next. */
  private pos = 0;
  private readonly restartKeys: RestartKeys;

  constructor(private readonly encoding: IndexEncoding) {
    this.restartKeys = { userKeys: encoding.userKeys, withoutValueLength: encoding.deltaValues };
  }

  /** Stands before the first entry of the block. */
  load(block: ParsedBlock): void {
    this.block = block;
    this.data = block.contents;
    this.toRestart(0);
  }

  /** To the first entry whose separator is not before the target; false when there is none. */
  seek(target: SeekTarget): boolean {
    this.toRestart(searchRestarts(this.block, this.restartKeys, target));
    while (this.next()) if (this.compareWith(target) >= 0) return true;
    return false;
  }

  /** Order of the current separator against the target. */
  compareWith(target: SeekTarget): number {
    return this.encoding.userKeys
      ? target.compareUserKey(this.key, 0, this.keyLength)
      : target.compareInternalKey(this.key, 0, this.keyLength);
  }

  seekToFirst(): boolean {
    this.toRestart(0);
    return this.next();
  }

  seekToLast(): boolean {
    const { layout } = this.block;
    this.toRestart(Math.max(0, layout.restartCount - 1));
    if (!this.next()) return false;
    while (this.position < layout.entriesEnd) this.next();
    return true;
  }

  /** To the next entry; false behind the last. Throws CorruptionError `entry_malformed`. */
  next(): boolean {
    const { layout } = this.block;
    if (this.position >= layout.entriesEnd) return false;
    this.entryStart = this.position;
    this.pos = this.position;
    const end = layout.entriesEnd;
    const shared = this.varint(end);
    const nonShared = this.varint(end);
    const valueLength = this.encoding.deltaValues ? -1 : this.varint(end);
    if (layout.separated) this.locateValue(end);
    const keyStart = this.pos;
    const keyEnd = keyStart + nonShared;
    if (shared > this.keyLength || keyEnd > end) throw this.malformed(shared, nonShared);
    this.takeKey(shared, keyStart, keyEnd);
    if (!layout.separated) {
      this.takeValue(keyEnd, end, shared, valueLength);
      this.position = this.pos;
    } else {
      this.position = keyEnd;
      this.takeValue(this.valuePosition, layout.valuesEnd, shared, valueLength);
      this.valuePosition = this.pos;
    }
    return true;
  }

  /** To the entry before the current one; false at the first. */
  previous(): boolean {
    const end = this.entryStart;
    if (end === 0) return false;
    this.toRestart(restartBefore(this.block, end));
    while (this.position < end && this.next());
    if (this.position === end) return true;
    throw new CorruptionError(
      'block_format',
      `no entry of the index ends at ${end}, where the next one begins`,
    );
  }

  private toRestart(restart: number): void {
    this.position = restartPosition(this.block, restart);
    this.nextRestart = restart;
    this.valuePosition = this.block.layout.entriesEnd;
    this.keyLength = 0;
  }

  private locateValue(end: number): void {
    const { layout } = this.block;
    if (this.nextRestart >= layout.restartCount) return;
    if (restartPosition(this.block, this.nextRestart) !== this.entryStart) return;
    this.nextRestart++;
    this.valuePosition = layout.entriesEnd + this.varint(end);
  }

  private takeKey(shared: number, start: number, end: number): void {
    const length = shared + end - start;
    if (length > this.key.length) {
      const key = new Uint8Array(2 * length);
      key.set(this.key.subarray(0, shared));
      this.key = key;
    }
    const { key, data } = this;
    if (end - start < 40) for (let from = start, to = shared; from < end; from++, to++) key[to] = data[from]!;
    else key.set(data.subarray(start, end), shared);
    this.keyLength = length;
  }

  /** Leaves `pos` behind the value. */
  private takeValue(start: number, end: number, shared: number, length: number): void {
    this.pos = start;
    if (this.encoding.deltaValues && shared > 0) {
      const zigzag = this.varint(end);
      const half = Math.floor(zigzag / 2);
      this.offset += this.size + BLOCK_TRAILER_SIZE;
      this.size += zigzag % 2 === 0 ? half : -half - 1;
      if (this.size < 0) throw this.malformedValue(`a block of ${this.size} bytes`);
    } else {
      this.offset = this.varint(end);
      this.size = this.varint(end);
    }
    if (this.encoding.firstKeys) {
      const keyLength = this.varint(end);
      this.firstKeyStart = this.pos;
      this.firstKeyEnd = this.pos + keyLength;
      this.pos = this.firstKeyEnd;
    }
    if (this.pos > end) throw this.malformedValue('its value reaches beyond the block');
    if (length >= 0 && this.pos !== start + length) {
      throw this.malformedValue(`a value of ${length} bytes has a handle of ${this.pos - start}`);
    }
  }

  /** At most 2^53 - 1, as offsets and sizes are. */
  private varint(end: number): number {
    const from = this.pos;
    const { data } = this;
    if (from < end && data[from]! < 128) {
      this.pos = from + 1;
      return data[from]!;
    }
    let value = 0;
    let scale = 1;
    const last = Math.min(end, from + 8);
    for (let i = from; i < last; i++) {
      const byte = data[i]!;
      value += (byte & 0x7f) * scale;
      if (byte < 128) {
        if (value > Number.MAX_SAFE_INTEGER) break;
        this.pos = i + 1;
        return value;
      }
      scale *= 128;
    }
    throw this.malformedValue(`no number below 2^53 at ${from}`);
  }

  private malformed(shared: number, nonShared: number): CorruptionError {
    return this.malformedValue(
      `shared ${shared}, non-shared ${nonShared} do not fit (${this.keyLength} bytes of key before it)`,
    );
  }

  private malformedValue(reason: string): CorruptionError {
    return new CorruptionError('entry_malformed', `index entry at ${this.entryStart}: ${reason}`);
  }
}
