/** Bytes as short texts for messages, and names that a file stores as bytes. */

const UTF8 = new TextDecoder('utf-8', { fatal: false });
const UTF8_BYTES = new TextEncoder();

/** Lower-case hexadecimal of the whole array. */
export function toHex(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += byte < 16 ? `0${byte.toString(16)}` : byte.toString(16);
  return text;
}

/** Bytes of a hexadecimal text; undefined when it is none. */
export function fromHex(text: string): Uint8Array | undefined {
  if (text.length % 2 !== 0 || !/^[0-9a-fA-F]*$/.test(text)) return undefined;
  const bytes = new Uint8Array(text.length / 2);
  for (let i = 0; i < bytes.length; i++) bytes[i] = Number.parseInt(text.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

export function utf8(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

export function utf8Bytes(text: string): Uint8Array {
  return UTF8_BYTES.encode(text);
}

/** An unsigned 32-bit number as eight hexadecimal digits. */
export function hex32(value: number): string {
  return (value >>> 0).toString(16).padStart(8, '0');
}
