import { describe, expect, it } from 'vitest';
import { SeededRandom, TEST_SCALE } from '../../../test/support/random.ts';
import { ByteWriter } from '../../bytes/byte-writer.ts';
import { equalArrays } from '../../bytes/compare.ts';
import { writeFixed32 } from '../../bytes/fixed.ts';
import { memorySource } from '../../bytes/source.ts';
import { utf8, utf8Bytes } from '../../bytes/text.ts';
import { maskCrc32c } from '../../hash/crc32c.ts';
import { twinHashFunctions } from '../../hash/hash-functions.ts';
import { decodePredecessorWal, decodeTimestampSizes } from './log-control.ts';
import { LOG_BLOCK_SIZE } from './log-format.ts';
import { type LogEnd, type LogFault, LogReader, type LogReaderOptions } from './log-reader.ts';
import { LogWriter, type LogWriterOptions } from './log-writer.ts';

const hashes = twinHashFunctions();
const SEED = 20261201;

function writeLog(write: (log: LogWriter) => void, options?: LogWriterOptions): Uint8Array {
  const out = new ByteWriter();
  write(new LogWriter(out, hashes, options));
  return out.copy();
}

interface ReadLog {
  records: { offset: number; size: number; kind: string; payload: Uint8Array }[];
  faults: LogFault[];
  end: LogEnd;
  reader: LogReader;
}

function readLog(bytes: Uint8Array, options?: LogReaderOptions): ReadLog {
  const faults: LogFault[] = [];
  const reader = new LogReader(memorySource(bytes, 'log'), hashes, (fault) => faults.push(fault), options);
  const records: ReadLog['records'] = [];
  for (let record = reader.next(); record !== undefined; record = reader.next()) {
    records.push({ ...record, payload: record.payload.slice() });
  }
  return { records, faults, end: reader.end!, reader };
}

const texts = ({ records }: ReadLog): string[] => records.map(({ payload }) => utf8(payload));
const codes = ({ faults }: ReadLog): (string | number | undefined)[][] =>
  faults.map(({ code, offset }) => [code, offset]);

/** toEqual takes seconds over a megabyte. */
const sameBytes = ({ records }: ReadLog, payloads: readonly Uint8Array[]): boolean =>
  records.length === payloads.length && records.every(({ payload }, i) => equalArrays(payload, payloads[i]!));

/** A log of these texts. */
const logOf = (texts: readonly string[], options?: LogWriterOptions): Uint8Array =>
  writeLog((log) => {
    for (const text of texts) log.add(utf8Bytes(text));
  }, options);

/** Seals the record at `offset` again after its bytes were changed. */
function reseal(bytes: Uint8Array, offset: number, headerSize = 7): void {
  const length = bytes[offset + 4]! | (bytes[offset + 5]! << 8);
  writeFixed32(bytes, offset, maskCrc32c(hashes.crc32c(bytes, offset + 6, offset + headerSize + length)));
}

