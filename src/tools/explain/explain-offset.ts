import type { Environment } from '../../engine/environment.ts';
import { InvalidArgumentError, SstError } from '../../errors.ts';
import { BlockIterator, varintEnd } from '../../format/block/block-iterator.ts';
import { decodeBlockLayout } from '../../format/block/block-layout.ts';
import { BLOCK_TRAILER_SIZE } from '../../format/block-handle.ts';
import { decodeFilterMetadata, FILTER_METADATA_BYTES } from '../../format/filter/filter-metadata.ts';
import { FOOTER_SIZE, type Footer, LEGACY_FOOTER_SIZE } from '../../format/footer.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import type { PlacedBlock } from '../dump/block-order.ts';
import { type DumpSubject, openSubject } from '../dump/open-subject.ts';
import { hasNames, isIndex, readOneBlock } from '../dump/walk-blocks.ts';
import type { Finding } from '../finding.ts';
import type { OpenInput } from '../input.ts';
import type { OpenOptions } from '../open-any-table.ts';
import { Row } from '../row.ts';

/** What one byte of a table file means. */
export interface OffsetMeaning {
  readonly path: string;
  readonly offset: number;
  /** The byte itself. */
  readonly byte: number;
  /** The block that it lies in; null in the footer, and where nothing is known of. */
  readonly block: {
    readonly type: PlacedBlock['type'];
    readonly offset: number;
    readonly size: number;
    readonly ordinal: number;
    readonly name: string | null;
    readonly compression: string | null;
    readonly checksumHolds: boolean | null;
  } | null;
  /** The innermost part that is known: `footer.magic`, `trailer.checksum`, `entry.key`, `restarts`, `payload` ... */
  readonly part: string;
  /** Where that part begins in the file, and its bytes. */
  readonly partOffset: number;
  readonly partSize: number;
  /** The entry that it belongs to; its key as a user key, or a name. */
  readonly entry: {
    readonly offset: number;
    readonly key: Uint8Array;
    readonly seqno: string | null;
    readonly type: string | null;
  } | null;
  /** One sentence. */
  readonly text: string;
}

/** Says what the byte at `offset` means. Throws InvalidArgumentError beyond the end of the file. */
export async function explainOffset(
  environment: Environment,
  input: OpenInput,
  offset: number,
  options: OpenOptions,
  report: (finding: Finding) => void,
): Promise<OffsetMeaning> {
  const { source, file } = input;
  if (offset >= source.size) {
    throw new InvalidArgumentError('at', String(offset), `--at ${offset}: the file has ${source.size} bytes`);
  }
  const subject = await openSubject(environment, input, options);
  const meaning = await locate(subject, offset, report);
  return { path: file.path, offset, byte: source.read(offset, 1)[0]!, ...meaning };
}

type Located = Omit<OffsetMeaning, 'path' | 'offset' | 'byte'>;

/** A part of a block's contents or of the footer. */
interface Part {
  readonly part: string;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly entry?: OffsetMeaning['entry'];
}

async function locate(
  subject: DumpSubject,
  offset: number,
  report: (finding: Finding) => void,
): Promise<Located> {
  const { footer, order, source } = subject;
  if (footer !== undefined && offset >= footer.offset && offset < footer.offset + footer.size) {
    return placed(null, footer.offset, footerPart(footer, offset - footer.offset));
  }
  const at = blockAt(subject, offset);
  if (at < 0) {
    const behind = footer !== undefined && offset >= footer.offset + footer.size;
    const end = behind
      ? source.size
      : (order.offsets[order.lowerBound(offset)] ?? footer?.offset ?? source.size);
    const text = behind
      ? 'bytes behind the footer'
      : 'nothing refers to this byte: padding, or a block that was lost';
    return placed(null, offset, {
      part: behind ? 'appended' : 'unreferenced',
      start: 0,
      end: end - offset,
      text,
    });
  }
  const { row, bytes, decoded } = await readOneBlock(subject, at, report);
  const block = {
    type: row.type,
    offset: row.offset,
    size: row.size,
    ordinal: row.ordinal,
    name: row.name,
    compression: row.compression,
    checksumHolds: row.checksumHolds,
  };
  const inBlock = offset - row.offset;
  if (inBlock >= row.size) return placed(block, row.offset, trailerPart(block, inBlock));
  if (block.compression !== 'none' || !decoded) {
    const how = decoded ? `compressed with ${block.compression}` : 'not decoded';
    return placed(block, row.offset, {
      part: 'payload',
      start: 0,
      end: row.size,
      text: `byte ${inBlock} of ${row.size} of a block that is ${how}: what a single byte stands for cannot be told`,
    });
  }
  return placed(block, row.offset, contentsPart(subject, order.at(at), bytes, inBlock));
}

