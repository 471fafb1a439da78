import { expect, it } from 'vitest';
import { copyBytes } from './copy.ts';

it('copies every length to where it belongs, and nothing beside it', () => {
  const source = Uint8Array.from({ length: 300 }, (_, i) => (i * 7) & 0xff);
  for (let length = 0; length <= 200; length++) {
    const target = new Uint8Array(220).fill(0xee);
    expect(copyBytes(source, 3, 3 + length, target, 10)).toBe(10 + length);
    expect(target.subarray(10, 10 + length)).toEqual(source.subarray(3, 3 + length));
    expect([...target.subarray(0, 10), ...target.subarray(10 + length)].every((byte) => byte === 0xee)).toBe(
      true,
    );
  }
});
