import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { toHex, utf8, utf8Bytes } from '../../src/bytes/text.ts';
import { openCuckooTable } from '../../src/format/cuckoo/cuckoo-table.ts';
import { readFooter } from '../../src/format/footer.ts';
import { type NodeEnvironment, openNodeEnvironment } from '../../src/node/environment.ts';
import type { Finding } from '../../src/tools/finding.ts';
import type { FileReport } from '../../src/tools/verify.ts';
import {
  blockOf,
  bytesOf,
  type Entry,
  fixed32,
  TYPE,
  varint,
  writeTable,
} from '../bug-cases/table-by-hand.ts';
import { PROJECT_ROOT } from '../support/cli.ts';
import { append, flipBit, overwrite, patchBlock, truncate, zeroRange } from '../support/patch.ts';
import { allBlocks, dataBlock, metaBlock, openBytes, verifyBytes } from './table-surgery.ts';

let environment: NodeEnvironment;
beforeAll(async () => {
  environment = await openNodeEnvironment();
});

const read = (name: string): Uint8Array =>
  new Uint8Array(readFileSync(path.join(PROJECT_ROOT, 'test/fixtures', name)));
const verify = (bytes: Uint8Array, options = {}): Promise<FileReport> =>
  verifyBytes(environment, bytes, options);
const damages = ({ findings }: FileReport): Finding[] =>
  findings.filter(({ severity }) => severity === 'damage');
const codes = ({ findings }: FileReport): string[] => findings.map(({ code }) => code);
const text = (key: Uint8Array | null | undefined): string | null => (key ? utf8(key) : null);

/** Five data blocks of two puts each: a0 a1, b0 b1 ... */
function fiveBlocks(): Entry[][] {
  return ['a', 'b', 'c', 'd', 'e'].map((letter, i) => [
    { key: `${letter}0`, seqno: 10 + i, value: `value of ${letter}0`.repeat(20) },
    { key: `${letter}1`, seqno: 20 + i, value: `value of ${letter}1`.repeat(20) },
  ]);
}

const COUNTS = { 'rocksdb.num.entries': varint(10), 'rocksdb.num.range-deletions': varint(0) };

describe('damaged data blocks', () => {
  const table = writeTable({ data: fiveBlocks().map(blockOf), properties: COUNTS });

  it('one: kind, number, place, checksums, keys, entries, shape', async () => {
    const { offset, size } = table.data[2]!;
    const report = await verify(flipBit(table.bytes, offset + 30, 3));
    const [finding, ...others] = damages(report);
    expect(others).toEqual([]);
    expect(finding).toMatchObject({
      code: 'block_checksum',
      block: { type: 'data', offset, size, ordinal: 2 },
      stored: expect.stringMatching(/^[0-9a-f]{8}$/),
      computed: expect.stringMatching(/^[0-9a-f]{8}$/),
      shape: 'bit_flip',
    });
    expect([text(finding!.lost!.after), text(finding!.lost!.before), finding!.lost!.entries]).toEqual([
      'b1',
      'd0',
      2,
    ]);
    expect(report).toMatchObject({ status: 'damaged', entries: 8 });
  });

  it('zeros across a border: both blocks, from the last good key before to the first behind both', async () => {
    const border = table.data[3]!.offset;
    const report = await verify(zeroRange(table.bytes, border - 100, border + 100));
    const found = damages(report);
    expect(found.map(({ block, shape }) => [block!.ordinal, shape])).toEqual([
      [2, 'zeros'],
      [3, 'zeros'],
    ]);
    for (const { lost, message } of found) {
      expect([text(lost!.after), text(lost!.before), lost!.entries]).toEqual(['b1', 'e0', null]);
      expect(message).toContain('2 faults together lost 4 entries');
    }
  });

  it('the same by checksums alone, with keys of the neighbours', async () => {
    const border = table.data[3]!.offset;
    const report = await verify(zeroRange(table.bytes, border - 100, border + 100), { checksumsOnly: true });
    expect(damages(report).map(({ lost }) => [text(lost!.after), text(lost!.before)])).toEqual([
      ['b1', 'e0'],
      ['b1', 'e0'],
    ]);
  });

  it('first and last: open ranges', async () => {
    const first = damages(await verify(flipBit(table.bytes, table.data[0]!.offset + 9)));
    expect([text(first[0]!.lost!.after), text(first[0]!.lost!.before)]).toEqual([null, 'b0']);
    for (const checksumsOnly of [false, true]) {
      const last = damages(await verify(flipBit(table.bytes, table.data[4]!.offset + 9), { checksumsOnly }));
      expect([text(last[0]!.lost!.after), text(last[0]!.lost!.before)]).toEqual(['d1', null]);
    }
  });

  it('other data in place of a block', async () => {
    const { offset, size } = table.data[1]!;
    const foreign = utf8Bytes('<html><body>'.repeat(100)).slice(0, size + 5);
    expect(damages(await verify(overwrite(table.bytes, offset, foreign)))[0]).toMatchObject({
      shape: 'foreign',
    });
  });

  it('stops at the first when told to', async () => {
    let bytes = flipBit(table.bytes, table.data[1]!.offset + 30);
    bytes = flipBit(bytes, table.data[3]!.offset + 30);
    expect(damages(await verify(bytes))).toHaveLength(2);
    expect(damages(await verify(bytes, { strict: true }))).toHaveLength(1);
  });

  it('counts what is beyond the limit', async () => {
    let bytes = table.bytes;
    for (const { offset } of table.data) bytes = flipBit(bytes, offset + 30);
    for (const checksumsOnly of [false, true]) {
      const report = await verify(bytes, { maxFindings: 2, checksumsOnly });
      expect(report).toMatchObject({ status: 'damaged', findingsOmitted: 3 });
      expect(report.findings).toHaveLength(2);
    }
  });
});

