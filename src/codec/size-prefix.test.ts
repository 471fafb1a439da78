import { describe, expect, it } from 'vitest';
import { CorruptionError } from '../errors.ts';
import { readSizePrefix } from './size-prefix.ts';

const read = (prefix: Parameters<typeof readSizePrefix>[0], ...bytes: number[]) =>
  readSizePrefix(prefix, Uint8Array.from([0xee, ...bytes]), 1, bytes.length + 1);

describe('readSizePrefix', () => {
  it('reads a varint and skips it', () => {
    expect(read('varint', 0x05, 1, 2)).toEqual({ start: 2, length: 5 });
    expect(read('varint', 0x80, 0x20, 1)).toEqual({ start: 3, length: 4096 });
  });

  it('reads a varint64', () => {
    expect(read('varint', 0x80, 0x80, 0x80, 0x80, 0x80, 0x20)).toEqual({ start: 7, length: 2 ** 40 });
  });

  it("leaves Snappy's own varint in place", () => {
    expect(read('snappy', 0x80, 0x20, 1)).toEqual({ start: 1, length: 4096 });
  });

  it('reads the 8-byte prefix in both byte orders', () => {
    expect(read('fixed64', 0x00, 0x10, 0, 0, 0, 0, 0, 0, 9)).toEqual({ start: 9, length: 4096 });
    expect(read('fixed64', 0, 0, 0, 0, 0, 0, 0x10, 0x00, 9)).toEqual({ start: 9, length: 4096 });
    expect(read('fixed64', 1, 0, 0, 0, 1, 0, 0, 0)).toEqual({ start: 9, length: 2 ** 32 + 1 });
  });

  it('knows no length without a prefix', () => {
    expect(read('none', 1, 2)).toEqual({ start: 1, length: undefined });
  });

  it.each([
    ['empty varint', 'varint', []],
    ['cut varint', 'varint', [0x80, 0x80]],
    ['endless varint', 'varint', new Array(12).fill(0xff)],
    ['empty snappy', 'snappy', []],
    ['short fixed64', 'fixed64', [1, 0, 0, 0, 0, 0, 0]],
  ] as const)('refuses: %s', (_name, prefix, bytes) => {
    expect(() => read(prefix, ...bytes)).toThrow(CorruptionError);
    expect(() => read(prefix, ...bytes)).toThrow(/malformed size prefix/);
  });
});
