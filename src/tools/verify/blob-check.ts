import type { ByteSource } from '../../bytes/source.ts';
import { CorruptionError, UnsupportedError, withPending } from '../../errors.ts';
import { type BlobFault, BlobFileReader } from '../../format/blob/blob-reader.ts';
import type { TableEnvironment } from '../../format/table-reader.ts';
import { decompressBlob } from '../blob-values.ts';
import type { Finding } from '../finding.ts';
import { FindingLog } from './finding-log.ts';
import { keyText } from './key-text.ts';
import { logFinding, logReport } from './log-report.ts';
import type { FileReport, VerifyOptions } from './verify-options.ts';

export function blobFinding(fault: BlobFault): Finding {
  const isHeader = fault.code === 'blob_header' || fault.offset === 0;
  return logFinding(fault, isHeader ? 'header' : fault.code === 'blob_footer' ? 'footer' : 'record');
}

/** Checks a blob file: its header and footer, and of each record the checksums and that its value decompresses. */
export async function verifyBlob(
  environment: TableEnvironment,
  file: { readonly path: string; readonly source: ByteSource },
  options: VerifyOptions,
  advanced: (offset: number) => void = () => undefined,
): Promise<FileReport> {
  const { path, source } = file;
  const log = new FindingLog(options);
  const add = (fault: BlobFault): void => log.add(blobFinding(fault));
  const reader = new BlobFileReader(source, environment.hashes, add);
  const compressionType = reader.header?.compressionType ?? 0;
  let decoded = 0;
  let refused: string | undefined;
  while (!log.stopped) {
    const record = reader.next();
    if (record === undefined) break;
    decoded++;
    advanced(record.offset);
    const fault = reader.check(record);
    if (fault !== undefined) {
      const finding = blobFinding(fault);
      const key = reader.key(record);
      log.add({ ...finding, message: `${finding.message}; the key reads ${keyText(key, key.length)}` });
      continue;
    }
    if (options.checksumsOnly || compressionType === 0 || refused !== undefined) continue;
    try {
      await withPending(() => decompressBlob(environment, compressionType, reader.value(record)));
    } catch (error) {
      if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
      // One word for all records: they have one compression.
      if (error instanceof UnsupportedError) refused = error.message;
      add(error.at({ offset: record.offset }));
    }
  }
  return logReport(path, 'blob', source.size, { decoded, entries: decoded }, log);
}
