import { describe, expect, it } from 'vitest';
import { describeEnvironment, openNodeEnvironment } from './environment.ts';

const NINE = new TextEncoder().encode('123456789');

describe('openNodeEnvironment', () => {
  it('opens files, hashes, codecs, clock and random numbers', async () => {
    const { files, hashes, keyHash, codecs, clock, random } = await openNodeEnvironment();
    expect(files.status('.').kind).toBe('directory');
    // Check values of the algorithms' own catalogues.
    expect(hashes.crc32c(NINE, 0, 9)).toBe(0xe3069283);
    expect(hashes.xxh32(NINE, 0, 9)).toBe(0x937bad67);
    expect(hashes.xxh64Low(NINE, 0, 0)).toBe(0x51d8e999);
    expect(hashes.xxh3Low(NINE, 0, 0)).toBe(0x38d394c2);
    expect(keyHash.xxph3(NINE, 0, 9)).toBeTypeOf('number');
    await codecs.load('deflate_raw');
    expect(codecs.decoder('deflate_raw').implementation).toBe('node:zlib');
    expect(Math.abs(clock.nowMicros() / 1000 - Date.now())).toBeLessThan(60_000);
    expect(Number.isSafeInteger(clock.nowMicros())).toBe(true);
    const numbers = Array.from({ length: 20 }, () => random.uint32());
    expect(numbers.every((number) => Number.isInteger(number) && number >= 0 && number < 2 ** 32)).toBe(true);
    expect(new Set(numbers).size).toBeGreaterThan(1);
  });

  it('takes parts that stand in for its own', async () => {
    const clock = { nowMicros: () => 17, monotonicNanos: () => 0 };
    const environment = await openNodeEnvironment({ clock });
    expect(environment.clock).toBe(clock);
  });
});

describe('describeEnvironment', () => {
  it('names every codec and hash with package and version', async () => {
    const rows = new Map((await describeEnvironment()).map((row) => [row.name, row.implementation]));
    expect(rows.get('snappy')).toMatch(/^hysnappy \d+\.\d+\.\d+$/);
    expect(rows.get('zlib')).toMatch(/^node:zlib \d+\.\d+/);
    expect(rows.get('bzip2')).toMatch(/^@foxglove\/wasm-bz2 \d/);
    expect(rows.get('lz4')).toMatch(/^lz4-napi \d/);
    expect(rows.get('zstd')).toMatch(/^(zstd-napi|@bokuweb\/zstd-wasm) \d/);
    expect(rows.get('zstd (batches)')).toMatch(/^@mongodb-js\/zstd \d/);
    expect(rows.get('xxh32')).toMatch(/^xxhash-wasm \d/);
    expect(rows.has('crc32c')).toBe(true);
    expect(rows.has('xxh3')).toBe(true);
  });
});
