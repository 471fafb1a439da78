/** `dump` of WALs: every real one against its schema and the rows that ldb prints, and such by hand. */

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ByteWriter } from '../../src/bytes/byte-writer.ts';
import { fromHex, utf8Bytes } from '../../src/bytes/text.ts';
import { encodeBlobIndex, encodeWideColumns } from '../../src/format/entry-value.ts';
import { bytesOf } from '../bug-cases/table-by-hand.ts';
import { dumpHere } from '../support/dump-here.ts';
import { ldbLines } from '../support/ldb-wal.ts';
import { batchOf, logOf, realWals, walOf } from '../support/wal.ts';

const bytes = utf8Bytes;
const hexOf = (text: string): string => Buffer.from(text).toString('hex');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'sstkit-dump-wal-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const { text: dump, json: dumpJson } = dumpHere(() => folder);

function write(name: string, log: Uint8Array): string {
  writeFileSync(path.join(folder, name), log);
  return name;
}

interface Operation {
  cf?: number;
  type: string;
  key?: string;
  start?: string;
  timestamp?: string;
}

it.each(realWals())('$name', async ({ path: wal }) => {
  const size = readFileSync(wal).length;
  if (size === 0) {
    expect((await dump(wal)).status).toBe(3);
    return;
  }
  const { status, document } = await dumpJson(wal);
  expect(status).toBe(0);
  expect(document).toMatchObject({ kind: 'wal', path: wal, size, findings: [] });
  const { lines, end } = await ldbLines(wal);
  expect(document.end).toEqual(end);
  expect(document.records).toHaveLength(lines.length - 1);
  for (const [i, { offset, seqno, count, batchSize, ops }] of document.records.entries()) {
    const line = lines[i + 1]!;
    expect(`${line},`).toContain(`${seqno},${count},${batchSize},${offset},`);
    for (const { cf, type, key, start, timestamp = '' } of ops as Operation[]) {
      if (cf === undefined) continue;
      const name = { entity: 'put_entity', range_delete: 'delete_range' }[type] ?? type;
      const first = `${key ?? start}${timestamp}`.toUpperCase();
      expect(line).toContain(`${name.toUpperCase()}(${cf}) : 0x${first} `);
    }
  }
  const rows = (await dump('--format', 'ndjson', wal)).stdout.toString().trimEnd().split('\n');
  const all = [...document.control, ...document.records].sort((a, b) => a.offset - b.offset);
  expect(rows.map((row) => JSON.parse(row))).toEqual(all.map((record: object) => ({ file: wal, ...record })));
  expect((await dump(wal)).status).toBe(0);
});

describe('every operation', () => {
  const blob = new ByteWriter();
  encodeBlobIndex(
    { kind: 'blob', fileNumber: 5, offset: 30, size: 9, compressionType: 7, expirationSeconds: undefined },
    blob,
  );
  const entity = new ByteWriter();
  encodeWideColumns(
    [
      { name: bytes(''), value: bytes('d') },
      { name: bytes('a=b'), value: bytes('v') },
    ],
    entity,
  );
  let file: string;
  beforeAll(() => {
    const all = batchOf(10, (batch) => {
      batch.put(bytes('a'), bytes('1'));
      batch.delete(bytes('b'), 1);
      batch.singleDelete(bytes('c'));
      batch.merge(bytes('d'), bytes('2'));
      batch.deleteRange(bytes('e\t'), bytes('f'));
      batch.blobIndex(bytes('g'), blob.copy());
      batch.entity(bytes('h'), entity.copy());
      batch.timedPut(bytes('i'), bytes('3'), 77n);
      batch.put(bytes('jT1'), bytes('4'), 2);
      batch.deleteRange(bytes('kT2'), bytes('lT2'), 2);
      batch.logData(bytes('note'));
      batch.noop();
      batch.beginPrepare();
      batch.put(bytes('m'), bytes(''));
      batch.endPrepare(bytes('x'));
      batch.commit(bytes('x'), bytes('TT'));
      batch.rollback(bytes('y'));
    });
    file = write(
      '000010.log',
      logOf({}, (log) => {
        log.addPredecessorWal({ logNumber: 9n, size: 2n ** 60n, lastSeqno: 9n });
        log.addTimestampSizes([{ columnFamily: 2, size: 2 }]);
        log.add(all);
        log.add(batchOf(21, (batch) => batch.beginPrepare('unprepared')));
      }),
    );
  });

  it('as JSON', async () => {
    const { status, document } = await dumpJson(file);
    expect(status).toBe(0);
    expect(document.control).toEqual([
      {
        offset: 0,
        size: 31,
        control: 'predecessor_wal',
        predecessor: { number: 9, size: String(2n ** 60n), lastSeqno: '9' },
      },
      { offset: 31, size: 13, control: 'timestamp_sizes', sizes: [{ cf: 2, size: 2 }] },
    ]);
    expect(document.records[0]).toMatchObject({ offset: 44, seqno: '10', count: 11 });
    expect(document.records[0].ops).toEqual([
      { cf: 0, key: '61', seqno: '10', type: 'put', value: '31' },
      { cf: 1, key: '62', seqno: '11', type: 'delete' },
      { cf: 0, key: '63', seqno: '12', type: 'single_delete' },
      { cf: 0, key: '64', seqno: '13', type: 'merge', value: '32' },
      { cf: 0, start: '6509', end: '66', seqno: '14', type: 'range_delete' },
      {
        cf: 0,
        key: '67',
        seqno: '15',
        type: 'blob_index',
        blob: { kind: 'blob', file: 5, offset: 30, size: 9, compression: 7 },
      },
      {
        cf: 0,
        key: '68',
        seqno: '16',
        type: 'entity',
        columns: [
          { name: '', value: '64' },
          { name: '613d62', value: '76' },
        ],
      },
      { cf: 0, key: '69', seqno: '17', type: 'put_preferred_seqno', value: '33', writeTime: 77 },
      { cf: 2, key: '6a', timestamp: '5431', seqno: '18', type: 'put', value: '34' },
      { cf: 2, start: '6b', end: '6c', timestamp: '5432', seqno: '19', type: 'range_delete' },
      { type: 'log_data', bytes: hexOf('note') },
      { type: 'noop', bytes: '' },
      { type: 'begin_prepare', bytes: '' },
      { cf: 0, key: '6d', type: 'put', value: '' },
      { type: 'end_prepare', bytes: '78' },
      { type: 'commit', timestamp: '5454', bytes: '78' },
      { type: 'rollback', bytes: '79' },
    ]);
    expect(document.records[1].ops).toEqual([{ type: 'begin_unprepare', bytes: '' }]);
  });

  it('in another form', async () => {
    const { document } = await dumpJson(file, '--bytes', 'escape');
    expect(document.records[0].ops[4]).toMatchObject({ start: 'e\\x09', end: 'f' });
  });

  it('as text', async () => {
    const text = (await dump(file)).stdout.toString();
    expect(text.split('\n')).toEqual([
      '000010.log: write-ahead log, 185 bytes',
      '',
      'Records',
      '  record at 0, size 31: the log before is 9, 1152921504606846976 bytes, last sequence number 9',
      '  record at 31, size 13: timestamps of 2 bytes in column family 2',
      '  batch at 44, size 121, seqno 10, count 11',
      '    a\t10\tput\t1',
      '    cf=1\tb\t11\tdelete',
      '    c\t12\tsingle_delete',
      '    d\t13\tmerge\t2',
      '    e\\x09\t14\trange_delete\tf',
      '    g\t15\tblob_index\tkind=blob\tfile=5\toffset=30\tsize=9\tcompression=7',
      '    h\t16\tentity\t=d\ta\\x3db=v',
      '    i\t17\tput_preferred_seqno\t3\twriteTime=77',
      '    cf=2\tj\t18\tput\t4\ttimestamp=5431',
      '    cf=2\tk\t19\trange_delete\tl\ttimestamp=5432',
      '    log_data\tnote',
      '    noop',
      '    begin_prepare',
      '    m\t-\tput\t',
      '    end_prepare\tx',
      '    commit\tx\ttimestamp=5454',
      '    rollback\ty',
      '  batch at 165, size 20, seqno 21, count 0',
      '    begin_unprepare',
      '',
      'End',
      '  batches         2',
      '  operations      18',
      '  end of the log  clean, at 185',
      '',
    ]);
  });
});

