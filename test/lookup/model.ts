/**
 * What look-ups are to answer, by a naive sorted list of every version: the oracle of the tests of this folder.
 * Bytes are lower-case hex, as in the expected entries of fixtures.
 */

import { compareArrays } from '../../src/bytes/compare.ts';
import { fromHex, toHex } from '../../src/bytes/text.ts';
import type { FoundRow } from '../../src/engine/table/table-set.ts';
import { decodeWideColumns } from '../../src/format/entry-value.ts';
import { entryTypeName } from '../../src/format/value-type.ts';
import type { Comparator } from '../../src/operators/comparator.ts';
import type { MergeOperator } from '../../src/operators/merge-operator.ts';
import type { PrefixExtractor } from '../../src/operators/prefix-extractor.ts';
import type { Expected, ExpectedEntry } from '../support/fixtures.ts';

export interface ModelRow {
  readonly key: string;
  readonly type: string;
  /** Null where the expected entries do not tell the stored bytes: blob references. */
  readonly value: string | null;
}

const decoded = new Map<string, Uint8Array>();

/** Kept: the same keys are compared over and over. */
export function bytesOf(hex: string): Uint8Array {
  let bytes = decoded.get(hex);
  if (bytes === undefined) {
    bytes = fromHex(hex)!;
    if (hex.length < 1000) decoded.set(hex, bytes);
  }
  return bytes;
}

export class Model {
  private readonly entries: readonly ExpectedEntry[];
  private readonly byPoint = new Map<bigint, ModelRow[]>();

  constructor(
    private readonly expected: Expected,
    /** Of user keys without timestamp. */
    readonly comparator: Comparator,
    private readonly operator: MergeOperator | undefined,
  ) {
    this.entries = expected.entries;
  }

  get keys(): string[] {
    return [...new Set(this.entries.map(({ key }) => key))];
  }

  get seqnos(): bigint[] {
    return [...this.entries, ...this.expected.rangeTombstones].map(({ seqno }) => BigInt(seqno));
  }

  compare(a: string, b: string): number {
    const [left, right] = [bytesOf(a), bytesOf(b)];
    return this.comparator.compare(left, 0, left.length, right, 0, right.length);
  }

  /** All rows that a reader at a sequence number sees, in order. */
  rows(at: bigint): ModelRow[] {
    let rows = this.byPoint.get(at);
    if (rows === undefined) {
      const versions = new Map<string, ExpectedEntry[]>();
      for (const entry of this.entries) {
        if (BigInt(entry.seqno) > at) continue;
        const list = versions.get(entry.key);
        if (list === undefined) versions.set(entry.key, [entry]);
        else list.push(entry);
      }
      rows = [];
      for (const key of [...versions.keys()].sort((a, b) => this.compare(a, b))) {
        const row = this.resolve(key, versions.get(key)!, at);
        if (row !== undefined) rows.push(row);
      }
      this.byPoint.set(at, rows);
    }
    return rows;
  }

  get(key: string, at: bigint): ModelRow | undefined {
    const rows = this.rows(at);
    const row = rows[this.countBefore(rows, key)];
    return row?.key === key ? row : undefined;
  }

