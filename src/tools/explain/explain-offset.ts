import type { Environment } from '../../engine/environment.ts';
import { InvalidArgumentError } from '../../errors.ts';
import { BLOCK_TRAILER_SIZE } from '../../format/block-handle.ts';
import type { PlacedBlock } from '../dump/block-order.ts';
import { type DumpSubject, openSubject } from '../dump/open-subject.ts';
import { readOneBlock } from '../dump/walk-blocks.ts';
import type { Finding } from '../finding.ts';
import type { OpenInput } from '../input.ts';
import type { OpenOptions } from '../open-any-table.ts';
import { rowsPart } from './bare-part.ts';
import { contentsPart } from './block-part.ts';
import { footerPart } from './footer-part.ts';
import type { Part, PartEntry } from './part.ts';

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
  /** The entry that it belongs to. */
  readonly entry: PartEntry | null;
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

async function locate(
  subject: DumpSubject,
  offset: number,
  report: (finding: Finding) => void,
): Promise<Located> {
  const { footer, order } = subject;
  if (footer !== undefined && offset >= footer.offset && offset < footer.offset + footer.size) {
    return placed(null, footer.offset, footerPart(footer, offset - footer.offset));
  }
  const at = blockAt(subject, offset);
  if (at < 0) return placed(null, 0, gapPart(subject, offset));
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
  if (subject.table === undefined && block.type === 'data')
    return placed(block, row.offset, rowsPart(subject, row.size, inBlock));
  if (subject.table !== undefined && (block.compression !== 'none' || !decoded)) {
    const how = decoded ? `compressed with ${block.compression}` : 'not decoded';
    return placed(block, row.offset, {
      part: 'payload',
      start: 0,
      end: row.size,
      text: `byte ${inBlock} of ${row.size} of a block that is ${how}: what a single byte stands for cannot be told`,
    });
  }
  return placed(block, row.offset, contentsPart(subject, order.at(at), row.name, bytes, inBlock));
}

function blockAt(subject: DumpSubject, offset: number): number {
  const at = subject.order.lowerBound(offset + 1) - 1;
  return offset < endOfBlock(subject, at) ? at : -1;
}

/** Behind the trailer; 0 before the first block. */
function endOfBlock({ order, table }: DumpSubject, at: number): number {
  if (at < 0) return 0;
  return order.offsets[at]! + order.sizes[at]! + (table === undefined ? 0 : BLOCK_TRAILER_SIZE);
}

/** Bytes of the file that belong to nothing. */
function gapPart(subject: DumpSubject, offset: number): Part {
  const { footer, order, source } = subject;
  const footerEnd = footer === undefined ? undefined : footer.offset + footer.size;
  if (footerEnd !== undefined && offset >= footerEnd)
    return { part: 'appended', start: footerEnd, end: source.size, text: 'bytes behind the footer' };
  const after = order.lowerBound(offset + 1);
  const start = endOfBlock(subject, after - 1);
  const end = Math.min(
    after < order.count ? order.offsets[after]! : source.size,
    footer?.offset ?? source.size,
  );
  const text = 'nothing refers to this byte: padding, or a block that was lost';
  return { part: 'unreferenced', start, end, text };
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
