import { ByteWriter } from '../../bytes/byte-writer.ts';
import { readFixed16, readFixed32 } from '../../bytes/fixed.ts';
import type { ByteSource } from '../../bytes/source.ts';
import { hex32 } from '../../bytes/text.ts';
import { CorruptionError, UnsupportedError } from '../../errors.ts';
import { maskCrc32c } from '../../hash/crc32c.ts';
import type { HashFunctions } from '../../hash/registry.ts';
import { decodeCompressionType, decodeTimestampSizes } from './log-control.ts';
import {
  controlKindOf,
  headerSizeOf,
  IGNORABLE_TYPE_BIT,
  isDataType,
  isRecyclableType,
  LEGACY_HEADER_SIZE,
  LOG_BLOCK_SIZE,
  type LogControlKind,
  LogRecordType,
  legacyTypeOf,
  RECYCLABLE_HEADER_SIZE,
} from './log-format.ts';

export interface LogReaderOptions {
  /** Number of the log. Default: that of its first recyclable record. */
  readonly logNumber?: number;
  /** A logical record above this is passed over (UnsupportedError). Default: 1 GiB. */
  readonly maxRecordBytes?: number;
}

const DEFAULT_MAX_RECORD_BYTES = 2 ** 30;

/** A logical record: all of its fragments put together. */
export interface LogRecord {
  /** Of its first header, from the start of the file. */
  readonly offset: number;
  /** Bytes from there to the end of its last fragment, headers and filler between them included. */
  readonly size: number;
  readonly kind: 'data' | LogControlKind;
  /**
   * Valid until the next record is read. In a log with a compression type it is one compressed frame, but for
   * control records, which are stored as they are.
   */
  readonly payload: Uint8Array;
}

/**
 * How a log ends, and where. `clean`: behind its last record. `incomplete_tail`: in a record whose writing was not
 * finished; `offset` is where it begins. `recycled_tail`: what follows is of the file's former use. `damage`: there
 * was damage, at `offset` for the first time; records behind it may have been read all the same.
 */
export interface LogEnd {
  readonly state: 'clean' | 'incomplete_tail' | 'recycled_tail' | 'damage';
  readonly offset: number;
}

/** What is wrong: `log_record_damaged`, `log_orphan_fragment`, or something that is not supported. */
export type LogFault = CorruptionError | UnsupportedError;

/**
 * Reads the records of a log in order, and goes on behind what is damaged: a wrong checksum or length costs the rest
 * of its block, as nothing there can be trusted to begin anywhere. Holds one block and one record. Faults go to
 * `fault`, with file and offset, in the order of the file; of one loss only the first is told, not the fragments that
 * it orphans. Zeros that stand where records belong are damage too, though other readers pass over them.
 *
 * A recycled log ends wherever the remains of its former use begin, and these look like anything: what does not hold
 * there is damage only if a record of this log follows.
 * `next` throws what the source throws.
 */
export class LogReader {
  /** Set when there are no more records. */
  end: LogEnd | undefined;
  /** Compression of all data records behind, by its on-disk number; 0: none. */
  compressionType = 0;
  /** Timestamp sizes that apply from here on, by column family. */
  readonly timestampSizes = new Map<number, number>();
  /** Low 32 bits; undefined while no recyclable record was seen. */
  logNumber: number | undefined;

  private readonly maxRecordBytes: number;
  private readonly block: Uint8Array;
  private blockOffset = 0;
  private blockLength = 0;
  private pos = 0;

  /** The physical record that was read last: payload is block[payloadStart, pos). */
  private type = 0;
  private headerOffset = 0;
  private payloadStart = 0;