function blockAt({ order, table }: DumpSubject, offset: number): number {
  const after = order.lowerBound(offset + 1);
  const trailer = table === undefined ? 0 : BLOCK_TRAILER_SIZE;
  const at = after - 1;
  return at >= 0 && offset < order.offsets[at]! + order.sizes[at]! + trailer ? at : -1;
}

function placed(block: OffsetMeaning['block'], base: number, found: Part): Located {
  const { part, start, end, text, entry = null } = found;
  return { block, part, partOffset: base + start, partSize: end - start, entry, text };
}

const TRAILER_PARTS = { compression: 0, checksum: 1 } as const;

function trailerPart(
  { size, compression, checksumHolds }: NonNullable<OffsetMeaning['block']>,
  at: number,
): Part {
  if (at === size + TRAILER_PARTS.compression) {
    return {
      part: 'trailer.compression',
      start: size,
      end: size + 1,
      text: `compression type: ${compression}`,
    };
  }
  const verdict = checksumHolds === null ? 'not compared' : checksumHolds ? 'it holds' : 'it does not hold';
  return {
    part: 'trailer.checksum',
    start: size + 1,
    end: size + BLOCK_TRAILER_SIZE,
    text: `checksum of payload and compression type; ${verdict}`,
  };
}

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

function footerPart({ size, formatVersion }: Footer, at: number): Part {
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

function contentsPart(subject: DumpSubject, block: PlacedBlock, bytes: Uint8Array, at: number): Part {
  if (block.type === 'filter' || block.type === 'filter_partition') return filterPart(bytes, at);
  if (block.type === 'compression_dict') return whole(bytes, 'dictionary', 'the compression dictionary');
  if (subject.table === undefined) return whole(bytes, 'rows', 'rows of a table without blocks');
  try {
    return layoutPart(bytes, at) ?? entryPart(subject, block, bytes, at);
  } catch (error) {
    if (!(error instanceof SstError)) throw error;
    return whole(bytes, 'payload', error.message);
  }
}

function whole(bytes: Uint8Array, part: string, text: string): Part {
  return { part, start: 0, end: bytes.length, text };
}

function filterPart(bytes: Uint8Array, at: number): Part {
  const metadataStart = Math.max(0, bytes.length - FILTER_METADATA_BYTES);
  const facts = decodeFilterMetadata(bytes.length, bytes.subarray(metadataStart));
  if (at >= metadataStart) {
    return {
      part: 'filter.metadata',
      start: metadataStart,
      end: bytes.length,
      text: `metadata of a ${facts.kind} filter: its kind and its parameters`,
    };
  }
  if (facts.lineBytes === 0)
    return { part: 'filter.data', start: 0, end: metadataStart, text: `data of a ${facts.kind} filter` };
  const line = Math.floor(at / facts.lineBytes);
  const start = line * facts.lineBytes;
  const bit = 8 * (at - start);
  return {
    part: 'filter.line',
    start,
    end: Math.min(start + facts.lineBytes, metadataStart),
    text: `bits ${bit} to ${bit + 7} of line ${line} of ${facts.lines} of a ${facts.kind} filter`,
  };
}

/** What stands behind the entries of a block; undefined within them. */
function layoutPart(bytes: Uint8Array, at: number): Part | undefined {
  const layout = decodeBlockLayout(bytes);
  const { restartsStart, restartCount, bucketsStart, bucketCount } = layout;
  const packedStart = bytes.length - 4;
  if (at >= packedStart) {
    return {
      part: 'block.packed',
      start: packedStart,
      end: bytes.length,
      text: `number of restarts, ${restartCount}, and flags`,
    };
  }
  const restartsEnd = restartsStart + 4 * restartCount;
  if (at >= restartsStart && at < restartsEnd) {
    const restart = Math.floor((at - restartsStart) / 4);
    const start = restartsStart + 4 * restart;
    return {
      part: 'block.restart',
      start,
      end: start + 4,
      text: `where the entry of restart ${restart} begins`,
    };
  }
  if (bucketCount > 0 && at >= bucketsStart && at < bucketsStart + bucketCount) {
    return {
      part: 'block.hash_bucket',
      start: at,
      end: at + 1,
      text: `bucket ${at - bucketsStart} of ${bucketCount} of the hash index`,
    };
  }
  if (at >= restartsEnd) {
    return {
      part: 'block.layout',
      start: restartsEnd,
      end: packedStart,
      text: 'sizes of the parts of the block',
    };
  }
  if (layout.separated && at >= layout.entriesEnd) {
    return {
      part: 'block.values',
      start: layout.entriesEnd,
      end: layout.valuesEnd,
      text: 'values, apart from their keys',
    };
  }
  return undefined;
}

/** The entry at a position of a data, range-deletion or properties block or metaindex; of an index the block alone. */
function entryPart(subject: DumpSubject, block: PlacedBlock, bytes: Uint8Array, at: number): Part {
  if (isIndex(block.type)) {
    return {
      part: 'index.entries',
      start: 0,
      end: decodeBlockLayout(bytes).entriesEnd,
      text: 'separators and handles',
    };
  }
  const iterator = new BlockIterator();
  const layout = iterator.reset(bytes);
  while (iterator.next()) {
    const start = iterator.entryStart;
    const keyStart = keyStartOf(bytes, start, layout.entriesEnd, layout.separated ? undefined : iterator);
    const keyEnd = keyStart + iterator.nonShared;
    const entryEnd = layout.separated ? keyEnd : iterator.valueEnd;
    if (at >= entryEnd) continue;
    const entry = describeEntry(subject, block, iterator);
    if (at < keyStart) {
      const text = `lengths: shares ${iterator.shared} bytes, has ${iterator.nonShared} of its own, value ${iterator.valueEnd - iterator.valueStart}`;
      return { part: 'entry.lengths', start, end: keyStart, text, entry };
    }
    const trailerStart = keyEnd - (hasNames(block.type) ? 0 : TRAILER_SIZE);
    if (at < trailerStart) {
      return {
        part: 'entry.key',
        start: keyStart,
        end: trailerStart,
        text: 'the bytes of its key that are its own',
        entry,
      };
    }
    if (at < keyEnd) {
      const text = at === trailerStart ? 'value type' : 'sequence number';
      return { part: 'entry.trailer', start: Math.max(keyStart, trailerStart), end: keyEnd, text, entry };
    }
    return {
      part: 'entry.value',
      start: iterator.valueStart,
      end: iterator.valueEnd,
      text: 'its value',
      entry,
    };
  }
  return { part: 'payload', start: 0, end: bytes.length, text: 'behind the entries' };
}

/** With key and value together the key ends where the value begins. */
function keyStartOf(
  bytes: Uint8Array,
  start: number,
  end: number,
  together: BlockIterator | undefined,
): number {
  if (together !== undefined) return together.valueStart - together.nonShared;
  let pos = start;
  for (let i = 0; i < 3; i++) pos = varintEnd(bytes, pos, end);
  return pos;
}

function describeEntry(
  subject: DumpSubject,
  block: PlacedBlock,
  iterator: BlockIterator,
): OffsetMeaning['entry'] {
  const offset = iterator.entryStart;
  if (hasNames(block.type)) {
    return { offset, key: iterator.key.slice(0, iterator.keyLength), seqno: null, type: null };
  }
  const row = new Row(subject.shape);
  if (block.type === 'range_del') {
    row.takeTombstone({
      startKey: iterator.key.subarray(0, iterator.keyLength),
      end: iterator.data.subarray(iterator.valueStart, iterator.valueEnd),
    });
  } else {
    row.takeEntry(iterator);
  }
  return {
    offset,
    key: row.key.slice(0, row.keyEnd),
    seqno: row.seqnoText ?? String(row.seqno),
    type: row.type,
  };
}