describe('round trips', () => {
  it.each([undefined, 9, 2 ** 32 + 5])(
    `records of any length, log number %s (seed ${SEED})`,
    (recyclableLogNumber) => {
      const random = new SeededRandom(SEED);
      for (let run = 0; run < 20 * TEST_SCALE; run++) {
        const payloads = Array.from({ length: random.below(12) }, () =>
          random.bytes(random.chance(0.5) ? random.below(100) : random.below(3 * LOG_BLOCK_SIZE)),
        );
        const bytes = writeLog(
          (log) => {
            for (const payload of payloads) log.add(payload);
          },
          recyclableLogNumber === undefined ? {} : { recyclableLogNumber },
        );
        const read = readLog(bytes);
        expect(sameBytes(read, payloads)).toBe(true);
        expect(read.records.every(({ kind }) => kind === 'data')).toBe(true);
        expect(read.faults).toEqual([]);
        expect(read.end).toEqual({ state: 'clean', offset: bytes.length });
      }
    },
  );

  it.each([7, 11])('a record that leaves 0 to 24 bytes of its block, headers of %i bytes', (headerSize) => {
    for (let left = 0; left < 25; left++) {
      const payloads = [
        new Uint8Array(LOG_BLOCK_SIZE - headerSize - left).fill(1),
        new Uint8Array(40).fill(2),
      ];
      const options = headerSize === 11 ? { recyclableLogNumber: 3 } : {};
      const bytes = writeLog((log) => {
        for (const payload of payloads) log.add(payload);
      }, options);
      const read = readLog(bytes);
      expect(read.faults).toEqual([]);
      expect(sameBytes(read, payloads)).toBe(true);
      // Where exactly a header fits, an empty first fragment is written.
      expect(read.records[1]!.offset).toBe(left < headerSize ? LOG_BLOCK_SIZE : LOG_BLOCK_SIZE - left);
    }
  });

  it('the writer goes on where a file ends', () => {
    const all = logOf(['a', 'b', 'c'].map((text) => text.repeat(20000)));
    const head = logOf(['a', 'b'].map((text) => text.repeat(20000)));
    const tail = logOf(['c'.repeat(20000)], { fileSize: head.length });
    expect(equalArrays(Uint8Array.from([...head, ...tail]), all)).toBe(true);
  });

  it('what a log says of itself', () => {
    const wal = { logNumber: 4n, size: 70000n, lastSeqno: 2n ** 56n - 2n };
    for (const options of [{}, { recyclableLogNumber: 7 }]) {
      const bytes = writeLog((log) => {
        log.setCompressionType(7);
        log.addPredecessorWal(wal);
        log.addTimestampSizes([
          { columnFamily: 0, size: 8 },
          { columnFamily: 3, size: 16 },
        ]);
        log.add(utf8Bytes('data'));
      }, options);
      const read = readLog(bytes);
      expect(read.faults).toEqual([]);
      expect(read.records.map(({ kind }) => kind)).toEqual([
        'compression_type',
        'predecessor_wal',
        'timestamp_sizes',
        'data',
      ]);
      expect(decodePredecessorWal(read.records[1]!.payload)).toEqual(wal);
      expect(decodeTimestampSizes(read.records[2]!.payload)).toHaveLength(2);
      expect(read.reader.compressionType).toBe(7);
      expect([...read.reader.timestampSizes]).toEqual([
        [0, 8],
        [3, 16],
      ]);
    }
  });

  it('they are never cut: the rest of the block stays empty', () => {
    const bytes = writeLog((log) => {
      log.add(new Uint8Array(LOG_BLOCK_SIZE - 7 - 30).fill(1));
      log.addTimestampSizes([0, 1, 2, 3, 4, 5].map((columnFamily) => ({ columnFamily, size: 8 })));
      log.add(utf8Bytes('behind'));
    });
    const read = readLog(bytes);
    expect(read.faults).toEqual([]);
    expect(read.records.map(({ offset }) => offset)).toEqual([0, LOG_BLOCK_SIZE, LOG_BLOCK_SIZE + 7 + 36]);
  });
});