describe.each([
  ['xxh3', 'version/fv5-xxh3.sst'],
  ['xxh64', 'version/fv5-xxh64.sst'],
  ['xxh32', 'version/fv4-xxh32.sst'],
  ['crc32c', 'version/fv3-crc32c.sst'],
  ['crc32c with context', 'flip/fv6-crc32c.sst'],
  ['xxh3 with context', 'flip/fv7-zstd.sst'],
])('a flipped bit under %s', (_, name) => {
  it('is proven', async () => {
    const bytes = read(name);
    const opened = await openBytes(environment, bytes);
    const { offset, size } = dataBlock(opened, 1);
    for (const at of [offset, offset + 7, offset + size - 1, offset + size, offset + size + 2]) {
      const [finding] = damages(await verify(flipBit(bytes, at, 5)));
      expect(finding, `byte ${at}`).toMatchObject({ shape: 'bit_flip', block: { type: 'data', ordinal: 1 } });
    }
    const [two] = damages(await verify(flipBit(flipBit(bytes, offset + 7, 5), offset + 9, 1)));
    expect(two!.shape).not.toBe('bit_flip');
  });
});

/** Every block of these is damaged in turn: also those that no other tool looks at. */
describe.each([
  'flip/fv5-partitioned-index-filter.sst',
  'flip/fv6-xxhash64-partitioned.sst',
  'flip/fv5-lz4-dict.sst',
  'flip/fv5-hash-index.sst',
  'flip/fv6-xxh3-bloom-rangedel.sst',
  'flip/fv4-legacy-bloom.sst',
  'leveldb/snappy-bloom.ldb',
])('each block of %s', (name) => {
  it('is checked', async () => {
    const bytes = read(name);
    const opened = await openBytes(environment, bytes);
    for (const { offset, size } of allBlocks(opened)) {
      const report = await verify(flipBit(bytes, offset + (size >> 1), 4), { shapeBudgetBytes: 0 });
      const [finding] = damages(report).filter(({ code }) => code === 'block_checksum');
      expect(finding, `block at ${offset}`).toMatchObject({ block: { offset, size } });
      const only = await verify(flipBit(bytes, offset + (size >> 1), 4), {
        checksumsOnly: true,
        shapeBudgetBytes: 0,
      });
      expect(only.status, `block at ${offset}, by checksums alone`).toBe('damaged');
    }
  });
});

