import type { ByteWriter } from '../../bytes/byte-writer.ts';
import { writeFixed32 } from '../../bytes/fixed.ts';
import { maskCrc32c } from '../../hash/crc32c.ts';
import type { HashFunctions } from '../../hash/registry.ts';
import {
  encodeCompressionType,
  encodePredecessorWal,
  encodeTimestampSizes,
  type LogTimestampSize,
  type PredecessorWal,
} from './log-control.ts';
import { LEGACY_HEADER_SIZE, LOG_BLOCK_SIZE, LogRecordType, RECYCLABLE_HEADER_SIZE } from './log-format.ts';

export interface LogWriterOptions {
  /** Number of the log: its records get recyclable headers. Default: legacy headers, as MANIFESTs have them. */
  readonly recyclableLogNumber?: number;
  /** Length of the file that is appended to. Default: 0. */
  readonly fileSize?: number;
}

const ZEROS = new Uint8Array(LOG_BLOCK_SIZE);

/**
 * Appends records to `out`, byte for byte as RocksDB and LevelDB lay them out. The caller takes the bytes from `out`
 * whenever it likes, and may truncate it then: where the writer stands in its block, it knows itself.
 */
export class LogWriter {
  private readonly headerSize: number;
  /** Position within the block. */
  private blockPos: number;

  constructor(
    private readonly out: ByteWriter,
    private readonly hashes: HashFunctions,
    private readonly options: LogWriterOptions = {},
  ) {
    this.headerSize = options.recyclableLogNumber === undefined ? LEGACY_HEADER_SIZE : RECYCLABLE_HEADER_SIZE;
    this.blockPos = (options.fileSize ?? 0) % LOG_BLOCK_SIZE;
  }

  /** One logical record, in as many fragments as it takes; an empty one is a Full record of length 0. */
  add(payload: Uint8Array): void {
    for (let start = 0, end = -1; end < payload.length; start = end) {
      if (LOG_BLOCK_SIZE - this.blockPos < this.headerSize) this.fillBlock();
      // Exactly a header's room is used as well: by a fragment of length 0.
      const room = LOG_BLOCK_SIZE - this.blockPos - this.headerSize;
      const isFirst = end < 0;
      end = Math.min(payload.length, start + room);
      const isLast = end === payload.length;
      const type = fragmentType(isFirst, isLast);
      this.emit(this.isRecyclable ? type + 4 : type, this.headerSize, payload, start, end);
    }
  }

  /** Only as the first record. Its header is a legacy one in every log. */
  setCompressionType(type: number): void {
    const payload = encodeCompressionType(type);
    this.emit(LogRecordType.setCompressionType, LEGACY_HEADER_SIZE, payload, 0, payload.length);
  }

  addTimestampSizes(sizes: readonly LogTimestampSize[]): void {
    this.addWhole(LogRecordType.timestampSizes, encodeTimestampSizes(sizes));
  }

  addPredecessorWal(wal: PredecessorWal): void {
    this.addWhole(LogRecordType.predecessorWal, encodePredecessorWal(wal));
  }

  private get isRecyclable(): boolean {
    return this.options.recyclableLogNumber !== undefined;
  }

  /** A record that is never cut: where it does not fit, the rest of the block stays empty. */
  private addWhole(type: number, payload: Uint8Array): void {
    if (LOG_BLOCK_SIZE - this.blockPos < this.headerSize + payload.length) this.fillBlock();
    this.emit(this.isRecyclable ? type + 1 : type, this.headerSize, payload, 0, payload.length);
  }

  private fillBlock(): void {
    this.out.append(ZEROS, 0, LOG_BLOCK_SIZE - this.blockPos);
    this.blockPos = 0;
  }

  private emit(type: number, headerSize: number, payload: Uint8Array, start: number, end: number): void {
    const { out } = this;
    const header = out.length;
    out.fixed32(0);
    out.fixed16(end - start);
    out.byte(type);
    if (headerSize === RECYCLABLE_HEADER_SIZE) out.fixed32(this.options.recyclableLogNumber! >>> 0);
    out.append(payload, start, end);
    const checksum = maskCrc32c(this.hashes.crc32c(out.bytes, header + LEGACY_HEADER_SIZE - 1, out.length));
    writeFixed32(out.bytes, header, checksum);
    this.blockPos = (this.blockPos + out.length - header) % LOG_BLOCK_SIZE;
  }
}

function fragmentType(isFirst: boolean, isLast: boolean): number {
  if (isFirst) return isLast ? LogRecordType.full : LogRecordType.first;
  return isLast ? LogRecordType.last : LogRecordType.middle;
}