describe('the end of a log', () => {
  const whole = logOf(['one', 'two', 'three']);

  it('cut anywhere: records before the cut, and where the unfinished one begins', () => {
    const ends = [10, 20, whole.length];
    for (let length = 0; length <= whole.length; length++) {
      const read = readLog(whole.subarray(0, length));
      const count = ends.filter((end) => end <= length).length;
      const offset = count === 0 ? 0 : ends[count - 1]!;
      expect(texts(read)).toEqual(['one', 'two', 'three'].slice(0, count));
      expect(read.faults).toEqual([]);
      expect(read.end).toEqual({ state: length === offset ? 'clean' : 'incomplete_tail', offset });
    }
  });

  it('between fragments', () => {
    const long = logOf(['one', 'x'.repeat(100000)]);
    for (const length of [LOG_BLOCK_SIZE, 2 * LOG_BLOCK_SIZE, 2 * LOG_BLOCK_SIZE + 3, long.length - 1]) {
      const read = readLog(long.subarray(0, length));
      expect(texts(read)).toEqual(['one']);
      expect(read.end).toEqual({ state: 'incomplete_tail', offset: 10 });
    }
  });

  it('zeros behind the last record are reserved space', () => {
    for (const zeros of [1, 6, 7, 100, 3 * LOG_BLOCK_SIZE]) {
      const bytes = new Uint8Array(whole.length + zeros);
      bytes.set(whole);
      expect(readLog(bytes)).toMatchObject({ faults: [], end: { state: 'clean', offset: whole.length } });
    }
  });

  it('remains of a recycled log, of either kind, at any place in a record', () => {
    const recycled = logOf(['new 1', 'new 2'], {
      recyclableLogNumber: 9,
    });
    for (const options of [{ recyclableLogNumber: 5 }, {}]) {
      const old = writeLog((log) => {
        for (let i = 0; i < 3000; i++) log.add(utf8Bytes(`old ${i} ${'x'.repeat(i % 37)}`));
      }, options);
      const bytes = old.slice();
      bytes.set(recycled);
      const read = readLog(bytes);
      expect(texts(read)).toEqual(['new 1', 'new 2']);
      expect(read.faults).toEqual([]);
      expect(read.end).toEqual({ state: 'recycled_tail', offset: recycled.length });
    }
  });

  it.each([44, 50, 60])('damage in a recycled log at %i, with a record of this log behind it', (at) => {
    const bytes = writeLog(
      (log) => {
        for (let i = 0; i < 3000; i++) log.add(utf8Bytes(`record ${i} ${'x'.repeat(20)}`));
      },
      { recyclableLogNumber: 9 },
    );
    bytes[at]! ^= 1;
    const read = readLog(bytes);
    expect(read.faults).toMatchObject([{ code: 'log_record_damaged' }]);
    expect(read.end.state).toBe('damage');
    expect(read.records.length).toBeGreaterThan(1000);
  });

  it('another log number is given', () => {
    const bytes = writeLog((log) => log.add(utf8Bytes('old')), { recyclableLogNumber: 5 });
    expect(readLog(bytes, { logNumber: 9 })).toMatchObject({
      records: [],
      faults: [],
      end: { state: 'recycled_tail', offset: 0 },
    });
    expect(texts(readLog(whole, { logNumber: 9 }))).toEqual(['one', 'two', 'three']);
  });
});