describe('one bad meta block', () => {
  const demo = read('demo/basic.sst');

  it.each(['rocksdb.properties', 'rocksdb.range_del', 'fullfilter.rocksdb.BuiltinBloomFilter'])(
    '%s does not hide the entries',
    async (name) => {
      const whole = await verify(demo);
      const { offset, size } = metaBlock(await openBytes(environment, demo), name);
      const report = await verify(flipBit(demo, offset + (size >> 1)));
      expect(damages(report).map(({ code, block }) => [code, block!.offset])).toEqual([
        ['block_checksum', offset],
      ]);
      expect(report.entries).toBeGreaterThanOrEqual(whole.entries - 3);
    },
  );

  it('the index: blocks are found without it', async () => {
    const { table } = await openBytes(environment, demo);
    const report = await verify(flipBit(demo, table.index!.handle.offset + 3));
    expect(damages(report)).toMatchObject([{ code: 'block_checksum', block: { type: 'index' } }]);
    expect(report.entries).toBe((await verify(demo)).entries);
  });

  it('a dictionary costs the data blocks that were made with it, and nothing else', async () => {
    const bytes = read('flip/fv5-lz4-dict.sst');
    const opened = await openBytes(environment, bytes);
    const { offset } = metaBlock(opened, 'rocksdb.compression_dict');
    const report = await verify(flipBit(bytes, offset + 40));
    const [dictionary, ...blocks] = damages(report);
    expect(dictionary).toMatchObject({ code: 'block_checksum', block: { type: 'compression_dict', offset } });
    expect(blocks).toHaveLength(opened.blocks.count);
    for (const finding of blocks)
      expect(finding).toMatchObject({ code: 'block_decompress', block: { type: 'data' } });
  });

  it('a partition of the index: the keys that it lists', async () => {
    const bytes = read('flip/fv5-partitioned-index-filter.sst');
    const { blocks } = await openBytes(environment, bytes);
    const offset = blocks.partitions.offsets[1]!;
    const report = await verify(flipBit(bytes, offset + 10));
    const [finding] = damages(report);
    expect(finding).toMatchObject({
      code: 'block_checksum',
      block: { type: 'index_partition', ordinal: 1, offset },
    });
    expect(finding!.lost!.after).not.toBeNull();
    expect(finding!.lost!.before).not.toBeNull();
    expect(finding!.lost!.entries).toBeGreaterThan(0);
  });
});

describe('a footer that is not there', () => {
  const bytes = read('modern/fv6-merge.sst');

  it.each([1, 48, 53, 100])('cut by %i bytes: sizes, no version', async (count) => {
    const report = await verify(truncate(bytes, -count));
    expect(report).toMatchObject({ status: 'damaged', formatVersion: null });
    const [finding] = damages(report);
    expect(finding).toMatchObject({ code: 'footer_magic', shape: 'truncated' });
    expect(finding!.message).toContain(String(bytes.length - count));
    expect(finding!.message).not.toContain('version');
    expect(report.entries).toBeGreaterThan(0);
  });

  it('17 bytes of text behind it', async () => {
    const report = await verify(append(bytes, utf8Bytes('seventeen bytes !')));
    expect(damages(report)).toMatchObject([{ code: 'appended_bytes' }]);
    expect(damages(report)[0]!.message).toContain('17 bytes');
  });

  it('the last eight bytes random', async () => {
    const report = await verify(
      overwrite(bytes, bytes.length - 8, Uint8Array.of(9, 1, 7, 3, 200, 4, 77, 250)),
    );
    expect(damages(report)[0]).toMatchObject({ code: 'footer_magic' });
    expect(report.status).toBe('damaged');
  });

  it('a tail of zeros', async () => {
    const zeros = 2048;
    const report = await verify(zeroRange(bytes, bytes.length - zeros, bytes.length));
    const [finding] = damages(report);
    expect(finding).toMatchObject({ code: 'footer_magic', shape: 'zeros' });
    expect(finding!.message).toMatch(new RegExp(`the last 20[45]\\d bytes of ${bytes.length} are zeros`));
    expect(report.entries).toBeGreaterThan(0);
  });

  it('half of the file, in its full size and cut', async () => {
    const half = bytes.length >> 1;
    for (const copy of [zeroRange(bytes, half, bytes.length), truncate(bytes, half)]) {
      const report = await verify(copy);
      expect(report.status).toBe('damaged');
      expect(codes(report)).toContain('footer_magic');
    }
  });

  it('nothing at all', async () => {
    expect(await verify(new Uint8Array(0))).toMatchObject({
      status: 'unreadable',
      findings: [{ code: 'empty' }],
    });
    const zeros = await verify(new Uint8Array(70000));
    expect(zeros).toMatchObject({
      status: 'unreadable',
      findings: [{ code: 'footer_magic', shape: 'zeros' }],
    });
    expect(zeros.findings[0]!.message).toContain('all 70000 bytes');
  });

  it('2 MiB, almost all of them zeros, of LevelDB', async () => {
    const ldb = read('leveldb/none.ldb');
    const { blocks } = await openBytes(environment, ldb);
    const large = new Uint8Array(2 * 1024 * 1024);
    large.set(ldb.subarray(0, blocks.offsets[3]!));
    const report = await verify(large);
    expect(damages(report)).toMatchObject([
      { code: 'footer_magic', shape: 'zeros' },
      { code: 'block_lost', shape: 'zeros', lost: { before: null } },
    ]);
    expect(report.entries).toBeGreaterThan(0);
  });
});

