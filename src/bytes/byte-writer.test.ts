import { describe, expect, it } from 'vitest';
import { ByteReader } from './byte-reader.ts';
import { ByteWriter, encodeVarint } from './byte-writer.ts';
import { toHex } from './text.ts';

describe('ByteWriter', () => {
  it('writes what ByteReader reads, beyond its first capacity', () => {
    const writer = new ByteWriter(1);
    const numbers = [0, 1, 127, 128, 300, 2 ** 31, 2 ** 32, 2 ** 53 - 1];
    const signed = [0, -1, 1, -2, 63, -64, 2 ** 40, -(2 ** 40)];
    for (const n of numbers) writer.varint(n);
    for (const n of signed) writer.signedVarint(n);
    writer.varintBig(2n ** 64n - 1n);
    writer.fixed16(0xabcd);
    writer.fixed32(0xdeadbeef);
    writer.fixed64(0x0123456789abcdefn);
    writer.byte(7);
    writer.lengthPrefixed(Uint8Array.of(1, 2, 3));
    writer.append(Uint8Array.of(9, 8, 7), 1, 2);
    const reader = new ByteReader(writer.copy(), 'test');
    expect(numbers.map(() => reader.varint64())).toEqual(numbers);
    expect(signed.map(() => reader.signedVarint64())).toEqual(signed);
    expect(reader.varint64Big()).toBe(2n ** 64n - 1n);
    expect(toHex(reader.view(2))).toBe('cdab');
    expect(reader.fixed32()).toBe(0xdeadbeef);
    expect(reader.fixed64()).toBe(0x0123456789abcdefn);
    expect(reader.byte()).toBe(7);
    expect(toHex(reader.lengthPrefixed())).toBe('010203');
    expect(toHex(reader.rest())).toBe('08');
  });

  it('forgets what is cut off', () => {
    const writer = new ByteWriter();
    writer.fixed32(1);
    writer.truncate(1);
    writer.byte(2);
    expect(toHex(writer.view())).toBe('0102');
    expect(toHex(encodeVarint(300))).toBe('ac02');
  });
});
