import { describe, expect, it } from 'vitest';
import { CorruptionError, UnsupportedError } from '../errors.ts';
import { copiedZstdFrameLength, copyZstdFrame, parseZstdFrame } from './zstd-frame.ts';

const MAGIC = [0x28, 0xb5, 0x2f, 0xfd];

/** A 3-byte block header: type 0 raw, 1 RLE, 2 compressed. */
function blockHeader(type: number, size: number, isLast: boolean): number[] {
  const header = (size << 3) | (type << 1) | (isLast ? 1 : 0);
  return [header & 0xff, (header >> 8) & 0xff, header >> 16];
}

function parse(bytes: number[], extra: number[] = []) {
  return parseZstdFrame(Uint8Array.from([0, 0, ...bytes, ...extra]), 2, 2 + bytes.length + extra.length);
}

describe('parseZstdFrame', () => {
  it('reads a single-segment frame', () => {
    const frame = parse([...MAGIC, 0x20, 3, ...blockHeader(0, 3, true), 1, 2, 3], [9, 9]);
    expect(frame).toEqual({
      headerLength: 6,
      windowLength: 3,
      contentLength: 3,
      dictionaryId: 0,
      hasChecksum: false,
      end: 14,
      maxContentLength: 3,
    });
  });

  it('reads window, dictionary id, two-byte content size and checksum', () => {
    const frame = parse([
      ...[...MAGIC, 0x40 | 0x04 | 2, 0x58, 0x34, 0x12, 0x00, 0x01],
      ...[...blockHeader(1, 512, true), 7, 1, 2, 3, 4],
    ]);
    expect(frame.windowLength).toBe(2 ** 21);
    expect(frame.dictionaryId).toBe(0x1234);
    expect(frame.contentLength).toBe(256 + 256);
    expect(frame.hasChecksum).toBe(true);
    expect(frame.maxContentLength).toBe(512);
  });

  it('reads an unknown content size, and bounds it by the blocks', () => {
    const frame = parse([
      ...[...MAGIC, 0x00, 0x00],
      ...[...blockHeader(2, 2, false), 0, 0, ...blockHeader(1, 100, false), 7, ...blockHeader(0, 0, true)],
    ]);
    expect(frame.contentLength).toBeUndefined();
    // A compressed block holds at most the window: 1 KiB here.
    expect(frame.maxContentLength).toBe(1024 + 100);
  });

  it('reads an eight-byte content size', () => {
    const frame = parse([...MAGIC, 0xc0, 0x00, 0, 0, 0, 0, 0, 1, 0, 0, ...blockHeader(0, 0, true)]);
    expect(frame.contentLength).toBe(2 ** 40);
  });

  it('refuses every cut of a frame', () => {
    const bytes = [...MAGIC, 0x24, 3, ...blockHeader(0, 3, true), 1, 2, 3, 9, 9, 9, 9];
    expect(parse(bytes).end).toBe(2 + bytes.length);
    for (let length = 0; length < bytes.length; length++) {
      expect(() => parse(bytes.slice(0, length)), `${length} bytes`).toThrow(CorruptionError);
    }
  });

  it('refuses reserved bits and block types, and other magic numbers', () => {
    expect(() => parse([...MAGIC, 0x28, 3, ...blockHeader(0, 3, true), 1, 2, 3])).toThrow(/reserved bit/);
    expect(() => parse([...MAGIC, 0x20, 3, ...blockHeader(3, 3, true), 1, 2, 3])).toThrow(/reserved type/);
    expect(() => parse([1, 2, 3, 4, 0x20, 3, 0, 0, 0])).toThrow('magic 04030201 is not that of a zstd frame');
    expect(() => parse([0x26, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0])).toThrow(UnsupportedError);
  });
});

describe('copyZstdFrame', () => {
  it('copies a frame that knows its length', () => {
    const bytes = Uint8Array.from([...MAGIC, 0x20, 3, ...blockHeader(0, 3, true), 1, 2, 3]);
    const frame = parseZstdFrame(bytes, 0, bytes.length);
    expect(copiedZstdFrameLength(frame, 0)).toBe(bytes.length);
    const target = new Uint8Array(bytes.length + 1);
    expect(copyZstdFrame(bytes, 0, frame, 3, target, 1)).toBe(bytes.length + 1);
    expect(target.subarray(1)).toEqual(bytes);
  });

  it('gives a frame without a content size one', () => {
    const bytes = Uint8Array.from([0, ...MAGIC, 0x00, 0x50, ...blockHeader(0, 3, true), 1, 2, 3]);
    const frame = parseZstdFrame(bytes, 1, bytes.length);
    const target = new Uint8Array(copiedZstdFrameLength(frame, 1));
    expect(copyZstdFrame(bytes, 1, frame, 3, target, 0)).toBe(target.length);
    expect(parseZstdFrame(target, 0, target.length)).toMatchObject({
      contentLength: 3,
      windowLength: 2 ** 20,
      end: target.length,
    });
  });
});
