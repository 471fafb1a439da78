import { copyBytes } from '../../bytes/copy.ts';
import { InvalidArgumentError } from '../../errors.ts';
import { compareTrailers, TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import type { TableBuilder } from '../../format/table-builder/table-builder.ts';
import { entryTypeName, isBoundToDatabase } from '../../format/value-type.ts';
import type { Comparator } from '../../operators/comparator.ts';
import { OverlapCheck, Tombstones } from './tombstones.ts';
import type { WriteEntry } from './write-entry.ts';

export interface FeederOptions {
  readonly comparator: Comparator;
  /** False: keys are in the order of a comparator that is not known here, and are taken as they come. */
  readonly orderIsKnown: boolean;
  /** For ingestion: no sequence numbers, no overlap. */
  readonly ingestable: boolean;
}

/** Takes entries in order into a table, checks that order, and keeps what the report says. */
export class TableFeeder {
  entries = 0;
  private readonly tombstones: Tombstones;
  private readonly overlap: OverlapCheck | undefined;
  /** Internal key before. */
  private last: Uint8Array = new Uint8Array(256);
  private lastLength = 0;
  private lastLine = 0;
  private firstUserKey: Uint8Array | undefined;

  constructor(
    private readonly builder: TableBuilder,
    private readonly options: FeederOptions,
  ) {
    this.tombstones = new Tombstones(options.comparator, options.orderIsKnown);
    if (options.ingestable) this.overlap = new OverlapCheck(options.comparator);
  }

  /** A point entry. Throws InvalidArgumentError for one that cannot stand there, and what writing throws. */
  add(entry: WriteEntry): void {
    const { key, keyStart, keyEnd, value, valueStart, valueEnd } = entry;
    if (this.options.ingestable) this.makeIngestable(entry);
    if (this.lastLength > 0) this.checkOrder(entry);
    this.overlap?.key(key, keyStart, keyEnd - TRAILER_SIZE);
    this.builder.add(key, keyStart, keyEnd, value, valueStart, valueEnd);
    this.entries++;
    this.keepLast(key, keyStart, keyEnd);
    this.lastLine = entry.line;
    this.firstUserKey ??= key.slice(keyStart, keyEnd - TRAILER_SIZE);
  }

  addTombstone(entry: WriteEntry): void {
    if (this.options.ingestable) this.makeIngestable(entry);
    const tombstone = this.tombstones.add(entry);
    this.overlap?.tombstone(tombstone, this.firstUserKey, this.lastUserKey);
    this.entries++;
  }

  /** Hands over what waits for the end. */
  finish(): void {
    this.tombstones.sort();
    this.overlap?.finish(this.tombstones.list);
    this.tombstones.flush(this.builder);
  }

  /** Smallest and largest user key, timestamps left out; tombstones count with both their ends. Null: no entries. */
  bounds(): { smallest: Uint8Array | null; largest: Uint8Array | null } {
    const { comparator, orderIsKnown } = this.options;
    let smallest = this.firstUserKey;
    let largest = this.lastUserKey;
    for (const { start, end } of this.tombstones.list) {
      const from = start.subarray(0, start.length - TRAILER_SIZE);
      if (smallest === undefined || (orderIsKnown && isBefore(comparator, from, smallest))) smallest = from;
      if (largest === undefined || (orderIsKnown && isBefore(comparator, largest, end))) largest = end;
    }
    const plain = (key: Uint8Array | undefined) =>
      key === undefined ? null : key.subarray(0, key.length - comparator.timestampSize);
    return { smallest: plain(smallest), largest: plain(largest) };
  }

  private get lastUserKey(): Uint8Array | undefined {
    return this.lastLength === 0 ? undefined : this.last.subarray(0, this.lastLength - TRAILER_SIZE);
  }

  private checkOrder({ key, keyStart, keyEnd }: WriteEntry): void {
    const { last, lastLength } = this;
    const order = this.options.comparator.compare(
      last,
      0,
      lastLength - TRAILER_SIZE,
      key,
      keyStart,
      keyEnd - TRAILER_SIZE,
    );
    if (order < 0) return;
    if (order === 0) {
      if (isSameSeqno(last, lastLength, key, keyEnd)) throw this.duplicate(key, keyStart, keyEnd);
      if (compareTrailers(last, lastLength, key, keyEnd) < 0) return;
    }
    const why = order > 0 ? 'the key' : 'the sequence number of the same key';
    throw new InvalidArgumentError(
      'in',
      '',
      `${why} is out of order after line ${this.lastLine}: keys ascend by ${this.options.comparator.name}, ` +
        'sequence numbers of a key descend; --sort puts them in order',
    );
  }

  private duplicate(key: Uint8Array, start: number, end: number): InvalidArgumentError {
    const hex = Array.from(key.subarray(start, end - TRAILER_SIZE), (byte) =>
      byte.toString(16).padStart(2, '0'),
    );
    const why = this.options.ingestable ? '; an ingestable table has each key once, without its number' : '';
    return new InvalidArgumentError(
      'key',
      hex.join(''),
      `key ${hex.join('')} with this sequence number stands on line ${this.lastLine} already${why}`,
    );
  }

  /** Sequence number 0: the database gives its own. */
  private makeIngestable({ key, keyEnd }: WriteEntry): void {
    const type = trailerType(key, keyEnd);
    if (isBoundToDatabase(type)) {
      throw new InvalidArgumentError(
        'ingestable',
        entryTypeName(type),
        `an entry of type ${entryTypeName(type)} has no meaning in another database`,
      );
    }
    key.fill(0, keyEnd - TRAILER_SIZE + 1, keyEnd);
  }

  private keepLast(key: Uint8Array, start: number, end: number): void {
    const length = end - start;
    if (length > this.last.length) this.last = new Uint8Array(2 * length);
    copyBytes(key, start, end, this.last, 0);
    this.lastLength = length;
  }
}

function isSameSeqno(a: Uint8Array, aEnd: number, b: Uint8Array, bEnd: number): boolean {
  for (let i = 1; i < TRAILER_SIZE; i++) {
    if (a[aEnd - TRAILER_SIZE + i] !== b[bEnd - TRAILER_SIZE + i]) return false;
  }
  return true;
}

function isBefore(comparator: Comparator, a: Uint8Array, b: Uint8Array): boolean {
  return comparator.compare(a, 0, a.length, b, 0, b.length) < 0;
}
