import { describe, expect, it } from 'vitest';
import { SeededRandom, TEST_SCALE } from '../../../test/support/random.ts';
import { ByteWriter } from '../../bytes/byte-writer.ts';
import { toHex, utf8Bytes } from '../../bytes/text.ts';
import { CorruptionError } from '../../errors.ts';
import { decodeWriteBatch, WriteBatchReader } from './decode-write-batch.ts';
import { WriteBatchWriter } from './encode-write-batch.ts';
import { BATCH_LAYOUTS, type BatchOperation, type TimestampSizes } from './write-batch.ts';

const bytes = utf8Bytes;
const XID = bytes('xid1');

function batchOf(seqno: bigint, write: (batch: WriteBatchWriter) => void): Uint8Array {
  const writer = new WriteBatchWriter();
  write(writer);
  return writer.finish(seqno).slice();
}

/** `type key=value`, with the column family and the number where there is one. */
function textOf({ type, columnFamily, seqno, key, timestamp, value }: BatchOperation): string {
  const family = columnFamily === 0 ? '' : `${columnFamily}:`;
  const number = seqno === undefined ? '' : `@${seqno}`;
  const time = timestamp === undefined ? '' : `|${toHex(timestamp)}`;
  return `${family}${type}${number} ${new TextDecoder().decode(key)}${time}=${new TextDecoder().decode(value)}`;
}

const texts = (batch: Uint8Array, sizes?: TimestampSizes): string[] =>
  decodeWriteBatch(batch, sizes).operations.map(textOf);

function failure(batch: Uint8Array, sizes?: TimestampSizes): CorruptionError {
  try {
    decodeWriteBatch(batch, sizes);
  } catch (error) {
    expect(error).toBeInstanceOf(CorruptionError);
    expect((error as CorruptionError).code).toBe('wal_batch');
    return error as CorruptionError;
  }
  throw new Error('the batch decodes');
}

describe('every tag', () => {
  it('of entries, without and with a column family', () => {
    for (const family of [0, 300]) {
      const batch = batchOf(7n, (writer) => {
        writer.put(bytes('a'), bytes('1'), family);
        writer.delete(bytes('b'), family);
        writer.singleDelete(bytes('c'), family);
        writer.merge(bytes('d'), bytes('2'), family);
        writer.deleteRange(bytes('e'), bytes('f'), family);
        writer.blobIndex(bytes('g'), bytes('3'), family);
        writer.entity(bytes('h'), bytes('4'), family);
        writer.timedPut(bytes('i'), bytes('5'), 0x4141414141414141n, family);
      });
      const prefix = family === 0 ? '' : '300:';
      expect(texts(batch)).toEqual([
        `${prefix}put@7 a=1`,
        `${prefix}delete@8 b=`,
        `${prefix}single_delete@9 c=`,
        `${prefix}merge@10 d=2`,
        `${prefix}range_delete@11 e=f`,
        `${prefix}blob_index@12 g=3`,
        `${prefix}entity@13 h=4`,
        `${prefix}put_preferred_seqno@14 i=5AAAAAAAA`,
      ]);
    }
  });

  it('of transactions: what is prepared has no number yet, what stands beside it has', () => {
    const batch = batchOf(7n, (writer) => {
      writer.logData(bytes('log'));
      writer.noop();
      writer.beginPrepare();
      writer.put(bytes('a'), bytes('1'));
      writer.endPrepare(XID);
      writer.put(bytes('b'), bytes('2'));
      writer.commit(XID);
      writer.commit(XID, bytes('AB'));
      writer.rollback(XID);
    });
    expect(texts(batch)).toEqual([
      'log_data =log',
      'noop =',
      'begin_prepare =',
      'put a=1',
      'end_prepare =xid1',
      'put@7 b=2',
      'commit =xid1',
      'commit |4142=xid1',
      'rollback =xid1',
    ]);
    expect(decodeWriteBatch(batch).count).toBe(2);
  });

  it.each(['persisted', 'unprepared'] as const)('%s: numbers are those of sub-batches', (kind) => {
    const batch = batchOf(7n, (writer) => {
      writer.beginPrepare(kind);
      writer.put(bytes('a'), bytes('1'));
      writer.endPrepare(XID);
    });
    expect(texts(batch).slice(1)).toEqual(['put a=1', 'end_prepare =xid1']);
  });
});

it('bytes as the document has them', () => {
  const batch = batchOf(258n, (writer) => {
    writer.put(bytes('k'), bytes('v'), 2);
    writer.delete(bytes('d'));
  });
  expect(toHex(batch)).toBe('020100000000000002000000' + '0502016b0176' + '000164');
});

it('an empty batch', () => {
  expect(decodeWriteBatch(batchOf(9n, () => undefined))).toEqual({ seqno: 9n, count: 0, operations: [] });
});