describe('a footer that says something else', () => {
  it('another checksum type: the one of the blocks counts', async () => {
    const bytes = read('version/fv4-crc32c.sst');
    for (const type of [0, 2, 3, 4]) {
      const report = await verify(overwrite(bytes, bytes.length - 53, Uint8Array.of(type)));
      expect(damages(report)).toMatchObject([{ code: 'checksum_type', block: { type: 'footer' } }]);
      expect(report.entries).toBeGreaterThan(0);
    }
  });

  it('another version: the one of the properties counts', async () => {
    const bytes = read('modern/fv5-range-tombstones.sst');
    const report = await verify(overwrite(bytes, bytes.length - 12, Uint8Array.of(1)));
    expect(damages(report)).toMatchObject([{ code: 'footer_version' }]);
    expect(report.entries).toBe((await verify(bytes)).entries);
  });

  it('a version of the future is not damage', async () => {
    const bytes = read('version/fv5-xxh3.sst');
    const report = await verify(overwrite(bytes, bytes.length - 12, Uint8Array.of(9)));
    expect(report).toMatchObject({ status: 'unsupported', findings: [{ code: 'unsupported' }] });
  });
});

describe('blocks whose checksum holds', () => {
  it('a data block with more hash buckets than bytes', async () => {
    const table = writeTable({ data: fiveBlocks().map(blockOf), properties: COUNTS });
    const broken = blockOf(fiveBlocks()[2]!);
    const tail = bytesOf([0x00, 0xfe], fixed32(0x80000002));
    broken.payload = bytesOf(broken.payload.subarray(0, broken.payload.length - 4), tail);
    const data = fiveBlocks().map(blockOf);
    data[2] = broken;
    const report = await verify(writeTable({ data, properties: COUNTS }).bytes);
    expect(damages(report)).toMatchObject([
      { code: 'block_format', block: { ordinal: 2 }, lost: { entries: 2 } },
    ]);
    expect(damages(await verify(table.bytes))).toEqual([]);
  });

  it('handles beyond the file, however large', async () => {
    for (const handle of [
      { offset: 0, size: 2 ** 40 },
      { offset: 0, size: 2n ** 60n },
      { offset: 2 ** 50, size: 100 },
    ]) {
      const report = await verify(
        writeTable({ data: fiveBlocks().map(blockOf), handles: { 4: handle } }).bytes,
      );
      expect(report.status).toBe('damaged');
      expect(report.entries).toBe(8);
    }
  });

  it('a restart outside of its block, and one where no entry begins', async () => {
    const table = writeTable({ data: fiveBlocks().map(blockOf), properties: COUNTS });
    for (const restart of [0x80000010, 7]) {
      const bytes = patchBlock(table.bytes, table.data[1]!, {
        edit: (payload) => payload.set(fixed32(restart), payload.length - 8),
      });
      const [finding, ...others] = damages(await verify(bytes));
      expect(others).toEqual([]);
      expect(finding).toMatchObject({ code: 'block_format', block: { ordinal: 1 } });
      expect(finding!.message).toContain(String(restart));
    }
  });

  it('a compression that exists on Windows alone', async () => {
    const table = writeTable({ data: fiveBlocks().map(blockOf), properties: COUNTS });
    const report = await verify(patchBlock(table.bytes, table.data[1]!, { compressionType: 6 }));
    expect(report.status).toBe('unsupported');
    expect(report.findings[0]!.message).toContain('XPRESS');
  });

  it('keys out of order, repeated, and of types that do not belong', async () => {
    const entries = (...keys: [string, number, number?][]): Entry[] =>
      keys.map(([key, seqno, type = TYPE.put]) => ({ key, seqno, type, value: 'v' }));
    const data = [
      entries(['a', 5], ['c', 5], ['b', 5], ['b', 5]),
      entries(['d', 9], ['d', 9, TYPE.delete], ['d', 10]),
      entries(['e', 1, 0x0f], ['f', 1, 0x42]),
    ];
    const report = await verify(writeTable({ data: data.map(blockOf) }).bytes);
    const found = report.findings.map(({ code, severity, block }) => [block?.ordinal, code, severity]);
    expect(found).toContainEqual([0, 'key_order', 'damage']);
    expect(found).toContainEqual([1, 'key_order', 'damage']);
    expect(found).toContainEqual([1, 'key_order', 'warning']);
    expect(found).toContainEqual([2, 'entry_malformed', 'damage']);
    expect(
      damages(await verify(writeTable({ data: data.slice(0, 2).map(blockOf) }).bytes, { order: false })),
    ).toEqual([]);
  });

  it('blocks that overlap in their keys, and separators that do not part them', async () => {
    const data = fiveBlocks().map(blockOf);
    [data[1], data[2]] = [data[2]!, data[1]!];
    const report = await verify(writeTable({ data }).bytes);
    expect(codes(report)).toContain('key_order');
    const shifted = fiveBlocks().map(blockOf);
    shifted[1]!.lastKey = shifted[0]!.lastKey;
    expect(codes(await verify(writeTable({ data: shifted }).bytes))).toContain('index_separator');
  });

  it('malformed tombstones', async () => {
    const data = [blockOf(fiveBlocks()[0]!)];
    const report = await verify(writeTable({ data, tombstones: [{ start: 'x', end: 'b', seqno: 3 }] }).bytes);
    expect(damages(report)).toMatchObject([{ code: 'range_del_malformed' }]);
  });

  it('a dictionary that no block needs', async () => {
    const meta = { 'rocksdb.compression_dict': utf8Bytes('dictionary'.repeat(400)) };
    const report = await verify(writeTable({ data: fiveBlocks().map(blockOf), meta }).bytes);
    expect(report.status).toBe('ok');
    expect(codes(report)).toContain('dictionary_unused');
  });

  it('a value of 70 MB', async () => {
    const data = [blockOf([{ key: 'k', seqno: 1, value: new Uint8Array(70_000_000).fill(7) }])];
    expect(await verify(writeTable({ data }).bytes)).toMatchObject({ status: 'ok', entries: 1 });
  });
});

