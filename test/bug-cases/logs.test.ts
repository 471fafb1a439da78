/** Logs as WALs have them: where they end, and what is left of a former use. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { memorySource } from '../../src/bytes/source.ts';
import { utf8, utf8Bytes } from '../../src/bytes/text.ts';
import { type LogEnd, type LogFault, LogReader } from '../../src/format/log/log-reader.ts';
import type { LogWriter } from '../../src/format/log/log-writer.ts';
import { twinHashFunctions } from '../../src/hash/hash-functions.ts';
import { batchOf, logOf, rawZstdFrame } from '../support/wal.ts';
import { runHere } from './run-here.ts';
import { bytesOf } from './table-by-hand.ts';

const add = (log: LogWriter, ...texts: string[]): void => {
  for (const text of texts) log.add(utf8Bytes(text));
};

function read(bytes: Uint8Array): { texts: string[]; faults: LogFault[]; end: LogEnd } {
  const faults: LogFault[] = [];
  const reader = new LogReader(memorySource(bytes), twinHashFunctions(), (fault) => faults.push(fault));
  const texts: string[] = [];
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    if (record.kind === 'data') texts.push(utf8(record.payload));
  }
  return { texts, faults, end: reader.end! };
}

it('WL-02: a compression record, three reusable records of log 9, then records of log 5', () => {
  const log = logOf({ recyclableLogNumber: 9 }, (writer) => {
    writer.setCompressionType(7);
    add(writer, 'a', 'b', 'c');
  });
  const old = logOf({ recyclableLogNumber: 5 }, (writer) => add(writer, 'old', 'older'));
  expect(read(bytesOf(log, old))).toEqual({
    texts: ['a', 'b', 'c'],
    faults: [],
    end: { state: 'recycled_tail', offset: log.length },
  });
});

it('WL-04: a log of plain records, overwritten at its start by two reusable ones', () => {
  const log = logOf({ recyclableLogNumber: 9 }, (writer) => add(writer, 'a', 'b'));
  const end = { state: 'recycled_tail', offset: log.length };
  // At the border of an old record, and in the middle of one.
  const old = logOf({}, (writer) => add(writer, 'old', 'older'));
  expect(read(bytesOf(log, old))).toEqual({ texts: ['a', 'b'], faults: [], end });
  expect(read(bytesOf(log, old.subarray(3)))).toEqual({ texts: ['a', 'b'], faults: [], end });
});

describe('WL-06: an incomplete last record is no damage', () => {
  const three = logOf({}, (writer) => add(writer, 'one', 'two', 'three'));
  const two = { texts: ['one', 'two'], faults: [], end: { state: 'incomplete_tail', offset: 20 } };

  it('5 bytes of its header', () => {
    expect(read(three.subarray(0, 25))).toEqual(two);
  });

  it('a header and a part of the payload', () => {
    expect(read(three.subarray(0, 30))).toEqual(two);
  });
});

describe('LD-07: a payload that exactly fills the rest of a block', () => {
  const rest = 'x'.repeat(32768 - 7);

  it('our writer makes one full record of it', () => {
    const log = logOf({}, (writer) => add(writer, rest, 'next'));
    expect(log[6]).toBe(1);
    expect(read(log)).toMatchObject({ texts: [rest, 'next'], faults: [], end: { state: 'clean' } });
  });

  it('a first fragment without a last one is named, and reading goes on', () => {
    const log = logOf({}, (writer) => add(writer, `${rest}y`, 'next'));
    // The last fragment makes way for a whole record.
    const next = logOf({}, (writer) => add(writer, 'next'));
    const { texts, faults } = read(bytesOf(log.subarray(0, 32768), next));
    expect(texts).toEqual(['next']);
    expect(faults).toMatchObject([{ code: 'log_orphan_fragment', offset: 0 }]);
  });
});

describe('WL-02, WL-04, WL-06 by the commands: batches are shown, the rest is no damage', () => {
  const put = (seqno: number): Uint8Array =>
    batchOf(seqno, (batch) => batch.put(utf8Bytes('k'), utf8Bytes('v')));
  const batches =
    (...seqnos: number[]) =>
    (writer: LogWriter): void => {
      for (const seqno of seqnos) writer.add(put(seqno));
    };
  const three = logOf({}, batches(1, 2, 3));
  const recycled = logOf({ recyclableLogNumber: 9 }, batches(8, 9));

  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sstkit-logs-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each<[string, Uint8Array, number[], string, string[]]>([
    [
      'WL-02',
      bytesOf(
        logOf({ recyclableLogNumber: 9 }, (writer) => {
          writer.setCompressionType(7);
          for (const seqno of [7, 8, 9]) writer.add(rawZstdFrame(put(seqno)));
        }),
        logOf({ recyclableLogNumber: 5 }, batches(1, 2)),
      ),
      [7, 8, 9],
      'recycled_tail',
      [],
    ],
    ['WL-04', bytesOf(recycled, three.subarray(recycled.length)), [8, 9], 'recycled_tail', []],
    ['WL-04 within a record', bytesOf(recycled, three), [8, 9], 'recycled_tail', []],
    ['WL-06, 5 bytes of a header', three.subarray(0, 48 + 5), [1, 2], 'incomplete_tail', ['wal_incomplete']],
    ['WL-06, a short payload', three.subarray(0, 48 + 9), [1, 2], 'incomplete_tail', ['wal_incomplete']],
  ])('%s', async (_, log, seqnos, state, findings) => {
    const file = path.join(folder, '000009.log');
    writeFileSync(file, log);
    const dump = await runHere(['dump', '--json', file], { cwd: folder });
    const document = JSON.parse(dump.stdout.toString());
    expect(dump.status).toBe(0);
    expect(document.records.map(({ seqno }: { seqno: string }) => Number(seqno))).toEqual(seqnos);
    expect(document.end.state).toBe(state);
    const verify = await runHere(['verify', '--json', file], { cwd: folder });
    const [report] = JSON.parse(verify.stdout.toString()).files;
    expect(verify.status).toBe(0);
    expect(report.findings.map(({ code }: { code: string }) => code)).toEqual(findings);
  });
});
