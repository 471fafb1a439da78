import type { Environment } from '../../engine/environment.ts';
import type { BlobIndex } from '../../format/entry-value.ts';
import { BlobDirectory } from '../blob-directory.ts';
import type { Finding } from '../finding.ts';
import { keyText } from './key-text.ts';

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
  private readonly blobs: BlobDirectory;

  /** `directory` of the blob files, without a slash at its end. */
  constructor(environment: Environment, directory: string) {
    this.blobs = new BlobDirectory(environment, directory);
  }

  /** A reference in the entry with the user key `key[0, length)`. */
  take(key: Uint8Array, length: number, blob: BlobIndex): void {
    // An embedded one lies in the table itself.
    if (blob.kind === 'inlined_ttl' || blob.fileNumber === 0) return;
    const { fileNumber, offset, size } = blob;
    const found = this.blobs.find(key, length, blob);
    if (typeof found !== 'string') return;
    if (blob.kind === 'blob_ttl' && !this.blobs.isThere(fileNumber)) return;
    const known = this.dangling.get(fileNumber);
    if (known !== undefined) known.count++;
    else {
      const first = `that of key ${keyText(key, length)}, offset ${offset}, size ${size}: ${found}`;
      this.dangling.set(fileNumber, { count: 1, first });
    }
  }

  /** One finding a blob file; closes them. */
  finish(): Finding[] {
    this.blobs.close();
    return [...this.dangling].map(([number, { count, first }]) => {
      const what = count === 1 ? '1 reference leads' : `${count} references lead`;
      const message = `${what} to no value in blob file ${number}; ${count === 1 ? '' : 'first '}${first}`;
      return { code: 'blob_dangling', severity: 'damage', message };
    });
  }
}