describe('properties', () => {
  const point = (key: string, seqno: number): Entry => ({ key, seqno, value: 'v' });
  const data = [blockOf([point('a', 1), point('b', 2), point('c', 3)])];
  const tombstones = [{ start: 'k', end: 'n', seqno: 4 }];

  it('one entry too many', async () => {
    const report = await verify(writeTable({ data, properties: { 'rocksdb.num.entries': varint(4) } }).bytes);
    const [finding] = damages(report);
    expect(finding).toMatchObject({ code: 'properties_mismatch', stored: '4', computed: '3' });
    expect(finding!.message).toContain('rocksdb.num.entries');
  });

  it('range tombstones counted as old releases did', async () => {
    const old: Record<string, number[]>[] = [
      { 'rocksdb.num.entries': varint(4) },
      { 'rocksdb.num.entries': varint(3), 'rocksdb.num.range-deletions': varint(1) },
    ];
    for (const properties of old) {
      const report = await verify(writeTable({ data, tombstones, properties }).bytes);
      expect(report.status).toBe('ok');
      expect(codes(report)).toEqual(['old_range_del_count']);
    }
    const wrong = { 'rocksdb.num.entries': varint(4), 'rocksdb.num.range-deletions': varint(2) };
    expect(damages(await verify(writeTable({ data, tombstones, properties: wrong }).bytes))).toHaveLength(1);
  });

  it('sequence bounds', async () => {
    const properties = { 'rocksdb.key.smallest.seqno': varint(1), 'rocksdb.key.largest.seqno': varint(3) };
    expect(damages(await verify(writeTable({ data, properties }).bytes))).toEqual([]);
    const report = await verify(writeTable({ data, tombstones, properties }).bytes);
    expect(damages(report)).toMatchObject([{ code: 'seqno_bounds', stored: '3', computed: '4' }]);
  });

  it('the data block count of a known writer is a note, any other is damage', async () => {
    const meta = { 'rocksdb.compression_dict': utf8Bytes('dictionary'.repeat(40)) };
    const zero = { 'rocksdb.num.data.blocks': varint(0) };
    const known = await verify(writeTable({ data, meta, properties: zero }).bytes);
    expect(known.status).toBe('ok');
    const note = known.findings.find(({ code }) => code === 'properties_mismatch');
    expect(note).toMatchObject({ severity: 'note', stored: '0', computed: '1' });
    expect(note!.message).toContain('RocksDB 11');
    expect((await verify(writeTable({ data, properties: zero }).bytes)).status).toBe('damaged');
  });

  it('none at all', async () => {
    const bytes = read('demo/basic.sst');
    const { offset } = metaBlock(await openBytes(environment, bytes), 'rocksdb.properties');
    const report = await verify(flipBit(bytes, offset + 5));
    expect(codes(report)).toContain('order_not_checked');
    expect(damages(report)).toHaveLength(1);
  });
});

