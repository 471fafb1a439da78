import { readFixed32, writeFixed32 } from '../bytes/fixed.ts';
import type { ByteSource } from '../bytes/source.ts';
import { hex32 } from '../bytes/text.ts';
import { type DecompressContext, decompressBlock } from '../codec/decompress.ts';
import type { CodecRegistry } from '../codec/registry.ts';
import type { TableFamily } from '../codec/resolve-codec.ts';
import { CorruptionError, UnsupportedError } from '../errors.ts';
import { computeBlockChecksum, contextModifier } from '../hash/block-checksum.ts';
import { ChecksumType, checksumName, type HashFunctions } from '../hash/registry.ts';
import { BLOCK_TRAILER_SIZE, type BlockHandle } from './block-handle.ts';
import type { BlockType } from './block-type.ts';
import type { Footer } from './footer.ts';

/** What a reader keeps for transient blocks: never more than the larger one twice, for each table that is open. */
const TRANSIENT_BYTES_MIN = 8 * 1024;
const TRANSIENT_BYTES_MAX = 64 * 1024;

/** One block as it lies in the file. */
export interface StoredBlock {
  /** Payload and trailer. */
  readonly bytes: Uint8Array;
  /** The payload is `bytes[0, size)`. */
  readonly size: number;
  readonly compressionType: number;
  /** As in the trailer, context included. */
  readonly storedChecksum: number;
  /** Undefined where the file has no checksums to compare with. */
  readonly computedChecksum: number | undefined;
}

/**
 * Reads blocks of one table: range check, trailer, checksum, decompression, in this order.
 *
 *   payload (size), compression type (1), checksum (4)
 *
 * Faults are thrown with file, offset and block type.
 * Source: RocksDB table/block_fetcher.cc; LevelDB table/format.cc.
 */
export class BlockReader {
  /** What `decompressBlock` has to know of the table. */
  readonly decompression: DecompressContext;
  /** Where `readTransient` puts blocks; an allocation a block costs as much as reading it. */
  private scratch = new Uint8Array(0);

  constructor(
    readonly source: ByteSource,
    readonly footer: Footer,
    readonly hashes: HashFunctions,
    codecs: CodecRegistry,
    family: TableFamily,
  ) {
    this.decompression = { codecs, family, framing: footer.formatVersion >= 2 ? 2 : 1 };
  }

  /** The same reader for a table that turned out to be of the other family. */
  withFamily(family: TableFamily): BlockReader {
    return new BlockReader(this.source, this.footer, this.hashes, this.decompression.codecs, family);
  }

  /** Payload and trailer of a block whose handle is checked against the file; the checksum is computed, not judged. */
  readStored(handle: BlockHandle, blockType: BlockType): StoredBlock {
    this.checkHandle(handle, blockType);
    return this.examine(this.source.read(handle.offset, handle.size + BLOCK_TRAILER_SIZE), handle);
  }

  /** The same, in memory that the next call uses again: for a block that is decompressed at once, or copied. */
  readTransient(handle: BlockHandle, blockType: BlockType): StoredBlock {
    this.checkHandle(handle, blockType);
    const size = handle.size + BLOCK_TRAILER_SIZE;
    if (size > TRANSIENT_BYTES_MAX) return this.examine(this.source.read(handle.offset, size), handle);
    if (this.scratch.length < size) this.scratch = new Uint8Array(Math.max(2 * size, TRANSIENT_BYTES_MIN));
    const bytes = this.scratch.subarray(0, size);
    this.source.readInto(handle.offset, bytes);
    return this.examine(bytes, handle);
  }

  /** The block's contents, decompressed. Throws CorruptionError or UnsupportedError with the place. */
  read(handle: BlockHandle, blockType: BlockType, dictionary?: Uint8Array): Uint8Array {
    const stored = this.readStored(handle, blockType);
    const fault = this.checksumFault(stored, handle, blockType);
    if (fault !== undefined) throw fault;
    return this.contents(stored, handle, blockType, dictionary);
  }