describe('timestamps', () => {
  const sizes = new Map([[2, 3]]);

  it('end the keys of their column family, both of a range deletion', () => {
    const batch = batchOf(1n, (writer) => {
      writer.put(bytes('keyABC'), bytes('vABC'), 2);
      writer.deleteRange(bytes('aABC'), bytes('bABC'), 2);
      writer.put(bytes('keyABC'), bytes('vABC'), 1);
    });
    expect(texts(batch, sizes)).toEqual([
      '2:put@1 key|414243=vABC',
      '2:range_delete@2 a|414243=b',
      '1:put@3 keyABC=vABC',
    ]);
  });

  it('a key too short for its timestamp', () => {
    const batch = batchOf(1n, (writer) => writer.delete(bytes('AB'), 2));
    expect(failure(batch, sizes).message).toBe(
      'operation 1 (delete) at 12 of the batch: a key of 2 bytes has no room for the timestamp of 3 bytes that ' +
        'column family 2 has',
    );
  });
});

describe('what is wrong is named, with its place', () => {
  const two = batchOf(1n, (writer) => {
    writer.put(bytes('a'), bytes('1'));
    writer.put(bytes('b'), bytes('2'));
  });

  it('no header', () => {
    expect(failure(two.subarray(0, 11)).message).toContain('11 bytes has no room for its header of 12');
  });

  it('a sequence number above 2^56 - 1', () => {
    expect(failure(batchOf(2n ** 56n, () => undefined)).message).toContain('is above 2^56 - 1');
  });

  it.each([0x14, 0x1a, 0xff])('tag %i', (tag) => {
    const batch = two.slice();
    batch[17] = tag;
    expect(failure(batch).message).toBe(`operation 2 at 17 of the batch: tag ${tag} is not known`);
    const reader = new WriteBatchReader(batch);
    reader.next();
    expect(() => reader.next()).toThrow();
    expect(reader.next()).toBeUndefined();
    expect(toHex(reader.rest())).toBe(toHex(batch.subarray(17)));
  });

  it('a length that reaches beyond the batch', () => {
    const batch = two.slice();
    batch[20] = 9;
    expect(failure(batch).message).toBe(
      'operation 2 (put) at 17 of the batch: 9 bytes wanted at 21, 1 are left',
    );
  });

  it('a timed put without a time', () => {
    const batch = batchOf(1n, (writer) => writer.put(bytes('a'), bytes('1234567')));
    batch[12] = 0x18;
    expect(failure(batch).message).toContain('a value of 7 bytes has no write time');
  });

  it('a count that does not fit', () => {
    const batch = two.slice();
    batch[8] = 3;
    expect(failure(batch)).toMatchObject({ stored: '3', computed: '2' });
    expect(failure(batch).message).toBe('the header counts 3 operations, there are 2');
  });
});

const SEED = Number(process.env.SSTKIT_SEED ?? 20);

it(`round trips, and cut or changed batches never do more than throw, seed ${SEED}`, () => {
  const random = new SeededRandom(SEED);
  const tags = [...BATCH_LAYOUTS.keys()];
  for (let round = 0; round < 300 * TEST_SCALE; round++) {
    const out = new ByteWriter();
    out.fixed64(BigInt(random.uint32()));
    const wanted: [number, number, string[]][] = [];
    let count = 0;
    const body = new ByteWriter();
    for (let i = random.below(8); i > 0; i--) {
      const tag = random.pick(tags);
      const layout = BATCH_LAYOUTS.get(tag)!;
      const family = layout.hasFamily ? 1 + random.below(1000) : 0;
      const fields = layout.fields.map(() => random.bytes(8 + random.below(random.chance(0.1) ? 400 : 9)));
      body.byte(tag);
      if (layout.hasFamily) body.varint(family);
      for (const field of fields) body.lengthPrefixed(field);
      if (layout.isCounted) count++;
      wanted.push([tag, family, fields.map(toHex)]);
    }
    out.fixed32(count);
    out.append(body.view());
    const batch = out.copy();
    const found = decodeWriteBatch(batch).operations.map(
      ({ tag, columnFamily, key, value, timestamp }): [number, number, string[]] => {
        const { fields } = BATCH_LAYOUTS.get(tag)!;
        const of = { key, value, end: value, bytes: value, timestamp };
        return [tag, columnFamily, fields.map((field) => toHex(of[field]!))];
      },
    );
    expect(found).toEqual(wanted);
    const changed = batch.slice(0, random.below(batch.length + 1));
    if (changed.length > 0) changed[random.below(changed.length)]! ^= 1 << random.below(8);
    try {
      decodeWriteBatch(changed);
    } catch (error) {
      expect(error).toBeInstanceOf(CorruptionError);
    }
  }
});
