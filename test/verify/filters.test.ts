/** Filters that deny what their file has: bits are cleared and checksums made right again. */

import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { toHex } from '../../src/bytes/text.ts';
import { openTableFilter } from '../../src/format/filter/table-filter.ts';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import { bytewiseComparator, type Comparator } from '../../src/operators/comparator.ts';
import { fixture, fixtures } from '../support/fixtures.ts';
import { openBytes, repairChecksum, verifyBytes } from './table-surgery.ts';

let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
});

/** The file with zeros in place of one filter's bits, its metadata as it was. */
async function withoutBits(bytes: Uint8Array, ordinal: number): Promise<Uint8Array> {
  const { table } = await openBytes(environment, bytes);
  const handle = openTableFilter(table)!.handleOf(ordinal);
  const changed = bytes.slice();
  changed.fill(0, handle.offset, handle.offset + handle.size - 5);
  repairChecksum(environment, changed, table.footer, handle);
  return changed;
}

const filterTables = fixtures().filter(({ name }) => name.startsWith('filter/'));

describe('a filter without its bits', () => {
  it.each(filterTables)('$name', async ({ bytes, expected }) => {
    const original = bytes();
    const { table } = await openBytes(environment, original);
    const filter = openTableFilter(table)!;
    const ordinal = filter.count - 1;
    const handle = filter.handleOf(ordinal);
    const report = await verifyBytes(environment, await withoutBits(original, ordinal));
    expect(report.status).toBe('damaged');
    expect(report.findings).toHaveLength(1);
    const [finding] = report.findings;
    expect(finding).toMatchObject({
      code: 'filter_false_negative',
      severity: 'damage',
      block: { type: filter.blockType, ...handle, ordinal },
    });
    const [, what, shown] =
      /^the filter denies (key|prefix) ([0-9a-f]+|\(empty\)), which the file has: /.exec(finding!.message)!;
    const key = shown === '(empty)' ? '' : shown!;
    const keys = expected!().entries.map((entry) => entry.key);
    expect(keys.some((each) => (what === 'key' ? each === key : each.startsWith(key)))).toBe(true);
    if (filter.count > 1 || table.properties!.get('rocksdb.prefix.extractor.name') !== 'nullptr') return;
    // Every entry of a full filter of whole keys, each version of a key counted; zeros still let a key pass whose
    // Ribbon result is zero, one in a hundred.
    const denied = Number(/lookups miss (\d+) entries$/.exec(finding!.message)![1]);
    expect(denied).toBeGreaterThan(0.97 * keys.length);
    expect(denied).toBeLessThanOrEqual(keys.length);
    expect(keys).toContain(key);
  });

  it('goes unseen with --checksums-only', async () => {
    const bytes = await withoutBits(fixture('filter/bloom-20-bits.sst').bytes(), 0);
    expect((await verifyBytes(environment, bytes, { checksumsOnly: true })).findings).toEqual([]);
  });

  it('one finding a partition', async () => {
    const original = fixture('filter/partitioned-ribbon.sst').bytes();
    const changed = await withoutBits(await withoutBits(original, 0), 1);
    const report = await verifyBytes(environment, changed);
    expect(report.findings.map(({ code, block }) => [code, block?.ordinal])).toEqual([
      ['filter_false_negative', 0],
      ['filter_false_negative', 1],
    ]);
  });

  it('with a damaged block of entries: those that are left are asked', async () => {
    const bytes = await withoutBits(fixture('filter/bloom-20-bits.sst').bytes(), 0);
    const { blocks } = await openBytes(environment, bytes);
    bytes[blocks.offsets[0]! + 3]! ^= 1;
    const report = await verifyBytes(environment, bytes);
    const codes = report.findings.map(({ code }) => code);
    expect(codes).toContain('block_checksum');
    expect(codes.includes('filter_false_negative')).toBe(blocks.count > 1);
  });
});

it('a filter that is damaged is not asked: its checksum has said it', async () => {
  const bytes = fixture('filter/bloom-20-bits.sst').bytes();
  const { table } = await openBytes(environment, bytes);
  bytes[openTableFilter(table)!.handle.offset]! ^= 0xff;
  const report = await verifyBytes(environment, bytes);
  expect(report.findings.map(({ code }) => code)).toEqual(['block_checksum']);
});

it('with an unknown comparator keys may end in a timestamp: a note, unless the size is given', async () => {
  const bytes = new Uint8Array(readFileSync(fixture('filter/bloom-20-bits.sst').path));
  const name = new TextEncoder().encode(bytewiseComparator.name);
  const at = toHex(bytes).indexOf(toHex(name)) / 2;
  const foreign = bytes.slice();
  foreign[at] = 'x'.charCodeAt(0);
  const { table } = await openBytes(environment, bytes);
  const properties = table.metaindex!.find(({ type }) => type === 'properties')!;
  repairChecksum(environment, foreign, table.footer, properties);
  const codes = async (options = {}) =>
    (await verifyBytes(environment, foreign, options)).findings.map(({ code }) => code);
  expect(await codes()).toEqual(['order_not_checked', 'filter_not_checked']);
  expect(await codes({ timestampSize: 0 })).toEqual(['order_not_checked']);
  const comparator: Comparator = { ...bytewiseComparator, name: 'xeveldb.BytewiseComparator' };
  expect(await codes({ comparator })).toEqual([]);
});