  private readonly fragments = new ByteWriter(0);
  /** Where the unfinished logical record begins; -1: there is none. */
  private unfinishedOffset = -1;
  private tooLong = false;
  /** Fragments up to the next beginning belong to a record whose loss was told. */
  private afterLoss = false;
  /** Data records were read, with the one header, with the other, at all. */
  private hasLegacyData = false;
  private hasRecyclable = false;
  private hasData = false;
  /** End of the last record. */
  private recordsEnd = 0;
  /** Where zeros began that only the end of the log explains; -1: none. */
  private zerosOffset = -1;
  private firstDamage = -1;
  private tail: LogEnd | undefined;
  /** A fault in a recycled log, which may be the beginning of old remains. */
  private doubtful: CorruptionError | undefined;

  constructor(
    private readonly source: ByteSource,
    private readonly hashes: HashFunctions,
    private readonly fault: (error: LogFault) => void,
    options: LogReaderOptions = {},
  ) {
    this.maxRecordBytes = options.maxRecordBytes ?? DEFAULT_MAX_RECORD_BYTES;
    if (options.logNumber !== undefined) this.logNumber = options.logNumber >>> 0;
    this.block = new Uint8Array(Math.min(LOG_BLOCK_SIZE, source.size));
  }

  /** The next record, or undefined where `end` tells how the log ends. */
  next(): LogRecord | undefined {
    while (this.end === undefined) {
      if (!this.readPhysical()) {
        this.finish();
        break;
      }
      const record = this.take();
      if (record !== undefined) return record;
    }
    return undefined;
  }

  /** What the physical record makes: a logical one, or a part of it. */
  private take(): LogRecord | undefined {
    const { type, headerOffset } = this;
    const payload = this.block.subarray(this.payloadStart, this.pos);
    this.recordsEnd = this.blockOffset + this.pos;
    const kind = controlKindOf(type);
    if (kind !== undefined) {
      if (this.fragments.length > 0)
        this.orphan(this.unfinishedOffset, `a ${kind} record stands inside of it`);
      this.unfinishedOffset = -1;
      this.fragments.truncate(0);
      return this.takeControl(kind, payload) ? this.record(headerOffset, kind, payload) : undefined;
    }
    if (!isDataType(type)) {
      this.dropUnfinished();
      if (!isWrittenType(type)) this.damage(headerOffset, `record type ${type} is not known`);
      return undefined;
    }
    this.hasData = true;
    const part = legacyTypeOf(type);
    if (part === LogRecordType.full || part === LogRecordType.first) {
      // Writers of old left an empty First at the end of a block in front of a record that fits.
      if (this.fragments.length > 0) {
        this.orphan(this.unfinishedOffset, `it has no end, another record begins at ${headerOffset}`);
      }
      this.fragments.truncate(0);
      this.unfinishedOffset = -1;
      this.afterLoss = false;
      this.tooLong = false;
      if (part === LogRecordType.full) return this.record(headerOffset, 'data', payload);
      this.unfinishedOffset = headerOffset;
    } else if (this.unfinishedOffset < 0) {
      if (!this.afterLoss) {
        const which = part === LogRecordType.middle ? 'middle' : 'last';
        this.orphan(headerOffset, `a ${which} fragment without a first one`);
      }
      return undefined;
    }
    this.append(payload);
    if (part !== LogRecordType.last) return undefined;
    const offset = this.unfinishedOffset;
    this.unfinishedOffset = -1;
    if (this.tooLong) return undefined;
    const whole = this.fragments.view();
    const record = this.record(offset, 'data', whole);
    this.fragments.truncate(0);
    return record;
  }

  private record(offset: number, kind: LogRecord['kind'], payload: Uint8Array): LogRecord {
    return { offset, size: this.recordsEnd - offset, kind, payload };
  }

  private append(payload: Uint8Array): void {
    if (this.tooLong) return;
    if (this.fragments.length + payload.length <= this.maxRecordBytes) {
      this.fragments.append(payload);
      return;
    }
    this.tooLong = true;
    this.fragments.truncate(0);
    const reason = `a record of more than ${this.maxRecordBytes} bytes is passed over`;
    this.fault(
      new UnsupportedError('log record size', this.maxRecordBytes, reason, {
        file: this.source.name,
        offset: this.unfinishedOffset,
      }),
    );
  }

