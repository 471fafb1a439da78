import { InvalidArgumentError } from '../../errors.ts';
import { compareTrailers, TRAILER_SIZE } from '../../format/internal-key.ts';
import type { TableBuilder } from '../../format/table-builder/table-builder.ts';
import type { Comparator } from '../../operators/comparator.ts';
import type { WriteEntry } from './write-entry.ts';

/** A range tombstone: start as an internal key, end as a user key, both with timestamp. */
export interface WrittenTombstone {
  readonly start: Uint8Array;
  readonly end: Uint8Array;
  readonly line: number;
}

/**
 * The range tombstones of a table, which may come anywhere between its other rows. They are stored by start, then
 * sequence number descending, those that are equal in both as they came; or all as they came, where the order is not
 * known. Several may have the same start and sequence number, as in files of SstFileWriter.
 */
export class Tombstones {
  readonly list: WrittenTombstone[] = [];

  constructor(
    private readonly comparator: Comparator,
    private readonly orderIsKnown: boolean,
  ) {}

  add(entry: WriteEntry): WrittenTombstone {
    const tombstone = {
      start: entry.key.slice(entry.keyStart, entry.keyEnd),
      end: entry.value.slice(entry.valueStart, entry.valueEnd),
      line: entry.line,
    };
    if (this.orderIsKnown && this.compareToStart(tombstone.end, tombstone.end.length, tombstone) < 0) {
      throw new InvalidArgumentError('end', '', 'a range tombstone ends before it starts');
    }
    this.list.push(tombstone);
    return tombstone;
  }

  /** Adds all of them to the table. */
  flush(builder: TableBuilder): void {
    this.sort();
    for (const { start, end } of this.list) {
      builder.addRangeTombstone(start, 0, start.length, end, 0, end.length);
    }
  }

  sort(): void {
    if (!this.orderIsKnown) return;
    this.list.sort(
      (a, b) =>
        this.compareToStart(a.start, a.start.length - TRAILER_SIZE, b) ||
        compareTrailers(a.start, a.start.length, b.start, b.start.length),
    );
  }

  /** The user key `key[0, end)` against the start of a tombstone. */
  private compareToStart(key: Uint8Array, end: number, { start }: WrittenTombstone): number {
    return this.comparator.compare(key, 0, end, start, 0, start.length - TRAILER_SIZE);
  }
}

/**
 * Refuses range tombstones that overlap keys or one another. In an ingested file all entries get one sequence number,
 * so that a tombstone hides none of the keys beside it, whatever their sequence numbers said before. Keys are compared
 * without their timestamps.
 */
export class OverlapCheck {
  /** Tombstones that start behind the keys so far, by start. */
  private readonly ahead: WrittenTombstone[] = [];
  /** Those that start at or before them, and end behind. */
  private open: WrittenTombstone | undefined;

  private readonly compare: Comparator['compare'];
  private readonly timestampSize: number;

  constructor({ withoutTimestamp, timestampSize }: Comparator) {
    this.compare = withoutTimestamp.compare;
    this.timestampSize = timestampSize;
  }

  /** A tombstone, with the first and last user key so far. */
  tombstone(tombstone: WrittenTombstone, first: Uint8Array | undefined, last: Uint8Array | undefined): void {
    if (last !== undefined && this.startsAfter(tombstone, last, last.length) <= 0) {
      if (!this.endsAfter(tombstone, first!, 0, first!.length)) return;
      throw new InvalidArgumentError(
        'ingestable',
        '',
        'a range tombstone comes after keys that it may cover: put it before them, or use --sort',
      );
    }
    let at = this.ahead.length;
    while (
      at > 0 &&
      this.startsAfter(this.ahead[at - 1]!, tombstone.start, tombstone.start.length - TRAILER_SIZE) > 0
    ) {
      at--;
    }
    this.ahead.splice(at, 0, tombstone);
  }

  /** The next user key, in order. */
  key(key: Uint8Array, start: number, end: number): void {
    const { ahead } = this;
    let passed = 0;
    while (passed < ahead.length && this.startsBefore(ahead[passed]!, key, start, end)) {
      const tombstone = ahead[passed++]!;
      if (this.open === undefined || this.endsAfter(tombstone, this.open.end, 0, this.open.end.length)) {
        this.open = tombstone;
      }
    }
    if (passed > 0) ahead.splice(0, passed);
    if (this.open !== undefined && this.endsAfter(this.open, key, start, end)) {
      throw new InvalidArgumentError(
        'ingestable',
        '',
        `the range tombstone of line ${this.open.line} covers the key, which it would not once it is ingested`,
      );
    }
  }

  /** All tombstones, sorted. */
  finish(tombstones: readonly WrittenTombstone[]): void {
    for (let i = 1; i < tombstones.length; i++) {
      const [before, after] = [tombstones[i - 1]!, tombstones[i]!];
      if (!this.endsAfter(before, after.start, 0, after.start.length - TRAILER_SIZE)) continue;
      throw new InvalidArgumentError(
        'ingestable',
        '',
        `the range tombstones of lines ${before.line} and ${after.line} overlap`,
      );
    }
  }

  private startsAfter({ start }: WrittenTombstone, key: Uint8Array, end: number): number {
    return this.order(start, start.length - TRAILER_SIZE, key, 0, end);
  }

  private startsBefore({ start }: WrittenTombstone, key: Uint8Array, from: number, to: number): boolean {
    return this.order(start, start.length - TRAILER_SIZE, key, from, to) <= 0;
  }

  private endsAfter({ end }: WrittenTombstone, key: Uint8Array, from: number, to: number): boolean {
    return this.order(end, end.length, key, from, to) > 0;
  }

  private order(a: Uint8Array, aEnd: number, b: Uint8Array, bStart: number, bEnd: number): number {
    const size = this.timestampSize;
    return this.compare(a, 0, aEnd - size, b, bStart, bEnd - size);
  }
}
