import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { IoError } from '../errors.ts';
import { FdSink, MemorySink } from './sink.ts';

const folder = mkdtempSync(join(tmpdir(), 'sstkit-sink-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('FdSink', () => {
  it('writes pieces smaller and larger than its buffer in order', () => {
    const path = join(folder, 'pieces');
    const fd = openSync(path, 'w');
    const sink = new FdSink(fd, path, 100);
    const expected: number[] = [];
    for (const length of [1, 39, 40, 41, 99, 100, 101, 250, 0, 3]) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i + length) & 0xff);
      sink.writeBytes(Uint8Array.of(0, ...bytes, 0), 1, length + 1);
      expected.push(...bytes);
    }
    sink.writeText('€uro and more than a hundred characters in one line, '.repeat(4));
    expected.push(...Buffer.from('€uro and more than a hundred characters in one line, '.repeat(4)));
    sink.writeLine('end');
    expected.push(...Buffer.from('end\n'));
    sink.flush();
    closeSync(fd);
    expect([...readFileSync(path)]).toEqual(expected);
    expect(sink.flushedBytes).toBe(expected.length);
  });

  it('gives room where hot code may write', () => {
    const path = join(folder, 'reserve');
    const fd = openSync(path, 'w');
    const sink = new FdSink(fd, path, 4);
    for (const digit of '123456789') {
      let pos = sink.reserve(3);
      sink.buffer[pos++] = digit.charCodeAt(0);
      sink.length = pos;
    }
    expect(sink.reserve(1000) + 1000).toBeLessThanOrEqual(sink.buffer.length);
    sink.flush();
    closeSync(fd);
    expect(readFileSync(path, 'latin1')).toBe('123456789');
  });

  it('wraps what the system says', () => {
    const fd = openSync(join(folder, 'read-only'), 'a+');
    closeSync(fd);
    const readOnly = openSync(join(folder, 'read-only'), 'r');
    const sink = new FdSink(readOnly, 'out.txt');
    sink.writeText('x');
    expect(() => sink.flush()).toThrow(IoError);
    // Not tried again.
    sink.flush();
    closeSync(readOnly);
  });
});

describe('MemorySink', () => {
  it('keeps everything', () => {
    const sink = new MemorySink(4);
    sink.writeText('grün ');
    sink.writeBytes(new Uint8Array(1000).fill(0x61));
    sink.flush();
    sink.writeByte(0x62);
    expect(sink.toString()).toBe(`grün ${'a'.repeat(1000)}b`);
    sink.discard();
    expect(sink.toBytes()).toHaveLength(0);
  });

  it('encodes as TextEncoder does', () => {
    for (const text of [
      '',
      'ascii',
      'é',
      `${'a'.repeat(47)}€`,
      '😀'.repeat(30),
      '\ud800x',
      'x'.repeat(200),
    ]) {
      const sink = new MemorySink(1);
      sink.writeText(text);
      expect(sink.toBytes()).toEqual(new TextEncoder().encode(text));
    }
  });
});
