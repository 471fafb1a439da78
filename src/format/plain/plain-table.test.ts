import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, test } from 'vitest';
import { CountingSource, memorySource } from '../../bytes/source.ts';
import { toHex, utf8Bytes } from '../../bytes/text.ts';
import { varintLength, writeVarint } from '../../bytes/varint.ts';
import { CorruptionError, UnsupportedError } from '../../errors.ts';
import { twinHashFunctions } from '../../hash/hash-functions.ts';
import { readFooter } from '../footer.ts';
import { seqnoText, trailerType } from '../internal-key.ts';
import { entryTypeName } from '../value-type.ts';
import { openPlainTable, type PlainTable } from './plain-table.ts';

const hashes = twinHashFunctions();
const fixtures = fileURLToPath(new URL('../../../test/fixtures/', import.meta.url));
const shared = fileURLToPath(new URL('../../../../shared/fixtures/', import.meta.url));

interface Row {
  key: string;
  seqno: string;
  type: number;
  value: string;
}

function open(bytes: Uint8Array, name = 'memory'): PlainTable {
  const source = memorySource(bytes, name);
  return openPlainTable(source, readFooter(source, hashes));
}

function allRows(table: PlainTable): Row[] {
  const rows = table.rows();
  const found: Row[] = [];
  while (rows.next()) {
    found.push({
      key: toHex(rows.key.subarray(0, rows.keyLength - 8)),
      seqno: seqnoText(rows.key, rows.keyLength),
      type: trailerType(rows.key, rows.keyLength),
      value: toHex(rows.data.subarray(rows.valueStart, rows.valueEnd)),
    });
  }
  return found;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let pos = 0;
  for (const part of parts) {
    bytes.set(part, pos);
    pos += part.length;
  }
  return bytes;
}

function varint(value: number): Uint8Array {
  const bytes = new Uint8Array(varintLength(value));
  writeVarint(bytes, 0, value);
  return bytes;
}

const hex = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text.replaceAll(' ', ''), 'hex'));

/** A block of one restart, nothing shared. */
function block(entries: readonly (readonly [string, Uint8Array])[]): Uint8Array {
  const parts = entries.flatMap(([name, value]) => [
    varint(0),
    varint(name.length),
    varint(value.length),
    utf8Bytes(name),
    value,
  ]);
  return concat([...parts, hex('00000000 01000000')]);
}

function tableOf(
  rows: Uint8Array,
  properties: { encoding?: number; keyLength?: number; dataSize?: number } = {},
): Uint8Array {
  const { encoding = 0, keyLength = 0, dataSize = rows.length } = properties;
  const propertiesBlock = block([
    ['rocksdb.data.size', varint(dataSize)],
    ['rocksdb.fixed.key.length', varint(keyLength)],
    ['rocksdb.plain.table.encoding.type', Uint8Array.of(encoding, 0, 0, 0)],
  ]);
  const metaindex = block([
    ['rocksdb.properties', concat([varint(rows.length), varint(propertiesBlock.length)])],
  ]);
  const footer = new Uint8Array(48);
  footer.set(concat([varint(rows.length + propertiesBlock.length), varint(metaindex.length)]));
  footer.set(hex('b8138f7aeb18344f'), 40);
  return concat([rows, propertiesBlock, metaindex, footer]);
}

/** seqno 5, type put. */
const TRAILER = '01 05000000000000';

describe('files of RocksDB', () => {
  const folder = path.join(fixtures, 'plain');
  const expected = JSON.parse(
    gunzipSync(readFileSync(path.join(fixtures, 'expected/plain.json.gz'))).toString(),
  ) as { entries: [key: string, seqno: string, type: string, value: string][] };
  for (const file of readdirSync(folder).filter((name) => name.endsWith('.sst'))) {
    test(file, () => {
      const table = open(readFileSync(path.join(folder, file)), file);
      expect(table.problems).toEqual([]);
      const rows = allRows(table).map(({ key, seqno, type, value }) => [
        key,
        seqno,
        entryTypeName(type),
        value,
      ]);
      expect(rows).toEqual(expected.entries);
      expect(rows.length).toBe(table.properties?.count('rocksdb.num.entries'));
    });
  }
});

