import { TombstoneSet } from '../../engine/range-del/tombstone-set.ts';
import { BenchRandom } from './random.ts';
import { maxKeyOf, type RangeDelBenchParams, VARIABLE_KEY_DIGITS } from './range-del-params.ts';

/** Of `variableKey`. */
const MAX_KEY_BYTES = 40;

/** Key i is `bytes[offsets[i], offsets[i + 1])`: side by side, as a block has them. */
export interface AskedKeys {
  readonly bytes: Uint8Array;
  readonly offsets: Int32Array;
}

/**
 * Tombstones and keys by the rules of RocksDB's range_del_aggregator_bench, made before the clock starts. With little
 * garbage: collected while the clock runs, it is taken for work.
 */
export class RangeDelDraws {
  private readonly random: BenchRandom;
  private readonly startKey = new Uint8Array(8);
  private readonly endKey = new Uint8Array(8);

  constructor(private readonly params: RangeDelBenchParams) {
    this.random = new BenchRandom(params.seed);
  }

  tombstones(): TombstoneSet {
    const { params, random } = this;
    const { numRangeTombstones: count } = params;
    const starts = new Float64Array(count);
    const ends = new Float64Array(count);
    const maxKey = maxKeyOf(params);
    for (let i = 0; i < count; i++) {
      starts[i] = random.below(params.tombstoneStartUpperBound);
      const width = Math.max(1, random.normal(params.tombstoneWidthMean, params.tombstoneWidthStddev));
      ends[i] = Math.min(Math.round(starts[i]! + width), maxKey);
    }
    const seqnos = new Int32Array(count);
    for (let i = 0; i < count; i++) seqnos[i] = i;
    if (params.inputOrder === 'key') sortByKey(seqnos, starts, params.tombstoneStartUpperBound);
    const set = new TombstoneSet(0, count, 16 * count);
    for (const seqno of seqnos) {
      const start = this.key(starts[seqno]!, this.startKey);
      const end = this.key(ends[seqno]!, this.endKey);
      set.add(start, 0, start.length, end, 0, end.length, seqno);
    }
    return set;
  }

  /** Neighbouring keys from a random one on. */
  askedKeys(count: number): AskedKeys {
    const first = this.random.below(Math.max(1, this.params.shouldDeleteUpperBound - count + 1));
    return this.keysOf(count, (i) => first + i);
  }

  keysAmongTombstones(count: number): AskedKeys {
    return this.keysOf(count, () => this.random.below(this.params.tombstoneStartUpperBound));
  }

  private keysOf(count: number, valueAt: (i: number) => number): AskedKeys {
    const offsets = new Int32Array(count + 1);
    const bytes = new Uint8Array(count * MAX_KEY_BYTES);
    for (let i = 0; i < count; i++) {
      const key = this.key(valueAt(i));
      bytes.set(key, offsets[i]);
      offsets[i + 1] = offsets[i]! + key.length;
    }
    return { bytes, offsets };
  }

  /** Eight bytes, big-endian, into `target`: garbage would be collected while the clock runs. */
  private key(value: number, target = this.startKey): Uint8Array {
    if (this.params.keyShape === 'variable') return variableKey(value);
    const high = Math.floor(value / 2 ** 32);
    for (let i = 0; i < 4; i++) {
      target[i] = high >>> (24 - 8 * i);
      target[4 + i] = value >>> (24 - 8 * i);
    }
    return target;
  }
}

/** As internal keys are ordered: by start, then the newest first. */
function sortByKey(seqnos: Int32Array, starts: Float64Array, startUpperBound: number): void {
  const { length } = seqnos;
  if (startUpperBound * length > Number.MAX_SAFE_INTEGER) {
    seqnos.sort((a, b) => starts[a]! - starts[b]! || b - a);
    return;
  }
  // As one number each they are sorted without calls, and without garbage to be collected while the clock runs.
  const places = new Float64Array(length);
  for (let i = 0; i < length; i++) places[i] = starts[seqnos[i]!]! * length + (length - 1 - seqnos[i]!);
  places.sort();
  for (let i = 0; i < length; i++) seqnos[i] = length - 1 - (places[i]! % length);
}

/** The first key of each, side by side. */
export function firstOf(all: readonly AskedKeys[]): AskedKeys {
  const offsets = new Int32Array(all.length + 1);
  const bytes = new Uint8Array(all.length * MAX_KEY_BYTES);
  for (let i = 0; i < all.length; i++) {
    const first = all[i]!.bytes.subarray(0, all[i]!.offsets[1]);
    bytes.set(first, offsets[i]);
    offsets[i + 1] = offsets[i]! + first.length;
  }
  return { bytes, offsets };
}

/** `user/` and the digits in order of their number, then a tail of 0 to 12 bytes that the number decides. */
function variableKey(value: number): Uint8Array {
  return new TextEncoder().encode(
    `user/${String(value).padStart(VARIABLE_KEY_DIGITS, '0')}${'-suffix-text'.slice(0, value % 13)}`,
  );
}
