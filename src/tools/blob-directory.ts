import type { Environment, FileSource } from '../engine/environment.ts';
import { SstError } from '../errors.ts';
import {
  BLOB_HEADER_SIZE,
  BLOB_RECORD_HEADER_SIZE,
  type BlobRecordHeader,
  decodeBlobRecordHeader,
} from '../format/blob/blob-file.ts';
import type { BlobIndex } from '../format/entry-value.ts';
import { formatFileName } from '../format/file-name.ts';

/** Blob files that are kept open; neighbouring keys refer to few. */
const OPEN_FILES_MAX = 16;

/** A reference to a value in a blob file. */
export type BlobReference = Extract<BlobIndex, { fileNumber: number }>;

/** The record that a reference leads to, or the reason why it leads to none. */
export type FoundBlob = { readonly file: FileSource; readonly record: BlobRecordHeader } | string;

/** The blob files of a directory, opened as references lead to them. */
export class BlobDirectory {
  /** In the order of their last use. A text says why one cannot be opened. */
  private readonly files = new Map<number, FileSource | string>();

  constructor(
    private readonly environment: Pick<Environment, 'files' | 'hashes'>,
    /** Without a slash at its end; empty: the working directory. */
    private readonly directory: string,
  ) {}

  /** The record with the user key `key[0, length)` and a value of that size; its header and key are read. */
  find(key: Uint8Array, length: number, { fileNumber, offset, size }: BlobReference): FoundBlob {
    const file = this.open(fileNumber);
    if (typeof file === 'string') return file;
    const recordOffset = offset - length - BLOB_RECORD_HEADER_SIZE;
    if (recordOffset < BLOB_HEADER_SIZE || offset + size > file.size) return `it has ${file.size} bytes`;
    try {
      const bytes = file.read(recordOffset, BLOB_RECORD_HEADER_SIZE + length);
      const record = decodeBlobRecordHeader(bytes, 0, this.environment.hashes);
      if (record.keyLength !== length) return 'the record there has another key';
      for (let i = 0; i < length; i++) {
        if (bytes[BLOB_RECORD_HEADER_SIZE + i] !== key[i]) return 'the record there has another key';
      }
      return record.valueLength === size
        ? { file, record }
        : `the value there has ${record.valueLength} bytes`;
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      return 'there is no record there that can be read';
    }
  }

  isThere(fileNumber: number): boolean {
    return typeof this.open(fileNumber) !== 'string';
  }

  close(): void {
    for (const file of this.files.values()) if (typeof file !== 'string') file.close();
    this.files.clear();
  }

  private open(number: number): FileSource | string {
    const { files } = this;
    let file = files.get(number);
    if (file !== undefined) {
      files.delete(number);
    } else {
      for (const [oldest, source] of files) {
        if (files.size < OPEN_FILES_MAX) break;
        if (typeof source !== 'string') source.close();
        files.delete(oldest);
      }
      file = this.tryOpen(number);
    }
    files.set(number, file);
    return file;
  }

  private tryOpen(number: number): FileSource | string {
    const name = formatFileName('blob', number);
    try {
      return this.environment.files.open(this.directory === '' ? name : `${this.directory}/${name}`);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      return error.code === 'not_found' ? `there is no ${name}` : error.message;
    }
  }
}
