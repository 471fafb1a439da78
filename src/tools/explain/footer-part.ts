import { FOOTER_SIZE, type Footer, LEGACY_FOOTER_SIZE } from '../../format/footer.ts';
import type { Part } from './part.ts';

/** Fields as `src/format/footer.ts` draws them: name, bytes, meaning. */
const LEGACY_FIELDS = [
  ['handles', 40, 'handles of metaindex and index as varints, then zeros'],
  ['magic', 8, 'magic number: which kind of table this is'],
] as const;
const FIELDS_BEFORE_6 = [
  ['checksum_type', 1, 'checksum type of all blocks'],
  ['handles', 40, 'handles of metaindex and index as varints, then zeros'],
  ['format_version', 4, 'format version'],
  ['magic', 8, 'magic number: which kind of table this is'],
] as const;
const FIELDS_FROM_6 = [
  ['checksum_type', 1, 'checksum type of all blocks'],
  ['extended_magic', 4, 'marks a footer of format_version 6 and above'],
  ['checksum', 4, 'checksum of the footer itself'],
  ['base_context_checksum', 4, 'what the checksums of blocks depend on besides their bytes'],
  ['metaindex_size', 4, 'size of the metaindex, which lies right before the footer'],
  ['reserved', 24, 'reserved'],
  ['format_version', 4, 'format version'],
  ['magic', 8, 'magic number: which kind of table this is'],
] as const;

/** The field of the footer at byte `at` of it. */
export function footerPart({ size, formatVersion }: Footer, at: number): Part {
  const fields =
    size === LEGACY_FOOTER_SIZE || size !== FOOTER_SIZE
      ? LEGACY_FIELDS
      : formatVersion >= 6
        ? FIELDS_FROM_6
        : FIELDS_BEFORE_6;
  let start = 0;
  for (const [name, bytes, text] of fields) {
    if (at < start + bytes) return { part: `footer.${name}`, start, end: start + bytes, text };
    start += bytes;
  }
  return { part: 'footer', start: 0, end: size, text: 'the footer' };
}
