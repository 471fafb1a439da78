import { toHex } from '../../bytes/text.ts';
import type { CompactionSink } from '../../engine/compaction/compaction-iterator.ts';
import type { FragmentedTombstones } from '../../engine/range-del/fragmented-tombstones.ts';
import { fragmentTombstones } from '../../engine/range-del/fragmenter.ts';
import { TombstoneSet } from '../../engine/range-del/tombstone-set.ts';
import { InvalidArgumentError } from '../../errors.ts';
import { TRAILER_SIZE, trailerType } from '../../format/internal-key.ts';
import { entryTypeName, isBoundToDatabase, ValueType } from '../../format/value-type.ts';
import { bytewiseComparator, type Comparator } from '../../operators/comparator.ts';

/**
 * Turns what a compaction keeps into what a database ingests. All of such a file gets one sequence number: so each
 * key is in it once, under 0, and a range tombstone covers none of its keys. Where an older tombstone lies over a
 * newer entry, it is cut around that key, which hides what is older by itself.
 */
export class IngestableEntries {
  private key = new Uint8Array(256);
  private last = new Uint8Array(0);
  private hasLast = false;
  /** Kept keys that a tombstone covers. */
  private readonly covered: Uint8Array[] = [];

  constructor(
    private readonly comparator: Comparator,
    /** What would be written of tombstones otherwise. */
    private readonly tombstones: FragmentedTombstones | undefined,
    private readonly out: Pick<CompactionSink, 'keep'>,
  ) {
    if (tombstones === undefined || comparator.compare === bytewiseComparator.compare) return;
    throw new InvalidArgumentError(
      'ingestable',
      comparator.name,
      `--ingestable: range tombstones can be cut around keys in bytewise order alone, not in that of ${comparator.name}`,
    );
  }

  /** Throws InvalidArgumentError for what cannot be in such a file. */
  keep(key: Uint8Array, keyLength: number, data: Uint8Array, valueStart: number, valueEnd: number): void {
    const end = keyLength - TRAILER_SIZE;
    const type = trailerType(key, keyLength);
    if (isBoundToDatabase(type)) throw this.refusal(key, end, `an entry of type ${entryTypeName(type)}`);
    if (this.hasLast && this.comparator.compare(this.last, 0, this.last.length, key, 0, end) === 0) {
      throw this.refusal(
        key,
        end,
        'more than one version: a single delete, or merge operands, that must stay',
      );
    }
    if (this.tombstones !== undefined && this.tombstones.maxCoveringSeqno(key, 0, end) >= 0) {
      if (type === ValueType.merge) throw this.refusal(key, end, 'a merge operand over a range tombstone');
      this.covered.push(key.slice(0, end));
    }
    this.last = key.slice(0, end);
    this.hasLast = true;
    if (this.key.length < keyLength) this.key = new Uint8Array(2 * keyLength);
    this.key.set(this.last);
    this.key[end] = type;
    this.key.fill(0, end + 1, keyLength);
    this.out.keep(this.key, keyLength, data, valueStart, valueEnd);
  }

  /** The tombstones, cut around the keys that were kept. To be asked when all are. */
  outputTombstones(): FragmentedTombstones | undefined {
    const { tombstones, covered } = this;
    if (tombstones === undefined) return undefined;
    const set = new TombstoneSet(0, tombstones.count + covered.length);
    const add = (start: Uint8Array, end: Uint8Array): void => {
      const isEmpty = bytewiseComparator.compare(start, 0, start.length, end, 0, end.length) >= 0;
      if (!isEmpty) set.add(start, 0, start.length, end, 0, end.length, 0);
    };
    let next = 0;
    for (let fragment = 0; fragment < tombstones.count; fragment++) {
      let start = tombstones.startKey(fragment);
      const end = tombstones.endKey(fragment);
      // Both ascend, and each covered key lies in one fragment.
      for (; next < covered.length; next++) {
        const key = covered[next]!;
        if (bytewiseComparator.compare(key, 0, key.length, end, 0, end.length) >= 0) break;
        add(start, key);
        start = successor(key);
      }
      add(start, end);
    }
    return fragmentTombstones(set, this.comparator);
  }

  private refusal(key: Uint8Array, end: number, what: string): InvalidArgumentError {
    const hex = toHex(key.subarray(0, end));
    return new InvalidArgumentError(
      'ingestable',
      hex,
      `--ingestable: key hex:${hex} has ${what}, which cannot be ingested; ` +
        '--bottommost ends single deletes and range tombstones, --merge-operator NAME joins operands',
    );
  }
}

/** The next key in bytewise order. */
function successor(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
