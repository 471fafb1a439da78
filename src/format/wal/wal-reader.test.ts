import { beforeAll, describe, expect, it } from 'vitest';
import { batchOf, logOf, rawZstdFrame, walOf } from '../../../test/support/wal.ts';
import { ByteWriter } from '../../bytes/byte-writer.ts';
import { writeFixed32 } from '../../bytes/fixed.ts';
import { memorySource } from '../../bytes/source.ts';
import { utf8, utf8Bytes } from '../../bytes/text.ts';
import type { CodecRegistry, Decoder } from '../../codec/registry.ts';
import { CodecPending } from '../../codec/registry.ts';
import { UnsupportedError, withPending } from '../../errors.ts';
import { twinHashFunctions } from '../../hash/hash-functions.ts';
import type { LogEnd, LogFault } from '../log/log-reader.ts';
import { type WalControl, WalReader } from './wal-reader.ts';

const bytes = utf8Bytes;

/** Frames of one raw block; the decoder comes at the second call, as if it had to be loaded. */
class RawFrames implements CodecRegistry {
  private loaded = false;

  decoder(): Decoder {
    if (!this.loaded) throw new CodecPending(this, 'zstd');
    return {
      implementation: 'raw blocks',
      decode: (input, start, end) => {
        if (input[end - 1] === 0xff) throw new Error('a bad byte');
        return input.slice(start + 9, end);
      },
    };
  }

  load(): Promise<void> {
    this.loaded = true;
    return Promise.resolve();
  }
}

interface Read {
  batches: { offset: number; seqno: number; keys: string[] }[];
  controls: WalControl[];
  faults: LogFault[];
  end: LogEnd;
  lost: number;
}

async function read(log: Uint8Array): Promise<Read> {
  const faults: LogFault[] = [];
  const environment = { hashes: twinHashFunctions(), codecs: new RawFrames() };
  const reader = new WalReader(memorySource(log, 'a.log'), environment, (fault) => faults.push(fault));
  const batches: Read['batches'] = [];
  const controls: WalControl[] = [];
  for (;;) {
    const record = await withPending(() => reader.next());
    if (record === undefined) break;
    if (record.kind !== 'batch') {
      const { offset: _, size: __, ...control } = record;
      controls.push(control);
      continue;
    }
    const keys = [...reader.operations(record)].map(({ key }) => utf8(key));
    batches.push({ offset: record.offset, seqno: Number(record.batch.seqno), keys });
  }
  return { batches, controls, faults, end: reader.end!, lost: reader.lostCount };
}

const put = (seqno: number, ...keys: string[]): Uint8Array =>
  batchOf(seqno, (batch) => {
    for (const key of keys) batch.put(bytes(key), bytes('value'));
  });

it('batches in their order, also those of several blocks', async () => {
  const long = 'x'.repeat(70_000);
  const log = walOf(put(1, 'a', 'b'), put(3, long), put(4, 'c'));
  const { batches, faults, end } = await read(log);
  expect(batches.map(({ seqno, keys }) => [seqno, keys])).toEqual([
    [1, ['a', 'b']],
    [3, [long]],
    [4, ['c']],
  ]);
  expect(faults).toEqual([]);
  expect(end).toEqual({ state: 'clean', offset: log.length });
});

it('records about the log; timestamps are cut off the keys behind', async () => {
  const log = logOf({ recyclableLogNumber: 9 }, (writer) => {
    writer.addPredecessorWal({ logNumber: 8n, size: 100n, lastSeqno: 6n });
    writer.add(batchOf(1, (batch) => batch.put(bytes('keyAB'), bytes('v'), 3)));
    writer.addTimestampSizes([{ columnFamily: 3, size: 2 }]);
    writer.add(batchOf(2, (batch) => batch.put(bytes('keyAB'), bytes('v'), 3)));
  });
  const { batches, controls } = await read(log);
  expect(controls).toEqual([
    { kind: 'predecessor_wal', predecessor: { logNumber: 8n, size: 100n, lastSeqno: 6n } },
    { kind: 'timestamp_sizes', sizes: [{ columnFamily: 3, size: 2 }] },
  ]);
  expect(batches.map(({ keys }) => keys)).toEqual([['keyAB'], ['key']]);
});