  /** How many of the sorted rows come before the key. */
  countBefore(rows: readonly ModelRow[], key: string): number {
    let low = 0;
    let high = rows.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.compare(rows[middle]!.key, key) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  private covering(key: string, at: bigint): bigint {
    let newest = -1n;
    for (const { start, end, seqno } of this.expected.rangeTombstones) {
      if (BigInt(seqno) > at || BigInt(seqno) <= newest) continue;
      if (this.compare(start, key) <= 0 && this.compare(key, end) < 0) newest = BigInt(seqno);
    }
    return newest;
  }

  private resolve(key: string, versions: ExpectedEntry[], at: bigint): ModelRow | undefined {
    const covering = this.covering(key, at);
    versions.sort((a, b) => byTimestamp(b, a) || Number(BigInt(b.seqno) - BigInt(a.seqno)));
    const operands: Uint8Array[] = [];
    let base: ExpectedEntry | undefined;
    for (const version of versions) {
      if (BigInt(version.seqno) < covering) break;
      if (version.type === 'merge') {
        operands.unshift(bytesOf(version.value));
        continue;
      }
      if (!/delete/.test(version.type)) base = version;
      break;
    }
    if (operands.length > 0) {
      const value = this.operator!.fullMerge(base === undefined ? undefined : bytesOf(base.value), operands);
      return { key, type: 'put', value: shortened(toHex(value)) };
    }
    if (base === undefined) return undefined;
    const { type } = base;
    const value =
      type === 'blob_index' ? null : type === 'entity' ? JSON.stringify(base.columns) : shortened(base.value);
    return { key, type, value };
  }
}

/** Timestamps are little-endian. */
function byTimestamp(a: ExpectedEntry, b: ExpectedEntry): number {
  return compareArrays(bytesOf(a.timestamp ?? '').toReversed(), bytesOf(b.timestamp ?? '').toReversed());
}

/** Bytes of a value that are compared; of longer ones the length besides. */
const LONG_VALUE = 1000;

function shortened(hex: string): string {
  return hex.length <= 2 * LONG_VALUE ? hex : `${hex.slice(0, 2 * LONG_VALUE)} of ${hex.length / 2}`;
}

/** A row of ours in the words of the model. */
export function modelRow(key: Uint8Array, { type, value }: Pick<FoundRow, 'type' | 'value'>): ModelRow {
  const name = entryTypeName(type);
  if (name === 'blob_index') return { key: toHex(key), type: name, value: null };
  if (name !== 'entity') {
    const text =
      toHex(value.subarray(0, LONG_VALUE)) + (value.length > LONG_VALUE ? ` of ${value.length}` : '');
    return { key: toHex(key), type: name, value: text };
  }
  const columns = decodeWideColumns(value, 0, value.length).map((column) => ({
    name: toHex(column.name),
    value: toHex(column.value),
  }));
  return { key: toHex(key), type: name, value: JSON.stringify(columns) };
}

export interface ModelBounds {
  readonly lower: string | undefined;
  readonly upper: string | undefined;
  /** Rows end with the prefix that this makes of the key looked for. */
  readonly prefixOf: PrefixExtractor | undefined;
}

/** An iterator over the rows of a model: an index, and what ends it. */
export class ModelIterator {
  private at = -1;
  private prefix: string | undefined;

  constructor(
    private readonly model: Model,
    private readonly rows: readonly ModelRow[],
    private readonly bounds: ModelBounds,
  ) {}

  get current(): ModelRow | undefined {
    const row = this.rows[this.at];
    if (row === undefined) return undefined;
    const { lower, upper } = this.bounds;
    if (lower !== undefined && this.model.compare(row.key, lower) < 0) return undefined;
    if (upper !== undefined && this.model.compare(row.key, upper) >= 0) return undefined;
    if (this.prefix !== undefined && this.prefixOf(row.key) !== this.prefix) return undefined;
    return row;
  }

  seek(key: string): void {
    const { lower } = this.bounds;
    this.prefix = this.prefixOf(key);
    const from = lower !== undefined && this.model.compare(key, lower) < 0 ? lower : key;
    this.at = this.model.countBefore(this.rows, from);
  }

  seekForPrev(key: string): void {
    const { upper } = this.bounds;
    this.prefix = this.prefixOf(key);
    const count = this.model.countBefore(this.rows, key);
    const last = this.rows[count]?.key === key ? count : count - 1;
    this.at = upper === undefined ? last : Math.min(last, this.model.countBefore(this.rows, upper) - 1);
  }

  seekToFirst(): void {
    const { lower } = this.bounds;
    this.prefix = undefined;
    this.at = lower === undefined ? 0 : this.model.countBefore(this.rows, lower);
    if (this.current !== undefined) this.prefix = this.prefixOf(this.current.key);
  }

  seekToLast(): void {
    const { upper } = this.bounds;
    this.prefix = undefined;
    this.at = (upper === undefined ? this.rows.length : this.model.countBefore(this.rows, upper)) - 1;
    if (this.current !== undefined) this.prefix = this.prefixOf(this.current.key);
  }

  next(): void {
    this.at++;
  }

  previous(): void {
    this.at--;
  }

  private prefixOf(key: string): string | undefined {
    const { prefixOf } = this.bounds;
    const bytes = bytesOf(key);
    if (prefixOf === undefined || !prefixOf.inDomain(bytes, 0, bytes.length)) return undefined;
    return toHex(bytes.subarray(0, prefixOf.prefixEnd(bytes, 0, bytes.length)));
  }
}
