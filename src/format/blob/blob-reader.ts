import type { ByteSource } from '../../bytes/source.ts';
import { hex32 } from '../../bytes/text.ts';
import { CorruptionError, UnsupportedError } from '../../errors.ts';
import { createCrc32c, maskCrc32c } from '../../hash/crc32c.ts';
import type { HashFunctions } from '../../hash/registry.ts';
import {
  BLOB_FOOTER_SIZE,
  BLOB_HEADER_SIZE,
  BLOB_RECORD_HEADER_SIZE,
  type BlobFileFooter,
  type BlobFileHeader,
  type BlobRecordHeader,
  decodeBlobFooter,
  decodeBlobHeader,
  decodeBlobRecordHeader,
  isBlobRecordHeader,
  looksLikeBlobFooter,
  startsWithBlobMagic,
} from './blob-file.ts';

const WINDOW_BYTES = 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;

export interface BlobRecord extends BlobRecordHeader {
  /** Of its header, from the start of the file. */
  readonly offset: number;
  /** What a reference to it says. */
  readonly valueOffset: number;
}

export type BlobFault = CorruptionError | UnsupportedError;

/**
 * Reads the records of a blob file in order. Where one's header is damaged it goes on with the next that can be
 * recognised, as records have checksums of their own. Holds a megabyte, or the one value that is asked for. Faults go
 * to `fault`, with file and offset: `blob_header`, `blob_record_damaged`, `blob_truncated`, `blob_footer`, and
 * UnsupportedError for another version, whose records are not read. Methods throw what the source throws.
 */
export class BlobFileReader {
  /** Undefined where it cannot be read. */
  readonly header: BlobFileHeader | undefined;
  /** Undefined where it is missing, or cannot be read. */
  readonly footer: BlobFileFooter | undefined;
  private readonly hasFooter: boolean;
  /** Where records end: at the footer, or the file's end. */
  private readonly recordsEnd: number;
  private pos = BLOB_HEADER_SIZE;
  private count = 0;
  /** Not all records were read. */
  private hasLost = false;
  private isDone = false;
  private window: Uint8Array;
  private windowOffset = 0;
  private readonly extendCrc32c = createCrc32c();

  constructor(
    private readonly source: ByteSource,
    private readonly hashes: HashFunctions,
    private readonly fault: (fault: BlobFault) => void,
  ) {
    this.window = source.read(0, Math.min(WINDOW_BYTES, source.size));
    this.header = this.attempt(0, () => decodeBlobHeader(this.window.subarray(0, BLOB_HEADER_SIZE)));
    const footerOffset = source.size - BLOB_FOOTER_SIZE;
    const last = footerOffset < BLOB_HEADER_SIZE ? undefined : source.read(footerOffset, BLOB_FOOTER_SIZE);
    this.hasFooter = last !== undefined && looksLikeBlobFooter(last, hashes);
    this.recordsEnd = this.hasFooter ? footerOffset : source.size;
    if (this.hasFooter) this.footer = this.attempt(footerOffset, () => decodeBlobFooter(last!, hashes));
    this.isDone ||= source.size < BLOB_HEADER_SIZE;
  }

  /** The next record that can be recognised; undefined behind the last. */
  next(): BlobRecord | undefined {
    while (!this.isDone && this.pos < this.recordsEnd) {
      const record = this.record(this.pos);
      if (record === undefined) continue;
      this.count++;
      return record;
    }
    if (!this.isDone) this.finish();
    return undefined;
  }

  /** Undefined: there is none here; `pos` is where to go on. */
  private record(offset: number): BlobRecord | undefined {
    const left = this.recordsEnd - offset - BLOB_RECORD_HEADER_SIZE;
    if (left < 0) return this.cutOffHeader(offset, left + BLOB_RECORD_HEADER_SIZE);
    const at = this.at(offset, BLOB_RECORD_HEADER_SIZE);
    const header = this.attempt(offset, () => decodeBlobRecordHeader(this.window, at, this.hashes));
    if (header === undefined) {
      this.hasLost = true;
      this.pos = this.findRecord(offset + 1);
      return undefined;
    }
    const length = header.keyLength + header.valueLength;
    if (length > left) return this.cutOff(offset, `${left} of ${length} bytes of key and value are there`);
    this.pos = offset + BLOB_RECORD_HEADER_SIZE + length;
    return { ...header, offset, valueOffset: offset + BLOB_RECORD_HEADER_SIZE + header.keyLength };
  }

