import { decompressBlock } from '../codec/decompress.ts';
import { CompressionType } from '../codec/registry.ts';
import { resolveCodec } from '../codec/resolve-codec.ts';
import type { Environment } from '../engine/environment.ts';
import { CorruptionError, SstError, UnsupportedError } from '../errors.ts';
import { BLOB_HEADER_SIZE, decodeBlobHeader } from '../format/blob/blob-file.ts';
import { maskCrc32c } from '../hash/crc32c.ts';
import { BlobDirectory, type BlobReference } from './blob-directory.ts';

const BLOB_NAME = /\.blob$/;
const NO_BYTES = new Uint8Array(0);

/** The value of a blob record as it was put. Throws as `decompressBlock` does. */
export function decompressBlob(
  { codecs }: Pick<Environment, 'codecs'>,
  compressionType: number,
  stored: Uint8Array,
): Uint8Array {
  const context = { codecs, family: 'rocksdb', framing: 2 } as const;
  return decompressBlock(context, compressionType, stored, 0, stored.length, undefined);
}

/** Looks up the values that the references of a table lead to, in the blob files beside it. */
export class BlobValues {
  private readonly blobs: BlobDirectory;

  private constructor(
    private readonly environment: Environment,
    directory: string,
  ) {
    this.blobs = new BlobDirectory(environment, directory);
  }

  /** Loads the codecs that the blob files of the directory say they need, so that look-ups need not wait. */
  static async open(environment: Environment, directory: string): Promise<BlobValues> {
    const values = new BlobValues(environment, directory);
    for (const type of compressionsOf(environment, directory)) {
      try {
        await environment.codecs.load(resolveCodec('rocksdb', 2, type, NO_BYTES, 0, 0).codec);
      } catch (error) {
        // Said of each value.
        if (!(error instanceof UnsupportedError)) throw error;
      }
    }
    return values;
  }

  /**
   * The value of the entry with the user key `key[0, length)`. Throws CorruptionError: `blob_dangling` where the
   * reference leads to no such record, `blob_record_damaged` for a wrong checksum, `block_decompress`;
   * UnsupportedError for a value that the table embeds, or a compression that is not read.
   */
  read(key: Uint8Array, length: number, reference: BlobReference): Uint8Array {
    const { fileNumber, offset, size, compressionType } = reference;
    if (fileNumber === 0) {
      throw new UnsupportedError('embedded blob', offset, 'a value that the table embeds is not read here');
    }
    const found = this.blobs.find(key, length, reference);
    if (typeof found === 'string') {
      const where = `offset ${offset}, size ${size} of blob file ${fileNumber}`;
      throw new CorruptionError('blob_dangling', `a reference to ${where}: ${found}`);
    }
    const { file, record } = found;
    const bytes = file.read(offset - length, length + size);
    const crc = maskCrc32c(this.environment.hashes.crc32c(bytes, 0, bytes.length));
    if (crc !== record.blobChecksum) {
      const reason = `the checksum of the value at ${offset} of blob file ${fileNumber} does not hold`;
      throw new CorruptionError('blob_record_damaged', reason);
    }
    return decompressBlob(this.environment, compressionType, bytes.subarray(length));
  }

  close(): void {
    this.blobs.close();
  }
}

function compressionsOf({ files }: Environment, directory: string): Set<number> {
  const types = new Set<number>();
  const folder = directory === '' ? '.' : directory;
  for (const { name, kind } of files.list(folder)) {
    if (kind !== 'file' || !BLOB_NAME.test(name)) continue;
    try {
      const source = files.open(`${folder}/${name}`);
      try {
        const header = decodeBlobHeader(source.read(0, Math.min(BLOB_HEADER_SIZE, source.size)));
        if (header.compressionType !== CompressionType.none) types.add(header.compressionType);
      } finally {
        source.close();
      }
    } catch (error) {
      // Whatever is wrong with it is said when a reference leads to it.
      if (!(error instanceof SstError)) throw error;
    }
  }
  return types;
}
