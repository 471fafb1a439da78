/** `verify` of WALs, by themselves and as a database has them. */

import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { fromHex, utf8Bytes } from '../../src/bytes/text.ts';
import { decodeTimestampSizes } from '../../src/format/log/log-control.ts';
import { LogReader } from '../../src/format/log/log-reader.ts';
import { encodeCurrent } from '../../src/format/manifest/current-file.ts';
import { verifyWal } from '../../src/tools/verify/wal-check.ts';
import type { FileReport, VerifyOptions } from '../../src/tools/verify.ts';
import { runHere } from '../bug-cases/run-here.ts';
import { bytesOf } from '../bug-cases/table-by-hand.ts';
import { type Edit, findingsIn, manifestOf, verifyFolder } from '../support/manifest.ts';
import { flipBit } from '../support/patch.ts';
import { SeededRandom, TEST_SCALE } from '../support/random.ts';
import { testEnvironment } from '../support/scan.ts';
import { batchOf, logOf, realWals, walOf } from '../support/wal.ts';

const bytes = utf8Bytes;
const puts = (seqno: number, count = 1): Uint8Array =>
  batchOf(seqno, (batch) => {
    for (let i = 0; i < count; i++) batch.put(bytes(`key${i}`), bytes('value'));
  });

async function verify(log: Uint8Array, options: VerifyOptions = {}): Promise<FileReport> {
  return (await verifyWal(await testEnvironment(), { path: 'a.log', source: memorySource(log) }, options))
    .report;
}

const codes = ({ findings }: FileReport): string[] =>
  findings.map(({ severity, code }) => `${severity} ${code}`);

