import { beforeAll, describe, expect, it } from 'vitest';
import { utf8Bytes } from '../bytes/text.ts';
import { decompressBlock } from '../codec/decompress.ts';
import {
  DEFAULT_COMPRESSION_LEVEL,
  type EncodableName,
  type EncoderParameters,
  sizePrefixOf,
  withSizePrefix,
} from '../codec/encoder.ts';
import { CompressionType } from '../codec/registry.ts';
import { parseZstdFrame } from '../codec/zstd-frame.ts';
import { InvalidArgumentError, UnsupportedError } from '../errors.ts';
import { sampleBlocks } from '../format/table-builder/dictionary/samples.ts';
import { trainDictionary } from '../format/table-builder/dictionary/train-dictionary.ts';
import { twinHashFunctions } from '../hash/hash-functions.ts';
import { NodeCodecRegistry } from './codecs.ts';
import { NodeEncoderRegistry } from './encoders.ts';

const hashes = twinHashFunctions();
const encoders = new NodeEncoderRegistry(hashes);
const codecs = new NodeCodecRegistry();
const DEFAULTS: EncoderParameters = {
  level: DEFAULT_COMPRESSION_LEVEL,
  windowBits: -14,
  strategy: 0,
  checksum: false,
};

beforeAll(async () => {
  for (const codec of ['snappy', 'deflate_raw', 'lz4', 'zstd'] as const) await codecs.load(codec);
});

let state = 3;
function random(below: number): number {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
  return Math.floor((state / 2 ** 32) * below);
}

/** Blocks of several kinds: text, numbers, noise, one byte over and over, almost nothing. */
function makeBlock(kind: number): Uint8Array {
  if (kind === 0) {
    const words = ['red', 'green', 'blue', 'yellow', 'magenta'];
    return utf8Bytes(Array.from({ length: 700 }, () => `${words[random(5)]}=${random(100)}`).join(';'));
  }
  if (kind === 1) return Uint8Array.from({ length: 5000 }, (_, i) => (i % 4 === 0 ? i >> 6 : random(3)));
  if (kind === 2) return Uint8Array.from({ length: 3000 }, () => random(256));
  if (kind === 3) return new Uint8Array(20000).fill(9);
  return Uint8Array.of(1);
}

function decoded(
  name: EncodableName,
  encoded: Uint8Array,
  length: number,
  dictionary?: Uint8Array,
): Uint8Array {
  const stored = withSizePrefix(encoded, length, sizePrefixOf(name), 0);
  const context = { codecs, family: 'rocksdb', framing: 2 } as const;
  return decompressBlock(context, CompressionType[name], stored, 0, stored.length, dictionary);
}

const WRITABLE: [EncodableName, Partial<EncoderParameters>][] = [
  ['snappy', {}],
  ['zlib', {}],
  ['zlib', { level: 9, strategy: 1 }],
  ['zlib', { level: 1 }],
  ['lz4', {}],
  ['zstd', {}],
  ['zstd', { level: 12, checksum: true }],
  ['zstd', { level: -5 }],
  ['zstd', { level: 0, checksum: true }],
];