  /** Less than a header is left: of a record, or of the footer. */
  private cutOffHeader(offset: number, there: number): undefined {
    const at = this.at(offset, there);
    if (!startsWithBlobMagic(this.window.subarray(at, at + there))) {
      return this.cutOff(offset, `${there} bytes of its header are there`);
    }
    this.isDone = true;
    this.report(
      'blob_footer',
      offset,
      `the footer is cut off: ${there} of ${BLOB_FOOTER_SIZE} bytes are there`,
    );
  }

  private cutOff(offset: number, what: string): undefined {
    this.hasLost = true;
    this.isDone = true;
    this.report('blob_truncated', offset, `the last record is cut off: ${what}`);
  }

  private finish(): void {
    this.isDone = true;
    if (!this.hasFooter) {
      const reason = 'the file ends without a footer: it was not closed, or has lost its end';
      this.report('blob_footer', this.recordsEnd, reason);
    } else if (this.footer !== undefined && !this.hasLost && this.footer.blobCount !== BigInt(this.count)) {
      const [stored, computed] = [String(this.footer.blobCount), String(this.count)];
      const reason = `the footer counts ${stored} records, there are ${computed}`;
      const place = { file: this.source.name, offset: this.recordsEnd, stored, computed };
      this.fault(new CorruptionError('blob_footer', reason, place));
    }
  }

  /** User key with its timestamp; valid, as the value, until the source is closed. */
  key({ offset, keyLength }: BlobRecord): Uint8Array {
    return this.view(offset + BLOB_RECORD_HEADER_SIZE, keyLength);
  }

  /** As stored. */
  value({ valueOffset, valueLength }: BlobRecord): Uint8Array {
    return this.view(valueOffset, valueLength);
  }

  /** The fault of a record whose checksum of key and value does not hold. */
  check(record: BlobRecord): CorruptionError | undefined {
    const { offset, blobChecksum } = record;
    const start = offset + BLOB_RECORD_HEADER_SIZE;
    const end = record.valueOffset + record.valueLength;
    const crc = maskCrc32c(this.crc32c(start, end));
    if (crc === blobChecksum) return undefined;
    const [stored, computed] = [blobChecksum, crc].map(hex32);
    return new CorruptionError(
      'blob_record_damaged',
      `crc32c mismatch of key and value, stored ${stored}, computed ${computed}`,
      { file: this.source.name, offset, stored: stored!, computed: computed! },
    );
  }

  /** By the kernel where it lies in the window, else piece by piece. */
  private crc32c(start: number, end: number): number {
    if (end - start <= WINDOW_BYTES) {
      const at = this.at(start, end - start);
      return this.hashes.crc32c(this.window, at, at + end - start);
    }
    let crc = 0;
    for (let offset = start; offset < end; offset += PIECE_BYTES) {
      const piece = this.source.read(offset, Math.min(PIECE_BYTES, end - offset));
      crc = this.extendCrc32c(piece, 0, piece.length, crc);
    }
    return crc;
  }

  /** Where the next record begins that can be recognised; says what is lost. */
  private findRecord(from: number): number {
    const { hashes, recordsEnd } = this;
    for (let offset = from; offset + BLOB_RECORD_HEADER_SIZE <= recordsEnd; offset++) {
      const at = this.at(offset, BLOB_RECORD_HEADER_SIZE);
      const left = recordsEnd - offset - BLOB_RECORD_HEADER_SIZE;
      if (isBlobRecordHeader(this.window, at, left, hashes)) return offset;
    }
    return recordsEnd;
  }

  private view(offset: number, length: number): Uint8Array {
    if (length > WINDOW_BYTES) return this.source.read(offset, length);
    const at = this.at(offset, length);
    return this.window.subarray(at, at + length);
  }

  /** Where `offset` lies in the window, which is moved so that it has `length` bytes from there. */
  private at(offset: number, length: number): number {
    const at = offset - this.windowOffset;
    if (at >= 0 && at + length <= this.window.length) return at;
    this.windowOffset = offset;
    this.window = this.source.read(offset, Math.min(WINDOW_BYTES, this.source.size - offset));
    return 0;
  }

  private attempt<T>(offset: number, decode: () => T): T | undefined {
    try {
      return decode();
    } catch (error) {
      if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
      this.fault(error.at({ file: this.source.name, offset }));
      this.isDone ||= error instanceof UnsupportedError;
      return undefined;
    }
  }

  private report(code: string, offset: number, reason: string): void {
    this.fault(new CorruptionError(code, reason, { file: this.source.name, offset }));
  }
}
