import { Pending, SstError } from '../errors.ts';
import type { BlockHandle } from '../format/block-handle.ts';
import { KeptBytes } from '../format/filter/added-keys.ts';
import type { FilterReader } from '../format/filter/filter-reader.ts';
import { expectedFpRate } from '../format/filter/fp-rate.ts';
import { KeyBatch } from '../format/filter/key-batch.ts';
import type { TableFilter } from '../format/filter/table-filter.ts';
import type { KeyHash } from '../hash/key-hash.ts';

/** What one filter, or one partition, denies although the file has it. */
export interface FilterDenials {
  readonly ordinal: number;
  readonly handle: BlockHandle;
  keys: number;
  prefixes: number;
  /** The first of them: a user key, or a prefix. */
  readonly example: Uint8Array;
  readonly exampleIs: 'key' | 'prefix';
}

/** What was asked: a key or a prefix that the file has, or one that it does not have. */
const KEY = 0;
const PREFIX = 1;
const ABSENT = 2;

const BATCH_KEYS = 512;
const BATCH_BYTES = 32 * 1024;

/**
 * Asks a table's filter for keys as they come in a walk over the table, in batches. One filter is in memory at a time:
 * the next partition takes the place of the last one.
 */
export class FilterAudit {
  /** Filters that deny what the file has: damage. In the order in which they were asked. */
  readonly denials: FilterDenials[] = [];
  absentAsked = 0;
  absentPassed = 0;
  /** How many of them were to pass, by what the filters have and the keys that they were asked for. */
  absentExpected = 0;
  /** The filter that is asked now. */
  private ordinal = -1;
  private reader: FilterReader | undefined;
  private readonly batch = new KeyBatch(BATCH_KEYS, BATCH_BYTES);
  private readonly roles = new Uint8Array(BATCH_KEYS);
  private readonly answers = new Uint8Array(BATCH_KEYS);
  private hasAbsent = false;
  /** The prefix that this filter was asked for last: most keys have the prefix of the key before them. */
  private readonly lastPrefix = new KeptBytes();
  private hasLastPrefix = false;
  /** Of the filter that is asked now: what the file has, and what it has not. */
  private presentHere = 0;
  private absentHere = 0;

  constructor(
    private readonly filter: TableFilter,
    private readonly hash: KeyHash,
  ) {}

  /** See `TableFilter`. */
  seekTarget(bytes: Uint8Array, start: number, end: number): Uint8Array {
    return this.filter.seekTarget(bytes, start, end);
  }

  /** Turns to the filter that knows the internal key `key[0, keyLength)`; false where it cannot be read. */
  turnTo(key: Uint8Array, keyLength: number): boolean {
    const { partitions } = this.filter;
    if (this.ordinal >= 0 && (partitions === undefined || partitions.covers(this.ordinal, key, 0, keyLength)))
      return this.reader !== undefined;
    this.finish();
    this.ordinal = this.filter.find(key, 0, keyLength);
    this.reader = this.ordinal < 0 ? undefined : this.tryOpen(this.ordinal);
    return this.reader !== undefined;
  }

  /**
   * A prefix that the file has, asked of the filter in which a seek for it lands: that may be the partition before
   * that of its first key. Turns to that filter.
   */
  seek(bytes: Uint8Array, start: number, end: number): void {
    if (this.filter.partitions === undefined) return;
    const target = this.filter.seekTarget(bytes, start, end);
    const ordinal = this.filter.find(target, 0, target.length);
    if (ordinal === this.ordinal || !this.turnTo(target, target.length)) return;
    // Borrowed from the neighbour: not one of the keys by which this filter's rate is reckoned.
    this.push(bytes, start, end, PREFIX);
  }

  /** A user key without timestamp that the file has. */
  key(bytes: Uint8Array, start: number, end: number): void {
    this.presentHere++;
    this.push(bytes, start, end, KEY);
  }

  /** A prefix that the file has; asked once where it is repeated. */
  prefix(bytes: Uint8Array, start: number, end: number): void {
    if (this.hasLastPrefix && this.lastPrefix.equals(bytes, start, end)) return;
    this.lastPrefix.set(bytes, start, end);
    this.hasLastPrefix = true;
    this.presentHere++;
    this.push(bytes, start, end, PREFIX);
  }

  /** A key or prefix that the file does not have. */
  absent(bytes: Uint8Array, start: number, end: number): void {
    this.hasAbsent = true;
    this.absentHere++;
    this.push(bytes, start, end, ABSENT);
  }

  /** Asks what is pending, and closes the filter. */
  finish(): void {
    this.settle();
    if (this.reader !== undefined && this.absentHere > 0) {
      this.absentExpected += this.absentHere * expectedFpRate(this.reader.facts, this.presentHere);
    }
    this.ordinal = -1;
    this.reader = undefined;
    this.hasLastPrefix = false;
    this.presentHere = 0;
    this.absentHere = 0;
  }

  private settle(): void {
    const { batch, reader, hash, answers, roles } = this;
    const { count } = batch;
    if (count === 0 || reader === undefined) return;
    const found = reader.mayContainMany(hash, batch.bytes, batch.offsets, count, answers);
    if (found < count || this.hasAbsent) {
      for (let i = 0; i < count; i++) {
        this.judge(batch.bytes, batch.offsets[i]!, batch.offsets[i + 1]!, roles[i]!, answers[i] === 1);
      }
    }
    batch.clear();
    this.hasAbsent = false;
  }

  private push(bytes: Uint8Array, start: number, end: number, role: number): void {
    if (!this.batch.push(bytes, start, end)) {
      this.settle();
      if (!this.batch.push(bytes, start, end)) {
        this.judge(bytes, start, end, role, this.reader!.mayContain(this.hash, bytes, start, end));
        return;
      }
    }
    this.roles[this.batch.count - 1] = role;
  }

  private judge(bytes: Uint8Array, start: number, end: number, role: number, may: boolean): void {
    if (role === ABSENT) {
      this.absentAsked++;
      if (may) this.absentPassed++;
    } else if (!may) {
      this.deny(bytes, start, end, role);
    }
  }

  private deny(bytes: Uint8Array, start: number, end: number, role: number): void {
    const { ordinal } = this;
    let denials = this.denials.at(-1);
    if (denials?.ordinal !== ordinal) {
      denials = {
        ordinal,
        handle: this.filter.handleOf(ordinal),
        keys: 0,
        prefixes: 0,
        example: bytes.slice(start, end),
        exampleIs: role === KEY ? 'key' : 'prefix',
      };
      this.denials.push(denials);
    }
    if (role === KEY) denials.keys++;
    else denials.prefixes++;
  }

  /** A filter that cannot be read is not asked. Filters are stored as they are: there is no codec to wait for. */
  private tryOpen(ordinal: number): FilterReader | undefined {
    try {
      return this.filter.open(ordinal);
    } catch (error) {
      if (error instanceof SstError || error instanceof Pending) return undefined;
      throw error;
    }
  }
}
