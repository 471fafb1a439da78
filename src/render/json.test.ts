import { expect, it } from 'vitest';
import { writeDecimal, writeJsonDocument, writeJsonHex, writeJsonString } from './json.ts';
import { MemorySink } from './sink.ts';

it('writes strings as JSON.stringify does', () => {
  const texts = [
    '',
    'plain',
    'a"b',
    'a\\b',
    '\u0000\n\t\u001f\u007f',
    'grün',
    '😀',
    '\ud800',
    'x'.repeat(300),
  ];
  for (const text of texts) {
    const sink = new MemorySink(1);
    writeJsonString(sink, text);
    expect(JSON.parse(sink.toString())).toBe(text);
    expect(sink.toString()).toBe(JSON.stringify(text));
  }
});

it('writes bytes as hex in quotes', () => {
  const sink = new MemorySink(1);
  writeJsonHex(sink, Uint8Array.of(9, 0, 0xab, 0xff), 1, 4);
  expect(sink.toString()).toBe('"00abff"');
});

it('writes whole numbers', () => {
  const numbers = [0, 1, 9, 10, 99, 100, 2 ** 31 - 1, 2 ** 31, 2 ** 32, 2 ** 53 - 1, 10 ** 15, 10 ** 15 - 1];
  for (const number of numbers) {
    const sink = new MemorySink(1);
    writeDecimal(sink, number);
    expect(sink.toString()).toBe(String(number));
  }
});

it('writes a document as one line', () => {
  const sink = new MemorySink();
  writeJsonDocument(sink, { schema: 1, seqno: 2n ** 63n, key: Uint8Array.of(0x0a), gone: undefined });
  expect(sink.toString()).toBe('{"schema":1,"seqno":"9223372036854775808","key":"0a"}\n');
});
