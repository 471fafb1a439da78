import { readFixed32 } from '../bytes/fixed.ts';
import type { ByteSource } from '../bytes/source.ts';
import { CorruptionError, IoError, type SstError } from '../errors.ts';
import { BLOCK_TRAILER_SIZE } from '../format/block-handle.ts';
import type { FileKindResult } from '../format/file-kind.ts';
import type { Footer } from '../format/footer.ts';
import { computeBlockChecksum } from '../hash/block-checksum.ts';
import { ChecksumType, type HashFunctions } from '../hash/registry.ts';
import type { DamageShape } from './finding.ts';

const MAGIC_BYTES = 8;

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
  if (zeros >= MAGIC_BYTES) {
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

/** What became of a footer whose magic number is not there. */
export function shapeOfLostFooter(source: ByteSource): DamageShape {
  return trailingZeros(source) >= MAGIC_BYTES ? 'zeros' : 'truncated';
}

/**
 * The checksum type that the metaindex block really has, where the footer's does not fit and another does.
 * Footers before format_version 6 have no checksum of their own.
 */
export function checksumTypeOfBlocks(
  source: ByteSource,
  footer: Footer,
  hashes: HashFunctions,
): ChecksumType | undefined {
  const { offset, size } = footer.metaindex;
  const end = offset + size + BLOCK_TRAILER_SIZE;
  if (footer.baseContextChecksum !== 0 || footer.formatVersion === 0 || end > footer.offset) return undefined;
  const bytes = source.read(offset, size + BLOCK_TRAILER_SIZE);
  const stored = readFixed32(bytes, size + 1);
  if (stored === computeBlockChecksum(hashes, footer.checksumType, bytes, 0, size)) return undefined;
  const types = [ChecksumType.crc32c, ChecksumType.xxh32, ChecksumType.xxh64, ChecksumType.xxh3];
  return types.find((type) => stored === computeBlockChecksum(hashes, type, bytes, 0, size));
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
