import { SstError } from '../errors.ts';
import {
  type BlobIndex,
  decodeBlobIndex,
  decodePreferredSeqno,
  decodeWideColumns,
  PREFERRED_SEQNO_SIZE,
  type WideColumn,
} from '../format/entry-value.ts';
import { seqnoText, TRAILER_SIZE, trailerSeqno, trailerType } from '../format/internal-key.ts';
import type { RangeTombstone } from '../format/range-del-block.ts';
import type { EntryShape, EntrySource } from '../format/table-entry.ts';
import { entryTypeName, ValueType } from '../format/value-type.ts';

const EMPTY = new Uint8Array(0);

/**
 * One row of a scan, decoded as far as it has a structure. One object serves all rows: its views are valid
 * until the next one. The user key is `key[0, keyEnd)`, its timestamp `key[keyEnd, timestampEnd)`, the value
 * `data[valueStart, valueEnd)`; for a range tombstone the value is its end key.
 */
export class Row {
  /** The file, as reports name it. */
  file = '';
  key: Uint8Array = EMPTY;
  keyEnd = 0;
  timestampEnd = 0;
  /** The sequence number that counts; `seqnoText` in its place where it is above 2^53 - 1. */
  seqno = 0;
  seqnoText: string | null = null;
  /** The one in the file, where a global sequence number stands for it. */
  storedSeqno: string | null = null;
  typeNumber = 0;
  type = '';
  data: Uint8Array = EMPTY;
  valueStart = 0;
  valueEnd = 0;
  columns: WideColumn[] | null = null;
  blob: BlobIndex | null = null;
  preferredSeqno: string | null = null;
  /** Why a value with a structure could not be decoded; it is then shown as plain bytes. */
  valueError: SstError | null = null;
  /** A range tombstone of the same file hides the entry; only where that was asked for. */
  covered = false;
  /** End of the end key of a range tombstone, its timestamp excluded. */
  endKeyEnd = 0;

  private readonly globalSeqnoText: string | null;
  private readonly globalSeqno: number;

  constructor(private readonly shape: EntryShape) {
    this.globalSeqnoText = shape.globalSeqno === undefined ? null : String(shape.globalSeqno);
    this.globalSeqno = shape.globalSeqno === undefined ? 0 : Number(shape.globalSeqno);
  }

  /** Takes a point entry, whose key has been found long enough for its trailer. */
  takeEntry(entry: EntrySource): void {
    this.takeKey(entry.key, entry.keyLength);
    this.data = entry.data;
    this.valueStart = entry.valueStart;
    this.valueEnd = entry.valueEnd;
    this.columns = null;
    this.blob = null;
    this.preferredSeqno = null;
    this.valueError = null;
    if (this.typeNumber > ValueType.singleDeletion) this.decodeValue();
  }

  takeTombstone(tombstone: RangeTombstone): void {
    const { startKey, end } = tombstone;
    this.takeKey(startKey, startKey.length);
    this.data = end;
    this.valueStart = 0;
    this.valueEnd = end.length;
    this.endKeyEnd = end.length - this.shape.storedTimestampSize;
    this.columns = null;
    this.blob = null;
    this.preferredSeqno = null;
    this.valueError = null;
  }

  get isRangeDelete(): boolean {
    return this.typeNumber === ValueType.rangeDeletion;
  }

  private takeKey(key: Uint8Array, length: number): void {
    this.key = key;
    this.timestampEnd = length - TRAILER_SIZE;
    this.keyEnd = this.timestampEnd - this.shape.storedTimestampSize;
    const type = trailerType(key, length);
    if (type !== this.typeNumber || this.type === '') {
      this.typeNumber = type;
      this.type = entryTypeName(type);
    }
    const stored = trailerSeqno(key, length);
    if (this.globalSeqnoText !== null) {
      this.seqno = this.globalSeqno;
      this.seqnoText = this.globalSeqnoText;
      const text = seqnoText(key, length);
      this.storedSeqno = text === this.globalSeqnoText ? null : text;
      return;
    }
    this.seqno = stored;
    this.seqnoText = stored <= Number.MAX_SAFE_INTEGER ? null : seqnoText(key, length);
  }

  private decodeValue(): void {
    const { data, valueStart, valueEnd } = this;
    try {
      switch (this.typeNumber) {
        case ValueType.blobIndex:
          this.blob = decodeBlobIndex(data, valueStart, valueEnd);
          return;
        case ValueType.wideColumnEntity:
          this.columns = decodeWideColumns(data, valueStart, valueEnd);
          return;
        case ValueType.valuePreferredSeqno:
          this.preferredSeqno = String(decodePreferredSeqno(data, valueStart, valueEnd));
          this.valueEnd -= PREFERRED_SEQNO_SIZE;
          return;
      }
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      this.valueError = error;
    }
  }
}
