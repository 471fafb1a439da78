import { joinBytes } from '../../bytes/copy.ts';
import { readFixed32 } from '../../bytes/fixed.ts';
import { varintLength, writeVarint } from '../../bytes/varint.ts';
import type { Environment } from '../../engine/environment.ts';
import { seqnoOfComparable } from '../../engine/range-del/comparable-seqno.ts';
import { fragmentTombstones } from '../../engine/range-del/fragmenter.ts';
import { tombstoneSetOf } from '../../engine/range-del/tombstone-set.ts';
import { SstError, withPending } from '../../errors.ts';
import { BlockIterator } from '../../format/block/block-iterator.ts';
import { BLOCK_TRAILER_SIZE, type BlockHandle } from '../../format/block-handle.ts';
import { type LoadedBlock, visitBlocks } from '../../format/block-pipeline.ts';
import { ByteArena } from '../../format/byte-arena.ts';
import { IndexBlockIterator } from '../../format/index/index-block-iterator.ts';
import { seqnoText, TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import { TableMagic } from '../../format/magic.ts';
import type { MetaindexEntry } from '../../format/metaindex.ts';
import type { RangeTombstone } from '../../format/range-del-block.ts';
import type { EntrySource } from '../../format/table-entry.ts';
import type { TableReader } from '../../format/table-reader.ts';
import { isPointType, ValueType } from '../../format/value-type.ts';
import { contextModifier } from '../../hash/block-checksum.ts';
import { writeHexUpper } from '../../render/key-format.ts';
import type { ByteSink } from '../../render/sink.ts';
import { type Finding, findingOf } from '../../tools/finding.ts';
import type { Compat } from './arguments.ts';
import { type BlockTable, placeOfError, placeOfFinding } from './open-dump-file.ts';
import { sixDecimals, writePropertyLines } from './properties-text.ts';
import type { ReportFault } from './verify-blocks.ts';

export interface RawDumpOptions {
  readonly compat: Compat;
  /** Sequence number and type of each entry. */
  readonly showSequenceNumberType: boolean;
  readonly report: ReportFault;
}

const RULE = `${'-'.repeat(38)}\n`;
const SPACE = 0x20;
const BACKSLASH = 0x5c;
const ZERO_DIGIT = 0x30;
/** Bytes that are written through one reservation. */
const PIECE_BYTES = 16 * 1024;

/**
 * Writes all of a block-based table as text, section by section as `sst_dump --command=raw`. A section that cannot
 * be read says so in its place, and the dump goes on.
 */
export async function writeRawDump(
  sink: ByteSink,
  opened: BlockTable,
  environment: Environment,
  options: RawDumpOptions,
): Promise<void> {
  await new RawDump(sink, opened, environment, options).write();
}

class RawDump {
  private readonly table: TableReader;
  private readonly modern: boolean;
  /** Zeros that stand for timestamps that are not stored. */
  private readonly missingTimestamp: Uint8Array;

  constructor(
    private readonly sink: ByteSink,
    private readonly opened: BlockTable,
    private readonly environment: Environment,
    private readonly options: RawDumpOptions,
  ) {
    this.table = opened.table;
    this.modern = options.compat === '11';
    // Release 7.8 knows no files without their timestamps.
    const missing = this.modern && !this.table.timestampsPersisted ? this.table.timestampSize : 0;
    this.missingTimestamp = new Uint8Array(missing);
  }

  async write(): Promise<void> {
    this.footer();
    this.metaindex();
    const { properties } = this.table;
    if (properties !== undefined) {
      this.title('Table Properties:');
      writePropertyLines(this.sink, properties, this.options.compat);
      this.sink.writeText('  \n');
    }
    await this.index();
    const dictionary = await this.dictionary();
    await this.rangeDeletions();
    await this.dataBlocks(dictionary);
  }

  private title(text: string): void {
    this.sink.writeText(`${text}\n${RULE}`);
  }

  private footer(): void {
    const { footer } = this.table;
    const { sink } = this;
    this.title('Footer Details:');
    const handles: readonly [string, BlockHandle][] = [
      ['metaindex', footer.metaindex],
      ['index', footer.index ?? { offset: 0, size: 0 }],
    ];
    for (const [name, handle] of handles) {
      sink.writeText(`  ${name} handle: ${handleHex(handle)}`);
      sink.writeText(this.modern ? ` offset: ${handle.offset} size: ${handle.size}\n` : '\n');
    }
    // The magic number of format_version 0 is shown as the one that followed it.
    sink.writeText(`  table_magic_number: ${BigInt(`0x${TableMagic.blockBased}`)}\n`);
    sink.writeText(`  format version: ${footer.formatVersion}\n`);
    if (!this.modern) {
      sink.writeText('  \n');
      return;
    }
    sink.writeByte(0x0a);
    this.title('Block Checksum Type Legend:');
    const names = ['kNoChecksum', 'kCRC32c', 'kxxHash', 'kxxHash64', 'kXXH3'];
    for (let type = 0; type < names.length; type++) sink.writeText(`  ${type} = ${names[type]}\n`);
    sink.writeText(`  (This file uses checksum type: ${footer.checksumType})\n\n`);
  }

  private metaindex(): void {
    const { metaindex, footer } = this.table;
    this.title('Metaindex Details:');
    this.checksumLine(footer.metaindex, 'Metaindex block');
    for (const entry of metaindex ?? []) {
      const name = metaBlockTitle(entry);
      if (name === undefined) continue;
      this.sink.writeText(`  ${name} handle: ${handleHex(entry)}\n`);
      this.checksumLine(entry, name);
    }
    this.sink.writeByte(0x0a);
  }

  /** The trailer of a block as it is in the file, the context taken off; it is shown, not judged. */
  private checksumLine(handle: BlockHandle, name: string): void {
    if (!this.modern) return;
    const { source } = this.table;
    const wanted = handle.size + BLOCK_TRAILER_SIZE;
    const there = Math.max(0, Math.min(wanted, source.size - handle.offset));
    if (there < wanted) {
      this.unreadableChecksumLine(name, there, wanted);
      return;
    }
    const trailer = source.read(handle.offset + handle.size, BLOCK_TRAILER_SIZE);
    this.writeChecksumLine(handle, name, trailer[0]!, readFixed32(trailer, 1));
  }

  private unreadableChecksumLine(name: string, there: number, wanted: number): void {
    this.sink.writeText(
      `  ERROR: Failed to read ${name} checksum info - read ${there} bytes, expected ${wanted}\n`,
    );
  }

  private writeChecksumLine(
    handle: BlockHandle,
    name: string,
    compressionType: number,
    storedChecksum: number,
  ): void {
    const { checksumType, baseContextChecksum } = this.table.footer;
    const value = (storedChecksum - contextModifier(baseContextChecksum, handle.offset)) >>> 0;
    this.sink.writeText(
      `  ${name} checksum type: ${checksumType}  checksum value: 0x${value.toString(16)}  ` +
        `offset: ${handle.offset}  size: ${handle.size}  compression type: ${compressionType}\n`,
    );
  }

  private async index(): Promise<void> {
    const { sink, table } = this;
    const { blocks } = this.opened;
    this.title('Index Details:');
    for (const { error } of blocks.problems) {
      this.options.report(findingOf(error), placeOfError(error, table, blocks));
    }
    if (table.index !== undefined) this.checksumLine(table.index.handle, 'Index block');
    if (table.index === undefined || (blocks.count === 0 && blocks.problems.length > 0)) {
      sink.writeText('Can not read Index Block \n\n');
      return;
    }
    sink.writeText('  Block key hex dump: Data block handle\n  Block key ascii\n\n');
    const firstKeys = await this.firstKeys();
    const trailer = table.index.userKeys ? 0 : TRAILER_SIZE;
    for (let i = 0; i < blocks.separators.count; i++) {
      const handle = { offset: blocks.offsets[i]!, size: blocks.sizes[i]! };
      const separator = blocks.separators.at(i);
      const key = this.withMissingTimestamp(separator, Math.max(0, separator.length - trailer));
      sink.writeText('  HEX    ');
      writeHexUpper(sink, key, 0, key.length);
      sink.writeText(`: ${handleHex(handle)}`);
      if (i < firstKeys.count) this.writeFirstKey(firstKeys.at(i));
      sink.writeText(this.modern ? ` offset ${handle.offset} size ${handle.size}\n` : '\n');
      sink.writeText('  ASCII  ');
      writeSpaced(sink, key, 0, key.length, false);
      sink.writeText('\n  ------\n');
    }
    sink.writeByte(0x0a);
  }

  /** The first internal key of each block, where the index keeps it. */
  private async firstKeys(): Promise<ByteArena> {
    const { table } = this;
    const keys = new ByteArena();
    const { index } = table;
    if (index === undefined || !index.firstKeys) return keys;
    try {
      const contents = await withPending(() => table.blocks.read(index.handle, 'index'));
      const entries = new IndexBlockIterator(contents, index);
      while (entries.next()) keys.push(entries.firstKey, 0, entries.firstKey.length);
    } catch (error) {
      // The fault is among the problems of the block list.
      if (!(error instanceof SstError)) throw error;
    }
    return keys;
  }

  /** Behind the handle, as the index holds it: length, then the key; a global sequence number in its place. */
  private writeFirstKey(stored: Uint8Array): void {
    const userKeyEnd = Math.max(0, stored.length - TRAILER_SIZE);
    const userKey = this.withMissingTimestamp(stored, userKeyEnd);
    const key = new Uint8Array(userKey.length + stored.length - userKeyEnd);
    key.set(userKey);
    key.set(stored.subarray(userKeyEnd), userKey.length);
    const { globalSeqno } = this.table;
    if (globalSeqno !== undefined && stored.length >= TRAILER_SIZE) {
      for (let i = 0; i < 7; i++) {
        key[key.length - 7 + i] = Number((globalSeqno >> BigInt(8 * i)) & 0xffn);
      }
    }
    const length = new Uint8Array(varintLength(key.length));
    writeVarint(length, 0, key.length);
    writeHexUpper(this.sink, length, 0, length.length);
    writeHexUpper(this.sink, key, 0, key.length);
  }

  private async dictionary(): Promise<Uint8Array | undefined> {
    const { sink, table } = this;
    let dictionary: Uint8Array | undefined;
    try {
      dictionary = await withPending(() => table.readDictionary());
    } catch (error) {
      this.reportError(error);
    }
    if (dictionary === undefined) return undefined;
    this.title('Compression Dictionary:');
    sink.writeText(`  size (bytes): ${dictionary.length}\n\n  HEX    `);
    writeHexUpper(sink, dictionary, 0, dictionary.length);
    sink.writeText('\n\n');
    return dictionary;
  }

  private async rangeDeletions(): Promise<void> {
    const { table } = this;
    let tombstones: RangeTombstone[];
    try {
      tombstones = await withPending(() => table.readRangeTombstones());
    } catch (error) {
      this.reportError(error);
      return;
    }
    if (tombstones.length === 0) return;
    this.title('Range deletions:');
    const { comparator } = table;
    if (comparator === undefined) {
      // Without the order of keys nothing can be cut: they are shown as stored.
      for (const { startKey, end } of tombstones) {
        const userKey = startKey.subarray(0, startKey.length - TRAILER_SIZE);
        const seqno = table.globalSeqno ?? seqnoText(startKey, startKey.length);
        this.writeEntry(userKey, String(seqno), ValueType.rangeDeletion, end, 0, end.length);
      }
    } else {
      const maxTimestamp = new Uint8Array(table.timestampSize).fill(0xff);
      const set = tombstoneSetOf(tombstones, table);
      const list = fragmentTombstones(set, comparator);
      for (let f = 0; f < list.count; f++) {
        const start = joinBytes(list.startKey(f), maxTimestamp);
        const end = joinBytes(list.endKey(f), maxTimestamp);
        for (let position = list.stackStarts[f]!; position < list.stackStarts[f + 1]!; position++) {
          const seqno = seqnoOfComparable(list.seqnos[position]!);
          this.writeEntry(start, String(seqno), ValueType.rangeDeletion, end, 0, end.length);
        }
      }
    }
    this.sink.writeByte(0x0a);
  }

  private async dataBlocks(dictionary: Uint8Array | undefined): Promise<void> {
    const { sink, table } = this;
    const { blocks } = this.opened;
    if (blocks.count === 0) return;
    const iterator = new BlockIterator();
    let smallest = Number.POSITIVE_INFINITY;
    let largest = 0;
    let sum = 0;
    const visit = (block: LoadedBlock): boolean => {
      smallest = Math.min(smallest, block.size);
      largest = Math.max(largest, block.size);
      sum += block.size;
      this.dataBlock(block, iterator);
      return true;
    };
    const { decodeZstdFrames } = this.environment;
    await visitBlocks(table.blocks, blocks, { blockType: 'data', dictionary, decodeZstdFrames }, visit);
    this.title('Data Block Summary:');
    sink.writeText(`  # data blocks: ${blocks.count}\n`);
    sink.writeText(`  min data block size: ${smallest}\n`);
    sink.writeText(`  max data block size: ${largest}\n`);
    sink.writeText(`  avg data block size: ${sixDecimals(sum / blocks.count)}\n`);
  }

  private dataBlock(block: LoadedBlock, iterator: BlockIterator): void {
    const { sink, table } = this;
    sink.writeText(`Data Block # ${block.ordinal + 1} @ ${handleHex(block)}\n`);
    if (this.modern) {
      const wanted = block.size + BLOCK_TRAILER_SIZE;
      const there = Math.max(0, Math.min(wanted, table.source.size - block.offset));
      if (there < wanted) this.unreadableChecksumLine('Data block', there, wanted);
      else this.writeChecksumLine(block, 'Data block', block.compressionType, block.storedChecksum);
    }
    sink.writeText(RULE);
    if (block.error !== undefined) {
      this.reportBlock(block, block.error);
      sink.writeText('Error reading the block - Skipped \n\n');
      return;
    }
    try {
      iterator.reset(block.contents);
      while (iterator.next()) this.dataEntry(iterator, block);
    } catch (error) {
      if (!(error instanceof SstError)) throw error;
      this.reportBlock(block, error);
      sink.writeText('Error reading the block - Skipped \n');
    }
    sink.writeByte(0x0a);
  }

  private dataEntry(entry: EntrySource, block: LoadedBlock): void {
    const { key, keyLength, data, valueStart, valueEnd } = entry;
    const type = keyLength < TRAILER_SIZE ? -1 : trailerType(key, keyLength);
    // Release 7.8 shows entries of types that it does not know like any other.
    const known = isPointType(type) || type === ValueType.rangeDeletion || (!this.modern && type >= 0);
    if (!known) {
      this.sink.writeText('Error parsing internal key - Skipped \n');
      const message = type < 0 ? `a key of ${keyLength} bytes has no trailer` : `entry of type ${type}`;
      this.reportFinding({ code: 'entry_malformed', severity: 'damage', message, block: blockOf(block) });
      return;
    }
    const userKey = this.withMissingTimestamp(key, keyLength - TRAILER_SIZE);
    const seqno = String(this.table.globalSeqno ?? seqnoText(key, keyLength));
    this.writeEntry(userKey, seqno, type, data, valueStart, valueEnd);
  }

  private writeEntry(
    userKey: Uint8Array,
    seqno: string,
    type: number,
    value: Uint8Array,
    valueStart: number,
    valueEnd: number,
  ): void {
    const { sink } = this;
    sink.writeText('  HEX    ');
    writeHexUpper(sink, userKey, 0, userKey.length);
    sink.writeText(this.options.showSequenceNumberType ? `  seq: ${seqno}  type: ${type} : ` : ': ');
    writeHexUpper(sink, value, valueStart, valueEnd);
    sink.writeText('\n  ASCII  ');
    writeSpaced(sink, userKey, 0, userKey.length, true);
    sink.writeText(': ');
    writeSpaced(sink, value, valueStart, valueEnd, true);
    sink.writeText('\n  ------\n');
  }

  /** `key[0, end)`, with zeros for a timestamp that is not stored. */
  private withMissingTimestamp(key: Uint8Array, end: number): Uint8Array {
    if (this.missingTimestamp.length > 0) return joinBytes(key.subarray(0, end), this.missingTimestamp);
    return key.subarray(0, end);
  }

  private reportBlock(block: LoadedBlock, error: SstError): void {
    this.reportFinding(findingOf(error, blockOf(block)));
  }

  private reportFinding(finding: Finding): void {
    this.options.report(finding, placeOfFinding(finding, this.table, this.opened.blocks));
  }

  private reportError(error: unknown): void {
    if (!(error instanceof SstError)) throw error;
    this.options.report(findingOf(error), placeOfError(error, this.table, this.opened.blocks));
  }
}

function blockOf({ offset, size, ordinal }: LoadedBlock): NonNullable<Finding['block']> {
  return { type: 'data', offset, size, ordinal };
}

/** Blocks that the metaindex section lists; it is silent on the others. */
function metaBlockTitle({ name, type }: MetaindexEntry): string | undefined {
  if (type === 'properties') return 'Properties block';
  if (type === 'compression_dict') return 'Compression dictionary block';
  if (type === 'range_del') return 'Range deletion block';
  return name.includes('filter.rocksdb.') ? 'Filter block' : undefined;
}

function handleHex({ offset, size }: BlockHandle): string {
  const bytes = new Uint8Array(20);
  const end = writeVarint(bytes, writeVarint(bytes, 0, offset), size);
  return Array.from(bytes.subarray(0, end), (byte) => byte.toString(16).padStart(2, '0'))
    .join('')
    .toUpperCase();
}

/** A blank behind each byte; a zero byte as `\0` where that is asked for. */
function writeSpaced(
  sink: ByteSink,
  bytes: Uint8Array,
  start: number,
  end: number,
  escapeZeros: boolean,
): void {
  while (start < end) {
    const stop = Math.min(end, start + PIECE_BYTES);
    let pos = sink.reserve(3 * (stop - start));
    const { buffer } = sink;
    for (; start < stop; start++) {
      const byte = bytes[start]!;
      if (byte === 0 && escapeZeros) {
        buffer[pos++] = BACKSLASH;
        buffer[pos++] = ZERO_DIGIT;
      } else {
        buffer[pos++] = byte;
      }
      buffer[pos++] = SPACE;
    }
    sink.length = pos;
  }
}
