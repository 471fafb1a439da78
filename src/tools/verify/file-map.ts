import type { ByteSource } from '../../bytes/source.ts';
import { BLOCK_TRAILER_SIZE } from '../../format/block-handle.ts';
import type { BlockList } from '../../format/block-list.ts';
import type { BlockType } from '../../format/block-type.ts';
import type { FindingLog } from './finding-log.ts';

/** Gaps are read in pieces of this. */
const PIECE_BYTES = 64 * 1024;

export interface GapReason {
  readonly severity: 'warning' | 'note';
  /** Follows "nothing refers to these bytes". */
  readonly text: string;
}

interface Range {
  readonly type: BlockType;
  readonly offset: number;
  readonly end: number;
}

/**
 * Which bytes of a file belong to what. Two blocks that overlap are damage. Bytes that nothing refers to are padding
 * where they are zeros, and a warning where they are not: no reader looks at them.
 */
export class FileMap {
  private readonly ranges: Range[] = [];
  /** Long lists as columns; each a list of its own, mostly in ascending order. */
  private readonly lists: { type: BlockType; list: BlockList }[] = [];

  add(type: BlockType, offset: number, end: number): void {
    this.ranges.push({ type, offset, end });
  }

  addBlock(type: BlockType, handle: { offset: number; size: number }): void {
    this.add(type, handle.offset, handle.offset + handle.size + BLOCK_TRAILER_SIZE);
  }

  addList(type: BlockType, list: BlockList): void {
    if (list.count > 0) this.lists.push({ type, list });
  }

  /** Compares neighbours over [0, fileEnd). `reason` says why bytes may have nothing that refers to them. */
  check(source: ByteSource, log: FindingLog, reason: GapReason): void {
    let covered = 0;
    let before: BlockType = 'unknown';
    const padding = { count: 0, bytes: 0 };
    const gap = (start: number, end: number): void => {
      if (isZero(source, start, end)) {
        padding.count++;
        padding.bytes += end - start;
        return;
      }
      log.add({
        code: 'unreferenced_bytes',
        severity: reason.severity,
        message: `nothing refers to these ${end - start} bytes${reason.text}`,
        block: { type: 'unknown', offset: start, size: end - start, ordinal: null },
      });
    };
    this.inOrder((type, offset, end, ordinal) => {
      if (offset > covered) gap(covered, Math.min(offset, source.size));
      else if (offset < covered) {
        log.add({
          code: type === 'data' || type.endsWith('_partition') ? 'index_handle' : 'metaindex_handle',
          severity: 'damage',
          message: `the ${type} block begins ${covered - offset} bytes before the end of the ${before} block before it`,
          block: { type, offset, size: end - offset - BLOCK_TRAILER_SIZE, ordinal },
        });
      }
      if (end > covered) {
        covered = end;
        before = type;
      }
    });
    if (covered < source.size) gap(covered, source.size);
    if (padding.count > 0) {
      log.add({
        code: 'unreferenced_bytes',
        severity: 'note',
        message: `padding: ${padding.bytes} zero bytes in ${padding.count} places between blocks`,
      });
    }
  }

  /** Visits all ranges by offset: the lists are merged, as there are few of them. */
  private inOrder(
    visit: (type: BlockType, offset: number, end: number, ordinal: number | null) => void,
  ): void {
    const ranges = [...this.ranges].sort((a, b) => a.offset - b.offset);
    const orders = this.lists.map(({ list }) => ascending(list));
    const positions = this.lists.map(() => 0);
    let nextRange = 0;
    for (;;) {
      let lowest = nextRange < ranges.length ? ranges[nextRange]!.offset : Number.POSITIVE_INFINITY;
      let from = -1;
      for (let i = 0; i < this.lists.length; i++) {
        const { list } = this.lists[i]!;
        if (positions[i]! >= list.count) continue;
        const offset = list.offsets[blockAt(orders[i], positions[i]!)]!;
        if (offset < lowest) {
          lowest = offset;
          from = i;
        }
      }
      if (from >= 0) {
        const { type, list } = this.lists[from]!;
        const ordinal = blockAt(orders[from], positions[from]!);
        positions[from]!++;
        visit(type, lowest, lowest + list.sizes[ordinal]! + BLOCK_TRAILER_SIZE, ordinal);
      } else if (nextRange < ranges.length) {
        const { type, offset, end } = ranges[nextRange++]!;
        visit(type, offset, end, null);
      } else {
        return;
      }
    }
  }
}

/** The order of a list by offset; undefined where it is that of the list. */
function ascending(list: BlockList): Uint32Array | undefined {
  let sorted = true;
  for (let i = 1; i < list.count && sorted; i++) sorted = list.offsets[i - 1]! <= list.offsets[i]!;
  if (sorted) return undefined;
  const order = Uint32Array.from({ length: list.count }, (_, i) => i);
  return order.sort((a, b) => list.offsets[a]! - list.offsets[b]!);
}

function blockAt(order: Uint32Array | undefined, position: number): number {
  return order === undefined ? position : order[position]!;
}

function isZero(source: ByteSource, start: number, end: number): boolean {
  for (let from = start; from < end; from += PIECE_BYTES) {
    const bytes = source.read(from, Math.min(PIECE_BYTES, end - from));
    for (const byte of bytes) if (byte !== 0) return false;
  }
  return true;
}
