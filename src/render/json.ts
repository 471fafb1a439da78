/** JSON text written straight into a sink: the pieces of which streamed rows are made. */

import { type BytesMode, bytesWriter, formatKey, writeHex } from './key-format.ts';
import type { ByteSink } from './sink.ts';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/**
 * A string in quotes, escaped as JSON.stringify does it (a lone surrogate as \uNNNN). Names and paths are
 * mostly short printable ASCII: that goes by a loop.
 */
export function writeJsonString(sink: ByteSink, text: string): void {
  const count = text.length;
  if (count <= 64) {
    let pos = sink.reserve(count + 2);
    const buffer = sink.buffer;
    buffer[pos++] = QUOTE;
    let i = 0;
    for (; i < count; i++) {
      const unit = text.charCodeAt(i);
      if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) break;
      buffer[pos++] = unit;
    }
    if (i === count) {
      buffer[pos++] = QUOTE;
      sink.length = pos;
      return;
    }
  }
  sink.writeText(JSON.stringify(text));
}

/** Bytes [start, end) as lower-case hex in quotes. */
export function writeJsonHex(sink: ByteSink, bytes: Uint8Array, start: number, end: number): void {
  sink.writeByte(QUOTE);
  writeHex(sink, bytes, start, end);
  sink.writeByte(QUOTE);
}

/** Bytes as a string, in the form that was asked for. */
export function writeJsonBytes(sink: ByteSink, bytes: Uint8Array, mode: BytesMode): void {
  if (mode === 'hex' || mode === 'base64') {
    sink.writeByte(QUOTE);
    bytesWriter(mode)(sink, bytes, 0, bytes.length);
    sink.writeByte(QUOTE);
  } else writeJsonString(sink, formatKey(bytes, mode));
}

/** A number as documents have it: above 2^53 - 1 a decimal string. */
export function integerJson(value: bigint): number | string {
  return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : String(value);
}

/** A whole number from 0 to 2^53 - 1, in decimal digits. */
export function writeDecimal(sink: ByteSink, value: number): void {
  const start = sink.reserve(16);
  const buffer = sink.buffer;
  let digitCount = 1;
  for (let limit = 10; value >= limit; limit *= 10) digitCount++;
  let pos = start + digitCount;
  sink.length = pos;
  // Above 2^31 the division is one of doubles; below it, of integers.
  while (value > 0x7fffffff) {
    const rest = Math.floor(value / 10);
    buffer[--pos] = 0x30 + (value - rest * 10);
    value = rest;
  }
  let small = value | 0;
  while (pos > start) {
    const rest = (small / 10) | 0;
    buffer[--pos] = 0x30 + (small - rest * 10);
    small = rest;
  }
}

/** A whole document, as one line. A bigint becomes a decimal string, bytes become lower-case hex. */
export function writeJsonDocument(sink: ByteSink, value: unknown): void {
  sink.writeLine(JSON.stringify(value, jsonReplacer));
}

function jsonReplacer(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (value instanceof Uint8Array) {
    let text = '';
    for (const byte of value) text += byte.toString(16).padStart(2, '0');
    return text;
  }
  return value;
}