it('bytes that nothing refers to', async () => {
  const data = fiveBlocks().map(blockOf);
  // The index leaves the block in the middle out.
  const table = writeTable({ data });
  const handles = { 2: table.data[3]!, 3: table.data[4]! };
  const report = await verify(
    writeTable({ data: data.slice(0, 5), handles: { ...handles, 4: table.data[4]! } }).bytes,
  );
  const gap = report.findings.find(({ code }) => code === 'unreferenced_bytes');
  expect(gap).toMatchObject({ severity: 'warning', block: { offset: table.data[2]!.offset } });
  expect(codes(report)).toContain('index_handle');
});

describe('comparators', () => {
  it('one that is not known: everything but the order is checked', async () => {
    const report = await verify(read('content/unknown-comparator.sst'));
    expect(report).toMatchObject({ status: 'ok', findings: [{ code: 'order_not_checked' }] });
    expect(report.findings[0]!.message).toContain('example.LengthFirst');
  });

  it('reverse order and timestamps are in order', async () => {
    for (const name of [
      'content/reverse-comparator.sst',
      'content/timestamps.sst',
      'modern/fv6-reverse.sst',
    ]) {
      expect(damages(await verify(read(name)))).toEqual([]);
    }
  });
});

describe('tables without blocks', () => {
  it.each(['plain/plain-fixed.sst', 'plain/prefix-variable.sst'])('%s', async (name) => {
    const bytes = read(name);
    const whole = await verify(bytes);
    expect(whole.status).toBe('ok');
    expect(codes(whole)).toEqual(['checksums_absent']);
    // Flips may pass, but nothing crashes.
    for (let at = 0; at < bytes.length; at += 37) await verify(flipBit(bytes, at, at & 7));
    for (let length = 0; length < bytes.length; length += 97) {
      expect((await verify(truncate(bytes, length))).status, `${length} bytes`).not.toBe('ok');
    }
  });

  it('a cuckoo table is recognised, its properties are compared, its rows are not read', async () => {
    const bytes = read('cuckoo/cuckoo.sst');
    expect(await verify(bytes)).toMatchObject({ status: 'unsupported', findings: [{ code: 'unsupported' }] });
    const source = memorySource(bytes);
    const { tableSize } = openCuckooTable(source, readFooter(source, environment.hashes)).summary!;
    const at = Buffer.from(bytes).indexOf(bytesOf('size', fixed32(tableSize))) + 'size'.length;
    for (const size of [1_000_000, 0]) {
      const report = await verify(overwrite(bytes, at, Uint8Array.from(fixed32(size))));
      expect(report.status).toBe('damaged');
    }
  });
});

it('keys of lost ranges are user keys, without timestamps and trailers', async () => {
  const bytes = read('content/timestamps.sst');
  const opened = await openBytes(environment, bytes);
  const { offset } = dataBlock(opened, 1);
  const [finding] = damages(await verify(flipBit(bytes, offset + 20)));
  expect(toHex(finding!.lost!.after!)).toMatch(/^([0-9a-f]{2})+$/);
  expect(finding!.lost!.after!.length).toBe(opened.blocks.separators.at(0).length - 8);
});