describe('damage', () => {
  /** Three blocks: whole records, one over two borders, whole records. */
  const bytes = writeLog((log) => {
    for (const text of ['one', 'two', 'y'.repeat(70000), 'four', 'five']) log.add(utf8Bytes(text));
  });

  it('a flipped bit costs the rest of the block, and the record that reaches into it', () => {
    const flipped = bytes.slice();
    flipped[18]! ^= 4;
    const read = readLog(flipped);
    expect(texts(read)).toEqual(['one', 'four', 'five']);
    expect(codes(read)).toEqual([['log_record_damaged', 10]]);
    expect(read.faults[0]).toMatchObject({ stored: expect.stringMatching(/^[0-9a-f]{8}$/), file: 'log' });
    expect(read.end).toEqual({ state: 'damage', offset: 10 });
  });

  it('a middle fragment', () => {
    const flipped = bytes.slice();
    flipped[LOG_BLOCK_SIZE + 100]! ^= 4;
    const read = readLog(flipped);
    expect(texts(read)).toEqual(['one', 'two', 'four', 'five']);
    expect(codes(read)).toEqual([['log_record_damaged', LOG_BLOCK_SIZE]]);
  });

  it('a length beyond the block, at the end of the file too', () => {
    const last = bytes.length - 11;
    const patched = bytes.slice();
    patched[last + 5] = 0xff;
    expect(codes(readLog(patched))).toEqual([['log_record_damaged', last]]);
  });

  it('zeros where records belong, in a block and over whole ones', () => {
    const inBlock = bytes.slice().fill(0, 10, 30);
    expect(codes(readLog(inBlock))).toEqual([['log_record_damaged', 10]]);
    const block = bytes.slice().fill(0, LOG_BLOCK_SIZE, 2 * LOG_BLOCK_SIZE);
    const read = readLog(block);
    expect(texts(read)).toEqual(['one', 'two', 'four', 'five']);
    expect(codes(read)).toEqual([['log_record_damaged', LOG_BLOCK_SIZE]]);
  });

  it('record types that are not known', () => {
    for (const [type, faults] of [
      [12, [['log_record_damaged', 10]]],
      [0x80 + 50, []],
    ] as const) {
      const patched = bytes.slice();
      patched[10 + 6] = type;
      reseal(patched, 10);
      const read = readLog(patched);
      expect(texts(read).map((text) => text.length)).toEqual([3, 70000, 4, 4]);
      expect(codes(read)).toEqual(faults);
    }
  });

  it('fragments without their beginning, and without their end (LD-07)', () => {
    const block = LOG_BLOCK_SIZE;
    const orphan = readLog(bytes.subarray(block));
    expect(texts(orphan)).toEqual(['four', 'five']);
    expect(codes(orphan)).toEqual([
      ['log_orphan_fragment', 0],
      ['log_orphan_fragment', block],
    ]);
    // First as the last record of a block, then a whole record.
    const exact = writeLog((log) => {
      log.add(new Uint8Array(block - 7).fill(1));
      log.add(utf8Bytes('next'));
    });
    expect(readLog(exact)).toMatchObject({ faults: [], records: [{ offset: 0 }, { offset: block }] });
    exact[6] = 2;
    reseal(exact, 0);
    const read = readLog(exact);
    expect(texts(read)).toEqual(['next']);
    expect(codes(read)).toEqual([['log_orphan_fragment', 0]]);
    expect(read.faults[0]!.message).toContain('no end');
  });

  it('an empty first fragment without its end is forgiven: writers of old left some', () => {
    const log = logOf(['', 'next']);
    log[6] = 2;
    reseal(log, 0);
    const read = readLog(log);
    expect(texts(read)).toEqual(['next']);
    expect(read.faults).toEqual([]);
  });

  it('what a log says of itself, twice or cut', () => {
    const twice = writeLog((log) => {
      log.setCompressionType(7);
      log.setCompressionType(7);
    });
    expect(codes(readLog(twice))).toEqual([['log_record_damaged', 11]]);
    const late = writeLog((log) => {
      log.add(utf8Bytes('first'));
      log.setCompressionType(7);
    });
    expect(codes(readLog(late))).toEqual([['log_record_damaged', 12]]);
  });

  it('a record above the limit is passed over', () => {
    const read = readLog(bytes, { maxRecordBytes: 50000 });
    expect(texts(read)).toEqual(['one', 'two', 'four', 'five']);
    expect(read.faults).toMatchObject([{ code: 'unsupported', offset: 20 }]);
  });

  it(`any flip is told or harmless (seed ${SEED})`, () => {
    const random = new SeededRandom(SEED);
    const wanted = texts(readLog(bytes));
    for (let run = 0; run < 300 * TEST_SCALE; run++) {
      const at = random.below(bytes.length);
      const bit = random.below(8);
      const flipped = bytes.slice();
      flipped[at]! ^= 1 << bit;
      const read = readLog(flipped);
      if (texts(read).join() === wanted.join()) continue;
      expect(read.end.state, `byte ${at} bit ${bit}`).not.toBe('clean');
    }
  });
});

it('holds one block and one record, and reads each byte once', () => {
  const bytes = writeLog((log) => {
    for (let i = 0; i < 500; i++) log.add(new Uint8Array(1000).fill(i));
  });
  let largest = 0;
  let total = 0;
  const inner = memorySource(bytes);
  const source = {
    ...inner,
    readInto(offset: number, target: Uint8Array): void {
      largest = Math.max(largest, target.length);
      total += target.length;
      inner.readInto(offset, target);
    },
  };
  const reader = new LogReader(source, hashes, () => undefined);
  let count = 0;
  while (reader.next() !== undefined) count++;
  expect(count).toBe(500);
  expect(largest).toBe(LOG_BLOCK_SIZE);
  expect(total).toBe(bytes.length);
});
