/** Seeded histories of a few keys, what a reader sees of them, and tables of their versions. */

import { openTableBuilder } from '../../src/format/table-builder/table-builder.ts';
import type { TableOptions } from '../../src/format/table-builder/table-options.ts';
import { MemorySink } from '../../src/format/table-builder/table-sink.ts';
import { ValueType } from '../../src/format/value-type.ts';
import { mergeOperatorByName } from '../../src/operators/merge-operator.ts';
import type { SeededRandom } from '../support/random.ts';
import type { JsonRow } from '../support/scan.ts';
import { environment } from './compact-here.ts';

/** A put, delete, single delete or merge of `key`, or a range tombstone [key, end). */
export interface Version {
  key: string;
  seqno: number;
  type: 'put' | 'delete' | 'single_delete' | 'merge' | 'range_delete';
  value: string;
  end: string;
}

const TYPE_NUMBERS = {
  put: ValueType.value,
  delete: ValueType.deletion,
  single_delete: ValueType.singleDeletion,
  merge: ValueType.merge,
  range_delete: ValueType.rangeDeletion,
};

const DELIMITER = '+';
export const APPEND = mergeOperatorByName('StringAppendOperator', new TextEncoder().encode(DELIMITER));

/** What a reader at `seqno` sees of a key; undefined: nothing. Single deletes hide as deletes do. */
export function valueAt(versions: readonly Version[], key: string, seqno: number): string | undefined {
  const visible = versions.filter((version) => version.seqno <= seqno);
  const covering = visible
    .filter(({ type, key: start, end }) => type === 'range_delete' && start <= key && key < end)
    .reduce((newest, version) => Math.max(newest, version.seqno), -1);
  const points = visible
    .filter((version) => version.type !== 'range_delete' && version.key === key)
    .sort((a, b) => b.seqno - a.seqno || TYPE_NUMBERS[b.type] - TYPE_NUMBERS[a.type]);
  const operands: string[] = [];
  let base: string | undefined;
  for (const { type, value, seqno: own } of points) {
    if (own < covering) break;
    if (type === 'merge') {
      operands.unshift(value);
      continue;
    }
    if (type === 'put') base = value;
    break;
  }
  if (operands.length === 0) return base;
  return (base === undefined ? operands : [base, ...operands]).join(DELIMITER);
}

export function viewAt(versions: readonly Version[], keys: readonly string[], seqno: number): string[] {
  return keys.flatMap((key) => {
    const value = valueAt(versions, key, seqno);
    return value === undefined ? [] : [`${key}=${value}`];
  });
}

/** Keys that begin with `s` keep to the contract of single deletes: a put only where nothing is. */
export function makeHistory(
  random: SeededRandom,
  keys: readonly string[],
  length: number,
  types: readonly Version['type'][] = ['put', 'put', 'delete', 'merge', 'merge'],
): Version[] {
  const versions: Version[] = [];
  let seqno = 0;
  const add = (version: Partial<Version> & Pick<Version, 'key' | 'type'>): void => {
    versions.push({ value: '', end: '', seqno, ...version });
  };
  while (versions.length < length) {
    seqno += 1 + random.below(2);
    const key = random.pick(keys);
    if (random.chance(0.07)) {
      const [start, end] = [key, random.pick(keys)].sort() as [string, string];
      if (start < end) add({ key: start, end, type: 'range_delete' });
    } else if (key.startsWith('s')) {
      const exists = valueAt(versions, key, seqno) !== undefined;
      add({ key, type: exists ? 'single_delete' : 'put', value: exists ? '' : `v${seqno}` });
    } else {
      const type = random.pick(types);
      add({ key, type, value: type === 'delete' ? '' : `${type === 'put' ? 'v' : 'm'}${seqno}` });
    }
  }
  return versions;
}

const encoder = new TextEncoder();

function internalKey({ key, seqno, type }: Version): Uint8Array {
  const bytes = new Uint8Array(key.length + 8);
  bytes.set(encoder.encode(key));
  const trailer = (BigInt(seqno) << 8n) | BigInt(TYPE_NUMBERS[type]);
  new DataView(bytes.buffer).setBigUint64(key.length, trailer, true);
  return bytes;
}

export async function makeTable(versions: readonly Version[], options: TableOptions): Promise<Uint8Array> {
  const sink = new MemorySink();
  const builder = await openTableBuilder(options, sink, environment);
  const points = versions.filter(({ type }) => type !== 'range_delete');
  points.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : b.seqno - a.seqno));
  for (const version of points) {
    const key = internalKey(version);
    const value = encoder.encode(version.value);
    builder.add(key, 0, key.length, value, 0, value.length);
  }
  for (const version of versions.filter(({ type }) => type === 'range_delete')) {
    const key = internalKey(version);
    const end = encoder.encode(version.end);
    builder.addRangeTombstone(key, 0, key.length, end, 0, end.length);
  }
  await builder.finish();
  return sink.contents();
}

export const KEYS = ['a', 'aa', 'ab', 'b', 'ba', 'c', 'd', 'e', 'f', 'm', 's', 'sa', 'sb', 'sc', 't'];

/** The inverse of writing: of a row of `scan`. */
export function versionOf(row: JsonRow): Version {
  const text = (hex: string | undefined): string => Buffer.from(hex ?? '', 'hex').toString();
  return {
    key: text(row.key ?? row.start),
    end: text(row.end),
    seqno: Number(row.seqno),
    type: row.type as Version['type'],
    value: text(row.value),
  };
}
