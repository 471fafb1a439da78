import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ByteReader } from '../../bytes/byte-reader.ts';
import { ByteWriter } from '../../bytes/byte-writer.ts';
import { fromHex, toHex, utf8Bytes } from '../../bytes/text.ts';
import { BlockBuilder } from './block-builder.ts';
import { BlockIterator } from './block-iterator.ts';

interface BlockVector {
  what: string;
  restart_interval: number;
  hash_index?: boolean;
  separated_kv?: boolean;
  uniform?: boolean;
  value_delta?: boolean;
  first_key?: boolean;
  entries: [string, string][];
  hex: string;
}

/** Made by RocksDB 11.9's BlockBuilder. */
const SOME: BlockVector[] = [
  { what: 'no entries', restart_interval: 16, entries: [], hex: '0000000001000000' },
  {
    what: 'user keys with delta-encoded handles, restart interval 3',
    restart_interval: 3,
    value_delta: true,
    entries: [
      ['617071', '00a01f'],
      ['6278', 'a51f8420'],
      ['6279', 'ae3f8020'],
      ['64', 'b35f8020'],
      ['647a7a', 'b87f64'],
    ],
    hex: '000361707100a01f00026278a51f842001017907000164b35f802001027a7ab73e000000001400000002000000',
  },
  {
    what: 'user keys with whole handles',
    restart_interval: 1,
    entries: [
      ['617071', '00a01f'],
      ['6278', 'a51f8420'],
      ['64', 'b35f8020'],
    ],
    hex: '00030361707100a01f0002046278a51f842000010464b35f802000000000090000001200000003000000',
  },
];

const FULL_SET = new URL('../../../../shared/format/vectors.json', import.meta.url);
const vectors: BlockVector[] = existsSync(FULL_SET)
  ? JSON.parse(readFileSync(FULL_SET, 'utf8')).groups.block.vectors
  : SOME;

/** The delta form of a handle (and first key): its first number goes, its second becomes a difference. */
function deltaOf(value: Uint8Array, before: number): { delta: Uint8Array; size: number } {
  const reader = new ByteReader(value, 'test');
  reader.varint64();
  const size = reader.varint64();
  const writer = new ByteWriter();
  writer.signedVarint(size - before);
  writer.append(reader.rest());
  return { delta: writer.copy(), size };
}

function build(vector: BlockVector): Uint8Array {
  const builder = new BlockBuilder({
    restartInterval: vector.restart_interval,
    deltaKeys: !vector.what.includes('use_delta_encoding=false'),
    deltaValues: vector.value_delta ?? false,
    hashRatio: vector.hash_index ? 0.75 : 0,
    separated: vector.separated_kv ?? false,
  });
  let size = 0;
  for (const [keyHex, valueHex] of vector.entries) {
    const key = fromHex(keyHex)!;
    const value = fromHex(valueHex)!;
    if (vector.value_delta) {
      const encoded = deltaOf(value, size);
      builder.addDelta(key, value, encoded.delta, false);
      size = encoded.size;
    } else {
      builder.add(key, 0, key.length, value, 0, value.length);
    }
  }
  const estimate = builder.sizeEstimate;
  const block = builder.finish();
  expect(block.length).toBe(estimate);
  return block;
}

describe('BlockBuilder', () => {
  // The uniform flag is a hint for interpolation search, which no option here asks for.
  it.each([...SOME, ...vectors].filter(({ uniform }) => !uniform))('builds $what', (vector) => {
    expect(toHex(build(vector))).toBe(vector.hex);
  });

  it('builds into a buffer that was used before, and begins anew', () => {
    const builder = new BlockBuilder({ restartInterval: 2 });
    const key = utf8Bytes('key');
    builder.add(key, 0, 3, key, 0, 1);
    const buffer = new Uint8Array(20).fill(0xff);
    expect(builder.finishedSize).toBe(15);
    expect(builder.finishInto(buffer)).toBe(15);
    expect(toHex(buffer)).toBe('0003016b65796b0000000001000000ffffffffff');
    expect(builder.isEmpty).toBe(true);
    builder.add(key, 0, 3, key, 0, 1);
    expect(builder.finish()).toEqual(buffer.subarray(0, 15));
  });

  it.each([
    { restartInterval: 1 },
    { restartInterval: 7, separated: true },
    { restartInterval: 16, deltaKeys: false },
    { restartInterval: 4, hashRatio: 0.5 },
    { restartInterval: 3, hashRatio: 0.9, separated: true },
  ])('writes what BlockIterator reads: %o', (options) => {
    const builder = new BlockBuilder(options);
    const entries = Array.from({ length: 300 }, (_, i) => ({
      key: utf8Bytes(`key${String(i).padStart(4, '0')}${'x'.repeat(i % 3 === 0 ? 200 : 0)}trailers`),
      value: new Uint8Array(i % 50 === 0 ? 5000 : i % 7).fill(i),
    }));
    for (const { key, value } of entries) builder.add(key, 0, key.length, value, 0, value.length);
    const block = builder.finish();
    const iterator = new BlockIterator();
    iterator.reset(block);
    for (const { key, value } of entries) {
      expect(iterator.next()).toBe(true);
      expect(toHex(iterator.key.subarray(0, iterator.keyLength))).toBe(toHex(key));
      expect(toHex(block.subarray(iterator.valueStart, iterator.valueEnd))).toBe(toHex(value));
    }
    expect(iterator.next()).toBe(false);
  });
});
