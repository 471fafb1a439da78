import type { ByteSource } from '../../bytes/source.ts';
import { compressionName } from '../../codec/resolve-codec.ts';
import { CorruptionError, UnsupportedError, withPending } from '../../errors.ts';
import type { LogTimestampSize, PredecessorWal } from '../../format/log/log-control.ts';
import type { LogEnd } from '../../format/log/log-reader.ts';
import {
  type WalBatch,
  type WalEnvironment,
  WalReader,
  type WalRecord,
} from '../../format/wal/wal-reader.ts';
import { BATCH_LAYOUTS } from '../../format/wal/write-batch.ts';
import type { Finding } from '../finding.ts';
import { logFinding } from '../verify/log-report.ts';
import { type OperationView, operationView, otherView } from '../wal-operation.ts';

interface RecordPlace {
  readonly offset: number;
  /** Bytes of the record, headers included. */
  readonly size: number;
}

/** A write batch of a WAL. */
export interface BatchView extends RecordPlace {
  /** Decimal. */
  readonly seqno: string;
  /** Operations by its header. */
  readonly count: number;
  /** Bytes of the batch, decompressed. */
  readonly batchSize: number;
  /** To be gone through once, before the next record. Where one does not decode, they end. */
  readonly operations: Iterable<OperationView>;
}

/** A record that says something about the log. */
export type ControlView = RecordPlace &
  (
    | { readonly control: 'compression_type'; readonly compression: string }
    | { readonly control: 'timestamp_sizes'; readonly sizes: readonly LogTimestampSize[] }
    | { readonly control: 'predecessor_wal'; readonly predecessor: PredecessorWal }
  );

/** What is known at the end of a WAL. */
export interface WalSummary {
  readonly end: LogEnd;
  readonly batches: number;
  readonly operations: number;
}

export interface WalDumpEvents {
  batch(batch: BatchView): void;
  control(control: ControlView): void;
  finding(finding: Finding): void;
  /** The log has been read up to here. */
  advanced(offset: number): void;
  /** Nothing more is wanted. */
  isStopped(): boolean;
}

/**
 * Hands each record to the events and what is wrong to `finding`, in the order of the file. Memory: one record.
 * Undefined: it was stopped before the end. Throws IoErrors of the source.
 */
export async function dumpWal(
  environment: WalEnvironment,
  source: ByteSource,
  events: WalDumpEvents,
): Promise<WalSummary | undefined> {
  const reader = new WalReader(source, environment, (fault) => events.finding(logFinding(fault)));
  const counts = { batches: 0, operations: 0 };
  while (!events.isStopped()) {
    const record = await withPending(() => reader.next());
    if (record === undefined) return { end: reader.end!, ...counts };
    if (record.kind === 'batch') {
      counts.batches++;
      const { seqno, count, size: batchSize } = record.batch;
      const operations = viewsOf(reader, record, counts, events);
      const { offset, size } = record;
      events.batch({ offset, size, seqno: String(seqno), count, batchSize, operations });
    } else events.control(controlView(record));
    events.advanced(record.offset + record.size);
  }
  return undefined;
}

function* viewsOf(
  reader: WalReader,
  record: WalBatch,
  counts: { operations: number },
  events: WalDumpEvents,
): Generator<OperationView, void, void> {
  for (const operation of reader.operations(record)) {
    const view = operationView(operation);
    counts.operations++;
    if (view.fault instanceof CorruptionError || view.fault instanceof UnsupportedError) {
      events.finding(logFinding(view.fault.at({ offset: record.offset })));
    }
    yield view;
  }
  const rest = record.batch.rest();
  const [tag] = rest;
  if (tag !== undefined && !BATCH_LAYOUTS.has(tag))
    yield otherView(`type_${tag}`, rest.subarray(1), undefined);
}

function controlView(record: Exclude<WalRecord, WalBatch>): ControlView {
  const { offset, size } = record;
  switch (record.kind) {
    case 'compression_type':
      return { offset, size, control: record.kind, compression: compressionName(record.compressionType) };
    case 'timestamp_sizes':
      return { offset, size, control: record.kind, sizes: record.sizes };
    case 'predecessor_wal':
      return { offset, size, control: record.kind, predecessor: record.predecessor };
  }
}
