import { compareTrailers, TRAILER_SIZE } from '../../format/internal-key.ts';
import type { Comparator } from '../../operators/comparator.ts';

/** Entries [start, end) of a table, counted over all of it that can be read. */
export interface EntrySpan {
  readonly start: number;
  readonly end: number;
}

/** Entries of one block that ascend. Keys are internal keys. */
export interface EntryRun extends EntrySpan {
  readonly firstKey: Uint8Array;
  readonly lastKey: Uint8Array;
}

/** Whether each internal key comes behind the one before. */
export class OrderWatch {
  private last = new Uint8Array(256);
  private lastLength = -1;

  constructor(private readonly comparator: Comparator) {}

  /** A copy of the last key; null before the first. */
  lastKey(): Uint8Array | null {
    return this.lastLength < 0 ? null : this.last.slice(0, this.lastLength);
  }

  /** Takes the next key; false: it does not come behind the one before. */
  ascends(key: Uint8Array, keyLength: number): boolean {
    const { last, lastLength } = this;
    const ascends = lastLength < 0 || compareKeys(this.comparator, last, lastLength, key, keyLength) < 0;
    if (last.length < keyLength) this.last = new Uint8Array(2 * keyLength);
    this.last.set(key.subarray(0, keyLength));
    this.lastLength = keyLength;
    return ascends;
  }
}

/**
 * Cuts the entries of a table into runs: one ends where its block does, and before a key that does not ascend. Two
 * neighbours that overlap are cut once more, where the other one begins and ends: of neither more than that is lost.
 */
export class RunCutter {
  readonly runs: EntryRun[] = [];
  private count = 0;
  /** Keys of the run at hand, and of the one before. */
  private keys: Uint8Array[] = [];
  private before: readonly Uint8Array[] = [];
  /** The run at hand is cut behind this key. */
  private overlapEnd: Uint8Array | undefined;

  constructor(private readonly comparator: Comparator) {}

  /** To be called between two blocks, and at the end. */
  cut(): void {
    const { keys, count } = this;
    if (keys.length === 0) return;
    this.push(keys, count - keys.length);
    this.before = keys;
    this.keys = [];
    this.overlapEnd = undefined;
  }

  add(internalKey: Uint8Array, keyLength: number): void {
    const key = internalKey.slice(0, keyLength);
    const last = this.keys.at(-1);
    if (last !== undefined && this.order(last, key) >= 0) this.cut();
    if (this.overlapEnd !== undefined && this.order(this.overlapEnd, key) < 0) this.cut();
    if (this.keys.length === 0) this.begin(key);
    this.keys.push(key);
    this.count++;
  }

  private begin(key: Uint8Array): void {
    const { before, count } = this;
    const last = before.at(-1);
    if (last === undefined || this.order(last, key) < 0) return;
    this.overlapEnd = last;
    const at = before.findIndex((each) => this.order(each, key) >= 0);
    if (at === 0) return;
    this.runs.pop();
    this.push(before.slice(0, at), count - before.length);
    this.push(before.slice(at), count - before.length + at);
  }

  private push(keys: readonly Uint8Array[], start: number): void {
    this.runs.push({ start, end: start + keys.length, firstKey: keys[0]!, lastKey: keys.at(-1)! });
  }

  private order(a: Uint8Array, b: Uint8Array): number {
    return compareKeys(this.comparator, a, a.length, b, b.length);
  }
}

/**
 * Which runs stay so that keys ascend through all of them, and as many entries stay as can: one key that is far too
 * large, in a file without checksums, costs its own run and not all that follow. `true` a run that stays.
 *
 * The heaviest increasing subsequence: `ends` has the last keys of chains, ascending, and each chain is heavier than
 * those before it. In a file that is nearly in order, runs are added at the end.
 */
export function heaviestChain(runs: readonly EntryRun[], comparator: Comparator): boolean[] {
  const order = (a: Uint8Array, b: Uint8Array): number => compareKeys(comparator, a, a.length, b, b.length);
  const weights = new Float64Array(runs.length);
  const before = new Int32Array(runs.length).fill(-1);
  const ends: number[] = [];
  const countBelow = (key: Uint8Array): number => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (order(runs[ends[middle]!]!.lastKey, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  runs.forEach(({ start, end, firstKey, lastKey }, run) => {
    const joined = countBelow(firstKey);
    if (joined > 0) before[run] = ends[joined - 1]!;
    weights[run] = end - start + (joined > 0 ? weights[before[run]!]! : 0);
    const at = countBelow(lastKey);
    if (at > 0 && weights[ends[at - 1]!]! >= weights[run]!) return;
    let lighter = at;
    while (lighter < ends.length && weights[ends[lighter]!]! <= weights[run]!) lighter++;
    const isBeaten = at === lighter && at < ends.length && order(runs[ends[at]!]!.lastKey, lastKey) === 0;
    if (!isBeaten) ends.splice(at, lighter - at, run);
  });
  const stays = new Array<boolean>(runs.length).fill(false);
  for (let run = ends.at(-1) ?? -1; run >= 0; run = before[run]!) stays[run] = true;
  return stays;
}

/** Below 0: internal key `a` comes first. */
function compareKeys(
  { compare }: Comparator,
  a: Uint8Array,
  aLength: number,
  b: Uint8Array,
  bLength: number,
): number {
  return (
    compare(a, 0, aLength - TRAILER_SIZE, b, 0, bLength - TRAILER_SIZE) ||
    compareTrailers(a, aLength, b, bLength)
  );
}
