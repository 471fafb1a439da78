/**
 * What range tombstones mean, by looking at all of them for each question. Slow and clear: the oracle of the tests.
 */
import type { Comparator } from '../../src/operators/comparator.ts';

export interface ModelTombstone {
  start: Uint8Array;
  end: Uint8Array;
  seqno: bigint;
  timestamp?: bigint;
}

export interface ModelFragment {
  start: Uint8Array;
  end: Uint8Array;
  /** Newest first. */
  stack: { seqno: bigint; timestamp: bigint | undefined }[];
}

export class Model {
  readonly tombstones: ModelTombstone[];

  constructor(
    tombstones: readonly ModelTombstone[],
    private readonly comparator: Comparator,
  ) {
    this.tombstones = tombstones.filter(({ start, end }) => this.order(start, end) < 0);
  }

  order(a: Uint8Array, b: Uint8Array): number {
    return this.comparator.compare(a, 0, a.length, b, 0, b.length);
  }

  covers(tombstone: ModelTombstone, key: Uint8Array): boolean {
    return this.order(tombstone.start, key) <= 0 && this.order(key, tombstone.end) < 0;
  }

  /** The newest covering sequence number up to `upper` (and timestamp up to `timestamp`); undefined: none. */
  newest(key: Uint8Array, upper: bigint, timestamp?: bigint): bigint | undefined {
    let newest: bigint | undefined;
    for (const tombstone of this.tombstones) {
      if (tombstone.seqno > upper || !this.covers(tombstone, key)) continue;
      if (timestamp !== undefined && tombstone.timestamp! > timestamp) continue;
      if (newest === undefined || tombstone.seqno > newest) newest = tombstone.seqno;
    }
    return newest;
  }

  /** Every border cuts; equal ends with equal sequence numbers count once where both cover. */
  fragments(): ModelFragment[] {
    const borders = this.tombstones
      .flatMap(({ start, end }) => [start, end])
      .sort((a, b) => this.order(a, b));
    const distinct = borders.filter((key, i) => i === 0 || this.order(borders[i - 1]!, key) !== 0);
    const fragments: ModelFragment[] = [];
    for (let i = 0; i + 1 < distinct.length; i++) {
      const start = distinct[i]!;
      const seen = new Set<string>();
      const stack: ModelFragment['stack'] = [];
      for (const tombstone of this.tombstones) {
        if (!this.covers(tombstone, start)) continue;
        const identity = [tombstone.seqno, tombstone.timestamp, [...tombstone.end].join()].join('/');
        if (seen.has(identity)) continue;
        seen.add(identity);
        stack.push({ seqno: tombstone.seqno, timestamp: tombstone.timestamp });
      }
      stack.sort((a, b) => (a.seqno < b.seqno ? 1 : a.seqno > b.seqno ? -1 : 0));
      if (stack.length > 0) fragments.push({ start, end: distinct[i + 1]!, stack });
    }
    return fragments;
  }

  /** Deleted when a covering tombstone of the version's own stripe is newer. */
  deletedInCompaction(key: Uint8Array, seqno: bigint, snapshots: readonly bigint[]): boolean {
    const upper = snapshots.find((snapshot) => snapshot >= seqno) ?? 2n ** 56n - 1n;
    const newest = this.newest(key, upper);
    return newest !== undefined && newest > seqno;
  }
}

/** Of a stack, newest first: what a flush keeps, the newest of each stripe between snapshots. */
export function visibleToSnapshots(stack: readonly bigint[], snapshots: readonly bigint[]): bigint[] {
  const kept = new Map<string, bigint>();
  for (const seqno of stack) {
    const stripe = String(snapshots.findIndex((snapshot) => snapshot >= seqno));
    const newest = kept.get(stripe);
    if (newest === undefined || seqno > newest) kept.set(stripe, seqno);
  }
  return [...kept.values()].sort((a, b) => (a < b ? 1 : -1));
}