let root: string;
let count = 0;
beforeAll(() => {
  root = mkdtempSync(path.join(tmpdir(), 'sstkit-wal-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

it.each(realWals())('$name is whole', async ({ name, path: file }) => {
  const report = await verify(new Uint8Array(readFileSync(file)));
  expect(report).toMatchObject({ kind: 'wal', status: 'ok' });
  // Between its batches a file was ingested, which took a number.
  expect(codes(report)).toEqual(name === 'own/ingest/000008.log' ? ['warning wal_sequence_gap'] : []);
  expect(await verify(new Uint8Array(readFileSync(file)), { checksumsOnly: true })).toMatchObject({
    status: 'ok',
    entries: 0,
  });
});

describe('one log', () => {
  it('is whole: entries are those of its batches', async () => {
    const log = walOf(puts(1, 3), puts(4), puts(5, 2));
    expect(await verify(log)).toMatchObject({ status: 'ok', entries: 6, bytes: log.length, findings: [] });
  });

  it('damage in the middle, and the gap that it leaves is not told', async () => {
    const log = walOf(puts(1), puts(2), puts(3, 4000), puts(4003));
    const report = await verify(flipBit(log, 60));
    expect(codes(report)).toEqual(['damage log_record_damaged']);
    expect(report.status).toBe('damaged');
    expect(report.findings[0]!.message).toMatch(/^record at \d+: crc32c mismatch/);
  });

  it('orphans, batches that are none, counts, entities', async () => {
    const wrongCount = puts(2);
    wrongCount[8] = 2;
    const report = await verify(
      walOf(
        bytes('short'),
        wrongCount,
        bytesOf(puts(3), fromHex('1e')!),
        batchOf(4, (batch) => batch.entity(bytes('k'), fromHex('0105')!)),
        puts(5),
      ),
    );
    expect(codes(report)).toEqual([
      'damage wal_batch',
      'damage wal_batch',
      'damage wal_batch',
      'damage entry_malformed',
    ]);
    expect(report.findings[1]).toMatchObject({ stored: '2', computed: '1' });
    expect(report).toMatchObject({ status: 'damaged', entries: 4 });
    const orphan = walOf(puts(1, 4000)).subarray(32768);
    expect(codes(await verify(orphan))).toContain('damage log_orphan_fragment');
  });

  it('a gap is a warning, unless order is not asked for', async () => {
    const log = walOf(puts(1), puts(9));
    const report = await verify(log);
    expect(codes(report)).toEqual(['warning wal_sequence_gap']);
    expect(report.status).toBe('ok');
    expect(codes(await verify(log, { order: false }))).toEqual([]);
  });

  it('a tail that was not finished is a note', async () => {
    const log = walOf(puts(1), puts(2));
    const report = await verify(log.subarray(0, log.length - 1));
    expect(codes(report)).toEqual(['note wal_incomplete']);
    expect(report.status).toBe('ok');
  });

  it('a compression that is not known: unsupported', async () => {
    const log = logOf({}, (writer) => {
      writer.setCompressionType(2);
      writer.add(bytes('...'));
    });
    expect(await verify(log)).toMatchObject({ status: 'unsupported', findings: [{ code: 'unsupported' }] });
  });

  it('nothing but damage: unreadable', async () => {
    expect((await verify(flipBit(walOf(puts(1)), 20))).status).toBe('unreadable');
  });
});

const SEED = Number(process.env.SSTKIT_SEED ?? 11);

it(`a flipped bit in any place is named, or is that of the tail; seed ${SEED}`, async () => {
  const random = new SeededRandom(SEED);
  const log = walOf(...Array.from({ length: 40 }, (_, i) => puts(1 + 50 * i, 50)));
  for (let round = 0; round < 100 * TEST_SCALE; round++) {
    const report = await verify(flipBit(log, random.below(log.length), random.below(8)));
    // A last record whose length grew reaches over the end, as one does whose writing was not finished.
    expect(codes(report)).toContainEqual(expect.stringMatching(/^(damage log_|note wal_incomplete)/));
  }
});

it(`changed payloads behind checksums that hold are read, or named; seed ${SEED}`, async () => {
  const random = new SeededRandom(SEED);
  const environment = await testEnvironment();
  const files = realWals().filter(({ name }) => /^(wal_zstd|txn|udt|entity|cfs|own\/mixed)\//.test(name));
  for (const { path: file } of files) {
    const log = new Uint8Array(readFileSync(file));
    const reader = new LogReader(memorySource(log), environment.hashes, (fault) => {
      throw fault;
    });
    const changed = logOf({}, (writer) => {
      for (let i = 0; i < 300 * TEST_SCALE; i++) {
        const record = reader.next();
        if (record === undefined) break;
        const payload = record.payload.slice(
          0,
          random.chance(0.1) ? random.below(record.payload.length) : undefined,
        );
        if (record.kind === 'compression_type') writer.setCompressionType(7);
        else if (record.kind === 'timestamp_sizes')
          writer.addTimestampSizes(decodeTimestampSizes(record.payload));
        else {
          if (payload.length > 0) payload[random.below(payload.length)]! ^= 1 << random.below(8);
          writer.add(payload);
        }
      }
    });
    const report = await verify(changed);
    const known = /^(wal_batch|entry_malformed|unsupported|wal_sequence_gap)$/;
    expect(report.findings.filter(({ code }) => !known.test(code))).toEqual([]);
    expect(codes(report)).toContain('damage wal_batch');
    writeFileSync(path.join(root, '000001.log'), changed);
    for (const format of ['text', 'json', 'ndjson']) {
      const { status, stdout } = await runHere(['dump', '000001.log', '--format', format], { cwd: root });
      expect(status).toBe(1);
      if (format === 'json') JSON.parse(stdout.toString());
    }
  }
}, 60_000);

describe('the logs of a database', () => {
  const edit: Edit = {
    comparator: 'leveldb.BytewiseComparator',
    logNumber: 10,
    nextFileNumber: 20,
    lastSequence: 5n,
  };

  function database(logs: Record<string, Uint8Array>, ...edits: Edit[]): string {
    const folder = path.join(root, String(count++));
    mkdirSync(folder);
    writeFileSync(path.join(folder, 'MANIFEST-000005'), manifestOf([edit, ...edits]));
    writeFileSync(path.join(folder, 'CURRENT'), encodeCurrent(5));
    for (const [name, log] of Object.entries(logs)) writeFileSync(path.join(folder, name), log);
    return folder;
  }

  const good = walOf(puts(1), puts(2));
  const bad = flipBit(good, 20);
  const tracked = (number: number, syncedSize?: number): Edit => ({
    walAdditions: [{ number, ...(syncedSize === undefined ? {} : { syncedSize }) }],
  });

  it('those that are live, and no others', async () => {
    const folder = database({ '000009.log': bad, '000010.log': good, '000011.log': bad, '000012.log': good });
    expect(await findingsIn(folder)).toEqual(['000011.log: damage log_record_damaged']);
    expect([...(await verifyFolder(folder)).keys()]).toEqual([
      '000010.log',
      '000011.log',
      '000012.log',
      'MANIFEST-000005',
    ]);
  });

  it('older ones that the smallest log number to keep, or a lost edit, wants', async () => {
    const logs = { '000008.log': bad, '000010.log': good };
    expect(await findingsIn(database(logs, { minLogNumberToKeep: 8 }))).toEqual([
      '000008.log: damage log_record_damaged',
    ]);
    expect(await findingsIn(database(logs, { previousLogNumber: 8 }))).toEqual([
      '000008.log: damage log_record_damaged',
    ]);
  });

  it('a live one in which nothing can be recognised; one that is empty', async () => {
    const folder = database({
      '000010.log': new Uint8Array(100).fill(0x81),
      '000011.log': new Uint8Array(0),
    });
    expect(await findingsIn(folder)).toEqual(['000010.log: damage log_record_damaged']);
  });

  it('tracked ones: missing, shorter than synced, cut off within what was synced', async () => {
    const cut = good.subarray(0, good.length - 2);
    expect(await findingsIn(database({ '000010.log': good }, tracked(10, good.length)))).toEqual([]);
    expect(await findingsIn(database({ '000010.log': good }, tracked(10, good.length), tracked(11)))).toEqual(
      [],
    );
    expect(await findingsIn(database({ '000010.log': good }, tracked(11, 5)))).toEqual([
      'MANIFEST-000005: damage manifest_missing',
    ]);
    expect(await findingsIn(database({ '000010.log': cut }, tracked(10, good.length)))).toEqual([
      '000010.log: damage wal_incomplete',
      'MANIFEST-000005: damage manifest_size',
    ]);
    expect(await findingsIn(database({ '000010.log': cut }, tracked(10, 5)))).toEqual([
      '000010.log: note wal_incomplete',
    ]);
    // Logs in a directory of their own.
    expect(await findingsIn(database({}, tracked(11, 5)))).toEqual([
      'MANIFEST-000005: note files_not_compared',
    ]);
    const deleted = database({ '000012.log': good }, tracked(11, 5), { walDeletion: 12 });
    expect(await findingsIn(deleted)).toEqual([]);
  });

  it('records of another number are of a former use', async () => {
    const recycled = logOf({ recyclableLogNumber: 9 }, (log) => log.add(puts(1)));
    const reports = await verifyFolder(database({ '000010.log': recycled }));
    expect(reports.get('000010.log')).toMatchObject({ status: 'ok', entries: 0, findings: [] });
  });

  describe('the log before', () => {
    const behind = (logNumber: number, size: number, lastSeqno: number): Uint8Array =>
      logOf({}, (log) => {
        log.addPredecessorWal({
          logNumber: BigInt(logNumber),
          size: BigInt(size),
          lastSeqno: BigInt(lastSeqno),
        });
        log.add(puts(3));
      });

    it.each<[string, Record<string, Uint8Array>, boolean]>([
      ['is the one', { '000010.log': good, '000011.log': behind(10, good.length, 2) }, true],
      ['is empty', { '000010.log': new Uint8Array(0), '000011.log': behind(10, 0, 0) }, true],
      ['was not needed any more', { '000010.log': behind(9, 5, 1) }, true],
      [
        'is another',
        { '000010.log': good, '000011.log': good, '000012.log': behind(10, good.length, 2) },
        false,
      ],
      ['is not there', { '000010.log': good, '000012.log': behind(11, 5, 2) }, false],
      ['has another end', { '000010.log': good, '000011.log': behind(10, good.length, 4) }, false],
      ['is shorter', { '000010.log': good, '000011.log': behind(10, good.length + 1, 2) }, false],
    ])('%s', async (_, logs, isRight) => {
      const last = Object.keys(logs).at(-1)!;
      const wanted = isRight ? [] : [`${last}: damage wal_predecessor`];
      expect(await findingsIn(database(logs))).toEqual(wanted);
    });
  });

  it('by the command: status and report', async () => {
    const folder = database({ '000010.log': flipBit(good, 50) });
    expect((await runHere(['verify', folder], { cwd: root })).status).toBe(1);
    copyFileSync(path.join(folder, '000010.log'), path.join(folder, '000009.log'));
    writeFileSync(path.join(folder, '000010.log'), good);
    expect((await runHere(['verify', folder], { cwd: root })).status).toBe(0);
    const { status, stdout } = await runHere(['verify', path.join(folder, '000010.log'), '--json'], {
      cwd: root,
    });
    expect(status).toBe(0);
    expect(JSON.parse(stdout.toString()).files).toMatchObject([{ kind: 'wal', status: 'ok', entries: 2 }]);
  });
});