describe('damage is named, and the rest is shown', () => {
  const put = (seqno: number): Uint8Array => batchOf(seqno, (batch) => batch.put(bytes('k'), bytes('v')));

  it('a tag that is not known, an entity that is none', async () => {
    const unknown = bytesOf(put(1), fromHex('1e0102')!);
    const entity = batchOf(2, (batch) => batch.entity(bytes('h'), bytes('\x07')));
    const file = write('000011.log', walOf(unknown, entity, put(3)));
    const { status, document, stderr } = await dumpJson(file);
    expect(status).toBe(1);
    expect(document.records.map(({ ops }: { ops: object }) => ops)).toEqual([
      [
        { cf: 0, key: '6b', seqno: '1', type: 'put', value: '76' },
        { type: 'type_30', bytes: '0102' },
      ],
      [{ cf: 0, key: '68', seqno: '2', type: 'entity', value: '07' }],
      [{ cf: 0, key: '6b', seqno: '3', type: 'put', value: '76' }],
    ]);
    expect(document.findings).toMatchObject([
      { code: 'wal_batch', severity: 'damage' },
      { code: 'unsupported', severity: 'warning' },
    ]);
    expect(stderr).toContain('record at 0: operation 2 at 17 of the batch: tag 30 is not known');
    expect(document.end.state).toBe('clean');
    const strict = await dumpJson(file, '--strict');
    expect(strict.status).toBe(1);
    expect(strict.document.records).toHaveLength(1);
    expect(strict.document.end).toBeUndefined();
  });

  it('a checksum, a tail', async () => {
    const log = walOf(put(1), put(2), put(3));
    const cut = write('000012.log', log.subarray(0, log.length - 3));
    expect(await dumpJson(cut)).toMatchObject({
      status: 0,
      document: { end: { state: 'incomplete_tail', offset: 48 } },
    });
    log[30]! ^= 1;
    const changed = write('000013.log', log);
    const { status, document } = await dumpJson(changed);
    expect(status).toBe(1);
    expect(document).toMatchObject({
      end: { state: 'damage', offset: 24 },
      findings: [{ code: 'log_record_damaged' }],
    });
    expect(document.records).toHaveLength(1);
  });
});

it('parts of a table are refused', async () => {
  const file = write('000014.log', walOf(batchOf(1, (batch) => batch.noop())));
  for (const part of ['--blocks', '--properties', '--entries']) {
    const { status, stderr } = await dump(file, part);
    expect(status).toBe(4);
    expect(stderr).toContain('a write-ahead log');
  }
});

it('beside a table, in one list', async () => {
  const file = write('000015.log', walOf(batchOf(1, (batch) => batch.noop())));
  const { status, document } = await dumpJson(file, 'demo:basic.sst');
  expect(status).toBe(0);
  expect(document.files.map(({ kind }: { kind: string }) => kind)).toEqual(['wal', 'sst']);
});
