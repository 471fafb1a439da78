import { type ComparableSeqno, MAX_SEQNO } from '../../engine/range-del/comparable-seqno.ts';
import type { FragmentedTombstones } from '../../engine/range-del/fragmented-tombstones.ts';
import { fragmentTombstones } from '../../engine/range-del/fragmenter.ts';
import { CompactionRangeDelAggregator } from '../../engine/range-del/range-del-aggregator.ts';
import { TombstoneSet, tombstoneSetOf } from '../../engine/range-del/tombstone-set.ts';
import type { Comparator } from '../../operators/comparator.ts';
import type { CompactInput } from './compact-input.ts';
import { KeyRewriter } from './cursor-keys.ts';
import type { KeyPart } from './key-part.ts';

/** The range tombstones of all inputs. Without a MANIFEST a file's tombstones count as they stand in it. */
export class InputTombstones {
  private readonly lists: readonly FragmentedTombstones[];

  /** With a part of the keys: cut to it. */
  constructor(
    inputs: readonly CompactInput[],
    private readonly comparator: Comparator,
    part: KeyPart | undefined,
  ) {
    this.lists = inputs
      .map((input) => fragmentsOf(input, comparator, part))
      .filter(({ isEmpty }) => !isEmpty);
  }

  /** For the questions of one compaction; undefined without tombstones. */
  aggregator(snapshots: readonly ComparableSeqno[]): CompactionRangeDelAggregator | undefined {
    if (this.lists.length === 0) return undefined;
    const aggregator = new CompactionRangeDelAggregator(this.comparator, snapshots);
    for (const list of this.lists) aggregator.addTombstones(list);
    return aggregator;
  }

  /** What of them the snapshots tell apart; undefined without any. */
  output(snapshots: readonly ComparableSeqno[]): FragmentedTombstones | undefined {
    const list = this.aggregator(snapshots)?.outputTombstones();
    return list === undefined || list.isEmpty ? undefined : list;
  }

  /** The newest over the user key `key[0, end)`, timestamp left out; -1 for none. For explanations. */
  newestOver(key: Uint8Array, end: number): ComparableSeqno {
    return this.lists.reduce((max, list) => Math.max(max, list.maxCoveringSeqno(key, 0, end)), -1);
  }
}

/** Nobody reads below the sequence number, and nothing is there. */
export function isDroppable(
  seqno: ComparableSeqno,
  rules: { bottommost: boolean; snapshots: readonly ComparableSeqno[]; comparator: Comparator },
): boolean {
  const { bottommost, snapshots, comparator } = rules;
  return bottommost && comparator.timestampSize === 0 && seqno <= (snapshots[0] ?? MAX_SEQNO);
}

function fragmentsOf(
  input: CompactInput,
  comparator: Comparator,
  part: KeyPart | undefined,
): FragmentedTombstones {
  const rewriter = new KeyRewriter(input.shape.globalSeqno, input.paddedTimestampSize);
  const rewritten = input.tombstones.map(({ startKey, end }) => {
    const length = rewriter.rewrite(startKey, startKey.length);
    const padded = new Uint8Array(end.length + input.paddedTimestampSize);
    padded.set(end);
    return { startKey: rewriter.key.slice(0, length), end: padded };
  });
  const size = comparator.timestampSize;
  const set = tombstoneSetOf(rewritten, { storedTimestampSize: size, globalSeqno: undefined });
  return fragmentTombstones(part === undefined ? set : cutTo(part, set), comparator);
}

function cutTo(part: KeyPart, set: TombstoneSet): TombstoneSet {
  const cut = new TombstoneSet(set.timestampSize, set.size);
  const size = set.timestampSize;
  for (let t = 0; t < set.size; t++) {
    const key = (k: number): Uint8Array => set.bytes.subarray(set.offsets[k]!, set.offsets[k + 1]!);
    const start = part.later(key(2 * t));
    const end = part.earlier(key(2 * t + 1));
    if (part.order(start, end) >= 0) continue;
    const timestamp = size === 0 ? undefined : set.timestamps.subarray(t * size, (t + 1) * size);
    cut.add(start, 0, start.length, end, 0, end.length, set.seqnos[t]!, timestamp);
  }
  return cut;
}
