/** Rows into entries: the fast way and the slow one say the same, however the input is cut. */

import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../src/bytes/byte-writer.ts';
import { utf8Bytes } from '../../src/bytes/text.ts';
import { InvalidArgumentError } from '../../src/errors.ts';
import {
  type BlobIndex,
  decodeBlobIndex,
  decodeWideColumns,
  encodeBlobIndex,
  encodeWideColumns,
} from '../../src/format/entry-value.ts';
import { comparatorOf } from '../../src/operators/comparator.ts';
import { NdjsonRows } from '../../src/tools/write/ndjson-rows.ts';
import { RecordReader } from '../../src/tools/write/record-reader.ts';
import { RowEncoder } from '../../src/tools/write/row-encoder.ts';
import { WriteEntry } from '../../src/tools/write/write-entry.ts';
import { type JsonRow, scanRows } from '../support/scan.ts';
import { linesOf, writeHere } from './write-here.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-write-rows-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const out = (): string => path.join(folder, 'out.sst');

async function writtenRows(): Promise<Partial<JsonRow>[]> {
  const { rows, findings, failures } = await scanRows([out()]);
  expect({ findings, failures }).toEqual({ findings: [], failures: [] });
  return rows.map(({ file: _, ...row }) => row);
}

describe('a row', () => {
  const parse = (text: string, timestampSize = 0) => {
    const entry = new WriteEntry();
    const encoder = new RowEncoder({ timestampSize, fillTimestamps: false, hexTimestamps: true });
    const bytes = utf8Bytes(`xx${text}yy`);
    new NdjsonRows(encoder, entry).parse(bytes, 2, bytes.length - 2);
    return {
      key: [...entry.key.subarray(entry.keyStart, entry.keyEnd)],
      value: [...entry.value.subarray(entry.valueStart, entry.valueEnd)],
    };
  };

  it.each([
    '{"file":"a.sst","key":"6b31","seqno":"17","type":"put","value":"7631"}',
    '{"file":"","key":"","seqno":"0","type":"delete","value":""}',
    '{"key":"6b31","seqno":"281474976710655","type":"merge","value":"00ff"}',
    '{"file":"a\\"b.sst","key":"6b31","seqno":"17","type":"put","value":"7631"}',
    '{"file":"a.sst","key":"6B31","seqno":"72057594037927935","type":"put","value":"7A"}',
    '{"file":"a.sst","cf":"x","key":"6b31","seqno":"17","type":"single_delete","value":""}',
    '{"file":"a.sst","key":"6b31","seqno":"17","type":"put","value":"7631","storedSeqno":"0"}',
  ])('%s', (text) => {
    const { file: _, ...row } = JSON.parse(text);
    // Another order of fields: never the fast way.
    const slow = JSON.stringify(Object.fromEntries(Object.entries(row).reverse()));
    expect(parse(text)).toEqual(parse(slow));
    const seqno = BigInt(row.seqno);
    const { key } = parse(text);
    expect(key.slice(-7).reduceRight((sum, byte) => sum * 256n + BigInt(byte), 0n)).toBe(seqno);
  });

  it('with a timestamp', () => {
    const text =
      '{"file":"a.sst","key":"6b31","timestamp":"0100000000000000","seqno":"17","type":"put","value":"7631"}';
    expect(parse(text, 8).key).toEqual([0x6b, 0x31, 1, 0, 0, 0, 0, 0, 0, 0, 1, 17, 0, 0, 0, 0, 0, 0]);
    for (const wrong of [text.replace('0100000000000000', '01'), text.replace(/"timestamp":"\w+",/, '')]) {
      expect(() => parse(wrong, 8)).toThrow(InvalidArgumentError);
    }
  });

  it('cut short anywhere is refused', () => {
    const text = '{"file":"a.sst","key":"6b31","seqno":"17","type":"put","value":"7631"}';
    for (let length = 0; length < text.length; length++) {
      expect(() => parse(text.slice(0, length))).toThrow(InvalidArgumentError);
    }
  });
});

