import { deflateRawSync, deflateSync } from 'node:zlib';
import * as mongodbZstd from '@mongodb-js/zstd';
import { snappyCompressor } from 'hysnappy';
import { compressSync as lz4CompressSync } from 'lz4-napi';
import { beforeAll, describe, expect, it } from 'vitest';
import { decompressBatch } from '../codec/batch.ts';
import { decompressBlock } from '../codec/decompress.ts';
import { type CodecName, CodecPending, type Decoder } from '../codec/registry.ts';
import { CorruptionError, SstError, withPending } from '../errors.ts';
import { createZstdFramesDecoder, NodeCodecRegistry } from './codecs.ts';

const SCALE = Number(process.env.SSTKIT_TEST_SCALE ?? 1);
const SEED = Number(process.env.SSTKIT_TEST_SEED ?? 20240229);

const codecs = new NodeCodecRegistry();
const ROCKSDB_1 = { codecs, family: 'rocksdb', framing: 1 } as const;
const ROCKSDB_2 = { codecs, family: 'rocksdb', framing: 2 } as const;
const LEVELDB = { codecs, family: 'leveldb', framing: 1 } as const;

let wasmZstd: typeof import('@bokuweb/zstd-wasm');

beforeAll(async () => {
  const names: CodecName[] = ['snappy', 'deflate_raw', 'zlib_stream', 'bzip2', 'lz4', 'zstd'];
  await Promise.all(names.map((name) => codecs.load(name)));
  // The package must be initialised once a process: a registry that asks for it does so.
  await new NodeCodecRegistry({ zstd: 'wasm' }).load('zstd');
  wasmZstd = await import('@bokuweb/zstd-wasm');
});

