import { baseName, formatFileName, parseFileName } from '../../format/file-name.ts';
import type { ReadManifest } from '../../format/manifest/manifest-reader.ts';
import type { ManifestState } from '../../format/manifest/manifest-state.ts';
import type { Finding } from '../finding.ts';
import type { CheckedWal, WalContext } from './wal-check.ts';

/** Whether a database reads a log when it opens. */
export type WalStanding =
  | { readonly is: 'live'; readonly context: WalContext }
  /** All that it says is in tables. */
  | { readonly is: 'obsolete' };

/** A log that the MANIFEST tracks, and that is not there. */
export interface MissingWal {
  readonly number: number;
  readonly syncedSize: number;
}

/**
 * The logs of a database by its MANIFEST: which are read when it opens, what was synced of them, and whether each
 * follows the one before it, where it says which that is.
 * Source: RocksDB db/db_impl/db_impl_open.cc, db/wal_edit.cc, db/log_reader.cc.
 */
export class DatabaseWals {
  private readonly firstLive: number;
  private readonly state: ManifestState;
  /** Of the live tables, in the order of `smallest`. */
  private ranges: SeqnoRange[] | undefined;
  /** Sizes and last numbers of the logs that were checked. */
  private readonly checked = new Map<number, { size: number; lastSeqno: bigint }>();

  constructor(manifest: Pick<ReadManifest, 'state' | 'lostCount'>) {
    this.state = manifest.state;
    // Of what was lost a log may be in need.
    this.firstLive = manifest.lostCount > 0 ? 0 : firstLiveNumber(manifest.state);
  }

  /** Undefined: by its name it is no log of a database. */
  standingOf(path: string): WalStanding | undefined {
    const logNumber = walNumber(path);
    if (logNumber === undefined) return undefined;
    const { previousLogNumber, wals } = this.state;
    const isPrevious =
      previousLogNumber !== undefined && previousLogNumber > 0 && logNumber === previousLogNumber;
    if (logNumber < this.firstLive && !isPrevious) return { is: 'obsolete' };
    const inTables = (from: bigint, to: bigint): boolean => this.inTables(from, to);
    return { is: 'live', context: { logNumber, syncedSize: wals.get(logNumber), inTables } };
  }

  /** Takes the check of a live log, those of smaller numbers first; what it says of the log before is compared. */
  take(path: string, { report, predecessor, lastSeqno }: CheckedWal): Finding | undefined {
    const number = walNumber(path)!;
    this.checked.set(number, { size: report.bytes, lastSeqno });
    if (predecessor === undefined || Number(predecessor.logNumber) < this.firstLive) return undefined;
    const wanted = `the log before it is ${predecessor.logNumber}, by its first record`;
    const before = this.checked.get(Number(predecessor.logNumber));
    if (before === undefined) return predecessorFinding(`${wanted}, and that is not there`);
    const between = [...this.checked.keys()].filter(
      (other) => other > Number(predecessor.logNumber) && other < number,
    );
    if (between.length > 0) return predecessorFinding(`${wanted}, and ${between[0]} lies between them`);
    if (before.lastSeqno !== predecessor.lastSeqno) {
      const numbers = { stored: String(predecessor.lastSeqno), computed: String(before.lastSeqno) };
      const reason = `whose last batch should begin with sequence number ${numbers.stored}, and begins with ${numbers.computed}`;
      return predecessorFinding(`${wanted}, ${reason}`, numbers);
    }
    if (BigInt(before.size) >= predecessor.size) return undefined;
    const numbers = { stored: String(predecessor.size), computed: String(before.size) };
    return predecessorFinding(
      `${wanted}, with ${numbers.stored} bytes, and has ${numbers.computed}`,
      numbers,
    );
  }

  /** A number that a table has was written without a log, or by an ingestion. */
  private inTables(from: bigint, to: bigint): boolean {
    this.ranges ??= seqnoRanges(this.state);
    let next = from;
    for (const { smallest, largest } of this.ranges) {
      if (smallest > next) break;
      if (largest >= next) next = largest + 1n;
    }
    return next >= to;
  }

  /** A log to which nothing has been written yet. */
  takeEmpty(path: string): void {
    const number = walNumber(path);
    if (number !== undefined) this.checked.set(number, { size: 0, lastSeqno: 0n });
  }

  /** Tracked logs that are not there or have lost synced bytes. `sizeOf`: undefined where there is no such file. */
  compareTracked(sizeOf: (name: string) => number | undefined): {
    missing: MissingWal[];
    short: { name: string; stored: number; computed: number }[];
  } {
    const missing: MissingWal[] = [];
    const short: { name: string; stored: number; computed: number }[] = [];
    for (const [number, syncedSize] of this.state.wals) {
      // Its name may never have reached the disk.
      if (syncedSize === undefined) continue;
      const size = sizeOf(formatFileName('wal', number));
      if (size === undefined) missing.push({ number, syncedSize });
      else if (size >= 0 && size < syncedSize) {
        short.push({ name: `log ${number}`, stored: syncedSize, computed: size });
      }
    }
    return { missing, short };
  }
}

interface SeqnoRange {
  readonly smallest: bigint;
  readonly largest: bigint;
}

function seqnoRanges({ columnFamilies }: ManifestState): SeqnoRange[] {
  const ranges: SeqnoRange[] = [];
  for (const { files } of columnFamilies.values()) {
    for (const { smallestSeqno, largestSeqno } of files.values()) {
      if (smallestSeqno === undefined || largestSeqno === undefined) continue;
      ranges.push({ smallest: smallestSeqno, largest: largestSeqno });
    }
  }
  return ranges.sort((a, b) => (a.smallest < b.smallest ? -1 : a.smallest > b.smallest ? 1 : 0));
}

/** Logs below hold nothing that is not in tables. */
function firstLiveNumber({ columnFamilies, minLogNumberToKeep }: ManifestState): number {
  const numbers = [...columnFamilies.values()].map(({ logNumber }) => logNumber ?? 0);
  if (minLogNumberToKeep !== undefined) numbers.push(minLogNumberToKeep);
  return Math.min(...numbers);
}

function walNumber(path: string): number | undefined {
  const parsed = parseFileName(baseName(path));
  return parsed?.type === 'wal' ? parsed.number : undefined;
}

function predecessorFinding(message: string, numbers: { stored?: string; computed?: string } = {}): Finding {
  return { code: 'wal_predecessor', severity: 'damage', message, ...numbers };
}