describe('values with a structure', () => {
  const blobs: BlobIndex[] = [
    {
      kind: 'blob',
      expirationSeconds: undefined,
      fileNumber: 12,
      offset: 2 ** 40,
      size: 300,
      compressionType: 7,
    },
    { kind: 'blob_ttl', expirationSeconds: 1e9, fileNumber: 1, offset: 0, size: 0, compressionType: 0 },
    { kind: 'inlined_ttl', expirationSeconds: 5, value: Uint8Array.of(1, 2) },
  ];
  it.each(blobs)('$kind', (blob) => {
    const bytes = new ByteWriter();
    encodeBlobIndex(blob, bytes);
    expect(decodeBlobIndex(bytes.bytes, 0, bytes.length)).toEqual(blob);
  });

  it('entities, of version 1 and with blobs of version 2', () => {
    const blob = new ByteWriter();
    encodeBlobIndex(blobs[0]!, blob);
    const plain = { name: utf8Bytes(''), value: utf8Bytes('x') };
    const large = { name: utf8Bytes('large'), value: blob.copy(), blob: blobs[0]! };
    for (const [columns, version] of [
      [[], 1],
      [[plain], 1],
      [[plain, large], 2],
    ] as const) {
      const bytes = new ByteWriter();
      encodeWideColumns([...columns].reverse(), bytes);
      expect(bytes.bytes[0]).toBe(version);
      expect(decodeWideColumns(bytes.bytes, 0, bytes.length)).toEqual(columns);
    }
    expect(() => encodeWideColumns([plain, plain], new ByteWriter())).toThrow(InvalidArgumentError);
  });

  it('come back as they went in', async () => {
    const rows = [
      { key: '61', seqno: '9', type: 'put_preferred_seqno', value: '7631', preferredSeqno: '4' },
      {
        key: '62',
        seqno: '8',
        type: 'blob_index',
        blob: { kind: 'inlined_ttl', expiration: 7, value: 'ff' },
      },
      {
        key: '63',
        seqno: '7',
        type: 'blob_index',
        blob: { kind: 'blob_ttl', file: 3, offset: 30, size: 40, compression: 1, expiration: 99 },
      },
      {
        key: '64',
        seqno: '6',
        type: 'entity',
        columns: [
          { name: '', value: '01' },
          { name: '61', blob: { kind: 'blob', file: 3, offset: 30, size: 40, compression: 1 } },
        ],
      },
      { key: '65', seqno: '5', type: 'delete_with_timestamp', value: '' },
      { key: '66', seqno: '4', type: 'merge', value: '2b' },
    ];
    await writeHere(out(), linesOf(rows));
    expect(await writtenRows()).toEqual(rows);
  });

  it('with timestamps, kept and not', async () => {
    const comparator = comparatorOf('leveldb.BytewiseComparator.u64ts');
    const row = (key: string, time: number) => ({
      key,
      timestamp: `0${time}00000000000000`,
      seqno: '1',
      type: 'put',
      value: '',
    });
    const rows = [row('61', 5), row('61', 3), row('62', 1)];
    await writeHere(out(), linesOf(rows), { table: { comparator } });
    expect(await writtenRows()).toEqual(rows);

    const bare = [
      { key: '61', seqno: '2', type: 'put', value: '' },
      { key: '62', seqno: '1', type: 'delete', value: '' },
    ];
    const table = { comparator, persistUserDefinedTimestamps: false };
    const { largest } = await writeHere(out(), linesOf(bare), { table });
    expect(await writtenRows()).toEqual(bare);
    expect(largest).toEqual(Uint8Array.of(0x62));
  });
});

it('an ingestable table with timestamps has tombstones that end where a key begins', async () => {
  const table = { comparator: comparatorOf('leveldb.BytewiseComparator.u64ts'), external: true };
  const timestamp = '0500000000000000';
  const row = { key: '63', timestamp: '0900000000000000', seqno: '7', type: 'put', value: '' };
  const tombstone = { start: '61', end: '63', timestamp, seqno: '9', type: 'range_delete' };
  await writeHere(out(), linesOf([tombstone, row]), { table });
  expect(await writtenRows()).toEqual([
    { ...tombstone, seqno: '0' },
    { ...row, seqno: '0' },
  ]);
  const wider = linesOf([{ ...tombstone, end: '64' }, row]);
  await expect(writeHere(out(), wider, { table })).rejects.toThrow('line 2: the range tombstone of line 1');
});

