import { describe, expect, it } from 'vitest';
import { batchOf } from '../../../test/support/wal.ts';
import { utf8Bytes } from '../../bytes/text.ts';
import { WriteBatchReader } from '../../format/wal/decode-write-batch.ts';
import type { WriteBatchWriter } from '../../format/wal/encode-write-batch.ts';
import { WalSequence } from './wal-sequence.ts';

const KEY = utf8Bytes('key');
const puts =
  (count: number) =>
  (batch: WriteBatchWriter): void => {
    for (let i = 0; i < count; i++) batch.put(KEY, KEY);
  };
const prepared =
  (xid: string, count: number, kind?: 'persisted') =>
  (batch: WriteBatchWriter): void => {
    batch.beginPrepare(kind);
    puts(count)(batch);
    batch.endPrepare(utf8Bytes(xid));
  };
const commit =
  (xid: string, beside = 0) =>
  (batch: WriteBatchWriter): void => {
    batch.commit(utf8Bytes(xid));
    puts(beside)(batch);
  };
const rollback =
  (xid: string) =>
  (batch: WriteBatchWriter): void =>
    batch.rollback(utf8Bytes(xid));

type Step = [seqno: number, write: (batch: WriteBatchWriter) => void] | 'lost';

function gaps(...steps: Step[]): string | undefined {
  const sequence = new WalSequence();
  for (const [i, step] of steps.entries()) {
    if (step === 'lost') {
      sequence.lose();
      continue;
    }
    const batch = new WriteBatchReader(batchOf(...step));
    sequence.begin(batch.seqno, 100 * i);
    for (let operation = batch.next(); operation !== undefined; operation = batch.next()) {
      sequence.take(operation);
    }
  }
  return sequence.finding()?.message;
}

describe('no gap', () => {
  it.each<[string, Step[]]>([
    [
      'one behind the other',
      [
        [7, puts(3)],
        [10, puts(1)],
        [11, puts(2)],
      ],
    ],
    [
      'batches that take no number',
      [
        [7, puts(1)],
        [8, (batch) => batch.logData(KEY)],
        [8, puts(1)],
      ],
    ],
    [
      'what is prepared takes its numbers with the commit',
      [
        [7, prepared('a', 2)],
        [7, prepared('b', 3)],
        [7, commit('b')],
        [10, commit('a', 1)],
        [13, puts(1)],
      ],
    ],
    [
      'or never',
      [
        [7, prepared('a', 2)],
        [7, rollback('a')],
        [7, puts(1)],
        [8, puts(1)],
      ],
    ],
    [
      'a commit of what another log has prepared',
      [
        [7, commit('x')],
        [20, puts(1)],
        [21, puts(1)],
      ],
    ],
    ['behind a loss', [[7, puts(1)], 'lost', [12, puts(1)]]],
    [
      'numbers of sub-batches',
      [
        [7, prepared('a', 5, 'persisted')],
        [8, commit('a')],
        [9, puts(3)],
        [10, puts(1)],
      ],
    ],
    [
      'the same, with a mark behind the first gap',
      [
        [7, puts(1)],
        [9, puts(1)],
        [11, prepared('a', 5, 'persisted')],
      ],
    ],
    [
      'the same without a mark',
      [
        [7, puts(5)],
        [8, puts(1)],
        [9, puts(1)],
      ],
    ],
  ])('%s', (_, steps) => expect(gaps(...steps)).toBeUndefined());
});

describe('a gap', () => {
  it('forwards', () => {
    expect(gaps([7, puts(1)], [8, puts(2)], [12, puts(1)])).toBe(
      'record at 200: its sequence numbers begin with 12, those of the record before, at 100, end before 10',
    );
  });

  it('several, which are one finding', () => {
    expect(gaps([7, puts(1)], [9, puts(1)], [20, puts(1)])).toMatch(/; 2 such places, 11 numbers missing$/);
  });

  it('whose numbers tables have is none', () => {
    const sequence = new WalSequence((from, to) => from === 8n && to === 10n);
    for (const seqno of [7n, 10n]) {
      sequence.begin(seqno, 0);
      sequence.take(new WriteBatchReader(batchOf(Number(seqno), puts(1))).next()!);
    }
    expect(sequence.finding()).toBeUndefined();
  });

  it('backwards', () => {
    expect(gaps([7, puts(1)], [3, puts(1)])).toContain(
      'begin with 3, those of the record before, at 0, end before 8',
    );
  });
});