describe.skipIf(!existsSync(shared))('files with the text that sst_dump prints for them', () => {
  const files = ['plain', 'plain_prefix_enc'].flatMap((name) => {
    const folder = path.join(shared, 'db', name);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .filter((file) => file.endsWith('.sst'))
      .map((file) => path.join(name, file));
  });
  test.each(files)('%s', (file) => {
    const table = open(readFileSync(path.join(shared, 'db', file)), file);
    expect(table.problems).toEqual([]);
    const lines = allRows(table).map(
      ({ key, seqno, type, value }) =>
        `'${key.toUpperCase()}' seq:${seqno}, type:${type} => ${value.toUpperCase()}`,
    );
    const text = gunzipSync(readFileSync(path.join(shared, 'expected', `${file}.scan.txt.gz`))).toString();
    expect(lines).toEqual(text.split('\n').filter((line) => line.startsWith("'")));
  });
});

describe('plain encoding', () => {
  it('reads keys of variable length, and the short trailer of sequence number 0', () => {
    const rows = concat([
      hex(`02 6161 ${TRAILER} 03 313233`),
      hex('01 62 ff 00'),
      hex('00 ff 01 34'),
      hex('01 63 00 0700000000000000'),
    ]);
    expect(allRows(open(tableOf(rows)))).toEqual([
      { key: '6161', seqno: '5', type: 1, value: '313233' },
      { key: '62', seqno: '0', type: 1, value: '' },
      { key: '', seqno: '0', type: 1, value: '34' },
      { key: '63', seqno: '7', type: 0, value: '' },
    ]);
  });

  it('reads rows that db_bench 7.8.3 wrote: values compacted down to sequence number 0', () => {
    // --benchmarks=fillseq,compact --use_plain_table --num=3 --key_size=16 --value_size=4
    const rows = concat([
      hex('00000000000000003030303030303030 ff04 5e7b5668'),
      hex('00000000000000013030303030303030 ff04 7a22212f'),
      hex('00000000000000023030303030303030 ff04 25774d5a'),
    ]);
    expect(allRows(open(tableOf(rows, { keyLength: 16 })))).toEqual([
      { key: '00000000000000003030303030303030', seqno: '0', type: 1, value: '5e7b5668' },
      { key: '00000000000000013030303030303030', seqno: '0', type: 1, value: '7a22212f' },
      { key: '00000000000000023030303030303030', seqno: '0', type: 1, value: '25774d5a' },
    ]);
  });

  it('reads keys of one length', () => {
    const rows = concat([hex(`6161 ${TRAILER} 01 31`), hex('6262 ff 01 32')]);
    const table = open(tableOf(rows, { keyLength: 2 }));
    expect(table.keyLength).toBe(2);
    expect(allRows(table)).toEqual([
      { key: '6161', seqno: '5', type: 1, value: '31' },
      { key: '6262', seqno: '0', type: 1, value: '32' },
    ]);
  });

  it('gives the place of each row in the file', () => {
    const table = open(tableOf(concat([hex('01 61 ff 00'), hex('01 62 ff 00')])));
    const rows = table.rows();
    rows.next();
    expect([rows.entryOffset, rows.count]).toEqual([0, 1]);
    rows.next();
    expect([rows.entryOffset, rows.count]).toEqual([4, 2]);
    expect(rows.next()).toBe(false);
    expect(rows.next()).toBe(false);
  });

  it('has no rows in a table without', () => {
    expect(allRows(open(tableOf(new Uint8Array(0))))).toEqual([]);
  });
});