describe('RecordReader', () => {
  const read = async (text: string, pieceBytes: number, quoted = false): Promise<string[]> => {
    const bytes = utf8Bytes(text);
    const pieces = (async function* () {
      for (let at = 0; at < bytes.length; at += pieceBytes) yield bytes.slice(at, at + pieceBytes);
    })();
    const reader = new RecordReader(pieces);
    reader.quoted = quoted;
    const records: string[] = [];
    do {
      while (reader.next()) {
        const record = new TextDecoder().decode(reader.bytes.subarray(reader.start, reader.end));
        records.push(`${reader.line}:${record}`);
      }
    } while (await reader.fill());
    return records;
  };

  it.each([1, 2, 3, 5, 1000])('in pieces of %i bytes', async (pieceBytes) => {
    const text = '\ufeffone\r\n\n\ntwo 2\n"three\nfour"\nfive';
    expect(await read('', pieceBytes)).toEqual([]);
    expect(await read(text, pieceBytes)).toEqual(['1:one', '4:two 2', '5:"three', '6:four"', '7:five']);
    expect(await read('a\n"three\nfour"\nfive\n', pieceBytes, true)).toEqual([
      '1:a',
      '2:"three\nfour"',
      '4:five',
    ]);
  });
});

describe('--sort', () => {
  const count = 4000;
  const key = (i: number): string => Buffer.from(`key${String(i).padStart(7, '0')}`).toString('hex');
  const sorted = Array.from({ length: count }, (_, i) => ({
    key: key(i >> 1),
    seqno: String(9 - (i & 1)),
    type: i % 7 === 0 ? 'merge' : 'put',
    value: 'ab'.repeat(i % 50),
  }));
  // 1009 has no factor in common with their number: each comes once.
  const shuffled = sorted.map((_, i) => sorted[(i * 1009) % count]!);

  it.each([
    ['in memory', 16 << 20],
    ['in a few runs', 64 << 10],
    ['in runs of runs', 1024],
  ])('%s', async (_, sortMemoryBytes) => {
    const { entries } = await writeHere(out(), linesOf(shuffled), { sort: true, sortMemoryBytes });
    expect(entries).toBe(count);
    expect(await writtenRows()).toEqual(sorted);
    expect(readdirSync(folder)).toEqual(['out.sst']);
  });

  it('by another comparator', async () => {
    const comparator = comparatorOf('rocksdb.ReverseBytewiseComparator');
    const plain = sorted.filter((_, i) => i % 2 === 0);
    await writeHere(out(), linesOf(plain), { sort: true, sortMemoryBytes: 2048, table: { comparator } });
    expect(await writtenRows()).toEqual([...plain].reverse());
  });

  it('finds duplicates that lie in different runs', async () => {
    const rows = [...shuffled, { ...shuffled[0]!, value: '' }];
    const failing = writeHere(out(), linesOf(rows), { sort: true, sortMemoryBytes: 4096, force: true });
    await expect(failing).rejects.toThrow(/line (1|4001): .* line (1|4001) already/);
  });
});

it('the input may come in pieces of any size', async () => {
  const rows = Array.from({ length: 50 }, (_, i) => ({
    key: Buffer.from(`k${String(i).padStart(3, '0')}`).toString('hex'),
    seqno: '1',
    type: 'put',
    value: 'cd'.repeat(i),
  }));
  for (const pieceBytes of [1, 7, 64, 4096]) {
    await writeHere(out(), linesOf(rows), { pieceBytes });
    expect(await writtenRows()).toEqual(rows);
  }
});

it('rows of two column families are refused', async () => {
  const row = (cf: string, key: string) => ({ file: 'a', cf, key, seqno: '1', type: 'put', value: '' });
  await writeHere(out(), linesOf([row('x', '61'), row('x', '62')]));
  await expect(writeHere(out(), linesOf([row('x', '61'), row('y', '62')]))).rejects.toThrow('line 2');
});
