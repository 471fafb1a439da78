import type { Environment } from '../../engine/environment.ts';
import { type SstError, UnsupportedError } from '../../errors.ts';
import type { Finding } from '../finding.ts';
import { checkInput, type OpenedInput } from './compact-input.ts';
import type { EntrySpan } from './entry-runs.ts';
import type { CompactEvents, CompactedInput } from './events.ts';
import { damagedInputs, type Hole, holeOf, holeWarning } from './holes.ts';

export interface CheckedInputs {
  readonly inputs: CompactedInput[];
  readonly holes: Hole[];
  /** Of each input, the entries that are to be left out. */
  readonly misplaced: (readonly EntrySpan[])[];
}

/**
 * Reads all inputs and says what is wrong with them, before anything is written. Throws when one is not whole, unless
 * `salvage` is set: then it warns of each hole. `advanced` hears of the bytes that were read.
 */
export async function checkInputs(
  environment: Environment,
  opened: readonly OpenedInput[],
  salvage: boolean,
  events: CompactEvents,
  advanced: (bytes: number) => void,
): Promise<CheckedInputs> {
  const inputs: CompactedInput[] = [];
  const holes: Hole[] = [];
  const misplaced: (readonly EntrySpan[])[] = [];
  let refusal: SstError | undefined;
  let before = 0;
  for (const input of opened) {
    const { path, source, tombstones } = input;
    const check = await checkInput(environment, input, (offset) => advanced(before + offset));
    before += source.size;
    advanced(before);
    for (const finding of check.findings) {
      events.finding(path, finding);
      const hole = holeOf(path, finding);
      if (hole !== undefined) holes.push(hole);
    }
    const faults = check.findings.filter(isFault);
    if (faults.length > 0 && !salvage) {
      const error = damagedInputs(path, faults);
      if (refusal === undefined || refusal instanceof UnsupportedError) refusal = error;
    }
    misplaced.push(check.misplaced);
    inputs.push({ path, entries: check.points + tombstones.length, bytes: source.size });
  }
  if (refusal !== undefined) throw refusal;
  for (const hole of holes) events.warning(holeWarning(hole));
  return { inputs, holes, misplaced };
}

/**
 * Whether what was read of an input when it was opened is whole. Then the merge itself notices whatever else could be
 * wrong, and nobody needs to read the input twice.
 */
export function looksWhole({
  openFindings,
  opened,
  dictionary,
  properties,
  tombstones,
}: OpenedInput): boolean {
  if (openFindings.some(isFault) || dictionary === null) return false;
  if (opened.plain !== undefined) return true;
  const counted = properties?.count('rocksdb.num.range-deletions') ?? 0;
  return (
    opened.recovered === undefined && opened.blocks.problems.length === 0 && tombstones.length >= counted
  );
}

/** Whether so many point entries, read to the end, are fewer than the input's properties say. */
export function missesEntries({ properties, tombstones }: OpenedInput, points: number): boolean {
  const counted = properties?.count('rocksdb.num.entries');
  // Old releases leave range tombstones out of the count.
  return counted !== undefined && points < counted && points + tombstones.length < counted;
}

/** Also where a part is written in a way that is not read: damage can look so, and rows would be missing all the same. */
function isFault({ code, severity, lost }: Finding): boolean {
  return severity === 'damage' || code === 'unsupported' || lost !== undefined;
}
