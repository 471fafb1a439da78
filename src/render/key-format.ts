/**
 * Keys and values as text, and back. Each `write*` function puts bytes [start, end) into a sink through
 * tables, without a string in between. Escape is reversible: printable ASCII as it is, `\\` for a backslash,
 * `\xNN` for the rest; what would itself start with `0x` or `hex:` prints its first byte as `\xNN`, so that
 * whatever is printed can be given back on the command line.
 */

import { InvalidArgumentError } from '../errors.ts';
import { PLAIN, putEscape, putEscapedRest, putHex, putHexUpper, startsLikeHex } from './put.ts';
import type { ByteSink } from './sink.ts';

export type BytesMode = 'escape' | 'hex' | 'base64' | 'utf8';
export const BYTES_MODES: readonly BytesMode[] = ['escape', 'hex', 'base64', 'utf8'];

/** Writes bytes [start, end) in one mode. */
export type BytesWriter = (sink: ByteSink, bytes: Uint8Array, start: number, end: number) => void;

const BACKSLASH = 0x5c;
const EQUALS = 0x3d;

const HEX_DIGITS = '0123456789abcdef';
const BASE64_DIGITS = new TextEncoder().encode(
  'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/',
);
/** Value of a hex digit by its code unit, 0xff for any other. */
const HEX_VALUES = hexValues();

/** The larger pieces of a long value: a piece takes at most 4 bytes a byte of the sink's buffer at once. */
const PIECE_BYTES = 12 * 1024;

/** The escape form. */
export function writeEscaped(sink: ByteSink, bytes: Uint8Array, start: number, end: number): void {
  writeEscapedRest(sink, bytes, writeFirstEscape(sink, bytes, start, end), end);
}

/** The escape form of the name of an entity's column: `=` parts it from the value, so it is `\x3d` here. */
export function writeEscapedColumnName(sink: ByteSink, bytes: Uint8Array, start: number, end: number): void {
  for (let from = writeFirstEscape(sink, bytes, start, end); from < end; ) {
    let to = from;
    while (to < end && bytes[to] !== EQUALS) to++;
    writeEscapedRest(sink, bytes, from, to);
    if (to < end) writeEscape(sink, EQUALS);
    from = to + 1;
  }
}

/** Escapes the first byte of what would be read back as hexadecimal; returns where the rest begins. */
function writeFirstEscape(sink: ByteSink, bytes: Uint8Array, start: number, end: number): number {
  if (!startsLikeHex(bytes, start, end)) return start;
  writeEscape(sink, bytes[start]!);
  return start + 1;
}

function writeEscapedRest(sink: ByteSink, bytes: Uint8Array, start: number, end: number): void {
  for (let from = start; from < end; from += PIECE_BYTES) {
    const to = Math.min(end, from + PIECE_BYTES);
    const pos = sink.reserve((to - from) * 4);
    sink.length = putEscapedRest(sink.buffer, pos, bytes, from, to);
  }
}

/** Lower-case hex, two digits a byte, no prefix. */
export function writeHex(sink: ByteSink, bytes: Uint8Array, start: number, end: number): void {
  for (let from = start; from < end; from += PIECE_BYTES) {
    const to = Math.min(end, from + PIECE_BYTES);
    const pos = sink.reserve((to - from) * 2);
    sink.length = putHex(sink.view, pos, bytes, from, to);
  }
}

/** Upper-case hex, as sst_dump and ldb print it. */
export function writeHexUpper(sink: ByteSink, bytes: Uint8Array, start: number, end: number): void {
  for (let from = start; from < end; from += PIECE_BYTES) {
    const to = Math.min(end, from + PIECE_BYTES);
    const pos = sink.reserve((to - from) * 2);
    sink.length = putHexUpper(sink.view, pos, bytes, from, to);
  }
}

