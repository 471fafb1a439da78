import { writeFixed32 } from '../../bytes/fixed.ts';
import { computeBlockChecksum, contextModifier, storedChecksum } from '../../hash/block-checksum.ts';
import { ChecksumType, type HashFunctions } from '../../hash/registry.ts';
import { BLOCK_TRAILER_SIZE, type BlockHandle } from '../block-handle.ts';
import type { StoredBlock } from './raw-block.ts';
import type { ResolvedTableOptions } from './table-options.ts';
import type { TableSink } from './table-sink.ts';

/** Pages that aligned blocks keep to. Source: RocksDB table/block_based/block_based_table_builder.cc. */
const PAGE_SIZE = 4096;

/**
 * Puts blocks with their trailers into the file, and padding between data blocks where it is asked for.
 *
 *   contents, compression type (1), checksum (4)
 */
export class BlockWriter {
  readonly checksumType: ChecksumType;
  /** Offset of the file's start in the sink. */
  private readonly origin: number;
  private readonly alignment: number;

  constructor(
    private readonly options: ResolvedTableOptions,
    private readonly sink: TableSink,
    private readonly hashes: HashFunctions,
    /** Part of every checksum from format_version 6 on; 0 before. */
    readonly baseContextChecksum: number,
  ) {
    this.checksumType = ChecksumType[options.checksum];
    this.origin = sink.position;
    this.alignment = options.blockAlign ? Math.min(options.blockSize, PAGE_SIZE) : 0;
  }

  /** Where the next byte of the table will lie. */
  get offset(): number {
    return this.sink.position - this.origin;
  }

  /** A block whose contents are `bytes[0, length)`, with room for its trailer behind. */
  write(bytes: Uint8Array, length: number, type: number): BlockHandle {
    const { offset } = this;
    bytes[length] = type;
    const checksum = computeBlockChecksum(this.hashes, this.checksumType, bytes, 0, length);
    const modifier = contextModifier(this.baseContextChecksum, offset);
    writeFixed32(bytes, length + 1, storedChecksum(checksum, modifier));
    const size = length + BLOCK_TRAILER_SIZE;
    this.sink.write(size === bytes.length ? bytes : bytes.subarray(0, size));
    return { offset, size: length };
  }

  /** A block without room for a trailer, stored as it is. */
  writeContents(contents: Uint8Array): BlockHandle {
    const bytes = new Uint8Array(contents.length + BLOCK_TRAILER_SIZE);
    bytes.set(contents);
    return this.write(bytes, contents.length, 0);
  }

  /** A data block, with the padding that belongs before or behind it. True: there is a gap before it. */
  writeData(block: StoredBlock): { handle: BlockHandle; gap: boolean } {
    const gap = this.padToSuperBlock(block.length);
    const handle = this.write(block.bytes, block.length, block.type);
    if (this.alignment > 0) {
      const used = (block.length + BLOCK_TRAILER_SIZE) % this.alignment;
      if (used > 0) this.pad(this.alignment - used);
    }
    return { handle, gap };
  }

  /** The footer. */
  writeRaw(bytes: Uint8Array): void {
    this.sink.write(bytes);
  }

  private padToSuperBlock(length: number): boolean {
    const { superBlockAlignmentSize: size, superBlockAlignmentSpaceOverheadRatio: ratio } = this.options;
    if (size === 0 || ratio === 0) return false;
    const { offset } = this;
    if (Math.floor(offset / size) === Math.floor((offset + length) / size)) return false;
    const padding = size - (offset % size);
    if (padding >= Math.floor(size / ratio)) return false;
    this.pad(padding);
    return true;
  }

  private pad(count: number): void {
    this.sink.write(new Uint8Array(count));
  }
}
