import { copyBytes } from '../../bytes/copy.ts';
import { TRAILER_SIZE } from '../../format/internal-key.ts';
import {
  openTableBuilder,
  type TableBuilder,
  type TableBuilderEnvironment,
} from '../../format/table-builder/table-builder.ts';
import type { TableOptions } from '../../format/table-builder/table-options.ts';
import type { TableSink } from '../../format/table-builder/table-sink.ts';
import type { Comparator } from '../../operators/comparator.ts';
import { type ComparableSeqno, MAX_SEQNO } from '../range-del/comparable-seqno.ts';
import { fileTombstones, internalKey } from '../range-del/file-tombstones.ts';
import type { FragmentedTombstones } from '../range-del/fragmented-tombstones.ts';

/** A file that is being written; it appears under its name when it is committed. */
export interface OutputTarget {
  readonly path: string;
  readonly sink: TableSink;
  /** All bytes are on the disk, and nothing is held open any more. */
  finish(): void;
  commit(): void;
  discard(): void;
}

/** A finished output. Bounds are user keys, the tombstones' part of them cut at the file's borders. */
export interface OutputFile {
  readonly path: string;
  readonly entries: number;
  readonly bytes: number;
  readonly smallest: Uint8Array;
  readonly largest: Uint8Array;
}

export interface OutputRules {
  readonly table: TableOptions;
  readonly comparator: Comparator;
  /** A file of so many bytes ends before the next user key. Infinity: one file. */
  readonly targetFileBytes: number;
  /**
   * All range tombstones of the compaction; each file takes those of its part of the key space. Asked when a file ends,
   * and of one compaction always the same.
   */
  tombstones(): FragmentedTombstones | undefined;
  /** Nobody needs the tombstone any more. */
  isDroppable(seqno: ComparableSeqno): boolean;
}

/**
 * Cuts what a compaction keeps into tables. Files are cut between user keys only; a range tombstone that crosses
 * a border is written to both files, whole, as RocksDB does it. A file to which nothing was added is not written.
 * Nothing appears under its name before `commit`.
 */
export class CompactionOutputs {
  readonly files: OutputFile[] = [];
  /** Range tombstones (fragments by sequence number) that were written, counted once, and that nobody needed. */
  writtenTombstones = 0;
  droppedTombstones = 0;
  private readonly targets: OutputTarget[] = [];
  private target: OutputTarget | undefined;
  private builder: TableBuilder | undefined;
  /** Where the file at hand begins: an internal key; undefined for the first one. */
  private lower: Uint8Array | undefined;
  private firstKey: Uint8Array | undefined;
  private lastKey = new Uint8Array(256);
  private lastKeyLength = 0;
  /** Of the tombstones, by position: whether it was counted. */
  private seen: Uint8Array | undefined;

  constructor(
    private readonly rules: OutputRules,
    private readonly openTarget: (number: number) => OutputTarget,
    private readonly environment: TableBuilderEnvironment,
  ) {}

  /** To be awaited before the first `keep`, and behind each cut. */
  async open(): Promise<void> {
    if (this.builder !== undefined) return;
    const target = this.openTarget(this.files.length);
    this.targets.push(target);
    this.target = target;
    this.builder = await openTableBuilder(this.rules.table, target.sink, this.environment);
  }

  keep(key: Uint8Array, keyLength: number, data: Uint8Array, valueStart: number, valueEnd: number): void {
    this.builder!.add(key, 0, keyLength, data, valueStart, valueEnd);
    this.firstKey ??= key.slice(0, keyLength - TRAILER_SIZE);
    if (this.lastKey.length < keyLength) this.lastKey = new Uint8Array(2 * keyLength);
    this.lastKeyLength = keyLength - TRAILER_SIZE;
    copyBytes(key, 0, this.lastKeyLength, this.lastKey, 0);
  }

  get isSaturated(): boolean {
    return this.builder!.isSaturated;
  }

  settle(): Promise<void> {
    return this.builder!.settle();
  }

  /** The file has the size that was asked for. */
  get isFull(): boolean {
    return this.builder!.estimatedFileSize >= this.rules.targetFileBytes;
  }