/** Mulberry32: small, seeded, good enough for mutations. */
function random(seed: number): () => number {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Compressible text of `length` bytes, like the rows of a table. */
function rows(length: number, seed = 1): Uint8Array {
  const next = random(seed);
  let text = '';
  while (text.length < length) {
    text += `user:${Math.floor(next() * 1e6)} {"id":${Math.floor(next() * 1e9)},"state":"active"}\n`;
  }
  return new TextEncoder().encode(text.slice(0, length));
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  while (value >= 128) {
    bytes.push((value % 128) | 128);
    value = Math.floor(value / 128);
  }
  return [...bytes, value];
}

function withVarint(length: number, payload: Uint8Array): Uint8Array {
  return Uint8Array.from([...varint(length), ...payload]);
}

function withFixed64(length: number, payload: Uint8Array): Uint8Array {
  return Uint8Array.from([length & 255, (length >> 8) & 255, length >> 16, 0, 0, 0, 0, 0, ...payload]);
}

const encodeSnappy = (data: Uint8Array) => snappyCompressor()(data);
const encodeLz4 = (data: Uint8Array, dictionary?: Uint8Array) =>
  lz4CompressSync(Buffer.from(data), dictionary && Buffer.from(dictionary)).subarray(4);
const encodeDeflate = (data: Uint8Array, dictionary?: Uint8Array, windowBits = 14) =>
  deflateRawSync(data, { windowBits, ...(dictionary ? { dictionary } : {}) });
const encodeZstd = (data: Uint8Array, dictionary?: Uint8Array) =>
  dictionary === undefined
    ? wasmZstd.compress(data)
    : wasmZstd.compressUsingDict(wasmZstd.createCCtx(), data, dictionary, 3);

const BZIP2_TEXT = Array.from(
  { length: 40 },
  (_, i) => `key${String(i).padStart(6, '0')} value of ${(i * 7) % 13}\n`,
).join('');
/** `BZIP2_TEXT` by bzip2 -1. */
const BZIP2 = Buffer.from(
  'QlpoMTFBWSZTWbyrzVcAAVLZgHAQQAB/4CMMgyAwAMbQalD3lH6pNNRoaMRoxUA0AAKkpkQ0aNBmo0lRTF9q5e71vNQgxjCEIMYwh24S' +
    'VFwkqKuNWzjBbMrM5at3kxKkHBwvC8rYRG9qqqrXS1wjAjLOqqqz30vN6lVKGdTMym04EMUU3AhglNCaSQqikCSkJve95la18CMCOBGB' +
    'HAjkRqIwIoRyI/i7kinChIXlXmq4',
  'base64',
);
/** 5 MiB of zeros by bzip2 -1, in 78 bytes. */
const BZIP2_ZEROS = Buffer.from(
  'QlpoMTFBWSZTWX6yQ8QADQTAAMAAAAggACCkCDSoKjEqCo5igrJMprJlXBRIAAIziAGAAAAIABBAAGGYClNNRQ2CUPF3JFOFCQz8qNrA',
  'base64',
);

const TRAINED_TEXT = [5, 6, 7, 8, 9]
  .map((i) => `user:${i} {"id":${i * 7919},"name":"name${i}","state":"active","tags":["alpha","beta"]}\n`)
  .join('');
/** A dictionary by `zstd --train`, and `TRAINED_TEXT` by `zstd -D`. */
const TRAINED_DICTIONARY = Buffer.from(
  'N6Qw7Kx4pVIWEPDsHAAAALyQUiaZUnrG2HvvvffeOyMGAAAAADNKAwAABACAjxClqYoBAOBBIwEAAAAAAAAAAAAAAAAAAAAAMIMg' +
    'AAAAAAAAJO1Ix6ZIkQwAAAAAAAAAAAAAAAABAAAABAAAAAgAAAB0YSJdfQp1c2VyOjJhIl19CnVzZXI6Mjg3IHsiaWQiOjIyNzI3' +
    'NTMsIm5hbWUiOiJuYW1lMjg3Iiwic3RhdGJldGEiXX0KdXNlcjoxMyB7ImlkIjoxMDI5NDcsIm5hbWUiOiJuYW1lMTMiLCJzdGF0' +
    'YmV0YSJdfQp1c2VyOjcyIHsiaWQiOjU3MDE2OCwibmFtZSI6Im5hbWU3MiIsInN0YXRhIl19CnVzZXI6MjIxIHsiaWQiOjE3NTAw' +
    'OTksIm5hbWUiOiJuYW1lMjIxIiwic3RhdCIsImJldGEiXX0KdXNlcjo2IHsiaWQiOjQ3NTE0LCJuYW1lIjoibmFtZTYiLCJzdGF0' +
    'YSJdfQp1c2VyOjE1OSB7ImlkIjoxMjU5MTIxLCJuYW1lIjoibmFtZTE1OSIsInN0YXR0YSJdfQp1c2VyOjEwMCB7ImlkIjo3OTE5' +
    'MDAsIm5hbWUiOiJuYW1lMTAwIiwic3RhdGEiXX0KdXNlcjoyNjUgeyJpZCI6MjA5ODUzNSwibmFtZSI6Im4=',
  'base64',
);
const TRAINED_FRAME = Buffer.from(
  'KLUv/WeseKVSfAClAgAzwws3xakzUnur1kTVBCpwAQtNwMARTICBL0yhCWDAgAgwEAUxVAEMT2gCRSELTTi6BhD8uSp6IZlc+LbN' +
    '2/j2gVLf/Kd5JmdzBhd2PH8JA8Wwp1l8Q397',
  'base64',
);

const DICTIONARY = rows(40_000, 2);

interface StoredCase {
  name: string;
  context: typeof ROCKSDB_1 | typeof ROCKSDB_2 | typeof LEVELDB;
  type: number;
  data: Uint8Array;
  encode: (data: Uint8Array) => Uint8Array;
  dictionary?: Uint8Array;
}

const text = new TextEncoder();
const CASES: StoredCase[] = [];
function add(
  name: string,
  context: StoredCase['context'],
  type: number,
  encode: StoredCase['encode'],
  dictionary?: Uint8Array,
) {
  for (const length of [0, 1, 100, 4096, 200_000]) {
    CASES.push({ name: `${name}, ${length} bytes`, context, type, data: rows(length), encode, dictionary });
  }
}
add('snappy', ROCKSDB_2, 1, encodeSnappy);
add('zlib', ROCKSDB_2, 2, (data) => withVarint(data.length, encodeDeflate(data)));
add('zlib, framing 1', ROCKSDB_1, 2, (data) => encodeDeflate(data));
add(
  'zlib, dictionary',
  ROCKSDB_2,
  2,
  (data) => withVarint(data.length, encodeDeflate(data, DICTIONARY)),
  DICTIONARY,
);
add(
  'zlib, dictionary, window of 15 bits',
  ROCKSDB_2,
  2,
  (data) => withVarint(data.length, encodeDeflate(data, DICTIONARY, 15)),
  DICTIONARY,
);
add('lz4', ROCKSDB_2, 4, (data) => withVarint(data.length, encodeLz4(data)));
add('lz4, framing 1', ROCKSDB_1, 4, (data) => withFixed64(data.length, encodeLz4(data)));
add(
  'lz4hc, dictionary',
  ROCKSDB_2,
  5,
  (data) => withVarint(data.length, encodeLz4(data, DICTIONARY)),
  DICTIONARY,
);
add('zstd', ROCKSDB_2, 7, (data) => withVarint(data.length, encodeZstd(data)));
add('zstd, framing 1', ROCKSDB_1, 7, (data) => withVarint(data.length, encodeZstd(data)));
add(
  'zstd, dictionary',
  ROCKSDB_2,
  7,
  (data) => withVarint(data.length, encodeZstd(data, DICTIONARY)),
  DICTIONARY,
);
add('LevelDB zstd', LEVELDB, 2, (data) => encodeZstd(data));
add('Mojang zlib', LEVELDB, 2, (data) => deflateSync(data));
add('Mojang raw deflate', LEVELDB, 4, (data) => deflateRawSync(data));
for (const context of [ROCKSDB_1, ROCKSDB_2]) {
  const zeros = new Uint8Array(5 * 1024 * 1024);
  const encode = (payload: Uint8Array) => (data: Uint8Array) =>
    context.framing === 1 ? payload : withVarint(data.length, payload);
  const name = `bzip2, framing ${context.framing}`;
  CASES.push({ name, context, type: 3, data: text.encode(BZIP2_TEXT), encode: encode(BZIP2) });
  CASES.push({ name: `${name}, zeros`, context, type: 3, data: zeros, encode: encode(BZIP2_ZEROS) });
}
CASES.push({
  name: 'zstd, trained dictionary',
  context: ROCKSDB_2,
  type: 7,
  data: text.encode(TRAINED_TEXT),
  encode: (data) => withVarint(data.length, TRAINED_FRAME),
  dictionary: TRAINED_DICTIONARY,
});

describe('round trips', () => {
  it.each(CASES)('$name', ({ context, type, data, encode, dictionary }) => {
    const payload = encode(data);
    const bytes = new Uint8Array(payload.length + 20).fill(0xa5);
    bytes.set(payload, 7);
    const decoded = decompressBlock(context, type, bytes, 7, 7 + payload.length, dictionary);
    expect(decoded.constructor).toBe(Uint8Array);
    expect(Buffer.compare(decoded, data)).toBe(0);
    // The next block does not change what this one gave.
    const copy = Uint8Array.from(decoded);
    decompressBlock(context, type, bytes, 7, 7 + payload.length, dictionary);
    expect(Buffer.compare(decoded, copy)).toBe(0);
  });

  it('decodes a zstd frame without a content size', async () => {
    const data = rows(10_000);
    const frame = await mongodbZstd.compress(Buffer.from(data));
    const stored = withVarint(data.length, frame);
    const wasm = { ...ROCKSDB_2, codecs: new NodeCodecRegistry({ zstd: 'wasm' }) };
    for (const context of [ROCKSDB_2, wasm]) {
      const decoded = await withPending(() =>
        decompressBlock(context, 7, stored, 0, stored.length, undefined),
      );
      expect(Buffer.compare(decoded, data)).toBe(0);
      const bare = await withPending(() =>
        decompressBlock({ ...context, family: 'leveldb' }, 2, frame, 0, frame.length, undefined),
      );
      expect(Buffer.compare(bare, data)).toBe(0);
    }
  });
});

describe('faults', () => {
  const faulty = () => CASES.filter(({ data }) => data.length > 0);

  function fault(stored: StoredCase, payload: Uint8Array): unknown {
    try {
      decompressBlock(stored.context, stored.type, payload, 0, payload.length, stored.dictionary);
    } catch (error) {
      return error;
    }
    return undefined;
  }

  it('reports every block that is cut', () => {
    for (const stored of faulty()) {
      const payload = stored.encode(stored.data);
      for (const length of [0, 1, payload.length >> 1, payload.length - 1]) {
        if (length === payload.length) continue;
        expect(fault(stored, payload.subarray(0, length)), `${stored.name} cut to ${length}`).toBeInstanceOf(
          CorruptionError,
        );
      }
    }
  });

  it('reports a declared length that is one too small or too large, with both numbers', () => {
    const encoders: [number, (data: Uint8Array) => Uint8Array][] = [
      [2, encodeDeflate],
      [4, encodeLz4],
      [7, encodeZstd],
    ];
    const data = rows(4096);
    for (const [type, encode] of encoders) {
      for (const declared of [4095, 4097]) {
        const payload = withVarint(declared, encode(data));
        const stored = { ...CASES[0]!, context: ROCKSDB_2, type };
        const error = fault(stored, payload);
        expect(error).toMatchObject({ code: 'block_decompress' });
        expect((error as Error).message).toContain(String(declared));
      }
    }
    const short = fault({ ...CASES[0]!, type: 3 }, withVarint(BZIP2_TEXT.length + 1, BZIP2));
    expect(short).toMatchObject({
      reason: `bzip2: decodes to ${BZIP2_TEXT.length} bytes, ${BZIP2_TEXT.length + 1} declared`,
    });
  });

  it('refuses a length of 2^40 without allocating it', () => {
    const before = process.memoryUsage().rss;
    for (const type of [1, 2, 3, 4, 5, 7]) {
      const payload = withVarint(2 ** 40, type === 7 ? encodeZstd(rows(4096)) : rows(4096));
      expect(fault({ ...CASES[0]!, type }, payload)).toMatchObject({ code: 'block_decompress' });
    }
    expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
  });

  it('refuses a zstd header that makes up a size, before and inside the decoder', async () => {
    const lying = Uint8Array.of(0x28, 0xb5, 0x2f, 0xfd, 0xa0, 0, 0, 0, 0x40, 0x19, 0, 0, 1, 2, 3);
    const stored = withVarint(2 ** 30, lying);
    expect(fault({ ...CASES[0]!, type: 7 }, stored)).toMatchObject({ code: 'block_decompress' });
    const wasm = new NodeCodecRegistry({ zstd: 'wasm' });
    await wasm.load('zstd');
    for (const registry of [codecs, wasm]) {
      const decoder = registry.decoder('zstd');
      expect(() => decoder.decode(lying, 0, lying.length, undefined, 2 ** 31, undefined)).toThrow(
        'the frame holds at most 3 bytes',
      );
      expect(() => decoder.decode(lying, 0, lying.length, undefined, 100, undefined)).toThrow(
        'the data decode to more than 100 bytes',
      );
    }
  });

  it('says in words what zstd finds', async () => {
    const context = { ...ROCKSDB_2, codecs: new NodeCodecRegistry({ zstd: 'wasm' }) };
    await context.codecs.load('zstd');
    const stored = withVarint(TRAINED_TEXT.length, TRAINED_FRAME);
    stored[stored.length - 1]! ^= 1;
    expect(() => decompressBlock(context, 7, stored, 0, stored.length, TRAINED_DICTIONARY)).toThrow(
      'zstd: 102 bytes do not decode (checksum of the content does not match)',
    );
    expect(() => decompressBlock(context, 7, stored, 0, stored.length, undefined)).toThrow(
      'dictionary mismatch',
    );
  });

  it('stops a deflate stream of unknown length at the limit', () => {
    const bomb = deflateRawSync(new Uint8Array(1_000_000));
    const decoder: Decoder = codecs.decoder('deflate_raw');
    expect(() => decoder.decode(bomb, 0, bomb.length, undefined, 999_999, undefined)).toThrow(
      'the data decode to more than 999999 bytes',
    );
    expect(decoder.decode(bomb, 0, bomb.length, undefined, 1_000_000, undefined).length).toBe(1_000_000);
  });

  it('needs the dictionary with which the block was written', () => {
    const dictionaryCases = CASES.filter(({ dictionary, data }) => dictionary && data.length === 4096);
    for (const stored of [...dictionaryCases, CASES[CASES.length - 1]!]) {
      const payload = stored.encode(stored.data);
      let decoded: Uint8Array | undefined;
      try {
        decoded = decompressBlock(stored.context, stored.type, payload, 0, payload.length, undefined);
      } catch (error) {
        expect(error).toBeInstanceOf(CorruptionError);
      }
      // Raw content has no id: whoever decodes without it may get other bytes of the same length.
      if (decoded !== undefined) expect(Buffer.compare(decoded, stored.data)).not.toBe(0);
    }
  });
});

describe('mutated blocks', () => {
  const ROUNDS = Math.round(2000 * SCALE);
  const wanted = [
    'snappy, 4096 bytes',
    'zlib, 4096 bytes',
    'zlib, framing 1, 4096 bytes',
    'zlib, dictionary, 4096 bytes',
    'lz4, 4096 bytes',
    'lz4hc, dictionary, 4096 bytes',
    'zstd, 4096 bytes',
    'zstd, dictionary, 4096 bytes',
    'zstd, trained dictionary',
    'bzip2, framing 1',
    'bzip2, framing 2',
    'LevelDB zstd, 4096 bytes',
    'Mojang zlib, 4096 bytes',
  ];

  it.each(wanted)(`%s: ${ROUNDS} mutations (seed ${SEED}) give an SstError or some bytes`, (name) => {
    const stored = CASES.find((one) => one.name === name)!;
    const payload = stored.encode(stored.data);
    const next = random(SEED);
    let mostBytes = 0;
    for (let round = 0; round < ROUNDS; round++) {
      const mutated = mutate(payload, next);
      const before = process.memoryUsage.rss();
      try {
        decompressBlock(stored.context, stored.type, mutated, 0, mutated.length, stored.dictionary);
      } catch (error) {
        if (!(error instanceof SstError)) throw new Error(`round ${round}`, { cause: error });
      }
      mostBytes = Math.max(mostBytes, process.memoryUsage.rss() - before);
    }
    // What one block takes: node:zlib gives the memory of failed calls back only when it is collected.
    expect(mostBytes).toBeLessThan(100 * 1024 * 1024);
    const decoded = decompressBlock(
      stored.context,
      stored.type,
      payload,
      0,
      payload.length,
      stored.dictionary,
    );
    expect(Buffer.compare(decoded, stored.data)).toBe(0);
  });

  function mutate(payload: Uint8Array, next: () => number): Uint8Array {
    // Not slice: of a Buffer it would share the bytes.
    const mutated = Uint8Array.from(payload);
    for (let flips = 1 + Math.floor(next() * 4); flips > 0; flips--) {
      // Headers are where it hurts: half of the faults go to the first 16 bytes.
      const range = next() < 0.5 ? Math.min(16, mutated.length) : mutated.length;
      mutated[Math.floor(next() * range)]! ^=
        next() < 0.5 ? 1 << Math.floor(next() * 8) : Math.floor(next() * 256);
    }
    return next() < 0.2 ? mutated.subarray(0, Math.floor(next() * mutated.length)) : mutated;
  }
});

describe('NodeCodecRegistry', () => {
  it('says that a codec has to be loaded, and loads it once', async () => {
    const registry = new NodeCodecRegistry();
    expect(() => registry.decoder('snappy')).toThrow();
    let signal: unknown;
    try {
      registry.decoder('snappy');
    } catch (thrown) {
      signal = thrown;
    }
    expect(signal).toBeInstanceOf(CodecPending);
    await (signal as CodecPending).settle();
    expect(registry.decoder('snappy').implementation).toBe('hysnappy');
    expect(registry.load('snappy')).toBe(registry.load('snappy'));
  });

  it('leaves no listeners for uncaught exceptions behind', async () => {
    const count = () =>
      process.listenerCount('uncaughtException') + process.listenerCount('unhandledRejection');
    const before = count();
    await new NodeCodecRegistry().load('bzip2');
    expect(count()).toBe(before);
  });

  it('serves several registries from the one instance of zstd-wasm', async () => {
    const registries = [new NodeCodecRegistry({ zstd: 'wasm' }), new NodeCodecRegistry({ zstd: 'wasm' })];
    await Promise.all(registries.map((registry) => registry.load('zstd')));
    const data = rows(50_000);
    const frame = encodeZstd(data);
    for (const registry of registries) {
      const decoded = registry
        .decoder('zstd')
        .decode(frame, 0, frame.length, data.length, data.length, undefined);
      expect(Buffer.compare(decoded, data)).toBe(0);
    }
  });
});

describe('createZstdFramesDecoder', () => {
  const decodeZstdFrames = createZstdFramesDecoder();

  it('decodes joined frames', async () => {
    const parts = Array.from({ length: 20 }, (_, i) => rows(1000 * i, i));
    const joined = Buffer.concat(parts.map((part) => encodeZstd(part)));
    const decoded = await decodeZstdFrames(joined);
    expect(decoded.constructor).toBe(Uint8Array);
    expect(Buffer.compare(decoded, Buffer.concat(parts))).toBe(0);
  });

  it('rejects a damaged or cut frame', async () => {
    const joined = Buffer.concat([encodeZstd(rows(100)), encodeZstd(rows(2000))]);
    await expect(decodeZstdFrames(joined.subarray(0, joined.length - 1))).rejects.toThrow();
  });

  it('checks the length of each frame of a batch, also of one written without it', async () => {
    const data = rows(3000);
    const frame = await mongodbZstd.compress(Buffer.from(data));
    const blocks = Array.from({ length: 16 }, (_, i) =>
      // Two wrong lengths that cancel out in the sum.
      withVarint(3000 + (i === 4 ? 1 : i === 9 ? -1 : 0), frame),
    );
    const starts: number[] = [];
    const ends: number[] = [];
    let pos = 0;
    for (const block of blocks) {
      starts.push(pos);
      pos += block.length;
      ends.push(pos);
    }
    const stored = {
      bytes: Buffer.concat(blocks),
      count: 16,
      types: new Uint8Array(16).fill(7),
      starts,
      ends,
    };
    const result = await decompressBatch(ROCKSDB_2, stored, undefined, decodeZstdFrames);
    for (let i = 0; i < 16; i++) {
      if (i === 4 || i === 9) {
        expect(result.errors[i], `block ${i}`).toBeInstanceOf(CorruptionError);
      } else {
        expect(result.errors[i], `block ${i}`).toBeUndefined();
        const content = result.arenas[i]!.subarray(result.starts[i], result.ends[i]);
        expect(Buffer.compare(content, data)).toBe(0);
      }
    }
  });
});
