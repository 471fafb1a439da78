import type { Comparator } from '../../operators/comparator.ts';
import type { Finding } from '../finding.ts';
import { type EntryRun, type EntrySpan, heaviestChain } from './entry-runs.ts';

/** Entries that do not fit into the order of the others, and what they may have cost. */
export interface Misplaced {
  readonly entries: readonly EntrySpan[];
  readonly findings: readonly Finding[];
  /** Puts good keys in place of misplaced ones where a finding says what was lost. */
  correct(finding: Finding): void;
}

/**
 * What to leave out of a table whose keys do not ascend. `userKey` is that of an internal key, without timestamp.
 * Which keys stood there before is not known: they lay between the neighbours, or are what they look like.
 */
export function findMisplaced(
  runs: readonly EntryRun[],
  comparator: Comparator,
  userKey: (internalKey: Uint8Array) => Uint8Array,
): Misplaced {
  const stays = heaviestChain(runs, comparator);
  const keptBefore = (run: number): Uint8Array | null => {
    while (run >= 0 && !stays[run]) run--;
    return run < 0 ? null : userKey(runs[run]!.lastKey);
  };
  const keptBehind = (run: number): Uint8Array | null => {
    while (run < runs.length && !stays[run]) run++;
    return run === runs.length ? null : userKey(runs[run]!.firstKey);
  };
  const order = (a: Uint8Array, b: Uint8Array): number =>
    comparator.withoutTimestamp.compare(a, 0, a.length, b, 0, b.length);

  const entries: EntrySpan[] = [];
  const findings: Finding[] = [];
  const runOfKey = new Map<string, number>();
  /** Keys at the ends of runs that stay: good ones, though misplaced entries may have them as well. */
  const good = new Set<string>();
  for (const [run, { firstKey, lastKey }] of runs.entries()) {
    if (stays[run]) good.add(String(userKey(firstKey))).add(String(userKey(lastKey)));
  }
  for (let run = 0; run < runs.length; run++) {
    if (stays[run]) continue;
    const after = keptBefore(run);
    const before = keptBehind(run);
    const { start } = runs[run]!;
    const outside: Finding[] = [];
    for (; run < runs.length && !stays[run]; run++) {
      const [first, last] = [userKey(runs[run]!.firstKey), userKey(runs[run]!.lastKey)];
      runOfKey.set(String(first), run).set(String(last), run);
      const fits =
        (after === null || order(after, first) <= 0) && (before === null || order(last, before) <= 0);
      if (!fits) outside.push(keyOrder('they look like entries of another place', first, last, null));
    }
    const { end } = runs[run - 1]!;
    entries.push({ start, end });
    findings.push(keyOrder('keys are out of order', after, before, end - start), ...outside);
  }
  return {
    entries,
    findings,
    correct({ lost }) {
      if (lost === undefined) return;
      const misplacedRun = (key: Uint8Array | null): number | undefined =>
        key === null || good.has(String(key)) ? undefined : runOfKey.get(String(key));
      const after = misplacedRun(lost.after);
      const before = misplacedRun(lost.before);
      if (after !== undefined) lost.after = keptBefore(after);
      if (before !== undefined) lost.before = keptBehind(before);
    },
  };
}

function keyOrder(
  message: string,
  after: Uint8Array | null,
  before: Uint8Array | null,
  entries: number | null,
): Finding {
  return { code: 'key_order', severity: 'damage', message, lost: { after, before, entries } };
}
