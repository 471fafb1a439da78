import { ByteWriter } from '../../bytes/byte-writer.ts';
import { writeFixed32 } from '../../bytes/fixed.ts';
import { bufferChecksum, contextModifier, storedChecksum } from '../../hash/block-checksum.ts';
import type { ChecksumType, HashFunctions } from '../../hash/registry.ts';
import type { BlockHandle } from '../block-handle.ts';
import { FOOTER_SIZE, LEGACY_FOOTER_SIZE } from '../footer.ts';
import { EXTENDED_FOOTER_MAGIC, TableMagic } from '../magic.ts';

export interface FooterFields {
  /** 0: LevelDB's footer. */
  readonly formatVersion: number;
  readonly checksumType: ChecksumType;
  /** Not 0 from format_version 6 on. */
  readonly baseContextChecksum: number;
  readonly metaindex: BlockHandle;
  readonly index: BlockHandle;
  /** Where the footer will lie. */
  readonly offset: number;
}

/** The end of a block-based table; the layouts are drawn in footer.ts. */
export function encodeFooter(fields: FooterFields, hashes: HashFunctions): Uint8Array {
  if (fields.formatVersion >= 6) return encodeExtendedFooter(fields, hashes);
  const legacy = fields.formatVersion === 0;
  const footer = new Uint8Array(legacy ? LEGACY_FOOTER_SIZE : FOOTER_SIZE);
  const handles = new ByteWriter(40);
  handles.varint(fields.metaindex.offset);
  handles.varint(fields.metaindex.size);
  handles.varint(fields.index.offset);
  handles.varint(fields.index.size);
  footer.set(handles.view(), legacy ? 0 : 1);
  if (!legacy) putVersion(footer, fields);
  putMagic(footer, legacy ? TableMagic.levelDb : TableMagic.blockBased);
  return footer;
}

function encodeExtendedFooter(fields: FooterFields, hashes: HashFunctions): Uint8Array {
  const footer = new Uint8Array(FOOTER_SIZE);
  putVersion(footer, fields);
  writeFixed32(footer, 1, EXTENDED_FOOTER_MAGIC);
  writeFixed32(footer, 9, fields.baseContextChecksum);
  writeFixed32(footer, 13, fields.metaindex.size);
  putMagic(footer, TableMagic.blockBased);
  const plain = bufferChecksum(hashes, fields.checksumType, footer, 0, FOOTER_SIZE);
  const modifier = contextModifier(fields.baseContextChecksum, fields.offset);
  writeFixed32(footer, 5, storedChecksum(plain, modifier));
  return footer;
}

function putVersion(footer: Uint8Array, { checksumType, formatVersion }: FooterFields): void {
  footer[0] = checksumType;
  writeFixed32(footer, FOOTER_SIZE - 12, formatVersion);
}

function putMagic(footer: Uint8Array, magic: string): void {
  writeFixed32(footer, footer.length - 8, Number.parseInt(magic.slice(8), 16));
  writeFixed32(footer, footer.length - 4, Number.parseInt(magic.slice(0, 8), 16));
}
