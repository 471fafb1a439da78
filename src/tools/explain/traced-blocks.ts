import { compressionName } from '../../codec/resolve-codec.ts';
import { CorruptionError, type SstError, UnsupportedError } from '../../errors.ts';
import { BLOCK_TRAILER_SIZE, type BlockHandle } from '../../format/block-handle.ts';
import type { BlockType } from '../../format/block-type.ts';
import type { TableReader } from '../../format/table-reader.ts';
import type { ByteRange, Step } from './explanation.ts';

/** Reads the blocks of a look-up, and tells where each came from. */
export class TracedBlocks {
  bytesRead = 0;
  private lastRange: ByteRange | undefined;

  constructor(
    private readonly table: TableReader,
    /** Takes a step for a block whose checksum does not hold. */
    private readonly steps: Step[],
  ) {}

  /** Of the block that was read last; also where its checksum does not hold. */
  get range(): ByteRange {
    return this.lastRange!;
  }

  /** A block's contents. Throws as BlockReader does. */
  read({ offset, size }: BlockHandle, type: BlockType, dictionary?: Uint8Array): Uint8Array {
    const handle = { offset, size };
    const { blocks } = this.table;
    const stored = blocks.readStored(handle, type);
    const fault = blocks.checksumFault(stored, handle, type);
    const holds = stored.computedChecksum === undefined ? null : fault === undefined;
    this.bytesRead += size + BLOCK_TRAILER_SIZE;
    const range: ByteRange = {
      type,
      offset,
      size: size + BLOCK_TRAILER_SIZE,
      compression: compressionName(stored.compressionType),
      rawSize: null,
      checksumHolds: holds,
    };
    this.lastRange = range;
    if (fault !== undefined && type !== 'properties') {
      this.steps.push({ step: stepOf(type), range, text: fault.reason });
      throw fault;
    }
    const contents = blocks.contents(stored, handle, type, dictionary);
    this.lastRange = { ...range, rawSize: contents.length };
    return contents;
  }

  isCompressed({ offset, size }: BlockHandle): boolean {
    this.table.blocks.checkHandle({ offset, size }, 'data');
    return this.table.source.read(offset + size, 1)[0] !== 0;
  }

  /** An error with the block that was read last, where it does not say itself what it is about. */
  placed(error: SstError): SstError {
    const { lastRange } = this;
    const isOfFile = error instanceof CorruptionError || error instanceof UnsupportedError;
    if (!isOfFile || error.offset !== undefined || lastRange === undefined) return error;
    return error.at(this.table.blocks.place(lastRange.offset, lastRange.type));
  }
}

function stepOf(type: BlockType): Step['step'] {
  if (type === 'filter_partition') return 'filter';
  return type as Step['step'];
}