  private takeControl(kind: LogControlKind, payload: Uint8Array): boolean {
    try {
      if (kind === 'compression_type') {
        if (this.compressionType !== 0) this.refuse('the compression type is set twice');
        if (this.hasData) this.refuse('the compression type is set behind the first record');
        this.compressionType = decodeCompressionType(payload);
      } else if (kind === 'timestamp_sizes') {
        for (const { columnFamily, size } of decodeTimestampSizes(payload)) {
          if ((this.timestampSizes.get(columnFamily) ?? size) !== size) {
            this.refuse(`the timestamp size of column family ${columnFamily} is set twice`);
          }
          this.timestampSizes.set(columnFamily, size);
        }
      }
      return true;
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      this.damage(this.headerOffset, error.reason);
      return false;
    }
  }

  private refuse(reason: string): never {
    throw new CorruptionError('log_record_damaged', reason);
  }

  /** Finds the next physical record whose checksum holds. False at the end of the log. */
  private readPhysical(): boolean {
    const { block } = this;
    for (;;) {
      const left = this.blockLength - this.pos;
      if (left < LEGACY_HEADER_SIZE) {
        if (this.isLastBlock && this.blockLength > 0 && this.blockLength < LOG_BLOCK_SIZE) {
          if (!this.isZeros(this.pos)) this.cutOff();
          return false;
        }
        if (!this.loadBlock()) return false;
        continue;
      }
      const start = this.pos;
      const type = block[start + 6]!;
      const length = readFixed16(block, start + 4);
      this.headerOffset = this.blockOffset + start;
      if (type === LogRecordType.zero && length === 0) {
        this.passZeros(start);
        continue;
      }
      const payloadStart = start + headerSizeOf(type);
      const payloadEnd = payloadStart + length;
      const isForeign = this.isForeign(type, start, left);
      if (isForeign && !this.hasRecyclable) {
        this.endOfThisLog();
        return false;
      }
      if (payloadEnd > this.blockLength) {
        if (this.isLastBlock && payloadEnd <= LOG_BLOCK_SIZE) {
          if (isForeign) this.endOfThisLog();
          else if (isWrittenType(type)) this.cutOff();
          else this.damageBlock(`record type ${type} is not known`);
          return false;
        }
        this.damageBlock(`a length of ${length} bytes reaches beyond the block`);
        continue;
      }
      const stored = readFixed32(block, start);
      const computed = maskCrc32c(this.hashes.crc32c(block, start + 6, payloadEnd));
      if (stored !== computed) {
        this.damageBlock(`crc32c mismatch in a record of ${length} bytes`, stored, computed);
        continue;
      }
      if (isForeign) {
        this.endOfThisLog();
        return false;
      }
      if (isRecyclableType(type) && this.hasLegacyData) {
        this.damageBlock('a recyclable record in a log of plain ones');
        continue;
      }
      this.accept(type, payloadStart, payloadEnd);
      return true;
    }
  }

  private accept(type: number, payloadStart: number, payloadEnd: number): void {
    if (this.doubtful !== undefined) {
      // A record of this log follows: it was no remains.
      this.report(this.doubtful);
      this.doubtful = undefined;
    }
    if (this.zerosOffset >= 0) {
      // Zeros are legal in front of a record that is never cut, and otherwise at the end alone.
      if (controlKindOf(type) === undefined) {
        this.damage(
          this.zerosOffset,
          `${this.headerOffset - this.zerosOffset} bytes are zeros where records belong`,
        );
        this.dropUnfinished();
      }
      this.zerosOffset = -1;
    }
    if (isRecyclableType(type)) {
      this.logNumber ??= readFixed32(this.block, payloadStart - 4);
      this.hasRecyclable = true;
    } else if (isDataType(type)) this.hasLegacyData = true;
    this.type = type;
    this.payloadStart = payloadStart;
    this.pos = payloadEnd;
  }

