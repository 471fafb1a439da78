import { Pending } from '../errors.ts';

/**
 * Compression types by their on-disk byte.
 * Source: RocksDB include/rocksdb/compression_type.h. LevelDB and its forks give other meanings to 2 and 4:
 * see resolve-codec.ts.
 */
export const CompressionType = {
  none: 0,
  snappy: 1,
  zlib: 2,
  bzip2: 3,
  lz4: 4,
  lz4hc: 5,
  xpress: 6,
  zstd: 7,
} as const;

export type CompressionName = keyof typeof CompressionType;

/** A stream format that a codec decodes: several on-disk bytes may share one. */
export type CodecName = 'snappy' | 'deflate_raw' | 'zlib_stream' | 'bzip2' | 'lz4' | 'zstd';

/**
 * Decodes one compressed payload, already stripped of any size prefix and checked against its checksum.
 * Codecs are synchronous, keep no reference to their input, and never return more than `maxLength` bytes.
 */
export interface Decoder {
  /** Which package or kernel answers, for `--version --verbose`. */
  readonly implementation: string;
  /**
   * `input[start, end)` decoded. `length` is the exact size that the file declares, or undefined where the
   * framing does not say (then at most `maxLength`). Throws any Error when the bytes do not decode; the caller
   * turns it into a CorruptionError with the place and checks the result's length.
   */
  decode(
    input: Uint8Array,
    start: number,
    end: number,
    length: number | undefined,
    maxLength: number,
    dictionary: Uint8Array | undefined,
  ): Uint8Array;
  /**
   * The same without a dictionary, into `output[at, at + length)`, where a codec can do it: for many blocks behind
   * one another, in ascending order. False when the bytes do not decode to `length`; `decode` says why.
   */
  decodeInto?(
    input: Uint8Array,
    start: number,
    end: number,
    output: Uint8Array,
    at: number,
    length: number,
  ): boolean;
}

export interface CodecRegistry {
  /** The decoder, when it is loaded; throws `CodecPending` when it has to be loaded first. */
  decoder(name: CodecName): Decoder;
  /** Loads what a later `decoder` call needs. */
  load(name: CodecName): Promise<void>;
}

/** Signal: a codec was needed that is not loaded yet. */
export class CodecPending extends Pending {
  constructor(
    private readonly registry: CodecRegistry,
    readonly codec: CodecName,
  ) {
    super();
  }

  settle(): Promise<void> {
    return this.registry.load(this.codec);
  }
}
