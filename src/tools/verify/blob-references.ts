import type { Environment, FileSource } from '../../engine/environment.ts';
import { SstError } from '../../errors.ts';
import {
  BLOB_HEADER_SIZE,
  BLOB_RECORD_HEADER_SIZE,
  decodeBlobRecordHeader,
} from '../../format/blob/blob-file.ts';
import type { BlobIndex } from '../../format/entry-value.ts';
import { formatFileName } from '../../format/file-name.ts';
import type { Finding } from '../finding.ts';
import { keyText } from './key-text.ts';

/** Blob files that are kept open; a table refers to few at a time. */
const OPEN_FILES_MAX = 16;

/** What is wrong with the references of a table to one blob file. */
interface Dangling {
  count: number;
  readonly first: string;
}

/**
 * Follows the blob references of a live table: each must lead to a record with its key, and a value of its size, in a
 * blob file beside it. Of a record only its header and key are read: what its value is worth, the blob file's own check
 * says. Values that expire are left out where their file is gone: it may be removed before the references are.
 */
export class BlobReferences {
  private readonly dangling = new Map<number, Dangling>();
  /** In the order of their last use. Undefined: it cannot be opened. */
  private readonly files = new Map<number, FileSource | string>();

  constructor(
    private readonly environment: Environment,
    /** Of the blob files, without a slash at its end. */
    private readonly directory: string,
  ) {}

  /** A reference in the entry with the user key `key[0, length)`. */
  take(key: Uint8Array, length: number, blob: BlobIndex): void {
    // An embedded one lies in the table itself.
    if (blob.kind === 'inlined_ttl' || blob.fileNumber === 0) return;
    const { fileNumber } = blob;
    const file = this.open(fileNumber);
    const fault = typeof file === 'string' ? file : this.faultOf(file, key, length, blob);
    if (fault === undefined || (typeof file === 'string' && blob.kind === 'blob_ttl')) return;
    const known = this.dangling.get(fileNumber);
    if (known !== undefined) known.count++;
    else {
      const first = `that of key ${keyText(key, length)}, offset ${blob.offset}, size ${blob.size}: ${fault}`;
      this.dangling.set(fileNumber, { count: 1, first });
    }
  }

  /** One finding a blob file; closes them. */
  finish(): Finding[] {
    for (const file of this.files.values()) if (typeof file !== 'string') file.close();
    this.files.clear();
    return [...this.dangling].map(([number, { count, first }]) => {
      const what = count === 1 ? '1 reference leads' : `${count} references lead`;
      const message = `${what} to no value in blob file ${number}; ${count === 1 ? '' : 'first '}${first}`;
      return { code: 'blob_dangling', severity: 'damage', message };
    });
  }

  /** A reason where it leads to no record of this key and size. */
  private faultOf(
    file: FileSource,
    key: Uint8Array,
    length: number,
    { offset, size }: Extract<BlobIndex, { offset: number }>,
  ): string | undefined {
    const recordOffset = offset - length - BLOB_RECORD_HEADER_SIZE;
    if (recordOffset < BLOB_HEADER_SIZE || offset + size > file.size)
      return `the file has ${file.size} bytes`;
    try {
      const record = file.read(recordOffset, BLOB_RECORD_HEADER_SIZE + length);
      const { keyLength, valueLength } = decodeBlobRecordHeader(record, 0, this.environment.hashes);
      if (keyLength !== length) return 'the record there has another key';
      for (let i = 0; i < length; i++) {
        if (record[BLOB_RECORD_HEADER_SIZE + i] !== key[i]) return 'the record there has another key';
      }
      return valueLength === size ? undefined : `the value there has ${valueLength} bytes`;
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      return 'there is no record that can be read';
    }
  }

  /** The file, or why it cannot be opened. */
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
      return this.environment.files.open(`${this.directory}/${name}`);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      return error.code === 'not_found' ? `there is no ${name}` : error.message;
    }
  }
}
