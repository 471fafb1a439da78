/** Tables made for tests of look-ups: entries and options in, an open table out. */

import { memorySource } from '../../src/bytes/source.ts';
import { LookupTable, type LookupTableOptions } from '../../src/engine/table/lookup-table.ts';
import { openTableBuilder } from '../../src/format/table-builder/table-builder.ts';
import type { TableOptions } from '../../src/format/table-builder/table-options.ts';
import { MemorySink } from '../../src/format/table-builder/table-sink.ts';
import { ValueType } from '../../src/format/value-type.ts';
import { NodeEncoderRegistry } from '../../src/node/encoders.ts';
import type { NodeEnvironment } from '../../src/node/environment.ts';
import { bytewiseComparator } from '../../src/operators/comparator.ts';
import type { Expected, ExpectedEntry, ExpectedTombstone } from '../support/fixtures.ts';
import { bytesOf } from './model.ts';

const TYPES: Readonly<Record<string, number>> = {
  put: ValueType.value,
  delete: ValueType.deletion,
  single_delete: ValueType.singleDeletion,
  merge: ValueType.merge,
};

/** An internal key. */
export function internalKey(userKey: Uint8Array, seqno: bigint, type: number): Uint8Array {
  const key = new Uint8Array(userKey.length + 8);
  key.set(userKey);
  new DataView(key.buffer).setBigUint64(userKey.length, (seqno << 8n) | BigInt(type), true);
  return key;
}

/** Writes a table of the entries, which come in any order. */
export async function makeTable(
  environment: NodeEnvironment,
  options: TableOptions,
  { entries, rangeTombstones }: Expected,
): Promise<Uint8Array> {
  const sink = new MemorySink();
  const builder = await openTableBuilder(options, sink, {
    hashes: environment.hashes,
    keyHash: environment.keyHash,
    encoders: new NodeEncoderRegistry(environment.hashes),
    clock: { nowMicros: () => 1_700_000_000_000_000 },
    random: { uint32: () => 7 },
  });
  const { compare } = options.comparator ?? bytewiseComparator;
  const sorted = [...entries].sort((a: ExpectedEntry, b: ExpectedEntry) => {
    const [left, right] = [bytesOf(a.key), bytesOf(b.key)];
    return compare(left, 0, left.length, right, 0, right.length) || Number(BigInt(b.seqno) - BigInt(a.seqno));
  });
  for (const { key, seqno, type, value } of sorted) {
    const internal = internalKey(bytesOf(key), BigInt(seqno), TYPES[type]!);
    const bytes = bytesOf(value);
    builder.add(internal, 0, internal.length, bytes, 0, bytes.length);
    if (builder.isSaturated) await builder.settle();
  }
  for (const { start, seqno, end } of rangeTombstones as readonly ExpectedTombstone[]) {
    const internal = internalKey(bytesOf(start), BigInt(seqno), ValueType.rangeDeletion);
    const bytes = bytesOf(end);
    builder.addRangeTombstone(internal, 0, internal.length, bytes, 0, bytes.length);
  }
  await builder.finish();
  return sink.contents();
}

export function openMade(
  environment: NodeEnvironment,
  bytes: Uint8Array,
  name: string,
  options: LookupTableOptions = {},
): LookupTable {
  return LookupTable.open(memorySource(bytes, name), environment, options);
}
