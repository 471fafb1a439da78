import { expect, test } from 'vitest';
import { createCrc32c, maskCrc32c, unmaskCrc32c } from './crc32c.ts';

const crc32c = createCrc32c();

test('check value of the polynomial', () => {
  const digits = new TextEncoder().encode('123456789');
  expect(crc32c(digits, 0, digits.length)).toBe(0xe3069283);
});

test('continues at every border', () => {
  const bytes = Uint8Array.from({ length: 50 }, (_, i) => (i * 37) & 0xff);
  const whole = crc32c(bytes, 0, bytes.length);
  for (let cut = 0; cut <= bytes.length; cut++) {
    expect(crc32c(bytes, cut, bytes.length, crc32c(bytes, 0, cut))).toBe(whole);
  }
});

test('mask and back', () => {
  expect(maskCrc32c(0)).toBe(0xa282ead8);
  for (const crc of [0, 1, 0x7fff, 0x8000, 0x7fffffff, 0x80000000, 0xffffffff, 0xe3069283]) {
    expect(unmaskCrc32c(maskCrc32c(crc))).toBe(crc);
  }
});