describe('compressed', () => {
  const compressed = (type: number, ...records: Uint8Array[]): Uint8Array =>
    logOf({}, (writer) => {
      writer.setCompressionType(type);
      for (const record of records) writer.add(record);
    });

  it('a frame a record, whatever its fragments', async () => {
    const long = 'y'.repeat(60_000);
    const { batches, controls, faults } = await read(
      compressed(7, rawZstdFrame(put(1, 'a')), rawZstdFrame(put(2, long)), rawZstdFrame(put(3, 'b'))),
    );
    expect(faults).toEqual([]);
    expect(controls).toEqual([{ kind: 'compression_type', compressionType: 7 }]);
    expect(batches.map(({ keys }) => keys)).toEqual([['a'], [long], ['b']]);
  });

  it('frames that are none, go on, or hold no batch', async () => {
    const bad = rawZstdFrame(put(2, 'b'));
    bad[bad.length - 1] = 0xff;
    const longer = new ByteWriter();
    longer.append(rawZstdFrame(put(3, 'c')));
    longer.byte(0);
    const { batches, faults, lost } = await read(
      compressed(
        7,
        rawZstdFrame(put(1, 'a')),
        put(9, 'x'),
        bad,
        longer.copy(),
        rawZstdFrame(bytes('short')),
        new Uint8Array(0),
      ),
    );
    expect(batches.map(({ keys }) => keys)).toEqual([['a']]);
    expect(lost).toBe(5);
    expect(faults.map(({ code, reason }) => [code, reason])).toEqual([
      ['wal_batch', 'the record does not decompress: zstd: magic 00000009 is not that of a zstd frame'],
      ['wal_batch', 'the record does not decompress: a bad byte'],
      ['wal_batch', '1 bytes follow the zstd frame of the record'],
      ['wal_batch', 'a write batch of 5 bytes has no room for its header of 12'],
      ['wal_batch', 'the record does not decompress: zstd: the frame is cut off after 0 bytes'],
    ]);
    expect(faults[0]).toMatchObject({ file: 'a.log' });
  });

  it('with something that is not known: named once', async () => {
    const { batches, faults } = await read(compressed(4, bytes('...'), bytes('...')));
    expect(batches).toEqual([]);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toBeInstanceOf(UnsupportedError);
    expect(faults[0]).toMatchObject({ feature: 'WAL compression', value: 'lz4', offset: 11 });
  });
});

describe('damage', () => {
  let log: Uint8Array;
  beforeAll(() => {
    const wrong = put(2, 'b', 'c');
    writeFixed32(wrong, 8, 7);
    log = walOf(put(1, 'a'), wrong, put(4, 'd'), bytes('short'), put(5, 'e'));
  });

  it('of a batch: the others are read', async () => {
    const { batches, faults, end, lost } = await read(log);
    expect(batches.map(({ keys }) => keys)).toEqual([['a'], ['b', 'c'], ['d'], ['e']]);
    expect(faults).toMatchObject([
      { code: 'wal_batch', file: 'a.log', offset: batches[1]!.offset, stored: '7', computed: '2' },
      { code: 'wal_batch', file: 'a.log', reason: expect.stringContaining('a write batch of 5 bytes') },
    ]);
    expect(lost).toBe(2);
    expect(end.state).toBe('clean');
  });

  it('of a record, and a tail that is cut off', async () => {
    const changed = log.slice(0, log.length - 3);
    changed[30]! ^= 1;
    const { faults, end } = await read(changed);
    expect(faults).toMatchObject([{ code: 'log_record_damaged' }]);
    expect(end.state).toBe('damage');
    expect((await read(log.slice(0, log.length - 3))).end.state).toBe('incomplete_tail');
  });
});
