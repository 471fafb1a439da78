import { describe, expect, it } from 'vitest';
import { decompressBatch } from './batch.ts';
import type { CodecRegistry } from './registry.ts';
import { parseZstdFrame } from './zstd-frame.ts';

/** A zstd frame with one raw block: `content` stands in it as it is. */
function rawFrame(content: number[], withContentSize = true): number[] {
  const header = withContentSize ? [0x20, content.length] : [0x00, 0x00];
  const block = (content.length << 3) | 1;
  return [0x28, 0xb5, 0x2f, 0xfd, ...header, block & 0xff, block >> 8, 0, ...content];
}

/** Decodes raw frames only, and refuses a block that begins with 0xbd. */
function decodeRawFrames(joined: Uint8Array): { content: Uint8Array; sizesKnown: boolean } {
  const parts: number[] = [];
  let sizesKnown = true;
  for (let pos = 0; pos < joined.length; ) {
    const frame = parseZstdFrame(joined, pos, joined.length);
    const content = joined.subarray(pos + frame.headerLength + 3, frame.end);
    if (content[0] === 0xbd) throw new Error('a bad block');
    sizesKnown &&= frame.contentLength === content.length;
    parts.push(...content);
    pos = frame.end;
  }
  return { content: Uint8Array.from(parts), sizesKnown };
}

const codecs: CodecRegistry = {
  decoder: (name) => ({
    implementation: 'raw frames',
    decode(input, start, end) {
      if (name !== 'zstd') throw new Error(`${name} is not here`);
      return decodeRawFrames(input.slice(start, end)).content;
    },
  }),
  load: () => Promise.resolve(),
};

const CONTEXT = { codecs, family: 'rocksdb', framing: 2 } as const;

/** Blocks behind one another with a trailer's room between them, as they lie in a file. */
function store(blocks: { type: number; payload: number[] }[]) {
  const bytes: number[] = [];
  const types: number[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  for (const { type, payload } of blocks) {
    types.push(type);
    starts.push(bytes.length);
    bytes.push(...payload);
    ends.push(bytes.length);
    bytes.push(type, 0xcc, 0xcc, 0xcc, 0xcc);
  }
  return { bytes: Uint8Array.from(bytes), count: blocks.length, types, starts, ends };
}

function zstdBlock(content: number[], withContentSize = true) {
  return { type: 7, payload: [content.length, ...rawFrame(content, withContentSize)] };
}

/** A batch decoder that counts its calls. */
function countingDecoder() {
  const joined: Uint8Array[] = [];
  return {
    joined,
    decode: (frames: Uint8Array) => {
      joined.push(frames);
      return new Promise<Uint8Array>((resolve) => resolve(decodeRawFrames(frames).content));
    },
  };
}

function contents(result: Awaited<ReturnType<typeof decompressBatch>>): (number[] | string)[] {
  return result.arenas.map(
    (arena, i) => result.errors[i]?.message ?? Array.from(arena.subarray(result.starts[i], result.ends[i])),
  );
}

const TEN = Array.from({ length: 10 }, (_, i) => zstdBlock([i, i + 1, i + 2].slice(0, 1 + (i % 3))));

describe('decompressBatch', () => {
  it('decodes neighbouring zstd blocks by one call and cuts its result', async () => {
    const { joined, decode } = countingDecoder();
    const result = await decompressBatch(CONTEXT, store(TEN), undefined, decode);
    expect(contents(result)).toEqual(TEN.map((block) => block.payload.slice(-block.payload[0]!)));
    expect(joined.length).toBe(1);
    expect(new Set(result.arenas).size).toBe(1);
  });

  it('gives uncompressed blocks as views of the input', async () => {
    const stored = store([{ type: 0, payload: [1, 2, 3] }]);
    const result = await decompressBatch(CONTEXT, stored, undefined, countingDecoder().decode);
    expect(result.arenas[0]).toBe(stored.bytes);
    expect(contents(result)).toEqual([[1, 2, 3]]);
  });

  it('mixes kinds and keeps their order', async () => {
    const { joined, decode } = countingDecoder();
    const blocks = [{ type: 0, payload: [99] }, ...TEN, { type: 1, payload: [1, 0, 5] }, zstdBlock([42])];
    const result = contents(await decompressBatch(CONTEXT, store(blocks), undefined, decode));
    expect(result[0]).toEqual([99]);
    expect(result[4]).toEqual([3]);
    expect(result[11]).toMatch(/^snappy: 3 bytes do not decode/);
    expect(result[12]).toEqual([42]);
    expect(joined.length).toBe(1);
  });

  it('gives frames without a content size one, so that each is checked', async () => {
    const { joined, decode } = countingDecoder();
    const blocks = Array.from({ length: 9 }, (_, i) => zstdBlock([i, i], i % 2 === 0));
    const result = await decompressBatch(CONTEXT, store(blocks), undefined, decode);
    expect(contents(result)).toEqual(blocks.map((_, i) => [i, i]));
    expect(decodeRawFrames(joined[0]!).sizesKnown).toBe(true);
  });

  it('repeats a call that fails block by block, and names the block', async () => {
    const { joined, decode } = countingDecoder();
    const blocks = [...TEN.slice(0, 5), zstdBlock([0xbd, 1]), ...TEN.slice(5)];
    const result = await decompressBatch(CONTEXT, store(blocks), undefined, decode);
    expect(joined.length).toBe(1);
    expect(result.errors.findIndex((error) => error !== undefined)).toBe(5);
    expect(result.errors[5]).toMatchObject({ code: 'block_decompress' });
    expect(contents(result).filter((content) => typeof content !== 'string').length).toBe(10);
  });

  it('does not believe a call that returns another length', async () => {
    const result = await decompressBatch(CONTEXT, store(TEN), undefined, async () => new Uint8Array(3));
    expect(contents(result)).toEqual(TEN.map((block) => block.payload.slice(-block.payload[0]!)));
  });

  it('decodes on the spot: with a dictionary, few blocks, or without a pool', async () => {
    const { joined, decode } = countingDecoder();
    const expected = TEN.map((block) => block.payload.slice(-block.payload[0]!));
    expect(contents(await decompressBatch(CONTEXT, store(TEN), Uint8Array.of(1), decode))).toEqual(expected);
    expect(contents(await decompressBatch(CONTEXT, store(TEN), undefined, undefined))).toEqual(expected);
    expect(contents(await decompressBatch(CONTEXT, store(TEN.slice(0, 3)), undefined, decode))).toEqual(
      expected.slice(0, 3),
    );
    expect(joined).toEqual([]);
  });

  it('reports blocks that cannot be decoded at all as values', async () => {
    const blocks = [
      { type: 6, payload: [1] },
      { type: 0x80, payload: [] },
      { type: 7, payload: [1, 2] },
      ...TEN,
    ];
    const result = await decompressBatch(CONTEXT, store(blocks), undefined, countingDecoder().decode);
    expect(result.errors.slice(0, 4).map((error) => error?.code)).toEqual([
      'unsupported',
      'unsupported',
      'block_decompress',
      undefined,
    ]);
  });
});
