import { encodeVarint } from '../bytes/byte-writer.ts';
import { compareArrays } from '../bytes/compare.ts';
import { writeFixed32, writeFixed64 } from '../bytes/fixed.ts';
import { utf8Bytes } from '../bytes/text.ts';
import { BlockBuilder } from './block/block-builder.ts';

/** The block is read from its start to its end, so it has one restart. */
const ONE_RESTART = 2 ** 31 - 1;

/**
 * Gathers properties and writes their block, sorted by name. A name that is there already keeps its value.
 * Encodings: see the table in properties.ts. Source: RocksDB table/meta_blocks.cc, PropertyBlockBuilder.
 */
export class PropertiesEncoder {
  private readonly values = new Map<string, Uint8Array>();

  bytes(name: string, value: Uint8Array): void {
    if (!this.values.has(name)) this.values.set(name, value);
  }

  varint(name: string, value: number): void {
    this.bytes(name, encodeVarint(value));
  }

  /** Left out when 0. */
  varintIfSet(name: string, value: number): void {
    if (value > 0) this.varint(name, value);
  }

  text(name: string, value: string): void {
    this.bytes(name, utf8Bytes(value));
  }

  /** Left out when empty. */
  textIfSet(name: string, value: string): void {
    if (value !== '') this.text(name, value);
  }

  /** `1` or `0`. */
  flag(name: string, value: boolean): void {
    this.text(name, value ? '1' : '0');
  }

  fixed32(name: string, value: number): void {
    const bytes = new Uint8Array(4);
    writeFixed32(bytes, 0, value);
    this.bytes(name, bytes);
  }

  fixed64(name: string, value: bigint): void {
    const bytes = new Uint8Array(8);
    writeFixed64(bytes, 0, value);
    this.bytes(name, bytes);
  }

  /** Names and raw values, as `TableProperties` takes them, in the order of the block. */
  sorted(): Map<string, Uint8Array> {
    const named = [...this.values].map(([name, value]) => ({ name, key: utf8Bytes(name), value }));
    named.sort((a, b) => compareArrays(a.key, b.key));
    return new Map(named.map(({ name, value }) => [name, value]));
  }
}

/** The block of these properties, which stand in its order. */
export function encodeProperties(properties: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const block = new BlockBuilder({ restartInterval: ONE_RESTART });
  for (const [name, value] of properties) {
    const key = utf8Bytes(name);
    block.add(key, 0, key.length, value, 0, value.length);
  }
  return block.finish();
}
