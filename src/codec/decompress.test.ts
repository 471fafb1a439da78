import { describe, expect, it } from 'vitest';
import { CorruptionError, UnsupportedError, withPending } from '../errors.ts';
import { decompressBlock } from './decompress.ts';
import { type CodecName, CodecPending, type CodecRegistry, type Decoder } from './registry.ts';

/** Every codec "decodes" to what the test says, and the arguments are kept. */
function fakeCodecs(answer: () => Uint8Array) {
  const calls: {
    name: CodecName;
    input: Uint8Array;
    length?: number;
    maxLength: number;
    dictionary?: Uint8Array;
  }[] = [];
  const codecs: CodecRegistry = {
    decoder(name): Decoder {
      return {
        implementation: 'fake',
        decode(input, start, end, length, maxLength, dictionary) {
          calls.push({ name, input: input.slice(start, end), length, maxLength, dictionary });
          return answer();
        },
      };
    },
    load: () => Promise.resolve(),
  };
  return { codecs, calls };
}

const DICTIONARY = Uint8Array.of(1, 2, 3);
const ROCKSDB_2 = { family: 'rocksdb', framing: 2 } as const;

describe('decompressBlock', () => {
  it('answers an uncompressed block with a view', () => {
    const { codecs, calls } = fakeCodecs(() => new Uint8Array(0));
    const bytes = Uint8Array.of(9, 1, 2, 3, 9);
    const block = decompressBlock({ codecs, ...ROCKSDB_2 }, 0, bytes, 1, 4, DICTIONARY);
    expect(block).toEqual(Uint8Array.of(1, 2, 3));
    expect(block.buffer).toBe(bytes.buffer);
    expect(calls).toEqual([]);
  });

  it('hands the codec its bytes, the exact length and the dictionary', () => {
    const { codecs, calls } = fakeCodecs(() => new Uint8Array(5));
    const bytes = Uint8Array.of(9, 5, 0x50, 0x51, 9);
    decompressBlock({ codecs, ...ROCKSDB_2 }, 4, bytes, 1, 4, DICTIONARY);
    decompressBlock({ codecs, ...ROCKSDB_2 }, 3, bytes, 1, 4, DICTIONARY);
    const input = Uint8Array.of(0x50, 0x51);
    expect(calls).toEqual([
      { name: 'lz4', input, length: 5, maxLength: 5, dictionary: DICTIONARY },
      { name: 'bzip2', input, length: 5, maxLength: 5, dictionary: undefined },
    ]);
  });

  it('bounds an unknown length by what the codec can do', () => {
    const { codecs, calls } = fakeCodecs(() => new Uint8Array(5));
    decompressBlock({ codecs, family: 'rocksdb', framing: 1 }, 2, new Uint8Array(100), 0, 100, undefined);
    expect(calls[0]).toMatchObject({ name: 'deflate_raw', length: undefined, maxLength: 1032 * 100 + 1024 });
  });

  it('refuses a declared length that is not possible, before the codec sees it', () => {
    const { codecs, calls } = fakeCodecs(() => new Uint8Array(5));
    const huge = Uint8Array.of(0x80, 0x80, 0x80, 0x80, 0x80, 0x20, ...new Array(54).fill(0x41));
    for (const type of [1, 2, 3, 4, 5]) {
      expect(() => decompressBlock({ codecs, ...ROCKSDB_2 }, type, huge, 0, 60, undefined)).toThrow(
        /^(snappy|zlib|bzip2|lz4|lz4hc): 1099511627776 bytes declared, but \d+ stored bytes give at most \d+$/,
      );
    }
    const frame = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50, 0x03, 0x00, 0x00, 7];
    const zstd = Uint8Array.of(...huge.subarray(0, 6), ...frame);
    expect(() => decompressBlock({ codecs, ...ROCKSDB_2 }, 7, zstd, 0, zstd.length, undefined)).toThrow(
      'zstd: 1099511627776 bytes declared, but 10 stored bytes give at most 0',
    );
    expect(calls).toEqual([]);
  });

  it('compares the declared length with the zstd frame header', () => {
    const { codecs, calls } = fakeCodecs(() => new Uint8Array(2));
    const context = { codecs, ...ROCKSDB_2 };
    const frame = [0x28, 0xb5, 0x2f, 0xfd, 0x20, 3, 0x19, 0, 0, 1, 2, 3];
    const two = Uint8Array.of(2, ...frame);
    expect(() => decompressBlock(context, 7, two, 0, two.length, undefined)).toThrow(
      "zstd: 2 bytes declared, but the frame's header says 3",
    );
    const trailing = Uint8Array.of(3, ...frame, 0);
    expect(() => decompressBlock(context, 7, trailing, 0, trailing.length, undefined)).toThrow(
      'zstd: 1 bytes after the end of the frame',
    );
    expect(calls).toEqual([]);
  });

  it('says both numbers when the decoded length is another', () => {
    const { codecs } = fakeCodecs(() => new Uint8Array(4));
    const bytes = Uint8Array.of(5, 0x50, 0x51);
    let error: unknown;
    try {
      decompressBlock({ codecs, ...ROCKSDB_2 }, 4, bytes, 0, 3, undefined);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(CorruptionError);
    expect(error).toMatchObject({ code: 'block_decompress', reason: 'lz4: decodes to 4 bytes, 5 declared' });
  });

  it("keeps the codec's error as cause, and an UnsupportedError as it is", () => {
    const failure = new Error('bad distance');
    const failing = fakeCodecs(() => {
      throw failure;
    }).codecs;
    const bytes = Uint8Array.of(5, 0x50, 0x51);
    expect(() => decompressBlock({ codecs: failing, ...ROCKSDB_2 }, 2, bytes, 0, 3, undefined)).toThrow(
      expect.objectContaining({ message: 'zlib: 2 bytes do not decode (bad distance)', cause: failure }),
    );
    const refusing = fakeCodecs(() => {
      throw new UnsupportedError('block_size', 5, 'too large');
    }).codecs;
    expect(() => decompressBlock({ codecs: refusing, ...ROCKSDB_2 }, 2, bytes, 0, 3, undefined)).toThrow(
      UnsupportedError,
    );
  });

  it('lets the signal of a codec that is not loaded pass', async () => {
    let loaded = false;
    const codecs: CodecRegistry = {
      decoder(name) {
        if (!loaded) throw new CodecPending(codecs, name);
        return { implementation: 'late', decode: () => new Uint8Array(5) };
      },
      load: async () => {
        loaded = true;
      },
    };
    const bytes = Uint8Array.of(5, 0x50, 0x51);
    const block = await withPending(() =>
      decompressBlock({ codecs, ...ROCKSDB_2 }, 4, bytes, 0, 3, undefined),
    );
    expect(block.length).toBe(5);
  });
});