/** Base64 with padding (RFC 4648, section 4). */
export function writeBase64(sink: ByteSink, bytes: Uint8Array, start: number, end: number): void {
  while (start < end) {
    // PIECE_BYTES is a multiple of 3: only the last piece may need padding.
    const stop = Math.min(end, start + PIECE_BYTES);
    let pos = sink.reserve(Math.ceil((stop - start) / 3) * 4);
    const buffer = sink.buffer;
    for (; start + 2 < stop; start += 3) {
      const bits = (bytes[start]! << 16) | (bytes[start + 1]! << 8) | bytes[start + 2]!;
      buffer[pos] = BASE64_DIGITS[bits >> 18]!;
      buffer[pos + 1] = BASE64_DIGITS[(bits >> 12) & 63]!;
      buffer[pos + 2] = BASE64_DIGITS[(bits >> 6) & 63]!;
      buffer[pos + 3] = BASE64_DIGITS[bits & 63]!;
      pos += 4;
    }
    if (start < stop) {
      const two = start + 1 < stop;
      const bits = (bytes[start]! << 16) | (two ? bytes[start + 1]! << 8 : 0);
      buffer[pos] = BASE64_DIGITS[bits >> 18]!;
      buffer[pos + 1] = BASE64_DIGITS[(bits >> 12) & 63]!;
      buffer[pos + 2] = two ? BASE64_DIGITS[(bits >> 6) & 63]! : EQUALS;
      buffer[pos + 3] = EQUALS;
      pos += 4;
      start = stop;
    }
    sink.length = pos;
  }
}

/**
 * UTF-8 text as it is; control bytes, a backslash and whatever is no UTF-8 take their escape form, so that
 * one row stays one line. Reversible like the escape form.
 */
export function writeUtf8(sink: ByteSink, bytes: Uint8Array, start: number, end: number): void {
  start = writeFirstEscape(sink, bytes, start, end);
  while (start < end) {
    const length = utf8Length(bytes, start, end);
    if (length > 1) {
      sink.writeBytes(bytes, start, start + length);
      start += length;
    } else {
      let stop = start + 1;
      while (stop < end && bytes[stop]! < 0x80) stop++;
      writeEscapedRest(sink, bytes, start, stop);
      start = stop;
    }
  }
}

/** The writer of a mode. */
export function bytesWriter(mode: BytesMode): BytesWriter {
  switch (mode) {
    case 'escape':
      return writeEscaped;
    case 'hex':
      return writeHex;
    case 'base64':
      return writeBase64;
    case 'utf8':
      return writeUtf8;
  }
}

/** The same texts as strings: for messages and small documents, not for rows. */
export function formatKey(bytes: Uint8Array, mode: BytesMode = 'escape'): string {
  switch (mode) {
    case 'escape':
      return escapeText(bytes, false);
    case 'hex':
      return formatHex(bytes);
    case 'base64':
      return base64Text(bytes);
    case 'utf8':
      return escapeText(bytes, true);
  }
}

/** Lower-case hex, two digits a byte. */
export function formatHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += hexOf(byte);
  return text;
}

/**
 * A key as given on the command line: `hex:6162`, `0x6162`, or the escape form; other characters stand for
 * their UTF-8 bytes. Throws InvalidArgumentError on odd or foreign hex digits and on an unknown escape.
 */
export function parseKey(text: string, argument = 'key'): Uint8Array {
  if (text.startsWith('hex:')) return parseHex(text, 4, argument);
  if (text.startsWith('0x')) return parseHex(text, 2, argument);
  return parseEscaped(text, argument);
}

function parseHex(text: string, start: number, argument: string): Uint8Array {
  const digitCount = text.length - start;
  if (digitCount % 2 !== 0) throw badKey(argument, text, 'an odd number of hex digits');
  const bytes = new Uint8Array(digitCount / 2);
  for (let i = 0; i < bytes.length; i++) {
    const byte = hexByte(text, start + 2 * i);
    if (byte < 0)
      throw badKey(argument, text, `"${text.slice(start + 2 * i, start + 2 * i + 2)}" is no hex byte`);
    bytes[i] = byte;
  }
  return bytes;
}

