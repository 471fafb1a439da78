import type { BlockHandle } from '../../format/block-handle.ts';
import { BlockList } from '../../format/block-list.ts';
import type { BlockType } from '../../format/block-type.ts';

/** Kinds by the small number that stands for them in a column. */
const TYPES: readonly BlockType[] = [
  'data',
  'index',
  'index_partition',
  'filter',
  'filter_partition',
  'filter_index',
  'compression_dict',
  'range_del',
  'properties',
  'metaindex',
  'hash_prefixes',
  'hash_metadata',
  'user_defined_index',
  'footer',
  'unknown',
];

/** One block of a table, by where it lies. */
export interface PlacedBlock extends BlockHandle {
  readonly type: BlockType;
  /** Its place among the blocks of its kind, from 0. */
  readonly ordinal: number;
}

/**
 * All blocks of a table in the order of the file. Half a million of them are columns of numbers, not objects.
 */
export class BlockOrder extends BlockList {
  private types: Uint8Array;
  private ordinals: Uint32Array;
  private readonly counts = new Map<BlockType, number>();
  /** Blocks that stand in order so far. */
  private sorted = 0;

  /** `expected` blocks find room without growing. */
  constructor(expected = 64) {
    super();
    this.offsets = new Float64Array(expected);
    this.sizes = new Float64Array(expected);
    this.types = new Uint8Array(expected);
    this.ordinals = new Uint32Array(expected);
  }

  add(type: BlockType, offset: number, size: number): void {
    const at = this.count;
    this.push(offset, size);
    if (at === this.types.length) {
      this.types = grown(this.types, new Uint8Array(this.offsets.length));
      this.ordinals = grown(this.ordinals, new Uint32Array(this.offsets.length));
    }
    const ordinal = this.counts.get(type) ?? 0;
    this.counts.set(type, ordinal + 1);
    this.types[at] = TYPES.indexOf(type);
    this.ordinals[at] = ordinal;
    if (this.sorted === at && (at === 0 || offset >= this.offsets[at - 1]!)) this.sorted = at + 1;
  }

  /** Puts the blocks into the order of the file. Only the end is moved where the data blocks stand in order already. */
  sort(): void {
    if (this.sorted === this.count) return;
    let smallest = Number.POSITIVE_INFINITY;
    for (let i = this.sorted; i < this.count; i++) smallest = Math.min(smallest, this.offsets[i]!);
    const start = lowerBound(this.offsets, this.sorted, smallest);
    const order = Array.from({ length: this.count - start }, (_, i) => start + i);
    order.sort((a, b) => this.offsets[a]! - this.offsets[b]! || a - b);
    for (const column of [this.offsets, this.sizes, this.types, this.ordinals]) {
      const moved = order.map((i) => column[i]!);
      column.set(moved, start);
    }
    this.sorted = this.count;
  }

  typeAt(index: number): BlockType {
    return TYPES[this.types[index]!]!;
  }

  at(index: number): PlacedBlock {
    return {
      type: this.typeAt(index),
      ordinal: this.ordinals[index]!,
      offset: this.offsets[index]!,
      size: this.sizes[index]!,
    };
  }

  /** How many blocks of a kind there are. */
  countOf(type: BlockType): number {
    return this.counts.get(type) ?? 0;
  }

  /** Position of the block that begins at `offset`; -1 when none does. */
  find(offset: number): number {
    const at = this.lowerBound(offset);
    return at < this.count && this.offsets[at] === offset ? at : -1;
  }

  /** The first block that begins at `offset` or behind it. */
  lowerBound(offset: number): number {
    return lowerBound(this.offsets, this.count, offset);
  }
}

function lowerBound(offsets: Float64Array, count: number, offset: number): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (offsets[middle]! < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

function grown<Column extends Uint8Array | Uint32Array>(from: Column, to: Column): Column {
  to.set(from);
  return to;
}