  /** Ends the file before the user key of an entry, and opens the next one. */
  async cutBefore(key: Uint8Array, keyLength: number): Promise<void> {
    const end = keyLength - TRAILER_SIZE - this.rules.comparator.timestampSize;
    const border = internalKey(key.slice(0, end), MAX_SEQNO);
    await this.finishFile(border);
    this.lower = border;
    await this.open();
  }

  /** Ends the last file. */
  async finish(): Promise<void> {
    await this.finishFile(undefined);
  }

  /** Gives all files their names. */
  commit(): void {
    for (const target of this.targets) target.commit();
  }

  /** Removes what was written and not committed. */
  discard(): void {
    for (const target of this.targets) target.discard();
  }

  private async finishFile(upper: Uint8Array | undefined): Promise<void> {
    const target = this.target!;
    const builder = this.builder!;
    const bounds = this.addTombstones(builder, upper);
    if (builder.entryCount === 0) {
      target.discard();
      this.targets.pop();
    } else {
      const { entryCount, fileSize } = await builder.finish();
      target.finish();
      this.files.push({ path: target.path, entries: entryCount, bytes: fileSize, ...bounds! });
    }
    this.builder = undefined;
    this.target = undefined;
    this.firstKey = undefined;
  }

  private addTombstones(
    builder: TableBuilder,
    upper: Uint8Array | undefined,
  ): { smallest: Uint8Array; largest: Uint8Array } | undefined {
    const { comparator } = this.rules;
    const tombstones = this.rules.tombstones();
    const size = comparator.timestampSize;
    const order = comparator.withoutTimestamp;
    let smallest: Uint8Array | undefined = this.firstKey?.subarray(0, this.firstKey.length - size);
    let largest: Uint8Array | undefined = smallest && this.lastKey.slice(0, this.lastKeyLength - size);
    if (tombstones !== undefined) {
      this.seen ??= new Uint8Array(tombstones.stackCount);
      const cut = { lower: this.lower, upper };
      let fragment = 0;
      // Asked of the fragments in order, and of each from its newest sequence number on.
      const chosen = fileTombstones(tombstones, order, cut, (each, seqno) => {
        fragment = each;
        if (!this.rules.isDroppable(seqno)) return false;
        this.count(tombstones.newestUpTo(fragment, seqno), true);
        return true;
      });
      for (const row of chosen.rows) {
        this.count(row.position, false);
        addTombstone(builder, tombstones, row.fragment, row.position);
      }
      const from = chosen.smallest?.subarray(0, chosen.smallest.length - TRAILER_SIZE);
      const to = chosen.largest?.subarray(0, chosen.largest.length - TRAILER_SIZE);
      if (from !== undefined && (smallest === undefined || compare(order, from, smallest) < 0))
        smallest = from;
      if (to !== undefined && (largest === undefined || compare(order, to, largest) > 0)) largest = to;
    }
    return smallest === undefined || largest === undefined ? undefined : { smallest, largest };
  }

  /** A tombstone that crosses borders is met in several files. */
  private count(position: number, dropped: boolean): void {
    if (this.seen![position] === 1) return;
    this.seen![position] = 1;
    if (dropped) this.droppedTombstones++;
    else this.writtenTombstones++;
  }
}

function addTombstone(
  builder: TableBuilder,
  list: FragmentedTombstones,
  fragment: number,
  position: number,
): void {
  const timestamp = list.timestampAt(position);
  const plain = internalKey(list.startKey(fragment), list.seqnos[position]!);
  const start = withTimestamp(plain, plain.length - TRAILER_SIZE, timestamp);
  const endKey = list.endKey(fragment);
  const end = withTimestamp(endKey, endKey.length, timestamp);
  builder.addRangeTombstone(start, 0, start.length, end, 0, end.length);
}

function withTimestamp(key: Uint8Array, at: number, timestamp: Uint8Array): Uint8Array {
  if (timestamp.length === 0) return key;
  const longer = new Uint8Array(key.length + timestamp.length);
  longer.set(key.subarray(0, at));
  longer.set(timestamp, at);
  longer.set(key.subarray(at), at + timestamp.length);
  return longer;
}

function compare(order: Comparator, a: Uint8Array, b: Uint8Array): number {
  return order.compare(a, 0, a.length, b, 0, b.length);
}