function parseEscaped(text: string, argument: string): Uint8Array {
  const input = new TextEncoder().encode(text);
  const bytes = new Uint8Array(input.length);
  let length = 0;
  for (let i = 0; i < input.length; ) {
    const unit = input[i]!;
    if (unit !== BACKSLASH) {
      bytes[length++] = unit;
      i++;
    } else if (input[i + 1] === BACKSLASH) {
      bytes[length++] = BACKSLASH;
      i += 2;
    } else {
      const digits = String.fromCharCode(...input.subarray(i + 2, i + 4));
      const byte = input[i + 1] === 0x78 ? hexByte(digits, 0) : -1;
      if (byte < 0) {
        throw badKey(argument, text, `only \\\\ and \\xNN are known after a backslash (byte ${i})`);
      }
      bytes[length++] = byte;
      i += 4;
    }
  }
  return bytes.subarray(0, length);
}

function badKey(argument: string, text: string, reason: string): InvalidArgumentError {
  return new InvalidArgumentError(argument, text, `${argument} ${JSON.stringify(text)}: ${reason}`);
}

function hexByte(text: string, pos: number): number {
  if (pos + 2 > text.length) return -1;
  const high = text.charCodeAt(pos);
  const low = text.charCodeAt(pos + 1);
  if (high > 0x7f || low > 0x7f) return -1;
  const value = (HEX_VALUES[high]! << 4) | HEX_VALUES[low]!;
  return HEX_VALUES[high] === 0xff || HEX_VALUES[low] === 0xff ? -1 : value;
}

function writeEscape(sink: ByteSink, byte: number): void {
  const pos = sink.reserve(4);
  sink.length = putEscape(sink.buffer, pos, byte);
}

/**
 * Bytes of the well-formed UTF-8 sequence at `pos` (Unicode 15, table 3-7), or 0 where there is none.
 * U+0080 to U+009F are control characters to a terminal and count as none.
 */
function utf8Length(bytes: Uint8Array, pos: number, end: number): number {
  const lead = bytes[pos]!;
  if (lead < 0x80) return 1;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  const length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  if (pos + length > end) return 0;
  const second = bytes[pos + 1]!;
  let low = 0x80;
  let high = 0xbf;
  if (lead === 0xc2 || lead === 0xe0) low = 0xa0;
  else if (lead === 0xed) high = 0x9f;
  else if (lead === 0xf0) low = 0x90;
  else if (lead === 0xf4) high = 0x8f;
  if (second < low || second > high) return 0;
  for (let i = pos + 2; i < pos + length; i++) {
    if ((bytes[i]! & 0xc0) !== 0x80) return 0;
  }
  return length;
}

function escapeText(bytes: Uint8Array, keepUtf8: boolean): string {
  let text = '';
  let pos = 0;
  if (startsLikeHex(bytes, 0, bytes.length)) {
    text = `\\x${hexOf(bytes[0]!)}`;
    pos = 1;
  }
  while (pos < bytes.length) {
    const byte = bytes[pos]!;
    const length = keepUtf8 ? utf8Length(bytes, pos, bytes.length) : 1;
    if (length > 1) {
      text += new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(pos, pos + length));
      pos += length;
      continue;
    }
    if (PLAIN[byte] === 1) text += String.fromCharCode(byte);
    else text += byte === BACKSLASH ? '\\\\' : `\\x${hexOf(byte)}`;
    pos++;
  }
  return text;
}

function base64Text(bytes: Uint8Array): string {
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return btoa(binary);
}

function hexOf(byte: number): string {
  return HEX_DIGITS[byte >> 4]! + HEX_DIGITS[byte & 15]!;
}

function hexValues(): Uint8Array {
  const values = new Uint8Array(128).fill(0xff);
  for (let digit = 0; digit < 16; digit++) {
    values[HEX_DIGITS.charCodeAt(digit)] = digit;
    values[HEX_DIGITS.toUpperCase().charCodeAt(digit)] = digit;
  }
  return values;
}