describe('prefix encoding', () => {
  const text = (value: string): string => toHex(utf8Bytes(value));

  it('puts keys together from full keys, prefixes and suffixes', () => {
    // The example of RocksDB's plain_table_factory.h.
    const rows = concat([
      hex(`08 ${text('00000001')} ${TRAILER} 00`),
      hex(`44 85 ${text('00021')} ff 00`),
      hex(`84 ${text('0002')} ${TRAILER} 01 78`),
      hex(`07 ${text('0001100')} ff 00`),
      hex(`08 ${text('00020001')} ff 00`),
    ]);
    const found = allRows(open(tableOf(rows, { encoding: 1 })));
    expect(found.map(({ key }) => Buffer.from(key, 'hex').toString())).toEqual([
      '00000001',
      '000000021',
      '00000002',
      '0001100',
      '00020001',
    ]);
    expect(found.map(({ seqno }) => seqno)).toEqual(['5', '0', '5', '0', '0']);
  });

  it('reads sizes from 63 on', () => {
    const long = 'k'.repeat(63);
    const longer = 'k'.repeat(300);
    const rows = concat([
      hex(`3f 00 ${text(long)} ff 00`),
      hex(`3f ${toHex(varint(300 - 63))} ${text(longer)} ff 00`),
      hex(`7f ${toHex(varint(200 - 63))} bf ${toHex(varint(100 - 63))} ${text('x'.repeat(100))} ff 00`),
    ]);
    expect(allRows(open(tableOf(rows, { encoding: 1 }))).map(({ key }) => key)).toEqual([
      text(long),
      text(longer),
      text('k'.repeat(200) + 'x'.repeat(100)),
    ]);
  });

  it.each([
    ['a suffix first', '81 61 ff 00', 0],
    ['a prefix first', '40 81 61 ff 00', 0],
    ['a suffix right after a full key', '01 61 ff 00 81 62 ff 00', 4],
    ['a prefix longer than the key before it', '01 61 ff 00 42 81 62 ff 00', 4],
    ['a prefix without a suffix', '01 61 ff 00 41 01 62 ff 00', 4],
    ['a record of an unknown kind', 'c1 61 ff 00', 0],
    ['an end between prefix and suffix', '01 61 ff 00 41', 4],
  ])('refuses %s', (_, bytes, offset) => {
    const rows = open(tableOf(hex(bytes), { encoding: 1 }), 'a.sst').rows();
    expect(() => {
      while (rows.next());
    }).toThrow(
      expect.objectContaining({ code: 'entry_malformed', file: 'a.sst', offset, blockType: 'data' }),
    );
    expect(rows.next()).toBe(false);
  });
});