  /** Decompresses what `readStored` gave. */
  contents(
    stored: StoredBlock,
    handle: BlockHandle,
    blockType: BlockType,
    dictionary?: Uint8Array,
  ): Uint8Array {
    try {
      return decompressBlock(
        this.decompression,
        stored.compressionType,
        stored.bytes,
        0,
        stored.size,
        dictionary,
      );
    } catch (error) {
      if (error instanceof CorruptionError || error instanceof UnsupportedError) {
        throw error.at(this.place(handle.offset, blockType));
      }
      throw error;
    }
  }

  /** The mismatch as an error value; undefined when the checksum holds or there is none. */
  checksumFault(stored: StoredBlock, handle: BlockHandle, blockType: BlockType): CorruptionError | undefined {
    const { storedChecksum, computedChecksum } = stored;
    if (computedChecksum === undefined || computedChecksum === storedChecksum) return undefined;
    return this.mismatch(storedChecksum, computedChecksum, handle.offset, blockType);
  }

  mismatch(stored: number, computed: number, offset: number, blockType: BlockType): CorruptionError {
    return new CorruptionError(
      'block_checksum',
      `${checksumName(this.footer.checksumType)!} mismatch, stored ${hex32(stored)}, computed ${hex32(computed)}`,
      { ...this.place(offset, blockType), stored: hex32(stored), computed: hex32(computed) },
    );
  }

  /** Handles come from the file too: nothing is read, let alone allocated, before they fit into it. */
  checkHandle(handle: BlockHandle, blockType: BlockType): void {
    const end = handle.offset + handle.size + BLOCK_TRAILER_SIZE;
    if (end <= this.source.size) return;
    throw new CorruptionError(
      handleCode(blockType),
      `the handle (offset ${handle.offset}, size ${handle.size}) reaches beyond the file, ` +
        `which has ${this.source.size} bytes`,
      this.place(handle.offset, blockType),
    );
  }

  /** Takes the trailer behind the payload `bytes[0, size)`, and computes the checksum. */
  examine(bytes: Uint8Array, handle: BlockHandle): StoredBlock {
    const { size } = handle;
    return {
      bytes,
      size,
      compressionType: bytes[size]!,
      storedChecksum: readFixed32(bytes, size + 1),
      computedChecksum: this.computeChecksum(bytes, 0, size, handle.offset),
    };
  }

  /**
   * What the trailer's checksum should be for the payload `bytes[start, end)` with its compression byte at
   * `end`, of the block at `offset` in the file. Undefined where the file has no checksums; with checksum type
   * `none` in format_version 6 and above the context alone is stored, and compared.
   */
  computeChecksum(bytes: Uint8Array, start: number, end: number, offset: number): number | undefined {
    const { checksumType, baseContextChecksum } = this.footer;
    if (checksumType === ChecksumType.none && baseContextChecksum === 0) return undefined;
    const plain = computeBlockChecksum(this.hashes, checksumType, bytes, start, end);
    return (plain + contextModifier(baseContextChecksum, offset)) >>> 0;
  }

  /**
   * Puts another sequence number into a copy of a properties block and computes its checksum again: ingestion
   * of older releases patched the number in the file and left the checksum as it was for 0.
   */
  examinePatched(stored: StoredBlock, handle: BlockHandle, valueStart: number): StoredBlock {
    const bytes = stored.bytes.slice();
    writeFixed32(bytes, valueStart, 0);
    writeFixed32(bytes, valueStart + 4, 0);
    return this.examine(bytes, handle);
  }

  place(offset: number, blockType: BlockType): { file: string; offset: number; blockType: BlockType } {
    return { file: this.source.name, offset, blockType };
  }
}

function handleCode(blockType: BlockType): string {
  if (blockType === 'metaindex') return 'footer_handle';
  return blockType === 'data' || blockType.endsWith('_partition') ? 'index_handle' : 'metaindex_handle';
}
