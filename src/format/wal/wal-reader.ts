import type { ByteSource } from '../../bytes/source.ts';
import { type CodecRegistry, CompressionType } from '../../codec/registry.ts';
import { compressionName } from '../../codec/resolve-codec.ts';
import { parseZstdFrame } from '../../codec/zstd-frame.ts';
import { CorruptionError, UnsupportedError } from '../../errors.ts';
import type { HashFunctions } from '../../hash/registry.ts';
import {
  decodeCompressionType,
  decodePredecessorWal,
  decodeTimestampSizes,
  type LogTimestampSize,
  type PredecessorWal,
} from '../log/log-control.ts';
import {
  type LogEnd,
  type LogFault,
  LogReader,
  type LogReaderOptions,
  type LogRecord,
} from '../log/log-reader.ts';
import { WriteBatchReader } from './decode-write-batch.ts';
import type { BatchOperation } from './write-batch.ts';

/** What the system adds to a WAL's bytes. */
export interface WalEnvironment {
  readonly hashes: HashFunctions;
  readonly codecs: CodecRegistry;
}

/** A record that says something about the log itself. */
export type WalControl =
  /** By its on-disk number. */
  | { readonly kind: 'compression_type'; readonly compressionType: number }
  | { readonly kind: 'timestamp_sizes'; readonly sizes: readonly LogTimestampSize[] }
  | { readonly kind: 'predecessor_wal'; readonly predecessor: PredecessorWal };

interface WalPlace {
  /** Of its first header, from the start of the file. */
  readonly offset: number;
  /** Bytes of the file: headers and filler between fragments included. */
  readonly size: number;
}

/** A write batch; its bytes are valid until the next record is read. */
export interface WalBatch extends WalPlace {
  readonly kind: 'batch';
  readonly batch: WriteBatchReader;
}

export type WalRecord = WalBatch | (WalPlace & WalControl);

const MALFORMED = 'wal_batch';
/** What a compressed record may grow to: as much as an uncompressed one may have. */
const MAX_BATCH_BYTES = 2 ** 30;

/**
 * Reads the records of a WAL in order, and goes on behind what is damaged. Holds one block of the log, one record and,
 * where the log is compressed, that record decompressed. Faults go to `fault`, with file and offset of the record:
 * those of LogReader, `wal_batch` for a batch that is none, UnsupportedError for a compression that is not known (once).
 * `next` throws what the source throws, and Pending where a codec is not loaded yet: it is then called again.
 */
export class WalReader {
  /** Records that could not be read, or not to their end. */
  lostCount = 0;
  private readonly log: LogReader;
  /** Read from the log and waiting for its codec. */
  private waiting: LogRecord | undefined;
  private isCompressionRefused = false;

  constructor(
    private readonly source: ByteSource,
    private readonly environment: WalEnvironment,
    private readonly fault: (error: LogFault) => void,
    options: LogReaderOptions = {},
  ) {
    this.log = new LogReader(source, environment.hashes, (error) => this.lose(error), options);
  }

  /** Set when there are no more records. */
  get end(): LogEnd | undefined {
    return this.log.end;
  }

  next(): WalRecord | undefined {
    for (;;) {
      const record = this.waiting ?? this.log.next();
      if (record === undefined) return undefined;
      this.waiting = record;
      const decoded = this.decode(record);
      this.waiting = undefined;
      if (decoded !== undefined) return decoded;
    }
  }

  /** The operations of a batch that `next` gave; where one does not decode, `fault` is told and they end. */
  *operations({ batch, offset }: WalBatch): Generator<BatchOperation, void, void> {
    try {
      for (let operation = batch.next(); operation !== undefined; operation = batch.next()) yield operation;
      batch.checkCount();
    } catch (error) {
      if (!(error instanceof CorruptionError)) throw error;
      this.lose(error.at({ file: this.source.name, offset }));
    }
  }

  private decode(record: LogRecord): WalRecord | undefined {
    const { offset, size, kind, payload } = record;
    switch (kind) {
      case 'compression_type':
        return { offset, size, kind, compressionType: decodeCompressionType(payload) };
      case 'timestamp_sizes':
        return { offset, size, kind, sizes: decodeTimestampSizes(payload) };
      case 'predecessor_wal':
        return this.attempt(offset, () => ({
          offset,
          size,
          kind,
          predecessor: decodePredecessorWal(payload),
        }));
      case 'data': {
        const { compressionType, timestampSizes } = this.log;
        if (this.isCompressionRefused) return undefined;
        return this.attempt(offset, () => {
          const bytes = compressionType === 0 ? payload : this.decompress(payload, compressionType);
          return { offset, size, kind: 'batch', batch: new WriteBatchReader(bytes, timestampSizes) };
        });
      }
    }
  }

  private attempt(offset: number, step: () => WalRecord): WalRecord | undefined {
    try {
      return step();
    } catch (error) {
      if (!(error instanceof CorruptionError || error instanceof UnsupportedError)) throw error;
      this.lose(error.at({ file: this.source.name, offset }));
      return undefined;
    }
  }

  /** Each record is one zstd frame, whichever fragments it was cut into. */
  private decompress(payload: Uint8Array, compressionType: number): Uint8Array {
    if (compressionType !== CompressionType.zstd) {
      this.isCompressionRefused = true;
      const name = compressionName(compressionType);
      const reason = `records are compressed with ${name}, which no release writes into a WAL`;
      throw new UnsupportedError('WAL compression', name, reason);
    }
    const decoder = this.environment.codecs.decoder('zstd');
    try {
      const frame = parseZstdFrame(payload, 0, payload.length);
      const left = payload.length - frame.end;
      if (left > 0) throw new CorruptionError(MALFORMED, `${left} bytes follow the zstd frame of the record`);
      return decoder.decode(payload, 0, payload.length, undefined, MAX_BATCH_BYTES, undefined);
    } catch (error) {
      if (error instanceof UnsupportedError) throw error;
      if (error instanceof CorruptionError && error.code === MALFORMED) throw error;
      const why = error instanceof CorruptionError ? error.reason : (error as Error).message;
      throw new CorruptionError(MALFORMED, `the record does not decompress: ${why}`, {}, { cause: error });
    }
  }

  private lose(error: LogFault): void {
    this.lostCount++;
    this.fault(error);
  }
}