describe('damage', () => {
  it.each([
    ['a key length beyond the rows', '7f 61 ff 00'],
    ['a key length of more than five bytes', 'ffffffffffffff 61 ff 00'],
    ['a key without room for its trailer', '04 61626364'],
    ['a trailer that is cut off', '01 61 01 05000000'],
    ['no value length', '01 61 ff'],
    ['a value length beyond the rows', '01 61 ff 01'],
    ['a value length of gigabytes', '01 61 ff ffffffff0f 31'],
  ])('refuses %s', (_, bytes) => {
    const rows = open(tableOf(hex(bytes))).rows();
    expect(() => rows.next()).toThrow(expect.objectContaining({ code: 'entry_malformed', offset: 0 }));
  });

  it('does not let a fixed key length reach beyond the rows', () => {
    const rows = open(tableOf(hex('61 ff 00'), { keyLength: 2 ** 50 })).rows();
    expect(() => rows.next()).toThrow(CorruptionError);
  });

  it('reports a data size that does not fit', () => {
    const table = open(tableOf(hex('01 61 ff 00'), { dataSize: 3 }));
    expect(table.problems).toEqual([expect.objectContaining({ code: 'properties_mismatch' })]);
    expect(allRows(table)).toHaveLength(1);
  });

  it('declines rows of an unknown encoding', () => {
    expect(() => open(tableOf(hex('01 61 ff 00'), { encoding: 2 })).rows()).toThrow(UnsupportedError);
  });

  it('declines rows without properties', () => {
    const bytes = tableOf(hex('01 61 ff 00'));
    // The number of restarts of the properties block.
    const at = Buffer.from(bytes).indexOf('rocksdb.properties') - 3 - 4;
    bytes.set([0xff, 0xff], at);
    const table = open(bytes, 'a.sst');
    expect(table.problems).toEqual([
      expect.objectContaining({ code: 'block_format', blockType: 'properties' }),
    ]);
    expect(() => table.rows()).toThrow(
      expect.objectContaining({
        code: 'properties_missing',
        message: expect.stringContaining('a.sst: the rows'),
      }),
    );
  });

  it('survives any changed byte', () => {
    const original = readFileSync(path.join(fixtures, 'plain/plain-variable.sst'));
    const rounds = 2000 * Number(process.env.SSTKIT_TEST_SCALE ?? 1);
    let state = 1;
    const random = (limit: number): number => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor((state / 2 ** 32) * limit);
    };
    for (let round = 0; round < rounds; round++) {
      const bytes = new Uint8Array(original);
      // The footer's magic stays.
      bytes[random(bytes.length - 8)] = random(256);
      try {
        allRows(open(bytes));
      } catch (error) {
        if (!(error instanceof CorruptionError) && !(error instanceof UnsupportedError)) throw error;
      }
    }
  });
});

describe('windows', () => {
  it('reads a long file part by part, and a longer row at once', () => {
    const value = new Uint8Array(100_000).fill(0x78);
    const big = new Uint8Array(3_000_000).fill(0x79);
    const parts = Array.from({ length: 40 }, (_, i) => [
      Uint8Array.of(1, i, 0xff),
      varint(i === 20 ? big.length : value.length),
      i === 20 ? big : value,
    ]);
    const file = tableOf(concat(parts.flat()));
    const inner = memorySource(file);
    let longest = 0;
    const source = new CountingSource({
      ...inner,
      readInto(offset, target) {
        longest = Math.max(longest, target.length);
        inner.readInto(offset, target);
      },
    });
    const rows = openPlainTable(source, readFooter(source, hashes)).rows();
    let count = 0;
    while (rows.next()) {
      expect(rows.key[0]).toBe(count);
      const expected = count === 20 ? big : value;
      expect(rows.valueEnd - rows.valueStart).toBe(expected.length);
      expect(rows.data[rows.valueEnd - 1]).toBe(expected[0]);
      count++;
    }
    expect(count).toBe(40);
    expect(longest).toBeLessThan(big.length + 20);
    expect(source.bytesRead).toBeLessThan(1.3 * file.length);
  });

  it('goes on where a source says that a range is not here yet', () => {
    const rowsBytes = concat(
      Array.from({ length: 500 }, (_, i) =>
        concat([hex('04'), utf8Bytes(String(1000 + i)), hex('ff b817'), new Uint8Array(3000)]),
      ),
    );
    const inner = memorySource(tableOf(rowsBytes));
    let calls = 0;
    const source = {
      ...inner,
      readInto(offset: number, target: Uint8Array): void {
        if (++calls % 2 === 1) throw new Error('not yet');
        inner.readInto(offset, target);
      },
    };
    const rows = openPlainTable(source, readFooter(inner, hashes)).rows();
    const keys: string[] = [];
    for (let more = true; more; ) {
      try {
        more = rows.next();
      } catch (error) {
        expect((error as Error).message).toBe('not yet');
        continue;
      }
      if (more) keys.push(Buffer.from(rows.key.subarray(0, 4)).toString());
    }
    expect(keys).toEqual(Array.from({ length: 500 }, (_, i) => String(1000 + i)));
    expect(calls).toBeGreaterThan(2);
  });
});
