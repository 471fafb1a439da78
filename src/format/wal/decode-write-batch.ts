import { ByteReader } from '../../bytes/byte-reader.ts';
import { CorruptionError } from '../../errors.ts';
import {
  BATCH_HEADER_SIZE,
  BATCH_LAYOUTS,
  type BatchLayout,
  type BatchOperation,
  MAX_SEQNO,
  type TimestampSizes,
  WRITE_TIME_SIZE,
} from './write-batch.ts';

const MALFORMED = 'wal_batch';
const EMPTY: Uint8Array = new Uint8Array(0);
const NO_TIMESTAMPS: TimestampSizes = new Map();

/**
 * Reads the operations of one write batch in order. All throw CorruptionError `wal_batch`, whose reason names the
 * operation and its place in the batch; after that the batch is at its end.
 */
export class WriteBatchReader {
  /** Of the first operation, or, where there is none that takes a number, the one that the next batch begins with. */
  readonly seqno: bigint;
  /** Operations by the header. */
  readonly count: number;
  /** Bytes of the batch. */
  readonly size: number;
  /** Counted operations that were read. */
  found = 0;
  /** Position of the operation that did not decode; -1: there is none. */
  failedAt = -1;

  private readonly reader: ByteReader;
  private operations = 0;
  /** Counted operations that took a number. */
  private numbered = 0;
  /** Within what is prepared: its operations get their numbers later. */
  private isPreparing = false;
  /** Sub-batches have numbers, not operations. */
  private isPerBatch = false;

  /** Throws where there is no header. */
  constructor(
    payload: Uint8Array,
    private readonly timestampSizes: TimestampSizes = NO_TIMESTAMPS,
  ) {
    if (payload.length < BATCH_HEADER_SIZE) {
      const reason = `a write batch of ${payload.length} bytes has no room for its header of ${BATCH_HEADER_SIZE}`;
      throw new CorruptionError(MALFORMED, reason);
    }
    this.reader = new ByteReader(payload, MALFORMED);
    this.seqno = this.reader.fixed64();
    this.count = this.reader.fixed32();
    this.size = payload.length;
    if (this.seqno > MAX_SEQNO) this.reader.fail(`sequence number ${this.seqno} is above 2^56 - 1`);
  }

  /** The next operation, or undefined behind the last. */
  next(): BatchOperation | undefined {
    const { reader } = this;
    if (reader.remaining === 0 || this.failedAt >= 0) return undefined;
    const pos = reader.pos;
    const tag = reader.byte();
    const layout = BATCH_LAYOUTS.get(tag);
    try {
      if (layout === undefined) return reader.fail(`tag ${tag} is not known`);
      const operation = this.decode(tag, pos, layout);
      this.operations++;
      return operation;
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      this.failedAt = pos;
      const what = layout === undefined ? '' : ` (${layout.type})`;
      const reason = `operation ${this.operations + 1}${what} at ${pos} of the batch: ${error.reason}`;
      throw new CorruptionError(MALFORMED, reason, {}, { cause: error });
    }
  }

  /** Behind the last operation: throws where there are not as many as the header says. */
  checkCount(): void {
    if (this.found === this.count) return;
    const reason = `the header counts ${this.count} operations, there are ${this.found}`;
    const numbers = { stored: String(this.count), computed: String(this.found) };
    throw new CorruptionError(MALFORMED, reason, numbers);
  }

  /** What is left from the operation that did not decode: its tag and all behind it. */
  rest(): Uint8Array {
    return this.failedAt < 0 ? EMPTY : this.reader.bytes.subarray(this.failedAt);
  }

  private decode(tag: number, pos: number, layout: BatchLayout): BatchOperation {
    const { reader } = this;
    const { type, isCounted } = layout;
    const columnFamily = layout.hasFamily ? reader.varint32() : 0;
    let key = EMPTY;
    let value = EMPTY;
    let timestamp: Uint8Array | undefined;
    const timestampSize = isCounted ? (this.timestampSizes.get(columnFamily) ?? 0) : 0;
    for (const field of layout.fields) {
      const bytes = reader.lengthPrefixed();
      if (field === 'timestamp') timestamp = bytes;
      else if (timestampSize === 0 || field === 'value' || field === 'bytes') {
        if (field === 'key') key = bytes;
        else value = bytes;
      } else {
        const userKeyLength = bytes.length - timestampSize;
        if (userKeyLength < 0) {
          reader.fail(
            `a key of ${bytes.length} bytes has no room for the timestamp of ${timestampSize} bytes that column ` +
              `family ${columnFamily} has`,
          );
        }
        if (field === 'key') {
          key = bytes.subarray(0, userKeyLength);
          timestamp = bytes.subarray(userKeyLength);
        } else value = bytes.subarray(0, userKeyLength);
      }
    }
    if (type === 'put_preferred_seqno' && value.length < WRITE_TIME_SIZE) {
      reader.fail(`a value of ${value.length} bytes has no write time`);
    }
    if (isCounted) this.found++;
    const seqno = isCounted ? this.takeSeqno() : undefined;
    this.follow(layout);
    return { tag, type, pos, isEntry: isCounted, columnFamily, seqno, key, timestamp, value };
  }

  private takeSeqno(): bigint | undefined {
    if (this.isPreparing || this.isPerBatch) return undefined;
    return this.seqno + BigInt(this.numbered++);
  }

  private follow({ type }: BatchLayout): void {
    if (type === 'begin_prepare') this.isPreparing = true;
    else if (type === 'end_prepare') this.isPreparing = false;
    else if (type === 'begin_persisted_prepare' || type === 'begin_unprepare') this.isPerBatch = true;
  }
}

/** All operations. Throws as WriteBatchReader does, also where the count does not fit. */
export function decodeWriteBatch(
  payload: Uint8Array,
  timestampSizes?: TimestampSizes,
): { readonly seqno: bigint; readonly count: number; readonly operations: BatchOperation[] } {
  const reader = new WriteBatchReader(payload, timestampSizes);
  const operations: BatchOperation[] = [];
  for (let operation = reader.next(); operation !== undefined; operation = reader.next()) {
    operations.push(operation);
  }
  reader.checkCount();
  return { seqno: reader.seqno, count: reader.count, operations };
}
