/** Makes damaged and unusual tables out of whole ones: blocks found by their handles, changed, checksums made right. */

import { writeFixed32 } from '../../src/bytes/fixed.ts';
import { memorySource } from '../../src/bytes/source.ts';
import { withPending } from '../../src/errors.ts';
import { BlockIterator } from '../../src/format/block/block-iterator.ts';
import { type BlobIndex, decodeBlobIndex, decodeWideColumns } from '../../src/format/entry-value.ts';
import { detectFileKind } from '../../src/format/file-kind.ts';
import { FOOTER_SIZE, type Footer } from '../../src/format/footer.ts';
import { type DataBlockList, listDataBlocks } from '../../src/format/index/data-blocks.ts';
import { IndexBlockIterator } from '../../src/format/index/index-block-iterator.ts';
import { trailerType } from '../../src/format/internal-key.ts';
import { openTable, type TableReader } from '../../src/format/table-reader.ts';
import { ValueType } from '../../src/format/value-type.ts';
import { bufferChecksum, computeBlockChecksum, contextModifier } from '../../src/hash/block-checksum.ts';
import { ChecksumType } from '../../src/hash/registry.ts';
import type { NodeEnvironment } from '../../src/node/environment.ts';
import type { FileReport, VerifyOptions } from '../../src/tools/verify/verify-options.ts';
import { verifyTable } from '../../src/tools/verify/verify-table.ts';

export interface Handle {
  offset: number;
  size: number;
}

export interface Opened {
  table: TableReader;
  blocks: DataBlockList;
}

export async function openBytes(environment: NodeEnvironment, bytes: Uint8Array): Promise<Opened> {
  const table = await withPending(() => openTable(memorySource(bytes), environment));
  return { table, blocks: await listDataBlocks(table) };
}

/** The report of a table in memory. */
export function verifyBytes(
  environment: NodeEnvironment,
  bytes: Uint8Array,
  options: VerifyOptions = {},
  path = 'table.sst',
): Promise<FileReport> {
  const source = memorySource(bytes, path);
  return verifyTable(
    environment,
    { path, source, kind: detectFileKind(source, environment.hashes, path) },
    options,
  );
}

export function dataBlock({ blocks }: Opened, ordinal: number): Handle {
  return { offset: blocks.offsets[ordinal]!, size: blocks.sizes[ordinal]! };
}

export function metaBlock({ table }: Opened, name: string): Handle {
  const { offset, size } = table.metaBlock(name)!;
  return { offset, size };
}

/** Writes the checksum that fits the block as it now is. */
export function repairChecksum(
  environment: NodeEnvironment,
  bytes: Uint8Array,
  footer: Pick<Footer, 'checksumType' | 'baseContextChecksum'>,
  { offset, size }: Handle,
): void {
  const end = offset + size;
  const plain = computeBlockChecksum(environment.hashes, footer.checksumType, bytes, offset, end);
  writeFixed32(bytes, end + 1, (plain + contextModifier(footer.baseContextChecksum, offset)) >>> 0);
}

/** Every block of the table. */
export function allBlocks({ table, blocks }: Opened): Handle[] {
  const handles: Handle[] = [table.footer.metaindex, ...(table.metaindex ?? [])];
  if (table.footer.index !== null) handles.push(table.footer.index);
  for (const list of [blocks, blocks.partitions]) {
    for (let i = 0; i < list.count; i++) handles.push({ offset: list.offsets[i]!, size: list.sizes[i]! });
  }
  for (const entry of table.metaindex ?? []) {
    if (entry.type !== 'filter_index' || table.index === undefined) continue;
    const entries = new IndexBlockIterator(table.blocks.read(entry, 'filter_index'), {
      ...table.index,
      firstKeys: false,
    });
    while (entries.next()) handles.push({ offset: entries.offset, size: entries.size });
  }
  return handles;
}

/** Values that lie beside the blocks, in tables that have such. */
function embeddedRecords({ table, blocks }: Opened): Handle[] {
  const records: Handle[] = [];
  const take = (blob: BlobIndex | undefined): void => {
    if (blob !== undefined && blob.kind !== 'inlined_ttl' && blob.fileNumber === 0) records.push(blob);
  };
  if (table.properties?.get('rocksdb.embedded.blob.stats') === undefined) return records;
  const entries = new BlockIterator();
  for (let i = 0; i < blocks.count; i++) {
    entries.reset(table.blocks.read({ offset: blocks.offsets[i]!, size: blocks.sizes[i]! }, 'data'));
    while (entries.next()) {
      const { data, valueStart, valueEnd } = entries;
      const type = trailerType(entries.key, entries.keyLength);
      if (type === ValueType.blobIndex) take(decodeBlobIndex(data, valueStart, valueEnd));
      if (type !== ValueType.wideColumnEntity) continue;
      for (const { blob } of decodeWideColumns(data, valueStart, valueEnd)) take(blob);
    }
  }
  return records;
}

/** The same table as a writer without checksums makes it. */
export async function withoutChecksums(
  environment: NodeEnvironment,
  original: Uint8Array,
): Promise<Uint8Array> {
  const opened = await openBytes(environment, original);
  const { footer } = opened.table;
  const bytes = original.slice();
  const none = { checksumType: ChecksumType.none, baseContextChecksum: footer.baseContextChecksum };
  for (const handle of [...allBlocks(opened), ...embeddedRecords(opened)]) {
    repairChecksum(environment, bytes, none, handle);
  }
  bytes[footer.offset] = ChecksumType.none;
  if (footer.formatVersion >= 6) repairFooter(environment, bytes, footer.offset, none);
  return bytes;
}

/** The checksum of a footer of format_version 6 and above. */
export function repairFooter(
  environment: NodeEnvironment,
  bytes: Uint8Array,
  offset: number,
  { checksumType, baseContextChecksum }: Pick<Footer, 'checksumType' | 'baseContextChecksum'>,
): void {
  const footer = bytes.subarray(offset, offset + FOOTER_SIZE);
  footer.fill(0, 5, 9);
  const plain = bufferChecksum(environment.hashes, checksumType, footer, 0, FOOTER_SIZE);
  writeFixed32(footer, 5, (plain + contextModifier(baseContextChecksum, offset)) >>> 0);
}