describe('encoders', () => {
  it.each(WRITABLE)('%s is decoded again: %o', async (name, parameters) => {
    const encoder = await encoders.open(name, { ...DEFAULTS, ...parameters });
    const dictionary = makeBlock(0).slice(0, 3000);
    const withDictionary = encoder.withDictionary(dictionary);
    for (let kind = 0; kind < 5; kind++) {
      const block = makeBlock(kind);
      const padded = new Uint8Array(block.length + 20);
      padded.set(block, 10);
      const end = 10 + block.length;
      expect(decoded(name, encoder.encode(padded, 10, end), block.length)).toEqual(block);
      expect(decoded(name, withDictionary.encode(padded, 10, end), block.length, dictionary)).toEqual(block);
      if (encoder.encodeLater === undefined) continue;
      expect(decoded(name, await encoder.encodeLater(padded, 10, end), block.length)).toEqual(block);
    }
  });

  it.each(['zlib', 'lz4', 'zstd'] as const)('%s gains by a dictionary', async (name) => {
    const encoder = await encoders.open(name, DEFAULTS);
    const block = makeBlock(0).slice(0, 600);
    const plain = encoder.encode(block, 0, 600).length;
    expect(encoder.withDictionary(makeBlock(0)).encode(block, 0, 600).length).toBeLessThan(0.9 * plain);
  });

  it('zstd frames get a checksum that decoders verify', async () => {
    const encoder = await encoders.open('zstd', { ...DEFAULTS, checksum: true });
    const block = makeBlock(0);
    for (const frame of [
      encoder.encode(block, 0, block.length),
      await encoder.encodeLater!(block, 0, block.length),
    ]) {
      expect(parseZstdFrame(frame, 0, frame.length).hasChecksum).toBe(true);
      frame[frame.length - 1]! ^= 1;
      expect(() => decoded('zstd', frame, block.length)).toThrow(/checksum|decode/);
    }
  });

  it.each([
    ['lz4hc', {}, 'lz4'],
    ['bzip2', {}, 'zstd'],
    ['xpress', {}, 'snappy'],
    ['lz4', { level: 9 }, 'lz4hc'],
    ['lz4', { level: -3 }, 'default'],
  ] as [EncodableName, Partial<EncoderParameters>, string][])(
    '%s %o is declined, with what to take instead',
    async (name, parameters, instead) => {
      const opening = encoders.open(name, { ...DEFAULTS, ...parameters });
      await expect(opening).rejects.toThrow(UnsupportedError);
      await expect(opening).rejects.toThrow(instead);
    },
  );

  it.each([
    ['zlib', { level: 10 }],
    ['zlib', { windowBits: 15 }],
    ['zstd', { level: 23 }],
  ] as [EncodableName, Partial<EncoderParameters>][])('%s refuses %o', async (name, parameters) => {
    await expect(encoders.open(name, { ...DEFAULTS, ...parameters })).rejects.toThrow(InvalidArgumentError);
  });
});

it('zstd takes its level on the thread pool, too', async () => {
  const block = makeBlock(0);
  const sizes = await Promise.all(
    [-5, 1, 19].map(async (level) => {
      const encoder = await encoders.open('zstd', { ...DEFAULTS, level });
      const frame = await encoder.encodeLater!(block, 0, block.length);
      expect(decoded('zstd', frame, block.length)).toEqual(block);
      return frame.length;
    }),
  );
  expect(sizes[0]).toBeGreaterThan(sizes[1]!);
  expect(sizes[1]).toBeGreaterThan(sizes[2]!);
});

describe('trained dictionaries', () => {
  it.each([0, 1, 2, 3, 4])('serve blocks of all kinds, trained on kind %i', async (kind) => {
    const blocks = Array.from({ length: 200 }, () => makeBlock(kind)).map((bytes) => ({
      bytes,
      length: bytes.length,
    }));
    const samples = sampleBlocks(blocks, 300_000);
    const encoder = await encoders.open('zstd', DEFAULTS);
    for (const maxBytes of [300, 1500, 16384]) {
      const dictionary = trainDictionary(samples, maxBytes);
      expect(dictionary.length).toBeLessThanOrEqual(maxBytes);
      if (dictionary.length === 0) continue;
      const trained = encoder.withDictionary(dictionary);
      for (let other = 0; other < 5; other++) {
        const block = makeBlock(other);
        const frame = trained.encode(block, 0, block.length);
        expect(decoded('zstd', frame, block.length, dictionary)).toEqual(block);
      }
    }
  });

  it('are the better for their tables', async () => {
    const blocks = Array.from({ length: 300 }, () => makeBlock(0).slice(0, 2000)).map((bytes) => ({
      bytes,
      length: 2000,
    }));
    const encoder = await encoders.open('zstd', DEFAULTS);
    const samples = sampleBlocks(blocks.slice(0, 200), 400_000);
    const size = (dictionary: Uint8Array) => {
      const trained = encoder.withDictionary(dictionary);
      return blocks.slice(200).reduce((sum, { bytes }) => sum + trained.encode(bytes, 0, 2000).length, 0);
    };
    expect(size(trainDictionary(samples, 8192))).toBeLessThan(size(samples.bytes.slice(0, 8192)));
  });
});