  /** Whether the record is of the file's former use: of another log number, or plain in a log of recyclable ones. */
  private isForeign(type: number, start: number, left: number): boolean {
    if (!isRecyclableType(type)) return isDataType(type) && this.hasRecyclable;
    return (
      this.logNumber !== undefined &&
      left >= RECYCLABLE_HEADER_SIZE &&
      readFixed32(this.block, start + LEGACY_HEADER_SIZE) !== this.logNumber
    );
  }

  private endOfThisLog(): void {
    this.tail = { state: 'recycled_tail', offset: this.doubtful?.offset ?? this.headerOffset };
    this.doubtful = undefined;
  }

  private passZeros(start: number): void {
    if (!this.isZeros(start)) {
      this.damageBlock('zeros where a record belongs');
      return;
    }
    // Where a recyclable header does not fit, its writer has filled the block.
    const isHole = this.blockLength - start >= RECYCLABLE_HEADER_SIZE;
    if (isHole && this.zerosOffset < 0) this.zerosOffset = this.blockOffset + start;
    this.pos = this.blockLength;
  }

  private isZeros(start: number): boolean {
    for (let i = start; i < this.blockLength; i++) if (this.block[i] !== 0) return false;
    return true;
  }

  private get isLastBlock(): boolean {
    return this.blockOffset + this.blockLength >= this.source.size;
  }

  private loadBlock(): boolean {
    const offset = this.blockOffset + this.blockLength;
    const length = Math.min(LOG_BLOCK_SIZE, this.source.size - offset);
    if (length <= 0) return false;
    this.source.readInto(offset, this.block.subarray(0, length));
    this.blockOffset = offset;
    this.blockLength = length;
    this.pos = 0;
    return true;
  }

  /** The file ends inside of a record. */
  private cutOff(): void {
    this.tail = { state: 'incomplete_tail', offset: this.blockOffset + this.pos };
  }

  /** Nothing behind `pos` in this block can be trusted. */
  private damageBlock(reason: string, stored?: number, computed?: number): void {
    const error = new CorruptionError('log_record_damaged', reason, {
      file: this.source.name,
      offset: this.blockOffset + this.pos,
      ...(stored === undefined ? {} : { stored: hex32(stored), computed: hex32(computed!) }),
    });
    if (this.hasRecyclable) this.doubtful ??= error;
    else this.report(error);
    this.dropUnfinished();
    this.pos = this.blockLength;
  }

  private damage(offset: number, reason: string): void {
    this.report(new CorruptionError('log_record_damaged', reason, { file: this.source.name, offset }));
  }

  private orphan(offset: number, reason: string): void {
    this.report(new CorruptionError('log_orphan_fragment', reason, { file: this.source.name, offset }));
  }

  private report(error: CorruptionError): void {
    if (this.firstDamage < 0) this.firstDamage = error.offset!;
    this.fault(error);
  }

  private dropUnfinished(): void {
    this.afterLoss = true;
    this.unfinishedOffset = -1;
    this.fragments.truncate(0);
  }

  private finish(): void {
    if (this.firstDamage >= 0) this.end = { state: 'damage', offset: this.firstDamage };
    else if (this.doubtful !== undefined) {
      this.end = { state: 'recycled_tail', offset: this.doubtful.offset! };
    } else if (this.unfinishedOffset >= 0) {
      const state = this.tail?.state === 'recycled_tail' ? 'recycled_tail' : 'incomplete_tail';
      this.end = { state, offset: this.unfinishedOffset };
    } else this.end = this.tail ?? { state: 'clean', offset: this.recordsEnd };
  }
}

/** Whether a writer, also one of a later release, may have meant it. */
function isWrittenType(type: number): boolean {
  return isDataType(type) || controlKindOf(type) !== undefined || (type & IGNORABLE_TYPE_BIT) !== 0;
}
