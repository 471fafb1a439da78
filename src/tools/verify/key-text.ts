import { toHex } from '../../bytes/text.ts';

/** Longer keys are cut in messages. */
const LONGEST_KEY_TEXT_BYTES = 32;

/** An internal key or a separator in a message: hexadecimal, cut where it is long. */
export function keyText(key: Uint8Array, length: number): string {
  if (length === 0) return '(empty)';
  if (length <= LONGEST_KEY_TEXT_BYTES) return toHex(key.subarray(0, length));
  return `${toHex(key.subarray(0, LONGEST_KEY_TEXT_BYTES))}... (${length} bytes)`;
}
