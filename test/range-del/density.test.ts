import { describe, expect, it } from 'vitest';
import type { EntrySource } from '../../src/format/table-entry.ts';
import { bytewiseComparator } from '../../src/operators/comparator.ts';
import { DensityCollector, type DensityRegion } from '../../src/tools/tombstone-density.ts';

const SHAPE = { storedTimestampSize: 0, globalSeqno: undefined };

describe('tombstone density', () => {
  it('finds the longest run of deletions, and what newer versions hide', () => {
    const collector = new DensityCollector(SHAPE);
    const rows: [string, number, number][] = [
      ['a', 9, 1],
      ['a', 3, 1],
      ['b', 5, 0],
      ['c', 5, 7],
      ['d', 5, 0],
      ['e', 5, 1],
      ['f', 5, 0],
    ];
    for (const [key, seqno, type] of rows) collector.add(entry(key, seqno, type, 10), key === 'e');
    const density = collector.finish(
      [{ startKey: entry('d', 9, 15, 0).key, end: text('f') }],
      bytewiseComparator,
    );
    // As property rocksdb.num.entries counts: range tombstones too.
    expect(density.entries).toBe(8);
    expect(density.pointTombstones).toBe(4);
    expect(density.rangeTombstones).toBe(1);
    expect(density.longestRun).toEqual({ count: 3, first: text('b'), last: text('d') });
    // The older version of a, and e under the range tombstone: nine bytes of key and ten of value each.
    expect(density.shadowedBytes).toBe(2 * 19);
    expect(density.regions).toHaveLength(1);
    expect(density.regions[0]).toMatchObject({
      entries: 8,
      rangeTombstones: 1,
      first: text('a'),
      last: text('f'),
    });
  });

  it('keeps at most 32 regions, which together hold every entry', () => {
    const collector = new DensityCollector(SHAPE);
    for (let i = 0; i < 20_000; i++)
      collector.add(entry(String(i).padStart(6, '0'), 1, i % 3 === 0 ? 0 : 1, 1), false);
    const { regions } = collector.finish([], bytewiseComparator);
    expect(regions.length).toBeLessThanOrEqual(32);
    expect(regions.reduce((sum: number, { entries }: DensityRegion) => sum + entries, 0)).toBe(20_000);
    for (let i = 1; i < regions.length; i++) {
      expect(Buffer.compare(regions[i - 1]!.last, regions[i]!.first)).toBeLessThan(0);
    }
  });
});

function entry(key: string, seqno: number, type: number, valueLength: number): EntrySource {
  const bytes = new Uint8Array(key.length + 8);
  bytes.set(text(key));
  new DataView(bytes.buffer).setBigUint64(key.length, (BigInt(seqno) << 8n) | BigInt(type), true);
  return {
    data: new Uint8Array(valueLength),
    key: bytes,
    keyLength: bytes.length,
    valueStart: 0,
    valueEnd: valueLength,
  };
}

function text(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}
