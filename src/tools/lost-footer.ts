import type { ByteSource } from '../bytes/source.ts';
import { CorruptionError, IoError, type SstError } from '../errors.ts';
import type { FileKindResult } from '../format/file-kind.ts';
import type { Footer } from '../format/footer.ts';

/**
 * Says what became of a footer that is not where it should be: bytes appended, a tail of zeros, or simply the
 * magic number that is not there. Sizes are facts; nothing is guessed of a format version.
 */
export function describeLostFooter(
  source: ByteSource,
  kind: FileKindResult,
  fault: SstError,
  earlier: Footer | undefined,
): SstError {
  if (source.size === 0) return new IoError('empty', source.name, 'the file is empty (0 bytes)');
  if (!(fault instanceof CorruptionError)) return fault;
  const place = { file: source.name, offset: Math.max(0, source.size - 8), blockType: 'footer' };
  if (earlier !== undefined) {
    const appended = source.size - earlier.offset - earlier.size;
    return new CorruptionError(
      'appended_bytes',
      `${appended} bytes follow the table: its footer was found ${appended} bytes before the end of the file`,
      place,
    );
  }
  if (fault.code !== 'footer_magic') return fault;
  if (kind.kind === 'text') {
    return new IoError('not_a_table', source.name, 'a text file, no table');
  }
  const zeros = trailingZeros(source);
  if (zeros > 8) {
    return new CorruptionError(
      'footer_magic',
      zeros === source.size
        ? `all ${zeros} bytes of the file are zeros`
        : `the last ${zeros} bytes of ${source.size} are zeros, the footer is lost`,
      place,
    );
  }
  return new CorruptionError(
    'footer_magic',
    `no table's magic number in the last eight bytes of ${source.size}: the file is cut short, overwritten or no table`,
    place,
  );
}

/** Zero bytes at the end of the file. */
export function trailingZeros(source: ByteSource): number {
  const chunkSize = 64 * 1024;
  for (let end = source.size; end > 0; ) {
    const start = Math.max(0, end - chunkSize);
    const bytes = source.read(start, end - start);
    for (let i = bytes.length - 1; i >= 0; i--) {
      if (bytes[i] !== 0) return source.size - (start + i + 1);
    }
    end = start;
  }
  return source.size;
}
