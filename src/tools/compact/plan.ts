import {
  CompactionIterator,
  type CompactionRules,
  type CompactionSink,
  type DropCounts,
} from '../../engine/compaction/compaction-iterator.ts';
import type { MergingIterator } from '../../engine/iterator/merging-iterator.ts';
import type { ComparableSeqno } from '../../engine/range-del/comparable-seqno.ts';
import type { FragmentedTombstones } from '../../engine/range-del/fragmented-tombstones.ts';
import { isDroppable } from './input-tombstones.ts';
import type { TableCursor } from './table-cursor.ts';

/** What one set of rules would leave over. */
export interface CompactPlan {
  readonly name: string;
  readonly kept: number;
  readonly keptTombstones: number;
  readonly dropped: DropCounts;
  /** Bytes of keys and values that are kept, of those in the inputs. */
  readonly rawBytes: number;
  readonly share: number;
  /** The inputs' size times the share. */
  readonly estimatedBytes: number;
}

type Snapshots = readonly ComparableSeqno[];

export interface PlanSources {
  readonly asked: { readonly bottommost: boolean; readonly snapshots: Snapshots };
  rules(bottommost: boolean, snapshots: Snapshots): CompactionRules;
  /** What is to be written of range tombstones, before anything of it is dropped. */
  tombstones(snapshots: Snapshots): FragmentedTombstones | undefined;
  /** Takes what is kept by the rules that were asked for, and hears of what is dropped. */
  readonly asAsked: CompactionSink;
  readonly inputBytes: number;
}

/** What the rules that were asked for, and others, would leave over: all see the same entries, in one pass. */
export async function planCompaction(
  merging: MergingIterator<TableCursor>,
  sources: PlanSources,
): Promise<CompactPlan[]> {
  const { bottommost, snapshots } = sources.asked;
  const variants = [
    new Variant('as asked', sources.rules(bottommost, snapshots), sources.asAsked),
    new Variant(
      bottommost ? 'without --bottommost' : 'with --bottommost',
      sources.rules(!bottommost, snapshots),
    ),
  ];
  if (snapshots.length > 0) {
    variants.push(new Variant('without --snapshots', sources.rules(bottommost, [])));
    variants.push(new Variant('--bottommost alone', sources.rules(true, [])));
  }
  let rawBytes = 0;
  await merging.open();
  while (merging.source >= 0) {
    const { key, keyLength, data, valueStart, valueEnd } = merging.current;
    rawBytes += keyLength + valueEnd - valueStart;
    for (const { machine } of variants)
      machine.push(merging.source, key, keyLength, data, valueStart, valueEnd);
    if (!merging.next()) await merging.load();
  }
  return variants.map((variant) =>
    variant.plan(sources.tombstones(variant.rules.snapshots), rawBytes, sources.inputBytes),
  );
}

class Variant {
  readonly machine: CompactionIterator;
  private keptBytes = 0;

  constructor(
    private readonly name: string,
    readonly rules: CompactionRules,
    next?: CompactionSink,
  ) {
    this.machine = new CompactionIterator(rules, {
      keep: (key, keyLength, data, start, end) => {
        this.keptBytes += keyLength + end - start;
        next?.keep(key, keyLength, data, start, end);
      },
      drop: next?.drop ?? (() => undefined),
    });
  }

  plan(tombstones: FragmentedTombstones | undefined, rawBytes: number, inputBytes: number): CompactPlan {
    const { machine, rules, keptBytes } = this;
    machine.finish();
    const seqnos = tombstones?.seqnos.subarray(0, tombstones.stackCount) ?? new Float64Array(0);
    const droppable = seqnos.reduce((n, seqno) => n + (isDroppable(seqno, rules) ? 1 : 0), 0);
    machine.drops.tombstones += droppable;
    const share = rawBytes === 0 ? 1 : keptBytes / rawBytes;
    return {
      name: this.name,
      kept: machine.kept,
      keptTombstones: seqnos.length - droppable,
      dropped: machine.drops,
      rawBytes: keptBytes,
      share,
      estimatedBytes: Math.round(share * inputBytes),
    };
  }
}
