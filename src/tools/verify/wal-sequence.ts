import { toHex } from '../../bytes/text.ts';
import type { BatchOperation } from '../../format/wal/write-batch.ts';
import type { Finding } from '../finding.ts';

/** A number that is not known; also for numbers that sub-batches have. */
const UNKNOWN = undefined;

/**
 * Whether each batch of a log begins with the number behind the last one of the batch before. What is prepared takes
 * its numbers with its commit. Nothing is said where the next number cannot be known: behind damage, behind a commit
 * of what was prepared in another log, and in logs of transactions whose numbers are those of sub-batches and of
 * commits (write_policy WRITE_PREPARED or WRITE_UNPREPARED): these show it anywhere in the log, and all of its gaps
 * are forgotten then.
 *
 * A gap misleads no reader, and there are rightful ones: writes without a log, files that are ingested. So it is a
 * warning, one for a log, and none where tables have the numbers.
 * Memory: an id and a number for each transaction that is prepared and not yet decided.
 */
export class WalSequence {
  private expected: bigint | undefined = UNKNOWN;
  private previous: { readonly seqno: bigint; readonly offset: number } | undefined;
  /** Operations of transactions that are prepared, by the id in hexadecimal. */
  private readonly prepared = new Map<string, number>();
  private isPerBatch = false;
  /** Of the batch at hand. */
  private isPreparing = false;
  private pending = 0;

  private gaps = 0;
  private missing = 0n;
  private first = '';

  /** `inTables`: whether tables have all numbers from `from` to, exclusive, `to`. */
  constructor(private readonly inTables: (from: bigint, to: bigint) => boolean = () => false) {}

  /** A batch begins. */
  begin(seqno: bigint, offset: number): void {
    const { expected, previous } = this;
    this.isPreparing = false;
    this.pending = 0;
    if (expected !== undefined && previous !== undefined && !this.isPerBatch && seqno !== expected) {
      if (seqno > expected) {
        if (!this.inTables(expected, seqno)) this.gap(seqno - expected, this.text(seqno, offset, expected));
      } else if (seqno < previous.seqno) this.gap(0n, this.text(seqno, offset, expected));
      else this.isPerBatch = true;
    }
    this.previous = { seqno, offset };
    this.expected = seqno;
  }

  /** An operation of it. */
  take({ type, isEntry, value }: BatchOperation): void {
    if (isEntry) {
      if (this.isPreparing) this.pending++;
      else this.advance(1);
      return;
    }
    switch (type) {
      case 'begin_prepare':
        this.isPreparing = true;
        this.pending = 0;
        return;
      case 'end_prepare':
        if (this.isPreparing) this.prepared.set(toHex(value), this.pending);
        this.isPreparing = false;
        return;
      case 'begin_persisted_prepare':
      case 'begin_unprepare':
        this.isPerBatch = true;
        return;
      case 'commit': {
        const count = this.decide(value);
        if (count === undefined) this.lose();
        else this.advance(count);
        return;
      }
      case 'rollback':
        this.decide(value);
        return;
    }
  }

  /** A record was lost: what follows is not compared with what was before. */
  lose(): void {
    this.expected = UNKNOWN;
  }

  finding(): Finding | undefined {
    if (this.gaps === 0 || this.isPerBatch) return undefined;
    const more = this.gaps === 1 ? '' : `; ${this.gaps} such places, ${this.missing} numbers missing`;
    return { code: 'wal_sequence_gap', severity: 'warning', message: this.first + more };
  }

  private gap(missing: bigint, text: string): void {
    if (this.gaps === 0) this.first = text;
    this.gaps++;
    this.missing += missing;
  }

  private decide(xid: Uint8Array): number | undefined {
    const name = toHex(xid);
    const count = this.prepared.get(name);
    this.prepared.delete(name);
    return count;
  }

  private advance(count: number): void {
    if (this.expected !== undefined) this.expected += BigInt(count);
  }

  private text(seqno: bigint, offset: number, expected: bigint): string {
    return (
      `record at ${offset}: its sequence numbers begin with ${seqno}, those of the record before, at ` +
      `${this.previous!.offset}, end before ${expected}`
    );
  }
}
