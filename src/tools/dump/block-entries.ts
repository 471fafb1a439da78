import { ByteReader } from '../../bytes/byte-reader.ts';
import { CorruptionError, SstError } from '../../errors.ts';
import { BlockIterator } from '../../format/block/block-iterator.ts';
import { type BlockHandle, decodeBlockHandle } from '../../format/block-handle.ts';
import { IndexBlockIterator } from '../../format/index/index-block-iterator.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import type { PlainTableIterator } from '../../format/plain/plain-table-iterator.ts';
import { Row } from '../row.ts';
import type { PlacedBlock } from './block-order.ts';
import type { DumpSubject } from './open-subject.ts';
import { encodingOf, hasNames, indexUserKey, isIndex } from './walk-blocks.ts';

/** Where an entry stands and how its lengths are stored. One object serves all. */
export interface EntryPlace {
  /** Offset of its block in the file; of a row of a plain table: 0. */
  block: number;
  /** In the uncompressed block; of a row of a plain table: in the file. */
  offset: number;
  /** Null where the format stores none. */
  shared: number | null;
  unshared: number | null;
  /** Bytes of the stored value; null where the index does not store it. */
  valueLength: number | null;
}

/** Takes the entries of a block, by what they are. */
export interface EntryVisitor {
  /** A point entry or a range tombstone. */
  row(row: Row, place: EntryPlace): void;
  /** An entry of an index: the separator as a user key, and the block that it points to. */
  handle(key: Uint8Array, handle: BlockHandle, firstKey: Uint8Array | undefined, place: EntryPlace): void;
  /** An entry of the metaindex (with a handle) or of the properties (with a value). */
  named(name: Uint8Array, value: BlockHandle | Uint8Array, place: EntryPlace): void;
}

export function hasEntries(type: PlacedBlock['type']): boolean {
  return type === 'data' || type === 'range_del' || hasNames(type) || isIndex(type);
}

/** Gives the entries of uncompressed blocks to a visitor. */
export class EntryReader {
  private readonly iterator = new BlockIterator();
  private readonly row: Row;
  private readonly place: EntryPlace = { block: 0, offset: 0, shared: 0, unshared: 0, valueLength: 0 };

  constructor(private readonly subject: DumpSubject) {
    this.row = new Row(subject.shape);
    this.row.file = subject.path;
  }

  /**
   * Every entry of a block, until one does not decode: the fault has been said by whoever walked the blocks.
   */
  read(block: PlacedBlock, contents: Uint8Array, visitor: EntryVisitor): void {
    try {
      this.place.block = block.offset;
      if (isIndex(block.type)) this.readIndex(block, contents, visitor);
      else this.readBlock(block, contents, visitor);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
    }
  }

  /** The rows of a plain table. Throws SstError where they cannot be read, or one is malformed. */
  readPlainRows(rows: PlainTableIterator, visitor: EntryVisitor): void {
    const { place, row } = this;
    place.block = 0;
    place.shared = null;
    place.unshared = null;
    while (rows.next()) {
      place.offset = rows.entryOffset;
      place.valueLength = rows.valueEnd - rows.valueStart;
      row.takeEntry(rows);
      visitor.row(row, place);
    }
  }

  private readBlock(block: PlacedBlock, contents: Uint8Array, visitor: EntryVisitor): void {
    const { iterator, place, row } = this;
    const minKeyLength = TRAILER_SIZE + this.subject.shape.storedTimestampSize;
    iterator.reset(contents);
    while (iterator.next()) {
      place.offset = iterator.entryStart;
      place.shared = iterator.shared;
      place.unshared = iterator.nonShared;
      place.valueLength = iterator.valueEnd - iterator.valueStart;
      if (hasNames(block.type)) {
        this.named(block, visitor);
      } else if (iterator.keyLength < minKeyLength) {
        throw new CorruptionError('entry_malformed', `entry at ${iterator.entryStart}: too short a key`);
      } else if (block.type === 'range_del') {
        row.takeTombstone({
          startKey: iterator.key.subarray(0, iterator.keyLength),
          end: iterator.data.subarray(iterator.valueStart, iterator.valueEnd),
        });
        visitor.row(row, place);
      } else {
        row.takeEntry(iterator);
        visitor.row(row, place);
      }
    }
  }

  private named(block: PlacedBlock, visitor: EntryVisitor): void {
    const { iterator, place } = this;
    const name = iterator.key.subarray(0, iterator.keyLength);
    const value = iterator.data.subarray(iterator.valueStart, iterator.valueEnd);
    const isMetaindex = block.type === 'metaindex';
    visitor.named(
      name,
      isMetaindex ? decodeBlockHandle(new ByteReader(value, 'metaindex_handle')) : value,
      place,
    );
  }

  private readIndex(block: PlacedBlock, contents: Uint8Array, visitor: EntryVisitor): void {
    const { place, subject } = this;
    const encoding = encodingOf(subject, block, contents);
    if (encoding === undefined) return;
    const entries = new IndexBlockIterator(contents, encoding);
    while (entries.next()) {
      const lengths = new ByteReader(contents, 'entry_malformed', entries.entryStart);
      place.offset = entries.entryStart;
      place.shared = lengths.varint32();
      place.unshared = lengths.varint32();
      place.valueLength = encoding.deltaValues ? null : entries.valueEnd - entries.valueStart;
      const { offset, size } = entries;
      const firstKey = encoding.firstKeys ? withoutTrailer(subject, entries.firstKey) : undefined;
      visitor.handle(indexUserKey(subject, encoding, entries), { offset, size }, firstKey, place);
    }
  }
}

function withoutTrailer(subject: DumpSubject, key: Uint8Array): Uint8Array {
  return key.subarray(0, Math.max(0, key.length - TRAILER_SIZE - subject.shape.storedTimestampSize));
}
