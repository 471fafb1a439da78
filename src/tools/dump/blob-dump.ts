import type { ByteSource } from '../../bytes/source.ts';
import { compressionName } from '../../codec/resolve-codec.ts';
import { CorruptionError, UnsupportedError, withPending } from '../../errors.ts';
import type { BlobFileFooter, BlobFileHeader } from '../../format/blob/blob-file.ts';
import { BlobFileReader } from '../../format/blob/blob-reader.ts';
import type { TableEnvironment } from '../../format/table-reader.ts';
import { decompressBlob } from '../blob-values.ts';
import type { Finding } from '../finding.ts';
import { blobFinding } from '../verify/blob-check.ts';

/** The header of a blob file, with the compression by its name. */
export interface BlobHeaderView extends BlobFileHeader {
  readonly compression: string;
}

/** A record of a blob file. */
export interface BlobRecordView {
  readonly offset: number;
  readonly valueOffset: number;
  /** User key with its timestamp. */
  readonly key: Uint8Array;
  /** Of the stored value. */
  readonly size: number;
  /** Decompressed. Undefined where that fails, or the checksum of key and value does not hold. */
  readonly value: Uint8Array | undefined;
  /** Seconds since 1970; 0 where the file says that nothing expires. */
  readonly expiration: bigint;
}

export interface BlobDumpEvents {
  /** Undefined where it cannot be read. */
  header(header: BlobHeaderView | undefined): void;
  record(record: BlobRecordView): void;
  finding(finding: Finding): void;
  advanced(offset: number): void;
  /** Nothing more is wanted. */
  isStopped(): boolean;
}

/**
 * Hands each record of a blob file to the events, in the order of the file, and what is wrong to `finding`; returns
 * the footer, where it is there. Memory: one value, stored and decompressed. Throws IoErrors of the source.
 */
export async function dumpBlobFile(
  environment: TableEnvironment,
  source: ByteSource,
  events: BlobDumpEvents,
): Promise<BlobFileFooter | undefined> {
  const faults: Finding[] = [];
  const reader = new BlobFileReader(source, environment.hashes, (fault) => faults.push(blobFinding(fault)));
  const { header, footer } = reader;
  const told = (): void => {
    for (const finding of faults.splice(0)) events.finding(finding);
  };
  events.header(header && { ...header, compression: compressionName(header.compressionType) });
  told();
  while (!events.isStopped()) {
    const record = reader.next();
    told();
    if (record === undefined) break;
    const { offset, valueOffset, valueLength: size, expiration } = record;
    const fault = reader.check(record);
    if (fault !== undefined) events.finding(blobFinding(fault));
    let value: Uint8Array | undefined;
    if (fault === undefined) {
      try {
        value = await withPending(() =>
          decompressBlob(environment, header?.compressionType ?? 0, reader.value(record)),
        );
      } catch (error) {
        if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
        events.finding(blobFinding(error.at({ offset })));
      }
    }
    events.record({ offset, valueOffset, key: reader.key(record), size, value, expiration });
    events.advanced(offset);
  }
  return footer;
}
