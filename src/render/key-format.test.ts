import { describe, expect, it } from 'vitest';
import { InvalidArgumentError } from '../errors.ts';
import {
  BYTES_MODES,
  bytesWriter,
  formatHex,
  formatKey,
  parseKey,
  writeEscaped,
  writeEscapedColumnName,
  writeHexUpper,
} from './key-format.ts';
import { MemorySink } from './sink.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, i) => i);

/** Keys with every byte value alone, in front, behind, and the texts that need care. */
const KEYS: Uint8Array[] = [
  new Uint8Array(0),
  ALL_BYTES,
  ...Array.from(ALL_BYTES, (byte) => Uint8Array.of(byte)),
  ...Array.from(ALL_BYTES, (byte) => Uint8Array.of(byte, 0x61, byte)),
  ...[
    '0x6162',
    '0x',
    'hex:6162',
    'hex:',
    'hex',
    '0',
    '0X61',
    '\\x61',
    '\\\\',
    'a\tb',
    'grün',
    '€',
    '😀',
    '\u0085',
  ].map(utf8),
  Uint8Array.of(0xed, 0xa0, 0x80),
  Uint8Array.of(0xc0, 0x80),
  Uint8Array.of(0xf4, 0x90, 0x80, 0x80),
  Uint8Array.of(0xe2, 0x82),
  Uint8Array.from({ length: 50_000 }, (_, i) => (i * 7 + (i >> 8)) & 0xff),
];

describe('each writer', () => {
  it.each(BYTES_MODES)('%s prints what formatKey gives', (mode) => {
    for (const key of KEYS) {
      const sink = new MemorySink();
      bytesWriter(mode)(sink, Uint8Array.of(0xff, ...key, 0xff), 1, key.length + 1);
      expect(sink.toString()).toBe(formatKey(key, mode));
    }
  });

  it('hex and base64 agree with Node', () => {
    for (const key of KEYS) {
      expect(formatKey(key, 'hex')).toBe(Buffer.from(key).toString('hex'));
      expect(formatKey(key, 'base64')).toBe(Buffer.from(key).toString('base64'));
    }
  });

  it('prints hex in capitals', () => {
    const sink = new MemorySink();
    writeHexUpper(sink, ALL_BYTES, 0, 256);
    expect(sink.toString()).toBe(Buffer.from(ALL_BYTES).toString('hex').toUpperCase());
  });
});

describe('parseKey', () => {
  it('gives back what escape and utf8 print', () => {
    for (const key of KEYS) {
      expect(parseKey(formatKey(key, 'escape'))).toEqual(key);
      expect(parseKey(formatKey(key, 'utf8'))).toEqual(key);
      expect(parseKey(`hex:${formatHex(key)}`)).toEqual(key);
      expect(parseKey(`0x${formatHex(key)}`)).toEqual(key);
    }
  });

  it('takes other characters as UTF-8, and capitals in hex', () => {
    expect(parseKey('grün')).toEqual(utf8('grün'));
    expect(parseKey('hex:AbCd')).toEqual(Uint8Array.of(0xab, 0xcd));
    expect(parseKey('\\xFF')).toEqual(Uint8Array.of(0xff));
  });

  it.each(['hex:6', '0x6g', 'hex:  ', '0x1é', 'a\\', '\\x6', '\\xg0', '\\n', '\\x', '0xé1'])(
    'refuses %j',
    (text) => {
      expect(() => parseKey(text, '--key')).toThrow(InvalidArgumentError);
    },
  );
});

describe('escape', () => {
  it.each([
    ['plain text ~', 'plain text ~'],
    ['a\tb', 'a\\x09b'],
    ['a\\b', 'a\\\\b'],
    ['0x61', '\\x30x61'],
    ['hex:61', '\\x68ex:61'],
    ['\u007f', '\\x7f'],
    ['é', '\\xc3\\xa9'],
  ])('%j prints as %s', (text, printed) => {
    expect(formatKey(utf8(text))).toBe(printed);
  });

  it('hides = in the name of a column only', () => {
    const bytes = utf8('=a=b==');
    const name = new MemorySink();
    writeEscapedColumnName(name, bytes, 0, bytes.length);
    expect(name.toString()).toBe('\\x3da\\x3db\\x3d\\x3d');
    const value = new MemorySink();
    writeEscaped(value, bytes, 0, bytes.length);
    expect(value.toString()).toBe('=a=b==');
  });
});
