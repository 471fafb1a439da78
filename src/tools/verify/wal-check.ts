import type { ByteSource } from '../../bytes/source.ts';
import { CorruptionError, UnsupportedError, withPending } from '../../errors.ts';
import type { PredecessorWal } from '../../format/log/log-control.ts';
import type { LogEnd } from '../../format/log/log-reader.ts';
import { type WalBatch, type WalEnvironment, WalReader } from '../../format/wal/wal-reader.ts';
import { operationView } from '../wal-operation.ts';
import { FindingLog } from './finding-log.ts';
import { logFinding, logReport } from './log-report.ts';
import type { FileReport, VerifyOptions } from './verify-options.ts';
import { WalSequence } from './wal-sequence.ts';

/** What a database knows of a log. */
export interface WalContext {
  /** Records of other numbers are of the file's former use. Default: the number of the first record. */
  readonly logNumber?: number | undefined;
  /** Bytes that were synced, by the MANIFEST. */
  readonly syncedSize?: number | undefined;
  /** Whether live tables have all sequence numbers from `from` to, exclusive, `to`. Default: they have none. */
  readonly inTables?: ((from: bigint, to: bigint) => boolean) | undefined;
}

export interface CheckedWal {
  readonly report: FileReport;
  /** What the log says of the one before it. */
  readonly predecessor: PredecessorWal | undefined;
  /** The largest number that a batch begins with; 0 without a batch. */
  readonly lastSeqno: bigint;
}

/** Checks a WAL: its records, its batches, the values of their operations, and their sequence numbers. */
export async function verifyWal(
  environment: WalEnvironment,
  file: { readonly path: string; readonly source: ByteSource },
  options: VerifyOptions,
  context: WalContext = {},
  advanced: (offset: number) => void = () => undefined,
): Promise<CheckedWal> {
  const check = new WalCheck(environment, file.source, options, context);
  await check.run(advanced);
  return {
    report: check.report(file.path),
    predecessor: check.predecessor,
    lastSeqno: check.lastSeqno,
  };
}

class WalCheck {
  predecessor: PredecessorWal | undefined;
  lastSeqno = 0n;

  private readonly log: FindingLog;
  private readonly reader: WalReader;
  private readonly sequence: WalSequence;
  private batches = 0;
  private entries = 0;

  constructor(
    environment: WalEnvironment,
    private readonly source: ByteSource,
    private readonly options: VerifyOptions,
    private readonly context: WalContext,
  ) {
    this.log = new FindingLog(options);
    const { logNumber, inTables } = context;
    this.sequence = new WalSequence(inTables);
    this.reader = new WalReader(
      source,
      environment,
      (fault) => {
        this.log.add(logFinding(fault));
        this.sequence.lose();
      },
      logNumber === undefined ? {} : { logNumber },
    );
  }

  async run(advanced: (offset: number) => void): Promise<void> {
    const { log, reader } = this;
    while (!log.stopped) {
      const record = await withPending(() => reader.next());
      if (record === undefined) {
        this.tail(reader.end!);
        break;
      }
      if (record.kind === 'batch') this.batch(record);
      else if (record.kind === 'predecessor_wal') this.predecessor = record.predecessor;
      advanced(record.offset + record.size);
    }
    const gap = this.sequence.finding();
    if (gap !== undefined && this.options.order !== false) log.add(gap);
  }

  report(path: string): FileReport {
    const { batches, entries, source, log } = this;
    return logReport(path, 'wal', source.size, { decoded: batches, entries }, log);
  }

  private batch(record: WalBatch): void {
    this.batches++;
    const { seqno } = record.batch;
    if (seqno > this.lastSeqno) this.lastSeqno = seqno;
    if (this.options.checksumsOnly) return;
    this.sequence.begin(seqno, record.offset);
    for (const operation of this.reader.operations(record)) {
      this.sequence.take(operation);
      if (!operation.isEntry) continue;
      this.entries++;
      if (operation.type !== 'entity' && operation.type !== 'blob_index') continue;
      const { fault } = operationView(operation);
      if (fault instanceof CorruptionError || fault instanceof UnsupportedError) {
        this.log.add(logFinding(fault.at({ offset: record.offset })));
      }
    }
  }

  /** A crash leaves an unfinished record, and readers leave it out. */
  private tail({ state, offset }: LogEnd): void {
    if (state !== 'incomplete_tail') return;
    const { syncedSize } = this.context;
    const isLost = syncedSize !== undefined && offset < syncedSize;
    const reason = isLost
      ? `and ${syncedSize} bytes of the log had been synced, by the MANIFEST`
      : 'its writing was not finished, readers leave it out';
    this.log.add({
      code: 'wal_incomplete',
      severity: isLost ? 'damage' : 'note',
      message: `record at ${offset}: it is cut off by the end of the file at ${this.source.size}: ${reason}`,
    });
  }
}
